// SPDX-License-Identifier: MIT
// Sorted linear tree: a chain through all ranks in order of expected arrival. Segment after segment, each rank adds what the one
// before it sends and hands the sum on. Whoever comes last ends the sums and sends them back along the chain. So the early ranks
// have combined all they can when the last one comes. Commutative only.
//
//     P = 3, arrivals 20 0 10, one segment    1 -> 2 -> 0, then 0 -> 2 -> 1
#include <algorithm>
#include <numeric>

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

std::vector<Rank> by_arrival(const Request& request) {
  std::vector<Rank> order(static_cast<std::size_t>(request.ranks));
  std::iota(order.begin(), order.end(), 0);
  if (!request.arrival_ns.empty()) {
    std::ranges::stable_sort(order, {},
                             [&](Rank r) { return request.arrival_ns[static_cast<std::size_t>(r)]; });
  }
  return order;
}

RankSchedule generate(const Request& request, Rank rank) {
  const std::vector<Rank> chain = by_arrival(request);
  const int last = request.ranks - 1;
  const auto at = [&](int position) { return chain[static_cast<std::size_t>(position)]; };
  const int v = static_cast<int>(std::ranges::find(chain, rank) - chain.begin());
  RankBuilder builder(request, rank);
  // Sums of segment s pass this rank in round s + v, its result in round s + 2 last - v.
  for (int round = 0; round < request.segments + 2 * last; ++round) {
    const int sum = round - v;
    const int result = round - (2 * last - v);
    if (sum >= 0 && sum < request.segments) {
      if (v > 0) builder.recv_combine(at(v - 1), {sum, sum + 1}, round - 1);
      if (v < last) builder.send(at(v + 1), {sum, sum + 1}, round);
    }
    if (result >= 0 && result < request.segments) {
      if (v < last) builder.recv(at(v + 1), {result, result + 1}, round - 1);
      if (v > 0) builder.send(at(v - 1), {result, result + 1}, round);
    }
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_slt{
    .operation = Operation::allreduce,
    .name = "slt",
    .summary = "a chain in order of expected arrival, and back",
    .rounds = "2(P-1)+S-1",
    .bytes = "m",
    .source = "Proficz, J. Supercomputing 74, 2018 (SLT; by its abstract)",
    .uses_arrival = true,
    .local = generate,
    .round_count = [](int ranks, int segments) { return std::int64_t{2} * (ranks - 1) + segments - 1; }};

}  // namespace papfft::comm
