// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/mpi/preload/bare_communicator.hpp"
#include "comm/mpi/preload/own_requests.hpp"
#include "comm/mpi/preload/persistent_calls.hpp"
#include "comm/mpi/preload/started_calls.hpp"

namespace papfft::comm::preload {

/// Finds or makes what carries out the calls that the program starts: as attributes of its communicators.
class StartedGroups {
 public:
  /// Collective over MPI_COMM_WORLD. @param options  must outlive this object
  explicit StartedGroups(const Options& options);
  [[nodiscard]] std::shared_ptr<StartedCalls> of(MPI_Comm comm);
  /// nullptr: there are none
  [[nodiscard]] StartedCalls* find(MPI_Comm comm) const;
  [[nodiscard]] PersistentCalls& persistent() { return persistent_; }
  /// The threads end.
  void close();

 private:
  [[nodiscard]] int next_tag();
  [[nodiscard]] std::shared_ptr<StartedCalls> taken(const StartedCalls* calls);
  static int drop(MPI_Comm comm, int keyval, void* calls, void* groups);

  const Options& options_;
  std::optional<BareCommunicator> world_;
  OwnRequests requests_;
  int keyval_ = MPI_KEYVAL_INVALID;
  PersistentCalls persistent_{requests_};
  std::mutex mutex_;  // of what follows
  int made_ = 0;
  std::vector<std::shared_ptr<StartedCalls>> living_;
};

}  // namespace papfft::comm::preload
