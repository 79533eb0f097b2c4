// SPDX-License-Identifier: MIT
#include "comm/schedule/hosts/two_levels.hpp"

#include <algorithm>
#include <memory>

#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/hosts/levels.hpp"

namespace papfft::comm {

namespace {

bool arrive_apart(const std::vector<std::int64_t>& arrival_ns) {
  return !arrival_ns.empty() && std::ranges::min(arrival_ns) < std::ranges::max(arrival_ns);
}

/// With whom a rank of a host sums up or hands on what is the same for all of its ranks, lane by lane. Ranks are named by their
/// positions among the members; the leader of lane i is at position i.
class Spread {
 public:
  /// @param has_root  the rank at position 0 is the root. It hands the other leaders their shares, or gets them, and so takes part in
  ///                  its own lane only.
  Spread(int members, int lanes, int units, bool arrive_apart, bool has_root, int position)
      : has_root_(has_root), is_direct_(2 * lanes > members && !arrive_apart) {
    for (int lane = 0; lane < lanes && !is_direct_; ++lane) {
      const std::vector<int> line = line_of(lane, members, lanes, arrive_apart);
      const InsideTree tree(static_cast<int>(line.size()), units, arrive_apart);
      std::vector<int> depth(line.size());
      for (std::size_t v = 1; v < line.size(); ++v)
        depth[v] = depth[idx(tree.parent(static_cast<int>(v)))] + 1;
      const auto at = static_cast<int>(std::ranges::find(line, position) - line.begin());
      Place& place = places_.emplace_back();
      if (lanes > 1) height_ = std::max(height_, std::ranges::max(depth));
      if (idx(at) == line.size()) continue;
      if (lanes > 1) place.depth = depth[idx(at)];
      if (at > 0) place.parent = line[idx(tree.parent(at))];
      for (const int child : tree.children(at)) place.children.push_back(line[idx(child)]);
    }
  }

  /// Every leader exchanges with every other member. If most members lead, that spreads the work evenly. Otherwise along trees.
  [[nodiscard]] bool is_direct() const { return is_direct_; }
  [[nodiscard]] bool takes_part(int position, int lane) const {
    return !has_root_ || position > 0 || lane == 0;
  }

  /// In the tree of a lane.
  struct Place {
    int parent = -1;  // -1: it leads, or takes no part
    std::vector<int> children = {};
    /// A unit is here so many steps after its leader had it. Zero if there is one lane, and so one order of units.
    int depth = 0;
  };
  [[nodiscard]] const Place& place(int lane) const { return places_[idx(lane)]; }
  /// The largest depth in the host.
  [[nodiscard]] int height() const { return height_; }

 private:
  /// The members of a lane's tree. Near its leader are such as lead none, and in each lane others, since they have more to hand on
  /// than those at the end.
  [[nodiscard]] std::vector<int> line_of(int lane, int members, int lanes, bool arrive_apart) const {
    std::vector<int> found = {lane};
    const int beyond = members - lanes;
    for (int k = 0; k < members; ++k) {
      int next = k;
      if (!arrive_apart) {
        next = k < beyond ? lanes + (k + lane * beyond / lanes) % beyond : (lane + k - beyond) % lanes;
      }
      if (next != lane && takes_part(next, lane)) found.push_back(next);
    }
    return found;
  }

  bool has_root_;
  bool is_direct_;
  int height_ = 0;
  std::vector<Place> places_ = {};  // per lane; none if it is direct
};

class Generator {
 public:
  Generator(const Algorithm& flat, const Request& request, const Hosts& hosts, const Led& led, Rank rank)
      : operation_(traits(request.operation)),
        rank_(rank),
        lanes_(led.lanes()),
        led_(led),
        members_(led_.order(hosts.of(rank))),
        position_(static_cast<int>(std::ranges::find(members_, rank) - members_.begin())),
        host_(hosts.of(rank)),
        is_roots_host_(operation_.is_rooted() && hosts.of(request.root) == host_),
        outer_(outer_part(flat, request, hosts)),
        units_(outer_.shape, led_),
        spread_(static_cast<int>(members_.size()), lanes_, units_.count(),
                is_reduction(request.operation) && arrive_apart(request.arrival_ns), is_roots_host_,
                position_),
        touches_(outer_.program, units_.count()),
        shape_(whole_shape(request)),
        builder_(shape_.slots()) {}

  RankSchedule make() {
    const Program& program = outer_.program;
    std::vector<int> place;  // op of the outer program -> where it is now
    const std::vector<Parcel> up = parcels(touches_.first, sums_first());
    const std::vector<Parcel> down = parcels(touches_.settled, false);
    const int steps_up = static_cast<int>(up.size()) + spread_.height();
    const int steps_down = static_cast<int>(down.size()) + spread_.height();
    int step_up = 0;
    int step_down = 0;
    for (int i = 0; i <= program.size(); ++i) {
      round_ = program.size() == 0 ? 0 : program[std::min(i, program.size() - 1)].round;
      const auto is_due = [i](const std::vector<Parcel>& all, int turn) {
        return all[idx(std::clamp(turn, 0, static_cast<int>(all.size()) - 1))].due <= i;
      };
      while (step_up < steps_up && is_due(up, step_up - spread_.height())) hand_up(up, step_up++);
      if (leads() && i < program.size()) place.push_back(add_outer(i, place));
      if (!leads()) continue;  // in a program of its own all that goes down comes last
      // One leader only receives upwards and only sends downwards. Of several each does both in either direction. If what goes down,
      // and so waits for other hosts, stood before what goes up, hosts could wait for each other.
      if (lanes_ > 1 && step_up < steps_up) continue;
      while (step_down < steps_down && is_due(down, step_down)) hand_down(down, step_down++);
    }
    while (step_down < steps_down) hand_down(down, step_down++);
    return {shape_, rank_, builder_.take()};
  }

 private:
  RankSchedule outer_part(const Algorithm& flat, const Request& request, const Hosts& hosts) const {
    Request outer = request;
    outer.host.clear();
    outer.ranks = hosts.count();
    outer.root = is_rooted(request.operation) ? hosts.of(request.root) : 0;
    outer.arrival_ns = led_.host_arrival_ns();
    return make_rank_schedule(flat, outer, host_);
  }

  Shape whole_shape(const Request& request) const {
    Shape shape = outer_.shape;
    shape.ranks = request.ranks;
    shape.root = is_rooted(request.operation) ? request.root : 0;
    if (!shape.per_rank()) shape.segments *= lanes_;
    shape.holder = units_.holder();
    shape.scratch = units_.scratch();
    if (outer_.shape.ranks == 1) shape.credits = 0;
    return shape;
  }

  /// Units side by side that the leader needs, or has, from the same op on. Inside the host they are one message, so that many short
  /// units do not cost an alpha each.
  struct Parcel {
    BlockRange units;
    int due;  // that op of the outer program
  };

  /// A parcel is no more than such a part of all units. So it moves through the host while the next one is made.
  static constexpr int kLeastParcels = 32;

  [[nodiscard]] int most_in_parcel() const { return std::max(1, units_.count() / kLeastParcels); }

  /// Simulated on 64 hosts of 4 ranks, ring@lanes with 64 units takes 3 % longer if all is summed up first.
  static constexpr int kManyUnits = 256;

  /// A leader sums up all that its host has before it turns to others, where all contribute and all need sums. Hosts are ready for each
  /// other at one time then. Otherwise messages from those that are ready early keep its port from what it needs first. Few units are
  /// summed up as they are needed.
  [[nodiscard]] bool sums_first() const {
    return operation_.reduces && !operation_.is_rooted() && units_.count() >= kManyUnits;
  }

  /// In order of time. @param times  of each unit @param at_once  all are due from the beginning on
  [[nodiscard]] std::vector<Parcel> parcels(const std::vector<int>& times, bool at_once) const {
    const int most = most_in_parcel();
    std::vector<Parcel> found;
    for (const int unit : Touches::order(times)) {
      const int due = at_once ? 0 : times[idx(unit)];
      const auto joins = [&](const Parcel& last) {
        return last.due == due && last.units.last == unit && last.units.count() < most &&
               is_foreign(last.units) == is_foreign({unit, unit + 1});
      };
      if (found.empty() || !joins(found.back())) found.push_back({{unit, unit}, due});
      ++found.back().units.last;
    }
    return found;
  }

  [[nodiscard]] bool leads() const { return position_ < lanes_; }
  /// The blocks of these units, all alike, are those of ranks elsewhere, or they are parts of a vector.
  [[nodiscard]] bool is_foreign(BlockRange units) const {
    return !operation_.is_per_rank() || units_.host_of(units.first) != host_;
  }

  int add_outer(int i, const std::vector<int>& place) {
    Op op = outer_.program[i];
    if (is_local(op.kind)) {
      op.from = units_.slots(position_, {op.from, op.from + op.blocks.count()}).first;
    } else {
      op.peer = led_.leader(op.peer, position_);
    }
    op.blocks = units_.slots(position_, op.blocks);
    std::vector<int> after;
    for (const int before : outer_.program.after(i)) after.push_back(place[idx(before)]);
    return builder_.add(op, after);
  }

  /// Trees side by side take a parcel at different times. So a rank does not take the same parcel of all lanes one after another, which
  /// would let a lane wait for the deepest. In step s it takes of each lane the parcel that is due at its depth. A message is sent one
  /// step before it is received. All ranks list sends by this order, and receives, so that no two wait for each other.
  void hand_up(const std::vector<Parcel>& all, int step) {
    const int own = step - spread_.height();  // in a leader's turn
    const bool sums = operation_.reduces;
    const auto turn_of = [&](int lane) { return own + spread_.place(lane).depth; };
    for_each_in_trees(all, sums, turn_of, [&](const Spread::Place& place, BlockRange range) {
      for (auto child = place.children.rbegin(); child != place.children.rend(); ++child)
        pass({*child, position_}, range, OpKind::recv_combine);
    });
    if (own >= 0 && own < std::ssize(all)) exchange_up(all[idx(own)].units);
    for_each_in_trees(all, sums, turn_of, [&](const Spread::Place& place, BlockRange range) {
      pass({position_, place.parent}, range, OpKind::recv_combine);
    });
  }

  void hand_down(const std::vector<Parcel>& all, int step) {
    const bool all_get_it = operation_.after == Holder::all;
    const auto turn_of = [&](int lane) { return step - spread_.place(lane).depth; };
    for_each_in_trees(all, all_get_it, turn_of, [&](const Spread::Place& place, BlockRange range) {
      pass({place.parent, position_}, range, OpKind::recv);
    });
    if (step < std::ssize(all)) exchange_down(all[idx(step)].units);
    for_each_in_trees(all, all_get_it, turn_of, [&](const Spread::Place& place, BlockRange range) {
      for (const int child : place.children) pass({position_, child}, range, OpKind::recv);
    });
  }

  /// Visits this rank's place in the tree of each lane, and the slots that are due there, if all ranks need or contribute to them.
  template <typename TurnOf, typename Visit>  // TurnOf: which of the parcels is due in a lane
  void for_each_in_trees(const std::vector<Parcel>& all, bool all_do, TurnOf turn_of, Visit visit) const {
    for (int lane = 0; lane < lanes_ && all_do && !spread_.is_direct(); ++lane) {
      const int turn = turn_of(lane);
      if (turn < 0 || turn >= std::ssize(all) || !spread_.takes_part(position_, lane)) continue;
      const BlockRange units = all[idx(turn)].units;
      if (is_foreign(units)) visit(spread_.place(lane), units_.slots(lane, units));
    }
  }

  void exchange_up(BlockRange units) {
    if (operation_.before == Holder::root) {
      exchange_with_root(units, OpKind::recv);
    } else if (!is_foreign(units)) {
      exchange_own(units, !operation_.reduces, [](int leader, int member) { return Way{member, leader}; });
    } else if (operation_.reduces && spread_.is_direct()) {
      for_each_pair(lanes_, [&](int lane, int member) {
        if (spread_.takes_part(member, lane))
          pass({member, lane}, units_.slots(lane, units), OpKind::recv_combine);
      });
    }
  }

  void exchange_down(BlockRange units) {
    const bool all_get_it = operation_.after == Holder::all;
    if (operation_.after == Holder::root) {
      exchange_with_root(units, operation_.reduces ? OpKind::recv_combine : OpKind::recv);
    } else if (!is_foreign(units)) {
      exchange_own(units, !all_get_it, [](int leader, int member) { return Way{leader, member}; });
    } else if (all_get_it && spread_.is_direct()) {
      for_each_pair(lanes_, [&](int lane, int member) {
        if (spread_.takes_part(member, lane)) pass({lane, member}, units_.slots(lane, units), OpKind::recv);
      });
    }
  }

  /// The root hands the other leaders of its host their shares, or gets them.
  void exchange_with_root(BlockRange units, OpKind receive) {
    if (!is_roots_host_ || !is_foreign(units)) return;
    for (int lane = 1; lane < lanes_; ++lane) {
      const bool root_has_it = operation_.before == Holder::root;
      pass(root_has_it ? Way{0, lane} : Way{lane, 0}, units_.slots(lane, units), receive);
    }
  }

  /// Positions among the members.
  struct Way {
    int from;
    int to;
  };

  /// Of the blocks of this host's ranks: of each member its own, or all others. On the root's host they do without the lanes.
  template <typename WayOf>
  void exchange_own(BlockRange units, bool own, WayOf way_of) {
    for_each_pair(is_roots_host_ ? 1 : lanes_, [&](int leader, int member) {
      const int lane = is_roots_host_ ? member % lanes_ : leader;
      for (const BlockRange part : parts(units_.slots(lane, units), members_[idx(member)], own))
        pass(way_of(leader, member), part, operation_.reduces ? OpKind::recv_combine : OpKind::recv);
    });
  }

  /// Visits the pairs of a leader and another member that this rank is one of. In each step nobody is in two of either kind.
  template <typename Visit>  // (position of the leader, of the member)
  void for_each_pair(int leaders, Visit visit) const {
    const auto count = static_cast<int>(members_.size());
    for (int step = 1; step < count; ++step) {
      if (position_ < leaders) visit(position_, (position_ + step) % count);
      const int leader = (position_ - step + count) % count;
      if (leader < leaders) visit(leader, position_);
    }
  }

  /// Of a range, the slots of a rank's own block, or the others.
  [[nodiscard]] std::vector<BlockRange> parts(BlockRange range, Rank owner, bool own) const {
    const BlockRange mine = units_.slots_of(owner);
    const int first = std::clamp(mine.first, range.first, range.last);
    const int last = std::clamp(mine.last, range.first, range.last);
    std::vector<BlockRange> found;
    if (own) found = {{first, last}};
    if (!own) found = {{range.first, first}, {last, range.last}};
    std::erase_if(found, [](BlockRange r) { return r.count() == 0; });
    return found;
  }

  /// This rank's end of a message, if it has one.
  void pass(Way way, BlockRange range, OpKind receive) {
    if (way.from < 0 || way.to < 0 || (way.from != position_ && way.to != position_)) return;
    const bool sends = way.from == position_;
    builder_.add({.kind = sends ? OpKind::send : receive,
                  .inside = true,
                  .peer = members_[idx(sends ? way.to : way.from)],
                  .blocks = range,
                  .round = round_});
  }

  const OperationTraits& operation_;
  Rank rank_;
  int lanes_;
  const Led& led_;
  const std::vector<Rank>& members_;  // of this host, the leaders first
  int position_;                      // among them
  int host_;
  bool is_roots_host_;
  RankSchedule outer_;  // of a leader of this host
  Units units_;
  Spread spread_;
  Touches touches_;
  Shape shape_;
  ProgramBuilder builder_;
  int round_ = 0;
};

/// What is the same for all ranks of a call.
class Groundwork {
 public:
  Groundwork(const Request& request, int most_lanes)
      : request_(request),
        most_lanes_(most_lanes),
        hosts_(request.ranks, request.host),
        led_(request, hosts_, std::min(most_lanes, hosts_.fewest_ranks())) {}

  [[nodiscard]] bool is_of(const Request& request, int most_lanes) const {
    return most_lanes == most_lanes_ && request.operation == request_.operation &&
           request.ranks == request_.ranks && request.root == request_.root &&
           request.arrival_ns == request_.arrival_ns && request.host == request_.host;
  }
  [[nodiscard]] const Hosts& hosts() const { return hosts_; }
  [[nodiscard]] const Led& led() const { return led_; }

 private:
  Request request_;
  int most_lanes_;
  Hosts hosts_;
  Led led_;
};

/// Whoever makes the parts of all ranks asks for them one after another. Laid anew for each, the groundwork would take time by the square
/// of the ranks.
std::shared_ptr<const Groundwork> groundwork(const Request& request, int most_lanes) {
  thread_local std::shared_ptr<const Groundwork> last;
  if (!last || !last->is_of(request, most_lanes)) last = std::make_shared<Groundwork>(request, most_lanes);
  return last;
}

}  // namespace

RankSchedule two_level_part(const Algorithm& flat, const Request& request, Rank rank, int most_lanes) {
  const std::shared_ptr<const Groundwork> laid = groundwork(request, most_lanes);
  if (laid->hosts().are_single()) {
    Request alone = request;
    alone.host.clear();
    return make_rank_schedule(flat, alone, rank);
  }
  return Generator(flat, request, laid->hosts(), laid->led(), rank).make();
}

bool is_served_on_two_levels(const Algorithm& flat) {
  // Blocks of a pair of ranks, and blocks whose sizes only their owners know, are not handed on by leaders.
  const OperationTraits& row = traits(flat.operation);
  return flat.segmentation != Segmentation::head_and_rest && !row.is_per_pair() && !row.sizes_are_own;
}

}  // namespace papfft::comm
