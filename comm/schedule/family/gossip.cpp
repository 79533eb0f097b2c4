// SPDX-License-Identifier: MIT
#include "comm/schedule/family/gossip.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "comm/schedule/core/index.hpp"
#include "comm/schedule/family/clairvoyant.hpp"

namespace papfft::comm {

namespace {
constexpr int kBits = 64;
}  // namespace

Gossip::Gossip(int players, int items)
    : players_(players),
      words_((idx(players) + kBits - 1) / kBits),
      holders_(idx(items) * words_),
      holder_count_(idx(items)),
      lacking_(idx(players), items),
      missing_(std::int64_t{players} * items) {}

bool Gossip::has(int player, int item) const {
  return (holders_[idx(item) * words_ + idx(player / kBits)] >> (player % kBits) & 1U) != 0;
}

void Gossip::give(int player, int item) {
  if (has(player, item)) return;
  holders_[idx(item) * words_ + idx(player / kBits)] |= Word{1} << (player % kBits);
  ++holder_count_[idx(item)];
  --lacking_[idx(player)];
  --missing_;
}

std::vector<int> Gossip::passable_items() const {
  std::vector<int> items;
  for (int item = 0; item < static_cast<int>(holder_count_.size()); ++item) {
    const int count = holder_count_[idx(item)];
    if (count > 0 && count < players_) items.push_back(item);
  }
  std::ranges::stable_sort(items, {}, [&](int item) { return holder_count_[idx(item)]; });
  return items;
}

std::vector<int> Gossip::receivers(const Ports& free) const {
  std::vector<int> players;
  for (int player = 0; player < players_; ++player) {
    if (free.receive[idx(player)] && lacking_[idx(player)] > 0) players.push_back(player);
  }
  std::ranges::stable_sort(players, std::ranges::greater{},
                           [&](int player) { return lacking_[idx(player)]; });
  return players;
}

int Gossip::first_holder(int item, const Players& among) const {
  const Word* const holders = holders_.data() + idx(item) * words_;
  for (std::size_t w = 0; w < words_; ++w) {
    if (const Word both = holders[w] & among[w]; both != 0)
      return static_cast<int>(w) * kBits + std::countr_zero(both);
  }
  return -1;
}

std::vector<Gossip::Pass> Gossip::next(const Ports& free) {
  Players senders(words_);
  for (int player = 0; player < players_; ++player) {
    if (free.send[idx(player)]) senders[idx(player / kBits)] |= Word{1} << (player % kBits);
  }
  std::vector<int> items = passable_items();
  std::vector<Pass> passes;
  for (const int to : receivers(free)) {
    for (auto item = items.begin(); item != items.end();) {
      if (has(to, *item)) {
        ++item;
        continue;
      }
      const int from = first_holder(*item, senders);
      if (from < 0) {  // nor for anybody else in this round
        item = items.erase(item);
        continue;
      }
      senders[idx(from / kBits)] &= ~(Word{1} << (from % kBits));
      passes.push_back({from, to, *item});
      break;
    }
  }
  for (const Pass& pass : passes) give(pass.to, pass.item);
  return passes;
}

Arrivals::Arrivals(const Request& request) : order_(idx(request.ranks)) {
  const RoundTimes times = round_times(request);
  for (const std::int64_t arrival : times.arrival_ns) {
    rounds_.push_back(arrival / times.round_ns + (arrival % times.round_ns > 0 ? 1 : 0));
  }
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, {}, [&](Rank r) { return first_round(r); });
}

std::vector<Rank> Arrivals::until(std::int64_t round) {
  std::vector<Rank> ranks;
  while (told_ < order_.size() && first_round(order_[told_]) <= round) ranks.push_back(order_[told_++]);
  return ranks;
}

std::int64_t Arrivals::next_round() const { return told_ < order_.size() ? first_round(order_[told_]) : -1; }

}  // namespace papfft::comm
