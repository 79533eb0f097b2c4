// SPDX-License-Identifier: MIT
// What the planners of the Clairvoyant reduction share. CLV = Proficz and Ocetkiewicz, "Improving Clairvoyant" (2020).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "comm/schedule/core/bit_width.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

/// A request's times, ready to calculate with.
struct RoundTimes {
  std::vector<std::int64_t> arrival_ns;  ///< one per rank; the first rank arrives at 0
  std::int64_t round_ns =
      1;  ///< at least 1, and no longer than it takes all ranks to come: the schedule is the same
};

[[nodiscard]] RoundTimes round_times(const Request& request);

/// The group G of ranks that take part in a round, in order of availability, ties by number: CLV Listing 6
/// (merge-and-clean), and the skipping of rounds in which a rank is alone (CLV 5.1).
///
/// A rank is available from its arrival on; each round that it takes part in makes it available one round later. The
/// group are all that are available less than a round after the first. As all of them move on together, only what a rank
/// was ahead of the others when it came need be stored, and none of its order in the group ever changes.
class ActiveRanks {
 public:
  explicit ActiveRanks(RoundTimes times);

  /// Lets in who has arrived, skipping rounds until there are two. @return the newcomers
  std::span<const int> begin_round();

  /// All members are available a round later, but those that `leaves` tells have nothing left to do go.
  template <typename Leaves>
  void end_round(Leaves leaves) {
    std::erase_if(members_, leaves);
    ++round_;
    elapsed_ns_ += round_ns_;
  }

  [[nodiscard]] std::span<const int> members() const { return members_; }
  /// Of the round that has begun, counted from the first arrival.
  [[nodiscard]] std::int64_t round() const { return round_; }
  /// Whether member i comes before member j.
  [[nodiscard]] bool precedes(int i, int j) const {
    return lead_ns(i) != lead_ns(j) ? lead_ns(i) < lead_ns(j) : i < j;
  }

 private:
  [[nodiscard]] std::int64_t lead_ns(int i) const { return times_ns_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] bool someone_waits() const { return next_waiting_ < waiting_.size(); }
  /// Of the next to arrive, on the members' scale.
  [[nodiscard]] std::int64_t next_lead_ns() const { return lead_ns(waiting_[next_waiting_]) - elapsed_ns_; }
  void admit();

  std::vector<std::int64_t> times_ns_;  ///< of members: availability less elapsed_ns_; of others: arrival
  std::int64_t round_ns_;
  std::int64_t elapsed_ns_ = 0;
  std::int64_t round_ = 0;
  std::vector<int> members_;
  std::vector<int> waiting_;  ///< by arrival
  std::size_t next_waiting_ = 0;
};

/// The planner of reduce `clv`, for tests of each of its ways; the schedule is the same.
void plan_clairvoyant(const Request& request, const TransferSink& sink, BitWidth width);

}  // namespace papfft::comm
