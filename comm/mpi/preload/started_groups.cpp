// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/started_groups.hpp"

#include <algorithm>
#include <utility>

#include "comm/mpi/preload/inside.hpp"

namespace papfft::comm::preload {

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

std::shared_ptr<StartedCalls> StartedGroups::taken(const StartedCalls* calls) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(living_, calls, [](const auto& one) { return one.get(); });
  std::shared_ptr<StartedCalls> result = std::move(*found);
  living_.erase(found);
  return result;
}

/// They live on while persistent calls need them. Without the lock: their thread ends.
int StartedGroups::drop(MPI_Comm /*comm*/, int /*keyval*/, void* calls, void* groups) {
  const Inside inside;
  (void)static_cast<StartedGroups*>(groups)->taken(static_cast<const StartedCalls*>(calls));
  return MPI_SUCCESS;
}

StartedCalls* StartedGroups::find(MPI_Comm comm) const {
  void* found = nullptr;
  int is_there = 0;
  PMPI_Comm_get_attr(comm, keyval_, static_cast<void*>(&found), &is_there);
  return is_there != 0 ? static_cast<StartedCalls*>(found) : nullptr;
}

std::shared_ptr<StartedCalls> StartedGroups::of(MPI_Comm comm) {
  if (StartedCalls* const found = find(comm)) {
    const std::lock_guard lock(mutex_);
    return *std::ranges::find(living_, found, [](const auto& one) { return one.get(); });
  }
  auto made = std::make_shared<StartedCalls>(comm, options_, requests_, world_->get(), next_tag());
  {
    const std::lock_guard lock(mutex_);
    living_.push_back(made);
  }
  PMPI_Comm_set_attr(comm, keyval_, made.get());
  return made;
}

void StartedGroups::close() {
  persistent_.forget_all();
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<StartedCalls>& calls : living_) calls->close();
  world_.reset();
}

}  // namespace papfft::comm::preload
