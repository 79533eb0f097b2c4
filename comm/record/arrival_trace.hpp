// SPDX-License-Identifier: MIT
// What is replayed of arrivals that were recorded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

#include "papfft/recording.hpp"

namespace papfft::comm {

/// By how much each rank comes late in each iteration.
struct ArrivalTrace {
  int iterations = 0;
  int ranks = 0;
  std::vector<std::int64_t> delay_ns;  ///< [iteration * ranks + rank]
};

// What a file may ask of memory and of arithmetic.
inline constexpr std::size_t kMostTraceRows = std::size_t{1} << 20;                     ///< calls times ranks
inline constexpr std::int64_t kMostTraceNs = std::int64_t{10} * 86400 * 1'000'000'000;  ///< ten days

/// An iteration per call before which half or more of the ranks other than its root had computed, since it is computations
/// that end unevenly; where there is none, per call. A rank's delay is its arrival minus the earliest of the call.
/// @throws TraceError  there is no call
[[nodiscard]] ArrivalTrace replay(const ArrivalRecording& recording);

/// Reads either what write_recording() wrote, and replays it; or lines `iteration,rank,delay_ns` in any order, where empty
/// lines, lines that begin with '#' and one heading line of exactly these names are passed over.
/// @throws TraceError  naming the line, if it is no such triple, one is negative or there twice; or if not every iteration
///                     0 .. I-1 has every rank 0 .. P-1.
[[nodiscard]] ArrivalTrace parse_trace(std::istream& in);

}  // namespace papfft::comm
