// SPDX-License-Identifier: MIT
// Sorted linear-synchronised gather, then a broadcast. Rank 0 invites one rank after another, those expected first first, so that a
// late rank holds up nobody. Each block that has come is broadcast at once over a circulant graph, one block behind another, rank 0's
// own in its turn. With a background thread (`bslb`) rank 0 gathers and broadcasts before its own caller comes.
//
//     P = 3, arrivals 0 20 10    2 -> 0, 1 -> 0; blocks 0, 2, 1 are broadcast in this order
#include <algorithm>

#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::comm {

namespace {

constexpr Rank kRoot = 0;

/// Rank 0 asks for the blocks in this order.
template <typename BlockOf>
void add_gather(RankBuilder& builder, const std::vector<Rank>& order, Rank rank, BlockOf block) {
  int before = -1;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Rank r = order[i];
    const int round = static_cast<int>(i) - 1;
    if (rank == kRoot) {
      const int received = builder.recv(r, block(r), round, {before});
      builder.send(r, {}, round, {before});
      before = received;
    } else if (rank == r) {
      const int invited = builder.recv(kRoot, {}, round);
      builder.send(kRoot, block(r), round, {invited});
    }
  }
}

/// The root's own block in its turn: in the background, the others' do not wait for its caller.
std::vector<Rank> by_arrival(std::vector<Rank> order, const std::vector<std::int64_t>& arrival_ns) {
  if (!arrival_ns.empty())
    std::ranges::stable_sort(order, {}, [&](Rank r) { return arrival_ns[static_cast<std::size_t>(r)]; });
  return order;
}

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const std::vector<Rank> order = arrival_order(p, kRoot, request.arrival_ns);
  RankBuilder builder(request, rank);
  const auto block = [n = request.segments](Rank r) { return BlockRange{r * n, (r + 1) * n}; };
  add_gather(builder, order, rank, block);
  const Circulant graph(p);
  const CirculantRounds rounds(graph, p);
  const Circulant::Blocks receive = graph.receive(rank);
  const Circulant::Blocks send = graph.send(rank);
  const std::vector<Rank> turns = by_arrival(order, request.arrival_ns);
  const auto owner_of = [&](int i, int entry) {
    const int turn = rounds.block(i, entry);
    return turn < 0 ? -1 : turns[static_cast<std::size_t>(turn)];
  };
  for (int i = 0; i < rounds.count(); ++i) {
    const int k = rounds.edge(i);
    const Rank incoming = owner_of(i, receive[static_cast<std::size_t>(k)]);
    const Rank outgoing = owner_of(i, send[static_cast<std::size_t>(k)]);
    const Rank to = graph.to(rank, k);
    // Nobody needs to be sent its own block.
    if (rank != kRoot && incoming >= 0 && incoming != rank)
      builder.recv(graph.from(rank, k), block(incoming), p - 1 + i);
    if (to != kRoot && outgoing >= 0 && outgoing != to) builder.send(to, block(outgoing), p - 1 + i);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm allgather_slb{
    .operation = Operation::allgather,
    .name = "slb",
    .summary = "sorted linear-synchronised gather at rank 0, and a broadcast behind it",
    .rounds = "3(P-1)+q",
    .bytes = "(P-1)m to rank 0, Pm from it",
    .source = "Proficz, ACM TACO 18(4), 2021 (BSLB: bslb; by its abstract)",
    .segmentation = Segmentation::whole,
    .uses_arrival = true,
    .local = generate};

}  // namespace papfft::comm
