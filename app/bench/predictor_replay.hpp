// SPDX-License-Identifier: MIT
// What the predictor would have made of phases that were recorded or made up. Pure: no messages, no clock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/choose/select.hpp"
#include "papfft/operation.hpp"
#include "papfft/recording.hpp"

namespace papfft::app {

/// The phases of a program's ranks, each before a collective call.
struct PhaseTrace {
  struct Call {
    std::int32_t position = 0;                   ///< in the program's sequence of calls
    std::vector<std::int64_t> start_ns = {};     ///< of each rank's phase
    std::vector<std::int64_t> duration_ns = {};  ///< of each rank's phase, until it arrives
    [[nodiscard]] std::vector<std::int64_t> arrival_ns() const;
  };
  std::string name;
  std::size_t ranks = 0;
  std::vector<Call> calls = {};
};

/// The calls of a recording before which half or more of the ranks had computed. @throws std::invalid_argument  there is none
[[nodiscard]] PhaseTrace recorded_phases(std::string name, const comm::ArrivalRecording& recording);

inline constexpr std::string_view kSyntheticNames = "trend, bimodal, two-phase, alternating, uniform";

/// Phases of 8 ranks in 120 calls, the same in each run. All are about 10 to 60 ms long and a hundredth of them is noise.
///     trend        each rank's load grows or shrinks steadily
///     bimodal      each phase of each rank is short or long, at random
///     two-phase    the ranks' loads change places after each 40 calls
///     alternating  one call with a short phase and one with a long phase in turns, each with loads of its own
///     uniform      each phase has a length at random
/// @throws std::invalid_argument  naming these, if it is none of them
[[nodiscard]] PhaseTrace synthetic_phases(std::string_view kind);

/// What was predicted before a call.
struct ReplayedCall {
  std::vector<std::int64_t> arrival_ns = {};       ///< true
  std::vector<std::vector<std::int64_t>> by = {};  ///< arrivals by each candidate (candidate_names)
  std::vector<std::int64_t> chosen_ns = {};        ///< arrivals by the estimators that were chosen
  comm::PredictionError error = {};                ///< what was known of the chosen ones then
};

/// The estimators that need no edge, as traces have none.
[[nodiscard]] std::vector<std::string_view> candidate_names();

/// Each call after the warm-up, in which every estimator has seen enough to say something.
[[nodiscard]] std::vector<ReplayedCall> replay_predictor(const PhaseTrace& trace);

struct ReplayError {
  std::string name;
  double mean_ns = 0;
  double median_ns = 0;
};

/// The group's errors (group_error_ns) over the calls: of each candidate, then "chosen" by recent error, then "together", which is no
/// prediction at all, then "decided": whichever of these two the decision takes.
[[nodiscard]] std::vector<ReplayError> replay_errors(const std::vector<ReplayedCall>& calls);

/// Mean simulated run times of calls on 1 Gb/s Ethernet.
struct ReplayTimes {
  double oblivious_ns = 0;
  double chosen_ns = 0;   ///< planned by the chosen predictions, however bad
  double decided_ns = 0;  ///< planned by them where that is worth it, else oblivious
  double true_ns = 0;     ///< planned by true arrivals
  std::size_t planned = 0;
  std::size_t calls = 0;
};

/// Of the algorithm that "auto" takes: a reduction in the background as in a session; a scatter without background, since there the
/// order matters only where no thread takes a late rank's block. @param operation  scatter or reduce
/// @param bytes  of the whole vector
[[nodiscard]] ReplayTimes replay_times(const std::vector<ReplayedCall>& calls, comm::Operation operation,
                                       std::size_t bytes);

}  // namespace papfft::app
