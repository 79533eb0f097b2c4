// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/mpi/preload/eligibility.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm::preload {

/// Carries out the calls that the program starts on one of its communicators (MPI_Ibcast), one after another, in a thread of its own and on
/// a communicator of its own. MPI sees each as a generalized request.
///
/// Whoever starts a call must not wait for the other ranks. So all that needs them happens in the thread, and on another communicator
/// than the program's, whose calls go on beside.
class StartedCalls {
 public:
  struct Call {
    std::function<void(Collectives&)> serve;
    /// Is told how it ended, in the thread. nullptr: as it should; else why it failed
    std::function<void(const Collectives*, const char*)> ended;
    std::vector<MPI_Datatype> types = {};  ///< that live until the call has ended
  };

  /// Local. @param comm  must live until drain() has returned
  StartedCalls(MPI_Comm comm, const Options& options);
  ~StartedCalls();
  StartedCalls(const StartedCalls&) = delete;
  StartedCalls& operator=(const StartedCalls&) = delete;

  [[nodiscard]] Reason reason() const { return reason_; }
  /// @return MPI's code
  int start(Call call, MPI_Request* request);
  /// Returns when all calls have ended.
  void drain();
  /// Ends the thread, once all calls have ended.
  void close();

 private:
  struct Queued {
    Call call;
    MPI_Request request = MPI_REQUEST_NULL;
    int* code = nullptr;  // of MPI's, owned by the request
  };

  void run();
  void carry_out(Queued& queued);
  [[nodiscard]] Collectives& ours();

  MPI_Comm comm_;
  const Options& options_;
  Reason reason_;
  std::unique_ptr<Communicator> ours_;  // made and used in the thread
  bool is_broken_ = false;              // in the thread, too
  std::mutex mutex_;                    // of what follows
  std::condition_variable changed_;
  std::deque<Queued> queue_;  // the first is being carried out
  bool is_closing_ = false;
  std::thread thread_;
};

/// Finds or makes them: as attributes of the program's communicators.
class StartedGroups {
 public:
  /// @param options  must outlive this object
  explicit StartedGroups(const Options& options);
  [[nodiscard]] StartedCalls& of(MPI_Comm comm);
  /// nullptr: there are none
  [[nodiscard]] StartedCalls* find(MPI_Comm comm) const;
  /// The threads end.
  void close();

 private:
  static int drop(MPI_Comm comm, int keyval, void* calls, void* groups);

  const Options& options_;
  int keyval_ = MPI_KEYVAL_INVALID;
  std::mutex mutex_;  // of what follows
  std::vector<StartedCalls*> living_;
};

}  // namespace papfft::comm::preload
