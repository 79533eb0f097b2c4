// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/started_calls.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "comm/mpi/preload/bare_communicator.hpp"
#include "comm/mpi/preload/inside.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/next_functions.hpp"

namespace papfft::comm::preload {

StartedCalls::StartedCalls(MPI_Comm comm, const Options& options, OwnRequests& requests, MPI_Comm world,
                           int tag)
    : comm_(comm),
      options_(options),
      requests_(requests),
      world_(world),
      reason_(reason_to_pass(facts_of(comm))),
      tag_(tag) {
  if (reason_ == Reason::none) next_pmpi().ibcast(&tag_, 1, MPI_INT, 0, comm, &tag_request_);
}

StartedCalls::~StartedCalls() { close(); }

int StartedCalls::start(Call call, MPI_Request* request) {
  const int tag = requests_.take_tag();
  const int code = requests_.begin(tag, request);
  if (code == MPI_SUCCESS) {
    enqueue({std::move(call), tag, true});
  } else {
    requests_.drop_tag(tag);
  }
  return code;
}

void StartedCalls::prepare() {
  enqueue({{.serve = [](Collectives&) {}, .ended = [](Collectives*, const char*) {}}});
}

void StartedCalls::enqueue(Queued queued) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(queued));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

void StartedCalls::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty(); });
}

void StartedCalls::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  ours_ = nullptr;
}

void StartedCalls::run() {
  const Inside inside;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Queued& first = queue_.front();  // stays where it is when others come
    lock.unlock();
    carry_out(first);
    lock.lock();
    queue_.pop_front();
    changed_.notify_all();
  }
}

/// Whoever waits for the call may end MPI then, so what is held for the call goes first.
void StartedCalls::carry_out(Queued& queued) {
  bool has_failed = false;
  try {
    if (is_broken_) throw std::runtime_error("an earlier call on this communicator has failed");
    Collectives& by = ours();
    queued.call.serve(by);
    queued.call.ended(&by, nullptr);
  } catch (const std::exception& e) {
    is_broken_ = true;
    has_failed = true;
    queued.call.ended(nullptr, e.what());
  }
  queued.call = {};
  if (queued.tag != kNoRequest) requests_.end(queued.tag, has_failed);
  if (queued.is_tag_dropped) requests_.drop_tag(queued.tag);
}

/// On the ranks of the program's communicator. All of them make theirs, or none does. Where memory is missing in the middle, others
/// wait for this rank, and it cannot tell them.
Collectives& StartedCalls::ours() {
  if (ours_ != nullptr) return *ours_;
  PMPI_Wait(&tag_request_, MPI_STATUS_IGNORE);
  const BareCommunicator bare(comm_, world_, tag_);
  if (bare.get() == MPI_COMM_NULL) throw std::runtime_error("MPI makes no communicator");
  std::string error;
  try {
    ours_ = std::make_unique<Communicator>(bare.get(), options_);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    error = e.what();
  }
  int all_have = ours_ != nullptr ? 1 : 0;
  next_pmpi().allreduce(MPI_IN_PLACE, &all_have, 1, MPI_INT, MPI_MIN, bare.get());
  if (ours_ == nullptr) throw std::runtime_error(error);
  if (all_have == 0) throw std::runtime_error("another rank could not make its communicator");
  return *ours_;
}

}  // namespace papfft::comm::preload
