// SPDX-License-Identifier: MIT
#pragma once
#include <mutex>

#include "comm/engine/watchdog.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/errors.hpp"
#include "papfft/options.hpp"

namespace papfft::app {

/// Which of a job's stuck ranks speaks. The job's own calls and those of its session are calls of two groups, and each group has a
/// watchdog. When some ranks are stuck in a call of one group and some in a call of the other, a rank speaks in each. This is a
/// watchdog of the whole job: all stuck ranks tell it whom they wait for, and it has one of them speak.
class StuckRanks {
 public:
  /// Collective over MPI_COMM_WORLD. @throws comm::TransportError
  explicit StuckRanks(const comm::Options& options)
      : transport_(MPI_COMM_WORLD, false), options_(options), watchdog_(transport_, options_) {}

  /// @param mine  what a call of this rank threw. @return what the job says, and whether it is this rank that speaks. The first of this
  /// rank's threads to ask gets an answer, and ends the job; any other waits for that.
  [[nodiscard]] comm::StuckError agree(const comm::StuckError& mine);

 private:
  comm::MpiTransport transport_;
  comm::Options options_;
  comm::Watchdog watchdog_;
  std::mutex first_;
};

}  // namespace papfft::app
