// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "comm/mpi/preload/eligibility.hpp"
#include "comm/mpi/preload/own_requests.hpp"
#include "comm/mpi/preload/way.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm::preload {

/// Carries out the calls that the program starts on one of its communicators (MPI_Ibcast), one after another, in a thread of its own and on
/// a communicator of its own.
///
/// Whoever starts a call must not wait for the other ranks. So all that needs them happens in the thread, and on another communicator
/// than the program's, whose calls go on beside.
class StartedCalls {
 public:
  struct Call {
    std::function<void(Collectives&)> serve;
    /// Is told how it ended, in the thread. nullptr: as it should; else why it failed
    std::function<void(Collectives*, const char*)> ended;
    std::shared_ptr<const Held> held = nullptr;
  };

  /// Takes its turn among the collective calls on `comm`, but waits for nobody. @param comm  must live until drain() has returned
  /// @param requests, options  must outlive this object
  /// @param world  of ours, with all ranks @param tag  if this is rank 0 of `comm`: one that no living object has got there
  StartedCalls(MPI_Comm comm, const Options& options, OwnRequests& requests, MPI_Comm world, int tag);
  ~StartedCalls();
  StartedCalls(const StartedCalls&) = delete;
  StartedCalls& operator=(const StartedCalls&) = delete;

  [[nodiscard]] Reason reason() const { return reason_; }
  /// @return MPI's code
  int start(Call call, MPI_Request* request);
  /// The request is one of OwnRequests that has begun, and is kept when the call has ended.
  void start(Call call, int tag) { enqueue({std::move(call), tag}); }
  /// All ranks do it in the same turn. Calls may be started afterwards although the program has freed its communicator.
  void prepare();
  /// Returns when all calls have ended.
  void drain();
  /// Ends the thread, once all calls have ended.
  void close();

 private:
  static constexpr int kNoRequest = -1;
  struct Queued {
    Call call;
    int tag = kNoRequest;
    bool is_tag_dropped = false;  // at the call's end
  };

  void enqueue(Queued queued);
  void run();
  void carry_out(Queued& queued);
  [[nodiscard]] Collectives& ours();

  MPI_Comm comm_;
  const Options& options_;
  OwnRequests& requests_;
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

}  // namespace papfft::comm::preload
