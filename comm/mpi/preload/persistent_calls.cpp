// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/persistent_calls.hpp"

#include <utility>

namespace papfft::comm::preload {

int PersistentCalls::add(std::shared_ptr<StartedCalls> by, StartedCalls::Call call, MPI_Request* request) {
  const int tag = requests_.take_tag();
  const int code = requests_.describe(tag, request);
  if (code != MPI_SUCCESS) {
    requests_.drop_tag(tag);
    return code;
  }
  by->prepare();
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(*request, Entry{std::move(by), std::move(call), tag});
  ++living_;
  return MPI_SUCCESS;
}

std::optional<int> PersistentCalls::start(MPI_Request* request) {
  if (!are_there()) return std::nullopt;
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(*request);
    if (found == entries_.end()) return std::nullopt;
    entry = found->second;
  }
  const int code = PMPI_Start(request);
  if (code == MPI_SUCCESS) entry.by->start(std::move(entry.call), entry.tag);
  return code;
}

void PersistentCalls::forget(MPI_Request request) {
  if (!are_there()) return;
  decltype(entries_)::node_type ended;  // dropped without the lock: a thread may end with it
  const std::lock_guard lock(mutex_);
  ended = entries_.extract(request);
  if (ended.empty()) return;
  requests_.drop_tag(ended.mapped().tag);
  --living_;
}

void PersistentCalls::forget_all() {
  decltype(entries_) ended;
  const std::lock_guard lock(mutex_);
  ended.swap(entries_);
  living_ = 0;
}

}  // namespace papfft::comm::preload
