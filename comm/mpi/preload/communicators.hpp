// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/mpi/preload/eligibility.hpp"
#include "comm/mpi/preload/summary.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm::preload {

class Communicators;

/// A call of the program's, as far as all of its ranks know it.
struct Call {
  Operation operation = Operation::bcast;
  MPI_Comm comm = MPI_COMM_NULL;
  std::size_t bytes =
      0;  ///< of one block, on average, or of the vector; where only their owners know the sizes, this rank's own
  int root = 0;
};

/// What the library keeps of a communicator of the program's.
struct Group {
  Reason reason = Reason::none;            ///< why all of its calls pass, the same on all ranks
  std::unique_ptr<Collectives> ours = {};  ///< unless they do
  /// The same, where it predicts arrivals and lets calls begin before their callers come.
  Session* session = nullptr;
  Communicators* owner = nullptr;  ///< of a group with a communicator of ours: is told of its end

  Group() = default;
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Around each call of ours. The end of a call begins the program's next phase of processing.
  void arrive() const {
    if (session != nullptr) session->processing_end();
  }
  void leave() const {
    if (session != nullptr) session->processing_start();
  }
};

/// Finds or makes them. They are attributes of the program's communicators, so that they go when these are freed. A communicator of ours
/// is made on the group alone: MPI_Comm_dup would call the program's own attribute functions.
///
/// Threads may call this at the same time for different communicators, as MPI lets them call collectives.
class Communicators {
 public:
  /// Each has a thread of its own.
  static constexpr int kMostSessions = 4;

  /// @param settings, options  must outlive this object. MPI must have been initialized.
  Communicators(const Settings& settings, const Options& options);

  /// Collective over the call's communicator when it is called for that first. A communicator of ours that cannot be made is a reason to pass.
  /// @throws std::bad_alloc  on this rank; others may wait for it
  [[nodiscard]] Group& of(const Call& call);
  /// The same, and calls on all others pass from now on: threads may make communicators at the same time.
  void make_only(const Call& call);
  /// nullptr: of() has not been called for it
  [[nodiscard]] Group* find(MPI_Comm comm) const;
  /// That has been made here is about to end.
  void forget(const Group& group);

  /// On all communicators so far.
  [[nodiscard]] ExpectedCalls expected_calls() const;
  [[nodiscard]] OwnCommunicators own_communicators() const { return {made_, making_ns_}; }

 private:
  void fill(Group& group, const Call& call);
  [[nodiscard]] bool may_have_session() const;

  const Settings& settings_;
  const Options& options_;
  int keyval_ = MPI_KEYVAL_INVALID;
  int most_;
  Reason no_more_ = Reason::too_many;
  std::atomic<int> living_ = 0;
  std::atomic<std::int64_t> made_ = 0;
  std::atomic<std::int64_t> making_ns_ = 0;
  mutable std::mutex mutex_;  // of what follows
  std::vector<const Session*> sessions_ = {};
  ExpectedCalls ended_ = {};  // on communicators that are no more
};

}  // namespace papfft::comm::preload
