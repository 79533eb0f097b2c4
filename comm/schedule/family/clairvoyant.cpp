// SPDX-License-Identifier: MIT
#include "comm/schedule/family/clairvoyant.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace papfft::comm {

RoundTimes round_times(const Request& request) {
  RoundTimes times{.arrival_ns = request.arrival_ns};
  times.arrival_ns.resize(static_cast<std::size_t>(request.ranks));
  const auto [first, last] = std::ranges::minmax(times.arrival_ns);
  for (std::int64_t& arrival : times.arrival_ns) arrival -= first;
  times.round_ns = std::clamp<std::int64_t>(request.round_ns, 1, last - first + 1);
  return times;
}

ActiveRanks::ActiveRanks(RoundTimes times)
    : times_ns_(std::move(times.arrival_ns)), round_ns_(times.round_ns), waiting_(times_ns_.size()) {
  members_.reserve(times_ns_.size());
  std::iota(waiting_.begin(), waiting_.end(), 0);
  std::ranges::sort(waiting_, [this](int i, int j) { return precedes(i, j); });
}

std::span<const int> ActiveRanks::begin_round() {
  const std::size_t first = next_waiting_;
  admit();
  while (members_.size() == 1 && someone_waits()) {
    const std::int64_t rounds = (next_lead_ns() - lead_ns(members_.front())) / round_ns_;
    round_ += rounds;
    elapsed_ns_ += rounds * round_ns_;
    admit();
  }
  return std::span<const int>(waiting_).subspan(first, next_waiting_ - first);
}

void ActiveRanks::admit() {
  while (someone_waits()) {
    const std::int64_t lead_of_next_ns = next_lead_ns();
    // If the next to arrive comes before the first member, it is the first itself, and everybody stays: nobody of the group
    // was a whole round ahead of another.
    if (!members_.empty() && lead_of_next_ns >= lead_ns(members_.front()) + round_ns_) return;
    const int newcomer = waiting_[next_waiting_++];
    times_ns_[static_cast<std::size_t>(newcomer)] = lead_of_next_ns;
    members_.insert(
        std::ranges::upper_bound(members_, newcomer, [this](int i, int j) { return precedes(i, j); }),
        newcomer);
  }
}

}  // namespace papfft::comm
