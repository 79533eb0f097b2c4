// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <mutex>
#include <vector>

#include "comm/mpi/preload/bare_communicator.hpp"

namespace papfft::comm::preload {

/// Requests that end when we say so, of calls that a thread of ours carries out. Each is the receipt of an empty message that this rank
/// sends to itself. So MPI waits for them and tests them by its own means, and a persistent one can be started again, which its
/// generalized requests cannot.
///
/// A request is known by its tag. Threads may call this at the same time.
class OwnRequests {
 public:
  /// Without messages. MPI must have been initialized.
  OwnRequests() : self_(MPI_COMM_SELF) {}

  /// That no living request has. After drop() it may be given again.
  [[nodiscard]] int take_tag();
  void drop_tag(int tag) noexcept;

  /// It is under way. @return MPI's code
  [[nodiscard]] int begin(int tag, MPI_Request* request) const {
    return PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, self_.get(), request);
  }
  /// It can be started by MPI_Start. @return MPI's code
  [[nodiscard]] int describe(int tag, MPI_Request* request) const {
    return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, self_.get(), request);
  }
  /// Ends a request that is under way. @param has_failed  whoever waits for it gets MPI_ERR_TRUNCATE, by the error handler of MPI_COMM_WORLD
  void end(int tag, bool has_failed) const;

 private:
  BareCommunicator self_;
  std::mutex mutex_;  // of what follows
  int tags_ = 0;      // that there have ever been at a time
  std::vector<int> free_tags_;
};

}  // namespace papfft::comm::preload
