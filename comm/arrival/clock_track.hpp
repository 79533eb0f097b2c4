// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

namespace papfft::comm {

/// How a local clock stood to another one in the course of a job, so that times of the past can be told by the other.
class ClockTrack {
 public:
  /// Both clocks, read at the same time; later than at the call before. What is not later is ignored.
  void add(std::int64_t local_ns, std::int64_t reference_ns);
  [[nodiscard]] bool empty() const { return knots_.empty(); }
  /// When they were read last, on the local clock. Not if empty().
  [[nodiscard]] std::int64_t last_ns() const { return knots_.back().local_ns; }

  /// The difference is interpolated between readings, and constant before the first and after the last; without any it is 0.
  /// Never goes back where the local clock does not.
  [[nodiscard]] std::int64_t to_reference(std::int64_t local_ns) const;

 private:
  struct Knot {
    std::int64_t local_ns = 0;
    std::int64_t ahead_ns = 0;  // of the reference clock
  };
  std::vector<Knot> knots_;
};

}  // namespace papfft::comm
