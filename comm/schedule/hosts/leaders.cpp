// SPDX-License-Identifier: MIT
// One leader per host runs a flat algorithm, the outer one; the other ranks of a host, its members, exchange with their leader
// through memory. So each link carries what the outer algorithm needs among as many ranks as there are hosts.
//
//   up      members hand their contributions to the leader, before it sends them on: gathers, reductions, allgathers
//   down    the leader hands on what has come: broadcasts, scatters, allgathers, results of allreduce and reduce-scatter
//
// Both go unit by unit, a unit being what the outer algorithm takes for one slot, in the order in which the leader needs it or gets
// it. So the segments of a vector flow through both levels at once. What is the same for all members goes along a tree (InsideTree),
// what is each one's own directly.
//
//   bcast, hosts {0 1} {2 3}, root 0, S = 2     0 -> 2: 0   0 -> 1: 0 | 2 -> 3: 0   0 -> 2: 1   0 -> 1: 1 | 2 -> 3: 1
//
// Arrivals compose, too. A host comes to a broadcast or a scatter with its first rank, which then leads it, and to anything else with
// its last; that one leads a reduction, at the end of a chain along which those who came before it have been combined.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/composition.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/binomial_tree.hpp"

namespace papfft::comm {

namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// Who leads each host, and in which order its members are served.
class Led {
 public:
  Led(const Request& request, const Hosts& hosts) {
    const bool sums = is_reduction(request.operation);
    const bool comes_with_first = traits(request.operation).before == Holder::root;
    for (int h = 0; h < hosts.count(); ++h) {
      const std::vector<Rank>& members = hosts.members(h);
      std::vector<std::int64_t> arrivals;
      for (const Rank r : members) {
        if (!request.arrival_ns.empty()) arrivals.push_back(request.arrival_ns[idx(r)]);
      }
      const auto leader = [&] {
        if (is_rooted(request.operation) && hosts.of(request.root) == h)
          return std::ranges::find(members, request.root) - members.begin();
        if (arrivals.empty()) return std::ptrdiff_t{0};
        return (sums ? std::ranges::max_element(arrivals) : std::ranges::min_element(arrivals)) -
               arrivals.begin();
      }();
      std::vector<Rank> order =
          arrival_order(static_cast<int>(members.size()), static_cast<Rank>(leader), arrivals,
                        sums ? ArrivalOrder::latest_first : ArrivalOrder::earliest_first);
      if (!arrivals.empty()) {
        host_arrival_ns_.push_back(comes_with_first ? arrivals[idx(order[0])] : std::ranges::max(arrivals));
      }
      for (Rank& r : order) r = members[idx(r)];
      order_.push_back(std::move(order));
    }
  }

  /// The leader first.
  [[nodiscard]] const std::vector<Rank>& order(int host) const { return order_[idx(host)]; }
  [[nodiscard]] Rank leader(int host) const { return order(host).front(); }
  /// When each host can begin, or empty.
  [[nodiscard]] const std::vector<std::int64_t>& host_arrival_ns() const { return host_arrival_ns_; }

 private:
  std::vector<std::vector<Rank>> order_;  // per host
  std::vector<std::int64_t> host_arrival_ns_;
};

/// Where the outer schedule's slots are in the whole one. A vector's are the same; of blocks per rank a host's stand together, and a
/// unit is an S-th of them.
class Units {
 public:
  Units(const Shape& outer, const Hosts& hosts) : per_rank_(outer.per_rank()), segments_(outer.segments) {
    if (per_rank_ && !outer.scratch.empty()) {
      throw std::invalid_argument(
          "hosts: an algorithm on blocks per rank with slots of its own is not served");
    }
    for (int position = 0; per_rank_ && position < outer.ranks; ++position) {
      const int host = outer.holder_of(position);
      first_.push_back(static_cast<int>(holder_.size()));
      host_at_.push_back(host);
      holder_.insert(holder_.end(), hosts.members(host).begin(), hosts.members(host).end());
    }
    first_.push_back(static_cast<int>(holder_.size()));
    blocks_ = outer.blocks();
  }

  [[nodiscard]] int count() const { return blocks_; }
  [[nodiscard]] const std::vector<Rank>& holder() const { return holder_; }
  [[nodiscard]] BlockRange slots(BlockRange units) const { return {begin(units.first), begin(units.last)}; }
  [[nodiscard]] BlockRange slots(int unit) const { return slots({unit, unit + 1}); }
  [[nodiscard]] int begin(int unit) const {
    if (!per_rank_) return unit;
    const int position = unit / segments_;
    if (idx(position) + 1 == first_.size()) return first_.back() * segments_;
    const int members = first_[idx(position) + 1] - first_[idx(position)];
    return first_[idx(position)] * segments_ + unit % segments_ * members;
  }
  /// Of blocks per rank.
  [[nodiscard]] int host_of(int unit) const { return host_at_[idx(unit / segments_)]; }
  [[nodiscard]] BlockRange slots_of(Rank rank) const {
    const auto position = static_cast<int>(std::ranges::find(holder_, rank) - holder_.begin());
    return {position * segments_, (position + 1) * segments_};
  }

 private:
  bool per_rank_;
  int segments_;
  int blocks_ = 0;
  std::vector<int> first_ = {};    // position of the outer schedule -> its first position in the whole one
  std::vector<int> host_at_ = {};  // position of the outer schedule -> host
  std::vector<Rank> holder_ = {};
};

/// When the leader's program touches each unit, as indices of its ops; the number of ops stands for never.
struct Touches {
  std::vector<int> first;
  std::vector<int> settled;  ///< holds its last value from then on, or nobody changes it: the first touch

  Touches(const Program& program, int units) : first(idx(units), program.size()), settled(idx(units), -1) {
    const auto touch = [&](BlockRange range, int i, bool writes) {
      for (int u = range.first; u < std::min(range.last, units); ++u) {
        first[idx(u)] = std::min(first[idx(u)], i);
        if (writes) settled[idx(u)] = i;
      }
    };
    for (int i = 0; i < program.size(); ++i) {
      const Op& op = program[i];
      if (is_local(op.kind)) touch({op.from, op.from + op.blocks.count()}, i, false);
      touch(op.blocks, i, op.kind != OpKind::send);
    }
    for (std::size_t u = 0; u < settled.size(); ++u) {
      if (settled[u] < 0) settled[u] = first[u];
    }
  }

  /// The units by time.
  static std::vector<int> order(const std::vector<int>& times) {
    std::vector<int> units(times.size());
    std::iota(units.begin(), units.end(), 0);
    std::ranges::stable_sort(units, {}, [&](int u) { return times[idx(u)]; });
    return units;
  }
};

bool arrive_apart(const std::vector<std::int64_t>& arrival_ns) {
  return !arrival_ns.empty() && std::ranges::min(arrival_ns) < std::ranges::max(arrival_ns);
}

/// Along which the ranks of a host hand on what is the same for all of them. Position 0 is the leader.
///
///   chain      0 -> 1 -> 2 -> ...                 of ranks that arrive apart: who came before is combined before
///   binomial   0 -> 4 2 1   4 -> 5   2 -> 3       of a few units: the fewest steps
///   stem       0 -> 1 -> 2 3   2 -> 4 5           of many units, which follow each other as fast as the busiest rank serves one
///
/// The leader has a link to serve beside its children, and so has one child in a stem; any other rank has two.
class InsideTree {
 public:
  InsideTree(int size, int units, bool arrive_apart)
      : size_(size),
        form_(arrive_apart         ? Form::chain
              : units < kManyUnits ? Form::binomial
                                   : Form::stem) {}

  [[nodiscard]] int parent(int v) const {
    if (form_ == Form::binomial) return BinomialTree{size_}.parent(v);
    return form_ == Form::chain ? v - 1 : v / 2;
  }
  /// In the order in which they are served.
  [[nodiscard]] std::vector<int> children(int v) const {
    if (form_ == Form::binomial) return BinomialTree{size_}.children(v);
    std::vector<int> result;
    const int first = form_ == Form::chain || v == 0 ? v + 1 : 2 * v;
    const int last = form_ == Form::chain || v == 0 ? first : first + 1;
    for (int child = first; child <= std::min(last, size_ - 1); ++child) result.push_back(child);
    return result;
  }

 private:
  enum class Form : std::uint8_t { chain, binomial, stem };
  // A stem is deeper than a binomial tree. From here on even four ranks gain: their leader serves one child, not two.
  static constexpr int kManyUnits = 4;

  int size_;
  Form form_;
};

class Generator {
 public:
  Generator(const Algorithm& flat, const Request& request, const Hosts& hosts, Rank rank)
      : operation_(traits(request.operation)),
        rank_(rank),
        led_(request, hosts),
        members_(led_.order(hosts.of(rank))),
        position_(static_cast<int>(std::ranges::find(members_, rank) - members_.begin())),
        host_(hosts.of(rank)),
        outer_(outer_part(flat, request, hosts)),
        units_(outer_.shape, hosts),
        tree_(static_cast<int>(members_.size()), units_.count(),
              is_reduction(request.operation) && arrive_apart(request.arrival_ns)),
        touches_(outer_.program, units_.count()),
        shape_(whole_shape(request)),
        builder_(shape_.slots()) {
    for (int h = 0; h < hosts.count(); ++h) leaders_.push_back(led_.leader(h));
  }

  RankSchedule make() {
    const Program& program = outer_.program;
    std::vector<int> place;  // op of the outer program -> where it is now
    auto up = Touches::order(touches_.first);
    auto down = Touches::order(touches_.settled);
    auto next_up = up.begin();
    auto next_down = down.begin();
    for (int i = 0; i <= program.size(); ++i) {
      round_ = program.size() == 0 ? 0 : program[std::min(i, program.size() - 1)].round;
      for (; next_up != up.end() && touches_.first[idx(*next_up)] == i; ++next_up) hand_up(*next_up);
      if (position_ == 0 && i < program.size()) place.push_back(add_outer(i, place));
      if (position_ > 0) continue;  // in a program of its own all that goes down comes last
      for (; next_down != down.end() && touches_.settled[idx(*next_down)] == i; ++next_down)
        hand_down(*next_down);
    }
    for (; next_down != down.end(); ++next_down) hand_down(*next_down);
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
    shape.holder = units_.holder();
    if (outer_.shape.ranks == 1) shape.credits = 0;
    return shape;
  }

  int add_outer(int i, const std::vector<int>& place) {
    Op op = outer_.program[i];
    if (!is_local(op.kind)) op.peer = leaders_[idx(op.peer)];
    op.blocks = units_.slots(op.blocks);
    std::vector<int> after;
    for (const int before : outer_.program.after(i)) after.push_back(place[idx(before)]);
    return builder_.add(op, after);
  }

  void hand_up(int unit) {
    if (operation_.before == Holder::root) return;
    const BlockRange range = units_.slots(unit);
    const bool is_foreign = operation_.is_per_rank() && units_.host_of(unit) != host_;
    if (!operation_.is_per_rank() || is_foreign) {
      if (operation_.reduces) sum_up_tree(range);
    } else if (position_ > 0) {
      for (const BlockRange part : parts(range, rank_, !operation_.reduces))
        add(OpKind::send, members_[0], part);
    } else {
      for (std::size_t k = 1; k < members_.size(); ++k) {
        for (const BlockRange part : parts(range, members_[k], !operation_.reduces)) {
          add(operation_.reduces ? OpKind::recv_combine : OpKind::recv, members_[k], part);
        }
      }
    }
  }

  void hand_down(int unit) {
    if (operation_.after == Holder::root) return;
    const BlockRange range = units_.slots(unit);
    const bool is_foreign = operation_.is_per_rank() && units_.host_of(unit) != host_;
    const bool all_get_it = operation_.after == Holder::all;
    if (!operation_.is_per_rank() || is_foreign) {
      if (all_get_it) send_down_tree(range);
    } else if (position_ > 0) {
      for (const BlockRange part : parts(range, rank_, !all_get_it)) {
        add(operation_.reduces ? OpKind::recv_combine : OpKind::recv, members_[0], part);
      }
    } else {
      for (std::size_t k = 1; k < members_.size(); ++k) {
        for (const BlockRange part : parts(range, members_[k], !all_get_it))
          add(OpKind::send, members_[k], part);
      }
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

  void sum_up_tree(BlockRange range) {
    const std::vector<int> from = tree_.children(position_);
    for (auto child = from.rbegin(); child != from.rend(); ++child)
      add(OpKind::recv_combine, members_[idx(*child)], range);
    if (position_ > 0) add(OpKind::send, members_[idx(tree_.parent(position_))], range);
  }

  void send_down_tree(BlockRange range) {
    if (position_ > 0) add(OpKind::recv, members_[idx(tree_.parent(position_))], range);
    for (const int child : tree_.children(position_)) add(OpKind::send, members_[idx(child)], range);
  }

  void add(OpKind kind, Rank peer, BlockRange range) {
    builder_.add({.kind = kind, .inside = true, .peer = peer, .blocks = range, .round = round_});
  }

  const OperationTraits& operation_;
  Rank rank_;
  Led led_;
  const std::vector<Rank>& members_;  // of this host, the leader first
  int position_;                      // among them
  int host_;
  RankSchedule outer_;
  Units units_;
  InsideTree tree_;
  Touches touches_;
  Shape shape_;
  ProgramBuilder builder_;
  std::vector<Rank> leaders_;  // per host
  int round_ = 0;
};

RankSchedule generate(const Algorithm& flat, const Request& request, Rank rank) {
  const Hosts hosts(request.ranks, request.host);
  if (hosts.are_single()) {
    Request alone = request;
    alone.host.clear();
    return make_rank_schedule(flat, alone, rank);
  }
  return Generator(flat, request, hosts, rank).make();
}

}  // namespace

const Composition kAmongLeaders{
    .name = "hosts",
    .summary =
        "the same among one leader per host; the others of a host exchange with their leader through memory",
    .among_leaders = true,
    .serves = [](const Algorithm& flat) { return flat.segmentation != Segmentation::head_and_rest; },
    .local = generate};

}  // namespace papfft::comm
