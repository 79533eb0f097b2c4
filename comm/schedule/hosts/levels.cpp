// SPDX-License-Identifier: MIT
#include "comm/schedule/hosts/levels.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/family/binomial_tree.hpp"

namespace papfft::comm {

Led::Led(const Request& request, const Hosts& hosts, int lanes) : lanes_(lanes) {
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
      // All leaders of the host must have come. Behind the first they stand in order of arrival.
      const std::int64_t led_ns = std::max(arrivals[idx(order[0])], arrivals[idx(order[idx(lanes - 1)])]);
      host_arrival_ns_.push_back(comes_with_first ? led_ns : std::ranges::max(arrivals));
    }
    for (Rank& r : order) r = members[idx(r)];
    order_.push_back(std::move(order));
  }
}

std::vector<Rank> Led::followers(int host, int lane) const {
  std::vector<Rank> found;
  for (std::size_t k = idx(lane); k < order(host).size(); k += idx(lanes_)) found.push_back(order(host)[k]);
  std::ranges::sort(found);
  return found;
}

Units::Units(const Shape& outer, const Led& led)
    : per_rank_(outer.per_rank()),
      lanes_(led.lanes()),
      segments_(outer.segments),
      blocks_(outer.blocks()),
      outer_scratch_(static_cast<int>(outer.scratch.size())) {
  if (per_rank_ && outer_scratch_ > 0) {
    throw std::invalid_argument("hosts: an algorithm on blocks per rank with slots of its own is not served");
  }
  for (int lane = 0; lane < lanes_; ++lane) {
    for (const int like : outer.scratch) scratch_.push_back(lane * blocks_ + like);
    for (int position = 0; per_rank_ && position < outer.ranks; ++position) {
      const std::vector<Rank> followers = led.followers(outer.holder_of(position), lane);
      first_.push_back(static_cast<int>(holder_.size()));
      holder_.insert(holder_.end(), followers.begin(), followers.end());
    }
  }
  first_.push_back(static_cast<int>(holder_.size()));
  for (int position = 0; per_rank_ && position < outer.ranks; ++position)
    host_at_.push_back(outer.holder_of(position));
}

BlockRange Units::slots(int lane, BlockRange units) const {
  if (units.first < blocks_) return {begin(lane, units.first), begin(lane, units.last)};
  const int moved = lanes_ * blocks_ + lane * outer_scratch_ - blocks_;
  return {moved + units.first, moved + units.last};
}

int Units::begin(int lane, int unit) const {
  if (!per_rank_) return lane * blocks_ + unit;
  const std::size_t at = idx(lane) * host_at_.size() + idx(unit / segments_);
  if (at + 1 == first_.size()) return first_.back() * segments_;
  const int members = first_[at + 1] - first_[at];
  return first_[at] * segments_ + unit % segments_ * members;
}

BlockRange Units::slots_of(Rank rank) const {
  const auto position = static_cast<int>(std::ranges::find(holder_, rank) - holder_.begin());
  return {position * segments_, (position + 1) * segments_};
}

Touches::Touches(const Program& program, int units)
    : first(idx(units), program.size()), settled(idx(units), -1) {
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

std::vector<int> Touches::order(const std::vector<int>& times) {
  std::vector<int> units(times.size());
  std::iota(units.begin(), units.end(), 0);
  std::ranges::stable_sort(units, {}, [&](int u) { return times[idx(u)]; });
  return units;
}

int InsideTree::parent(int v) const {
  if (form_ == Form::binomial) return BinomialTree{size_}.parent(v);
  return form_ == Form::chain ? v - 1 : v / 2;
}

std::vector<int> InsideTree::children(int v) const {
  if (form_ == Form::binomial) return BinomialTree{size_}.children(v);
  std::vector<int> result;
  const int first = form_ == Form::chain || v == 0 ? v + 1 : 2 * v;
  const int last = form_ == Form::chain || v == 0 ? first : first + 1;
  for (int child = first; child <= std::min(last, size_ - 1); ++child) result.push_back(child);
  return result;
}

}  // namespace papfft::comm
