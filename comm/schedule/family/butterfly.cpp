// SPDX-License-Identifier: MIT
#include "comm/schedule/family/butterfly.hpp"

#include <numeric>

namespace papfft::comm {

namespace {

/// One player's view of one round.
struct Group {
  int stride = 1;  // between the numbers of its members
  int radix = 2;
  int digit = 0;     // this player's place in it
  BlockRange range;  // that the members share

  [[nodiscard]] int member(int player, int g) const { return player + (g - digit) * stride; }
  [[nodiscard]] BlockRange part(int g) const {
    const int length = range.count() / radix;
    return {range.first + g * length, range.first + (g + 1) * length};
  }
};

/// One after the other in a circle: in each step a member sends once and receives once.
void exchange(ProgramBuilder& builder, const Group& group, int round,
              const std::function<Rank(int)>& rank_of_member) {
  for (int step = 1; step < group.radix; ++step) {
    const int to = (group.digit + step) % group.radix;
    const int from = (group.digit - step + group.radix) % group.radix;
    builder.send(rank_of_member(to), group.part(to), round + step - 1);
    builder.recv_combine(rank_of_member(from), group.part(group.digit), round + step - 1);
  }
}

/// What comes from below is combined downwards from the next neighbour, then what comes from above, upwards. The message
/// from a to b belongs to step b - a if it goes up, else to step a; in this order nobody waits for ever.
void exchange_in_order(ProgramBuilder& builder, const Group& group, int round,
                       const std::function<Rank(int)>& rank_of_member) {
  const int d = group.digit;
  for (int step = 1; step < group.radix; ++step) {
    for (int to = 0; step == d && to < d; ++to)
      builder.send(rank_of_member(to), group.part(to), round + step - 1);
    if (d + step < group.radix)
      builder.send(rank_of_member(d + step), group.part(d + step), round + step - 1);
    const bool from_below = step <= d;
    builder.add({.kind = OpKind::recv_combine,
                 .incoming_first = from_below,
                 .peer = rank_of_member(from_below ? d - step : step),
                 .blocks = group.part(d),
                 .round = round + step - 1});
  }
}

}  // namespace

int Butterfly::players() const {
  return std::accumulate(radices.begin(), radices.end(), 1, std::multiplies<>());
}

void Butterfly::write(ProgramBuilder& builder, int player, int root, bool ordered, int round,
                      const std::function<Rank(int)>& rank_of) const {
  std::vector<Group> groups;
  BlockRange range{0, players()};
  int stride = 1;
  for (const int radix : radices) {
    groups.push_back({stride, radix, player / stride % radix, range});
    range = groups.back().part(groups.back().digit);
    stride *= radix;
  }
  for (const Group& group : groups) {
    const auto rank_of_member = [&](int g) { return rank_of(group.member(player, g)); };
    (ordered ? exchange_in_order : exchange)(builder, group, round, rank_of_member);
    round += group.radix - 1;
  }
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    const int root_digit = root / group->stride % group->radix;
    if (group->digit != root_digit) {
      const int turn = (group->digit - root_digit + group->radix) % group->radix;
      builder.send(rank_of(group->member(player, root_digit)), group->part(group->digit), round + turn - 1);
      return;
    }
    for (int turn = 1; turn < group->radix; ++turn) {
      const int g = (root_digit + turn) % group->radix;
      builder.recv(rank_of(group->member(player, g)), group->part(g), round + turn - 1);
    }
    round += group->radix - 1;
  }
}

}  // namespace papfft::comm
