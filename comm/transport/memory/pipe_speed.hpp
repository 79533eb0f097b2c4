// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

namespace papfft::comm {

/// Whether a pipe pays. Where two cores share no cache, to write what the other has just read may cost thirty times a copy in the
/// cache; then MPI's one copy by the kernel is faster. Which cores a virtual machine gives the ranks may change at any time, so this
/// is learned from what the messages cost.
class PipeSpeed {
 public:
  /// So many nanoseconds went into writing, without any waiting.
  void wrote(std::size_t bytes, std::int64_t ns);
  /// Asked before each message: whether it should go through a pipe. A pipe that does not pay is tried again, after more and more
  /// messages.
  [[nodiscard]] bool pays();

 private:
  int slow_ = 0;     // messages in a row
  int resting_ = 0;  // messages before the next trial
  int rest_ = 0;     // how many were before the last
};

/// What a copy of one byte within a core's cache costs. Measured once in a process, in some 10 us.
[[nodiscard]] double copy_ns_per_byte();

}  // namespace papfft::comm
