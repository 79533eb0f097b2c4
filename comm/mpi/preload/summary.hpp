// SPDX-License-Identifier: MIT
// What happened to a program's calls, for its end. Pure but for the counters.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/mpi/preload/eligibility.hpp"

namespace papfft::comm::preload {

/// Calls are counted by size, in classes that begin with these.
inline constexpr std::array<std::size_t, 6> kClassBytes = {0,
                                                           std::size_t{64} << 10U,
                                                           std::size_t{256} << 10U,
                                                           std::size_t{1} << 20U,
                                                           std::size_t{4} << 20U,
                                                           std::size_t{16} << 20U};

/// Of the calls of one operation and size class.
struct CallCounts {
  std::int64_t ours = 0;
  std::int64_t passed = 0;
  std::int64_t ours_ns = 0;    ///< in these calls
  std::int64_t passed_ns = 0;  ///< in those that were timed: in mode `on` only calls that are long enough are
};

/// The counts of one rank, or the sums over several. As an array of numbers they travel in one message.
class Counts {
 public:
  static constexpr std::size_t kReasons = kReasonTexts.size();
  static constexpr std::size_t kPerOperation = 4 * kClassBytes.size() + kReasons;
  static constexpr std::size_t kSize = kPerOperation * kOperationCount;

  explicit Counts(std::vector<std::int64_t> values = std::vector<std::int64_t>(kSize))
      : values_(std::move(values)) {}

  [[nodiscard]] CallCounts of(Operation operation, std::size_t size_class) const;
  [[nodiscard]] std::int64_t passed_for(Operation operation, Reason reason) const;
  [[nodiscard]] std::vector<std::int64_t>& values() { return values_; }

 private:
  std::vector<std::int64_t> values_;
};

/// Counts what a rank does. Any thread may.
class Counters {
 public:
  void add_ours(Operation operation, std::size_t bytes, std::int64_t ns);
  void add_passed(Operation operation, std::size_t bytes, Reason reason, std::int64_t ns);
  [[nodiscard]] Counts counts() const;

 private:
  std::array<std::atomic<std::int64_t>, Counts::kSize> values_{};
};

/// Of the calls on communicators where arrivals are predicted.
struct ExpectedCalls {
  std::int64_t calls = 0;
  std::int64_t planned = 0;      ///< in an order that followed predicted arrivals
  std::int64_t begun_early = 0;  ///< before the caller came
};

/// The communicators of ours that have been made.
struct OwnCommunicators {
  std::int64_t made = 0;
  std::int64_t ns = 0;  ///< that this took, once all ranks of the communicator had come
};

/// What the summary says beside the counts.
struct Run {
  Mode mode = Mode::on;
  int ranks = 1;
  std::int64_t wall_ns = 0;  ///< from MPI_Init to MPI_Finalize, of all ranks together
  ExpectedCalls expected = {};
  OwnCommunicators own = {};  ///< of all ranks together
};

/// @param sums  over the ranks
[[nodiscard]] std::string summary_text(const Run& run, const Counts& sums);
/// The same for programs.
[[nodiscard]] std::string summary_json(const Run& run, const Counts& sums);

}  // namespace papfft::comm::preload
