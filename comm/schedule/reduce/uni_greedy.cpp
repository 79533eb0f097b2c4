// SPDX-License-Identifier: MIT
// Uni-greedy reduction (uni_greedy.hpp) for equal segments. Made for links that carry one way at a time; on others bi-greedy
// needs fewer rounds, but holds more segments at once.
#include "comm/schedule/family/uni_greedy.hpp"

#include <algorithm>
#include <vector>

#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

void plan(const Request& request, const TransferSink& sink) {
  const auto segments = static_cast<std::size_t>(request.segments);
  const std::vector<std::int64_t> message(segments,
                                          std::max<std::int64_t>(1, request.round_ns - request.combine_ns));
  const std::vector<std::int64_t> combining(segments, request.combine_ns);
  plan_uni_greedy(request.ranks, request.root, message, combining, sink);
}

}  // namespace

const Algorithm reduce_uni_greedy{
    .operation = Operation::reduce,
    .name = "uni-greedy",
    .summary = "the two ranks that are free first meet next, one message at a time",
    .rounds = "q if S=1; no closed form",
    .bytes = "qm if S=1, down to 2m for many segments",
    .source = "GRD Algorithm 1",
    .transfers = plan};

}  // namespace papfft::comm
