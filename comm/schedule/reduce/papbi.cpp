// SPDX-License-Identifier: MIT
// Arrival-aware bi-greedy reduction, for ranks that do not come together: bi-greedy (bi_greedy.hpp) over a grid of rounds in
// which each rank takes part from its expected arrival on.
//
// A round lasts tau = Request::round_ns, one segment sent and combined. The grid's phase is that of the bound
// (bound_reduce_ns), so that rounding the arrivals up to the grid does not make the bound larger. Eight ranks, eight
// segments, root 0, arrivals 0 7 3 3 1 0 5 2 (tau = 1): done after 15 rounds, which is the bound; the segments of rank 1,
// which comes last, need 8 rounds to go out.
//
// In every instance tried, on the grid or off it, the schedule ends with the bound, so none can be shorter in this model.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "comm/bounds/bounds.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/bi_greedy.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

/// Per rank: ceil((arrival - base) / tau), base being the last grid point that is not after the first arrival.
std::vector<std::int64_t> first_rounds(const Request& request) {
  const auto [first, last] = std::ranges::minmax(request.arrival_ns);
  const std::int64_t tau = std::max<std::int64_t>(1, request.round_ns);
  constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / 4;
  if (first < -kFarthest || last > kFarthest || tau > kFarthest / (request.segments + 64)) {
    throw std::invalid_argument("reduce papbi: arrival times or rounds beyond 70 years");
  }
  const std::int64_t bound = bound_reduce_ns(request.arrival_ns, request.segments, tau);
  const std::int64_t early = (tau - bound % tau) % tau;  // first - base
  std::vector<std::int64_t> rounds;
  rounds.reserve(request.arrival_ns.size());
  for (const std::int64_t arrival : request.arrival_ns) {
    rounds.push_back((arrival - first + early + tau - 1) / tau);
  }
  return rounds;
}

void plan(const Request& request, const TransferSink& sink) {
  const bool together = request.arrival_ns.empty();
  plan_bi_greedy(request.ranks, request.segments, request.root,
                 together ? std::vector<std::int64_t>{} : first_rounds(request), sink);
}

}  // namespace

const Algorithm reduce_papbi{.operation = Operation::reduce,
                             .name = "papbi",
                             .summary = "bi-greedy, each rank from its expected arrival on",
                             .rounds = "q+S-1 if together",
                             .bytes = "m(q+S-1)/S",
                             .source = "this project, from GRD Algorithm 2",
                             .uses_arrival = true,
                             .transfers = plan,
                             .round_count = least_rounds};

}  // namespace papfft::comm
