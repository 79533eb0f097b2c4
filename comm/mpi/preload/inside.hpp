// SPDX-License-Identifier: MIT
#pragma once

namespace papfft::comm::preload {

/// While one of these lives, calls that this thread makes pass: they are the layer's own, or a call of MPI_X that comes back as
/// PMPI_X from another tool. The library is loaded at the program's start, so the quick kind of thread-local memory works.
class Inside {
 public:
  Inside() { ++depth_; }
  ~Inside() { --depth_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[nodiscard]] static bool is_any() { return depth_ > 0; }

 private:
  static thread_local int depth_ __attribute__((tls_model("initial-exec")));
};

}  // namespace papfft::comm::preload
