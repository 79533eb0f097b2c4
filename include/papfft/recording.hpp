// SPDX-License-Identifier: MIT
// Arrivals that were recorded (Recorder), and the file format that `papfft` reads and writes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "papfft/export.h"
#include "papfft/operation.hpp"

namespace papfft::comm {

/// A file of arrivals cannot be used. what() is one printable line.
class PAPFFT_API TraceError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// One rank's part of a recorded call; times in ns on one clock.
struct RecordedArrival {
  std::int64_t compute_ns = 0;  ///< time of computation since the rank's previous call
  std::int64_t arrival_ns = 0;
  std::optional<std::int64_t> predicted_ns = {};
  std::int64_t exit_ns = 0;
  /// When the rank's first message of the call began, if before it arrived; not in files.
  std::optional<std::int64_t> early_ns = {};
  friend bool operator==(const RecordedArrival&, const RecordedArrival&) = default;
};

struct RecordedCall {
  Operation operation = Operation::scatter;
  std::string algorithm;
  int root = 0;
  std::uint64_t bytes = 0;             ///< of one rank's block, or of the vector (CallArguments)
  std::vector<RecordedArrival> ranks;  ///< one per rank
  bool started = false;                ///< it went on beside its callers; not in files
  friend bool operator==(const RecordedCall&, const RecordedCall&) = default;
};

/// The collective calls of a job, in the order of their first arrivals.
struct ArrivalRecording {
  int ranks = 0;
  std::uint64_t dropped = 0;  ///< calls that were left out because there were too many
  std::vector<RecordedCall> calls;
  friend bool operator==(const ArrivalRecording&, const ArrivalRecording&) = default;
};

inline constexpr int kRecordingVersion = 1;

/// The CSV format, version 1:
///
///     # papfft arrivals 1
///     # any number of remarks
///     call,rank,operation,algorithm,root,bytes,compute_ns,arrival_ns,predicted_ns,exit_ns
///     0,0,gather,bsls,0,131072,20113456,20140007,20139001,20191702
///     ...
///     # end: 16 rows
///
/// Only predicted_ns may be negative; it is empty where nothing was predicted.
/// @param remarks  for people; one line each
PAPFFT_API void write_recording(std::ostream& out, const ArrivalRecording& recording,
                                const std::vector<std::string>& remarks);
/// Reads that format, with its rows in any order. @throws TraceError  naming the line; also if the last line is missing
[[nodiscard]] PAPFFT_API ArrivalRecording read_recording(std::istream& in);

}  // namespace papfft::comm
