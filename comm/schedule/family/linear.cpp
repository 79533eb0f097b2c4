// SPDX-License-Identifier: MIT
#include "comm/schedule/family/linear.hpp"

#include <algorithm>

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

/// The round in which the root serves `rank`: order[1] in round 0.
int turn_of(Rank rank, const std::vector<Rank>& order) {
  return static_cast<int>(std::ranges::find(order, rank) - order.begin()) - 1;
}

}  // namespace

RankSchedule linear_scatter(const Request& request, Rank rank, const std::vector<Rank>& order,
                            Pacing pacing) {
  const int s = request.segments;
  RankBuilder builder(request, rank);
  if (rank != request.root) {
    builder.recv(request.root, {rank * s, (rank + 1) * s}, turn_of(rank, order));
    return builder.take_part();
  }
  int previous = -1;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Rank r = order[i];
    const int sent = builder.send(r, {r * s, (r + 1) * s}, static_cast<int>(i) - 1, {previous});
    if (pacing == Pacing::one_by_one) previous = sent;
  }
  return builder.take_part();
}

RankSchedule linear_sync_gather(const Request& request, Rank rank, const std::vector<Rank>& order) {
  const int s = request.segments;
  RankBuilder builder(request, rank);
  if (rank != request.root) {
    const int round = turn_of(rank, order);
    const int invited = builder.recv(request.root, {}, round);
    const int head = builder.send(request.root, {rank * s, rank * s + 1}, round, {invited});
    if (s > 1) builder.send(request.root, {rank * s + 1, (rank + 1) * s}, round, {head});
    return builder.take_part();
  }
  int previous_head = -1;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Rank r = order[i];
    const int round = static_cast<int>(i) - 1;
    const int head = builder.recv(r, {r * s, r * s + 1}, round, {previous_head});
    const int invited = builder.send(r, {}, round, {previous_head});
    if (s > 1) builder.recv(r, {r * s + 1, (r + 1) * s}, round, {invited});
    previous_head = head;
  }
  return builder.take_part();
}

}  // namespace papfft::comm
