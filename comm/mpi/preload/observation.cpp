// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/observation.hpp"

#include <chrono>
#include <new>

#include "comm/mpi/preload/bare_communicator.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm::preload {

namespace {

std::chrono::steady_clock::time_point time_of(std::int64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

/// For its clock. Nothing runs beside the program.
MpiSession clock_session(const Options& options) {
  const BareCommunicator bare(MPI_COMM_WORLD);
  return MpiSession(bare.get(), options, SessionOptions{.background = false});
}

}  // namespace

Observation::Observation(const Options& options, std::size_t least_bytes)
    : options_(options), least_bytes_(least_bytes) {
  options_.learn_link = false;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval_, nullptr);
  const MpiSession session = clock_session(options_);
  recorder_.follow([&session] { return session.now_ns(); });
  recorder_.unfollow();
}

bool Observation::is_of_all_ranks(MPI_Comm comm) const {
  if (comm == MPI_COMM_WORLD) return true;
  static char yes = 0;
  static char no = 0;
  void* found = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&found), &is_there);
  if (is_there == 0) {
    int result = MPI_UNEQUAL;
    PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    found = result == MPI_CONGRUENT ? &yes : &no;
    PMPI_Comm_set_attr(comm, keyval_, found);
  }
  return found == &yes;
}

void Observation::call_ended(CallRecord call, MPI_Comm comm) {
  if (!is_of_all_ranks(comm)) return;
  // All calls are numbered, so that one that some rank does not keep does not shift the others.
  call.number = calls_++;
  const std::int64_t before_ns = last_exit_ns_.exchange(call.exit_ns);
  try {
    if (before_ns != 0 && before_ns < call.arrival_ns)
      recorder_.computed(time_of(before_ns), time_of(call.arrival_ns));
    if (call.bytes >= least_bytes_) recorder_.call_ended(call);
  } catch (const std::bad_alloc&) {  // the recording has one call less, and the program goes on
  }
}

ArrivalRecording Observation::collect() {
  MpiSession session = clock_session(options_);
  recorder_.follow([&session] { return session.now_ns(); });
  recorder_.unfollow();
  return recorder_.collect(session);
}

}  // namespace papfft::comm::preload
