// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "papfft/observer.hpp"
#include "papfft/options.hpp"
#include "papfft/recorder.hpp"
#include "papfft/recording.hpp"

namespace papfft::comm::preload {

/// Keeps when this rank came to the calls of all ranks and left them: calls on MPI_COMM_WORLD, and on communicators of the same
/// ranks in the same order. Changes nothing that the program does.
class Observation {
 public:
  /// Collective over MPI_COMM_WORLD: the clocks of the ranks are compared. @param least_bytes  of the calls that are kept
  Observation(const Options& options, std::size_t least_bytes);

  /// A call has ended. From any thread. @param call  is given its number here
  void call_ended(CallRecord call, MPI_Comm comm);

  /// Collective over MPI_COMM_WORLD, once. The clocks are compared again, so that their drift is known. @return at rank 0: all ranks' times
  [[nodiscard]] ArrivalRecording collect();

  /// A recording keeps no more calls. They take 100 bytes each.
  static constexpr std::size_t kMostCalls = std::size_t{1} << 17U;

 private:
  [[nodiscard]] bool is_of_all_ranks(MPI_Comm comm) const;

  Options options_;
  std::size_t least_bytes_;
  Recorder recorder_{kMostCalls};
  int keyval_ = MPI_KEYVAL_INVALID;  // of communicators that have been looked at
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::int64_t> last_exit_ns_ = 0;
};

}  // namespace papfft::comm::preload
