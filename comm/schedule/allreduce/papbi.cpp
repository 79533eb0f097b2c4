// SPDX-License-Identifier: MIT
// Arrival-aware allreduce: the arrival-aware bi-greedy reduction (reduce/papbi.cpp) to the rank that comes first, and behind it a
// circulant broadcast of the segments in the order in which their sums are complete. When the last rank has come, its vector is added
// up segment by segment, and each sum is on its way to all one round later. So what is left then takes about as long as one vector,
// and not two. All ranks end with the same bits. Commutative only.
//
// Both are planned in rounds, the broadcast from the round on in which it never waits for a sum. A rank takes its messages by their
// rounds, of the same round the reduction's first. So the earliest message that is not over is next at both of its ends.
#include <algorithm>
#include <numeric>
#include <vector>

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

Rank first_to_come(const Request& request) {
  if (request.arrival_ns.empty()) return 0;
  return static_cast<Rank>(std::ranges::min_element(request.arrival_ns) - request.arrival_ns.begin());
}

/// What a rank does in the reduction, and when the sums are complete.
struct Reduction {
  std::vector<Op> ops = {};         // of this rank
  std::vector<int> complete_after;  // by segment: the last round in which the root receives of it
};

Reduction plan_reduction(Request request, Rank rank) {
  request.operation = Operation::reduce;
  Reduction result{.complete_after = std::vector<int>(idx(request.segments), -1)};
  int round = -1;
  std::int64_t planned_round = 0;
  reduce_papbi.transfers(request, [&](std::span<const Transfer> transfers) {
    for (const Transfer& t : transfers) {
      if (round < 0 || t.round != planned_round) ++round;  // idle rounds are left out
      planned_round = t.round;
      const BlockRange blocks{t.segment, t.segment + 1};
      if (t.to == request.root) result.complete_after[idx(t.segment)] = round;
      if (t.from == rank)
        result.ops.push_back({.kind = OpKind::send, .peer = t.to, .blocks = blocks, .round = round});
      if (t.to == rank) {
        result.ops.push_back({.kind = t.combine ? OpKind::recv_combine : OpKind::recv,
                              .peer = t.from,
                              .blocks = blocks,
                              .round = round});
      }
    }
  });
  return result;
}

/// Of the broadcast, that begins as soon as no segment is sent before its sum is complete.
std::vector<Op> plan_broadcast(const Request& request, Rank rank, const std::vector<int>& complete_after) {
  const int p = request.ranks;
  std::vector<int> order(complete_after.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int s) { return complete_after[idx(s)]; });
  int begin = 0;
  for (int i = 0; i < request.segments; ++i)
    begin = std::max(begin, complete_after[idx(order[idx(i)])] + 1 - i);
  const Circulant graph(p);
  const CirculantRounds rounds(graph, request.segments);
  const int v = (rank - request.root + p) % p;  // the root is the graph's rank 0
  const Circulant::Blocks receive = graph.receive(v);
  const Circulant::Blocks send = graph.send(v);
  std::vector<Op> ops;
  const auto add = [&](OpKind kind, int peer, int block, int round) {
    const int segment = order[idx(block)];
    ops.push_back({.kind = kind,
                   .peer = (peer + request.root) % p,
                   .blocks = {segment, segment + 1},
                   .round = begin + round});
  };
  for (int i = 0; i < rounds.count(); ++i) {
    const int k = rounds.edge(i);
    const int incoming = rounds.block(i, receive[idx(k)]);
    const int outgoing = rounds.block(i, send[idx(k)]);
    if (v != 0 && incoming >= 0) add(OpKind::recv, graph.from(v, k), incoming, i);
    if (graph.to(v, k) != 0 && outgoing >= 0) add(OpKind::send, graph.to(v, k), outgoing, i);
  }
  return ops;
}

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(request, rank);
  if (request.ranks == 1) return builder.take_part();
  Request rooted = request;
  rooted.root = first_to_come(request);
  Reduction reduction = plan_reduction(rooted, rank);
  std::vector<Op> ops = std::move(reduction.ops);
  const std::vector<Op> spread = plan_broadcast(rooted, rank, reduction.complete_after);
  ops.insert(ops.end(), spread.begin(), spread.end());
  std::ranges::stable_sort(ops, {}, &Op::round);
  for (const Op& op : ops) builder.add(op);
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_papbi{
    .operation = Operation::allreduce,
    .name = "papbi",
    .summary =
        "bi-greedy, each rank from its expected arrival on; each sum is broadcast as soon as it is there",
    .rounds = "S-1+2q after the latest arrival, if the others have come well before",
    .bytes = "about m after the latest arrival",
    .source = "this project, from GRD Algorithm 2 and CIR Alg. 6",
    .uses_arrival = true,
    .local = generate,
    .round_count = [](int ranks, int segments) { return 2 * least_rounds(ranks, segments) - segments + 1; }};

}  // namespace papfft::comm
