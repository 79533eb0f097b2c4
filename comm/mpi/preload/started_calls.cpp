// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/started_calls.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "comm/mpi/preload/inside.hpp"
#include "comm/mpi/preload/inspect.hpp"
#include "comm/mpi/preload/next_functions.hpp"
#include "comm/mpi/preload/way.hpp"

namespace papfft::comm::preload {

namespace {

// What MPI asks of a generalized request. A request's state is the code that MPI_Wait returns.

int query(void* code, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return *static_cast<int*>(code);
}

int release(void* code) {
  delete static_cast<int*>(code);
  return MPI_SUCCESS;
}

/// Collectives cannot be cancelled.
int cancel(void* /*code*/, int /*is_complete*/) { return MPI_SUCCESS; }

}  // namespace

StartedCalls::StartedCalls(MPI_Comm comm, const Options& options, MPI_Comm world, int tag)
    : comm_(comm), options_(options), world_(world), reason_(reason_to_pass(facts_of(comm))), tag_(tag) {
  if (reason_ == Reason::none) next_pmpi().ibcast(&tag_, 1, MPI_INT, 0, comm, &tag_request_);
}

StartedCalls::~StartedCalls() { close(); }

int StartedCalls::start(Call call, MPI_Request* request) {
  auto code = std::make_unique<int>(MPI_SUCCESS);
  const int made = PMPI_Grequest_start(query, release, cancel, code.get(), request);
  if (made != MPI_SUCCESS) {
    Way::release(call.types);
    return made;
  }
  const std::lock_guard lock(mutex_);
  queue_.push_back({std::move(call), *request, code.release()});
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
  return MPI_SUCCESS;
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

void StartedCalls::carry_out(Queued& queued) {
  try {
    if (is_broken_) throw std::runtime_error("an earlier call on this communicator has failed");
    Collectives& by = ours();
    queued.call.serve(by);
    queued.call.ended(&by, nullptr);
  } catch (const std::exception& e) {
    is_broken_ = true;
    *queued.code = MPI_ERR_OTHER;
    queued.call.ended(nullptr, e.what());
  }
  Way::release(queued.call.types);
  PMPI_Grequest_complete(queued.request);
}

/// On the ranks of the program's communicator. All of them make theirs, or none does.
Collectives& StartedCalls::ours() {
  if (ours_ != nullptr) return *ours_;
  PMPI_Wait(&tag_request_, MPI_STATUS_IGNORE);
  const BareCommunicator bare(comm_, world_, tag_);
  if (bare.get() == MPI_COMM_NULL) throw std::runtime_error("MPI makes no communicator");
  std::string error;
  try {
    ours_ = std::make_unique<Communicator>(bare.get(), options_);
  } catch (const std::exception& e) {
    error = e.what();
  }
  int all_have = ours_ != nullptr ? 1 : 0;
  next_pmpi().allreduce(MPI_IN_PLACE, &all_have, 1, MPI_INT, MPI_MIN, bare.get());
  if (ours_ == nullptr) throw std::runtime_error(error);
  if (all_have == 0) throw std::runtime_error("another rank could not make its communicator");
  return *ours_;
}

StartedGroups::StartedGroups(const Options& options) : options_(options) {
  world_.emplace(MPI_COMM_WORLD);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keyval_, this);
}

/// Another number than those of the other ranks.
int StartedGroups::next_tag() {
  constexpr int kLeastLimit = 32767;  // of tags, by the standard
  int rank = 0;
  int ranks = 1;
  PMPI_Comm_rank(world_->get(), &rank);
  PMPI_Comm_size(world_->get(), &ranks);
  const std::lock_guard lock(mutex_);
  const int number = made_++ % std::max(1, kLeastLimit / ranks);
  return (number * ranks + rank) % kLeastLimit;
}

int StartedGroups::drop(MPI_Comm /*comm*/, int /*keyval*/, void* calls, void* groups) {
  const Inside inside;
  auto* const ended = static_cast<StartedCalls*>(calls);
  auto* const all = static_cast<StartedGroups*>(groups);
  {
    const std::lock_guard lock(all->mutex_);
    std::erase(all->living_, ended);
  }
  delete ended;
  return MPI_SUCCESS;
}

StartedCalls* StartedGroups::find(MPI_Comm comm) const {
  void* found = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&found), &is_there);
  return is_there != 0 ? static_cast<StartedCalls*>(found) : nullptr;
}

StartedCalls& StartedGroups::of(MPI_Comm comm) {
  if (StartedCalls* const found = find(comm)) return *found;
  auto* const made = new StartedCalls(comm, options_, world_->get(), next_tag());  // the attribute owns it
  PMPI_Comm_set_attr(comm, keyval_, made);
  const std::lock_guard lock(mutex_);
  living_.push_back(made);
  return *made;
}

void StartedGroups::close() {
  const std::lock_guard lock(mutex_);
  for (StartedCalls* calls : living_) calls->close();
  world_.reset();
}

}  // namespace papfft::comm::preload
