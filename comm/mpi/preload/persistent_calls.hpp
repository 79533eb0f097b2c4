// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "comm/mpi/preload/own_requests.hpp"
#include "comm/mpi/preload/started_calls.hpp"

namespace papfft::comm::preload {

/// The persistent calls of the program's that are ours (MPI_Bcast_init), by their requests.
class PersistentCalls {
 public:
  /// @param requests  must outlive this object
  explicit PersistentCalls(OwnRequests& requests) : requests_(requests) {}

  [[nodiscard]] bool are_there() const { return living_ > 0; }
  /// @return MPI's code
  int add(std::shared_ptr<StartedCalls> by, StartedCalls::Call call, MPI_Request* request);
  /// @return MPI's code; nullopt: that request is none of ours
  [[nodiscard]] std::optional<int> start(MPI_Request* request);
  /// Its program frees that request, which is not under way.
  void forget(MPI_Request request);
  void forget_all();

 private:
  struct Entry {
    std::shared_ptr<StartedCalls> by;
    StartedCalls::Call call;
    int tag = 0;
  };

  OwnRequests& requests_;
  std::atomic<int> living_ = 0;  // so that other requests need no look-up where there is none of ours
  std::mutex mutex_;             // of what follows
  std::unordered_map<MPI_Request, Entry> entries_;
};

}  // namespace papfft::comm::preload
