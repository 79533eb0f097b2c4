// SPDX-License-Identifier: MIT
// Who waited for whom in the calls of a recording. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "papfft/operation.hpp"
#include "papfft/recording.hpp"

namespace papfft::comm::preload {

/// The calls of one operation with the same root and size.
struct WaitingRow {
  Operation operation = Operation::bcast;
  int root = 0;
  std::uint64_t bytes = 0;
  std::int64_t calls = 0;
  std::int64_t imbalance_ns = 0;  ///< from the first arrival to the last, of all these calls together
  std::int64_t inside_ns = 0;     ///< that all ranks spent in them
  /// Of these, before the others came whose data a rank needs: before the root, at the root before the last of the others, or where all
  /// exchange before the last.
  std::int64_t waiting_ns = 0;
  int last_rank = 0;            ///< that came last the most often
  std::int64_t times_last = 0;  ///< how often it did
};

/// Those with the most time come first.
[[nodiscard]] std::vector<WaitingRow> waiting_rows(const ArrivalRecording& recording);
/// @param most_rows  that are printed
[[nodiscard]] std::string waiting_text(const ArrivalRecording& recording, std::size_t most_rows = 20);

/// The recording as `papfft report` reads it (docs/reference/file-formats.md); write_recording() has the form for tables.
[[nodiscard]] std::string recording_json(const ArrivalRecording& recording);

}  // namespace papfft::comm::preload
