// SPDX-License-Identifier: MIT
#include "comm/schedule/hosts/pair_levels.hpp"

#include <algorithm>

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/hosts/levels.hpp"

namespace papfft::comm {

namespace {

/// The slots of one host's leader, counted in blocks. Positions are those of the ranks by host, so that a host's are side by side.
///
///   own, got      by position: what a rank has for each other, and gets from it
///   up, down      by member, then position: the members' blocks for ranks elsewhere, and from them
///   out, in       by host, then sender, then receiver: the messages between hosts
class PairSlots {
 public:
  PairSlots(const Hosts& hosts, int host, int segments)
      : hosts_(hosts), host_(host), ranks_(hosts.rank_count()), segments_(segments) {
    int position = 0;
    int crossing = 0;
    for (int h = 0; h < hosts.count(); ++h) {
      first_.push_back(position);
      crossed_.push_back(crossing);
      position += size(h);
      if (h != host) crossing += size(h) * size(host);
      room_ = std::max(room_, size(h) * (ranks_ - size(h)));
    }
    first_.push_back(position);
    crossed_.push_back(crossing);
  }

  /// Blocks that a leader needs room for, of either kind: the same on all hosts.
  [[nodiscard]] int scratch() const { return 4 * room_ * segments_; }
  [[nodiscard]] int first(int h) const { return first_[idx(h)]; }

  [[nodiscard]] BlockRange own(int position, int count) const { return slots(position, count); }
  [[nodiscard]] BlockRange got(int position, int count) const { return slots(ranks_ + position, count); }
  [[nodiscard]] BlockRange up(int member, int position, int count) const {
    return slots(2 * ranks_ + of_member(member, position), count);
  }
  [[nodiscard]] BlockRange down(int member, int position, int count) const {
    return slots(2 * ranks_ + room_ + of_member(member, position), count);
  }
  /// Of the outer schedule's slots: what goes to these hosts, and behind that what comes from them.
  [[nodiscard]] BlockRange crossing(BlockRange units) const {
    if (units.count() == 0) return {};
    const int h = hosts_.count();
    const bool comes = units.first >= h;
    const int begin = crossed_[idx(comes ? units.first - h : units.first)];
    const int end = crossed_[idx(comes ? units.last - h : units.last)];
    return slots(2 * ranks_ + (comes ? 3 : 2) * room_ + begin, end - begin);
  }

 private:
  [[nodiscard]] int size(int h) const { return static_cast<int>(hosts_.members(h).size()); }
  [[nodiscard]] int of_member(int member, int position) const {
    const int elsewhere = position < first(host_) ? position : position - size(host_);
    return member * (ranks_ - size(host_)) + elsewhere;
  }
  [[nodiscard]] BlockRange slots(int block, int count) const {
    return {block * segments_, (block + count) * segments_};
  }

  const Hosts& hosts_;
  int host_;
  int ranks_;
  int segments_;
  int room_ = 0;
  std::vector<int> first_ = {};    // position of each host's first member
  std::vector<int> crossed_ = {};  // by host: blocks that cross between this one and those before it, one way
};

class PairGenerator {
 public:
  PairGenerator(const Algorithm& flat, const Request& request, const Hosts& hosts, Rank rank)
      : hosts_(hosts),
        led_(request, hosts, 1),
        host_(hosts.of(rank)),
        members_(hosts.members(host_)),
        position_(index_of(rank)),
        leader_(index_of(led_.leader(host_, 0))),
        slots_(hosts, host_, request.segments),
        outer_(outer_part(flat, request)),
        builder_(whole_shape(request), rank) {}

  RankSchedule make() {
    for_each_elsewhere([&](int member, int first, int count) {
      pass(member, leader_, slots_.own(first, count), slots_.up(member, first, count));
    });
    exchange_inside();
    if (position_ == leader_) relay();
    for_each_elsewhere([&](int member, int first, int count) {
      pass(leader_, member, slots_.down(member, first, count), slots_.got(first, count));
    });
    return builder_.take_part();
  }

 private:
  [[nodiscard]] int index_of(Rank rank) const {
    return static_cast<int>(std::ranges::find(members_, rank) - members_.begin());
  }

  RankSchedule outer_part(const Algorithm& flat, const Request& request) const {
    Request outer = request;
    outer.host.clear();
    outer.ranks = hosts_.count();
    outer.segments = 1;
    outer.arrival_ns = led_.host_arrival_ns();
    return make_rank_schedule(flat, outer, host_);
  }

  Shape whole_shape(const Request& request) const {
    Shape shape = shape_of(request);
    shape.single_port = outer_.shape.single_port;
    shape.credits = hosts_.count() == 1 ? 0 : outer_.shape.credits;
    for (int h = 0; h < hosts_.count(); ++h)
      shape.holder.insert(shape.holder.end(), hosts_.members(h).begin(), hosts_.members(h).end());
    for (int slot = 0; slot < slots_.scratch(); ++slot) shape.scratch.push_back(slot % shape.segments);
    return shape;
  }

  /// Visits the other members, and what they have for ranks before and behind this host: two messages for all of it.
  template <typename Visit>  // (member, first position, how many)
  void for_each_elsewhere(Visit visit) const {
    const int first = slots_.first(host_);
    const int last = slots_.first(host_ + 1);
    const int ranks = hosts_.rank_count();
    for (const auto& [begin, count] : {std::pair(0, first), std::pair(last, ranks - last)}) {
      for (int member = 0; member < size() && count > 0; ++member) {
        if (member != leader_) visit(member, begin, count);
      }
    }
  }

  void exchange_inside() {
    const int first = slots_.first(host_);
    for (int step = 1; step < size(); ++step) {
      const int to = (position_ + step) % size();
      const int from = (position_ - step + size()) % size();
      pass(position_, to, slots_.own(first + to, 1), {});
      pass(from, position_, {}, slots_.got(first + from, 1));
    }
  }

  /// The leader packs what the host has for each other one, runs the outer schedule, and sorts what has come by member.
  void relay() {
    const int h_count = hosts_.count();
    for (int h = 0; h < h_count; ++h) {
      if (h == host_) continue;
      const int there = slots_.first(h + 1) - slots_.first(h);
      int to = slots_.crossing({h, h + 1}).first;
      for (int member = 0; member < size(); ++member)
        to = copy(member == leader_ ? slots_.own(slots_.first(h), there)
                                    : slots_.up(member, slots_.first(h), there),
                  to);
    }
    std::vector<int> place;  // op of the outer program -> where it is now
    place.reserve(idx(outer_.program.size()));
    for (int i = 0; i < outer_.program.size(); ++i) place.push_back(add_outer(i, place));
    for (int h = 0; h < h_count; ++h) {
      if (h == host_) continue;
      int from = slots_.crossing({h_count + h, h_count + h + 1}).first;
      for (int sender = slots_.first(h); sender < slots_.first(h + 1); ++sender) {
        for (int member = 0; member < size(); ++member) {
          const BlockRange to = member == leader_ ? slots_.got(sender, 1) : slots_.down(member, sender, 1);
          (void)copy({from, from + to.count()}, to.first);
          from += to.count();
        }
      }
    }
  }

  int add_outer(int i, const std::vector<int>& place) {
    Op op = outer_.program[i];
    op.peer = led_.leader(op.peer, 0);
    op.blocks = slots_.crossing(op.blocks);
    std::vector<int> after;
    for (const int before : outer_.program.after(i)) after.push_back(place[idx(before)]);
    return builder_.add(op, after);
  }

  /// @return the slot behind the last
  int copy(BlockRange from, int to) {
    const BlockRange target{to, to + from.count()};
    builder_.copy(from.first, target);
    return target.last;
  }

  /// This rank's end of a message inside the host, if it has one.
  void pass(int from, int to, BlockRange sent, BlockRange received) {
    if (position_ != from && position_ != to) return;
    const bool sends = position_ == from;
    builder_.add({.kind = sends ? OpKind::send : OpKind::recv,
                  .inside = true,
                  .peer = members_[idx(sends ? to : from)],
                  .blocks = sends ? sent : received});
  }

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }

  const Hosts& hosts_;
  Led led_;
  int host_;
  const std::vector<Rank>& members_;  // of this host
  int position_;                      // among them
  int leader_;
  PairSlots slots_;
  RankSchedule outer_;  // of this host's leader
  RankBuilder builder_;
};

}  // namespace

RankSchedule pair_level_part(const Algorithm& flat, const Request& request, Rank rank) {
  const Hosts hosts(request.ranks, request.host);
  if (!hosts.are_single()) return PairGenerator(flat, request, hosts, rank).make();
  Request alone = request;
  alone.host.clear();
  return make_rank_schedule(flat, alone, rank);
}

bool is_served_on_pair_levels(const Algorithm& flat) {
  const OperationTraits& row = traits(flat.operation);
  if (!row.is_per_pair() || row.sizes_are_own) return false;
  constexpr int kEnoughToRelay = 5;
  return make_rank_schedule(flat, {.operation = flat.operation, .ranks = kEnoughToRelay}, 0)
      .shape.scratch.empty();
}

}  // namespace papfft::comm
