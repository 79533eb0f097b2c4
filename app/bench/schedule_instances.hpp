// SPDX-License-Identifier: MIT
// What `papfft bench schedule` plans, and how long ranks take to find their place in the circulant graph.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

inline constexpr const char* kNoPattern = "none";  ///< of algorithms that know nothing of arrivals

/// The instances of CLV 5.7.
///   uniform  all arrive within [0, P + 0.1], at a random root
///   skewed   all arrive at 0 but the last rank, which comes at N; root 0
/// A round takes 0.001 to 1 in both. One that tells how much there is to plan:
///   rounds:R  all arrive within R rounds, at a random root
/// And one for algorithms that plan without arrivals:
///   none     root 0
class Instances {
 public:
  /// @throws std::invalid_argument
  Instances(const std::string& pattern, std::uint64_t seed);
  [[nodiscard]] comm::Request next(comm::Operation operation, int ranks, int segments);

 private:
  std::int64_t time_ns(double from, double to);

  static constexpr std::string_view kRounds = "rounds:";
  bool uniform_;
  bool skewed_;
  double rounds_ = 0;  ///< 0: not by rounds
  std::mt19937_64 random_;
};

/// How long ranks take to find what they receive and send in each round of a phase, which the paper (CIR) leaves at
/// O(log^3 P) and 3 to 29 us: one rank, and all receive schedules, which an allgatherv needs.
struct CirculantTimes {
  std::vector<double> rank_ns = {};  ///< mean over the sampled ranks, each receiving and sending
  std::vector<double> all_us = {};   ///< nothing for groups of which ranks are sampled
  int sampled = 0;                   ///< ranks; all of small groups
  std::int64_t checksum = 0;         ///< so that nothing is optimised away
};

[[nodiscard]] CirculantTimes time_circulant(int ranks, int repetitions);

}  // namespace papfft::app
