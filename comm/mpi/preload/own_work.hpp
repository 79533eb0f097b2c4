// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "comm/engine/call_watch.hpp"
#include "papfft/options.hpp"

namespace papfft::comm::preload {

/// What the library does by itself on all ranks together, between its first line and the end of this object. If it lasts longer than
/// Options::stuck_after, this rank says so and ends, and with it the job.
class OwnWork {
 public:
  /// @param what  "starts", "makes a communicator for MPI_Bcast of 800000 bytes". MPI must have been initialized.
  OwnWork(const Options& options, std::string what);

 private:
  std::optional<CallWatch> watch_;
};

}  // namespace papfft::comm::preload
