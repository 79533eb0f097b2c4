// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/record/arrival_trace.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::app {

/// `250us`, `1.5ms`, `2s`, `10ns` or `0`: a number and its unit, at most 10 days.
/// @throws std::invalid_argument  saying what is expected.
[[nodiscard]] std::int64_t parse_duration_ns(std::string_view text);

/// By how much each rank comes late to each iteration of an experiment: the arrival patterns of the literature, chosen
/// by a word (known_arrival_patterns() lists them), or a recorded one.
///
/// The delays depend on nothing but the pattern, the seed and the arguments, not on the order of calls: random numbers
/// are a hash of (seed, iteration, rank). Hence every rank can compute everybody's delay.
class ArrivalPattern {
 public:
  using TraceReader = comm::ArrivalTrace (*)(std::istream&);

  /// @param spec  e.g. `none`, `uniform:50ms`, `uniform:2x`, `late:3:50ms`, `k-late:3:10ms`, `trace:FILE`
  /// @param read_trace  reads that file; throws comm::TraceError
  /// @throws std::invalid_argument  listing the known patterns if this is none
  /// @throws comm::TraceError       naming a file that cannot be read or is none of ours
  static ArrivalPattern parse(std::string_view spec, std::uint64_t seed,
                              TraceReader read_trace = &comm::parse_trace);

  /// With a delay such as `2x`, in times of a message: the same pattern for messages of this time. Any other pattern as it is.
  [[nodiscard]] ArrivalPattern for_message(double message_ns) const;
  [[nodiscard]] bool is_in_messages() const { return messages_.has_value(); }

  /// @throws std::invalid_argument  if the delays are in messages; unless iteration >= 0 and rank and root are among the ranks; if the pattern names a
  ///   rank that does not exist; if a trace is of fewer ranks. A trace begins again after its last iteration.
  [[nodiscard]] std::int64_t delay_ns(std::int64_t iteration, comm::Rank rank, int ranks,
                                      comm::Rank root) const;

  /// As given to parse().
  [[nodiscard]] const std::string& spec() const { return spec_; }

 private:
  using Delay = std::int64_t (*)(const ArrivalPattern&, std::int64_t iteration, comm::Rank rank, int ranks,
                                 comm::Rank root);
  friend struct PatternTable;

  std::string spec_;
  std::uint64_t seed_ = 0;
  std::int64_t delay_ns_ = 0;       // the greatest, or the mean of exponential
  std::optional<double> messages_;  // the same in times of a message, until that is known
  int number_ = 0;                  // late: the rank; k-late: how many
  std::shared_ptr<const comm::ArrivalTrace> trace_;
  Delay delay_ = nullptr;
};

/// One line per pattern, `uniform:D          every rank anew between 0 and D`, for help texts and messages.
[[nodiscard]] std::string known_arrival_patterns();

}  // namespace papfft::app
