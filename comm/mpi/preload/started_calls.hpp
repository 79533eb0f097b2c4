// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "comm/mpi/preload/bare_communicator.hpp"
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
    std::function<void(Collectives*, const char*)> ended;
    std::vector<MPI_Datatype> types = {};  ///< that live until the call has ended
  };

  /// Takes its turn among the collective calls on `comm`, but waits for nobody. @param comm  must live until drain() has returned
  /// @param world  of ours, with all ranks @param tag  if this is rank 0 of `comm`: one that no living object has got there
  StartedCalls(MPI_Comm comm, const Options& options, MPI_Comm world, int tag);
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
  MPI_Comm world_;
  Reason reason_;
  int tag_;                                     // rank 0's
  MPI_Request tag_request_ = MPI_REQUEST_NULL;  // until it has come
  std::unique_ptr<Communicator> ours_;          // made and used in the thread
  bool is_broken_ = false;                      // in the thread, too
  std::mutex mutex_;                            // of what follows
  std::condition_variable changed_;
  std::deque<Queued> queue_;  // the first is being carried out
  bool is_closing_ = false;
  std::thread thread_;
};

/// Finds or makes them: as attributes of the program's communicators.
class StartedGroups {
 public:
  /// Collective over MPI_COMM_WORLD. @param options  must outlive this object
  explicit StartedGroups(const Options& options);
  [[nodiscard]] StartedCalls& of(MPI_Comm comm);
  /// nullptr: there are none
  [[nodiscard]] StartedCalls* find(MPI_Comm comm) const;
  /// The threads end.
  void close();

 private:
  [[nodiscard]] int next_tag();
  static int drop(MPI_Comm comm, int keyval, void* calls, void* groups);

  const Options& options_;
  std::optional<BareCommunicator> world_;
  int keyval_ = MPI_KEYVAL_INVALID;
  std::mutex mutex_;  // of what follows
  int made_ = 0;
  std::vector<StartedCalls*> living_;
};

}  // namespace papfft::comm::preload
