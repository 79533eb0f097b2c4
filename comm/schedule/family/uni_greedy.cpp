// SPDX-License-Identifier: MIT
#include "comm/schedule/family/uni_greedy.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace papfft::comm {

std::int64_t plan_uni_greedy(int ranks, Rank root, std::span<const std::int64_t> message_time,
                             std::span<const std::int64_t> combine_time, const TransferSink& sink) {
  using Free =
      std::pair<std::int64_t, int>;  // x_i, and i: the root is 0, the others follow in the order of ranks
  const auto rank_of = [root](int i) { return i == 0 ? root : i <= root ? i - 1 : i; };
  std::vector<std::int64_t> x(static_cast<std::size_t>(ranks));
  std::vector<Transfer> transfers;
  transfers.reserve(message_time.size() * static_cast<std::size_t>(ranks - 1));
  for (std::size_t k = 0; k < message_time.size(); ++k) {
    std::vector<Free> all;
    all.reserve(x.size());
    for (int i = 0; i < ranks; ++i) all.emplace_back(x[static_cast<std::size_t>(i)], i);
    std::priority_queue<Free, std::vector<Free>, std::greater<>> remaining(std::greater<>{}, std::move(all));
    while (remaining.size() > 1) {
      int from = remaining.top().second;  // g1
      remaining.pop();
      auto [t, to] = remaining.top();  // g2
      remaining.pop();
      if (from == 0) std::swap(from, to);
      const std::int64_t sent = t + message_time[k];
      x[static_cast<std::size_t>(from)] = sent;
      x[static_cast<std::size_t>(to)] = sent + combine_time[k];
      transfers.push_back(
          {.round = t, .from = rank_of(from), .to = rank_of(to), .segment = static_cast<int>(k)});
      remaining.emplace(x[static_cast<std::size_t>(to)], to);
    }
  }
  std::ranges::stable_sort(transfers, {}, &Transfer::round);
  sink(transfers);
  return x[0];
}

}  // namespace papfft::comm
