// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/own_requests.hpp"

namespace papfft::comm::preload {

int OwnRequests::take_tag() {
  const std::lock_guard lock(mutex_);
  if (free_tags_.empty()) {
    free_tags_.reserve(static_cast<std::size_t>(tags_) + 1);  // so that none is lost for want of memory
    return tags_++;
  }
  const int tag = free_tags_.back();
  free_tags_.pop_back();
  return tag;
}

/// A message goes to the request that was begun first with its tag, so the next may begin at once.
void OwnRequests::drop_tag(int tag) noexcept {
  const std::lock_guard lock(mutex_);
  free_tags_.push_back(tag);
}

/// A message that is longer than expected is an error of whoever expects it.
void OwnRequests::end(int tag, bool has_failed) const {
  if (has_failed) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    PMPI_Comm_set_errhandler(self_.get(), handler);
    PMPI_Errhandler_free(&handler);
  }
  const char word = 0;
  PMPI_Send(&word, has_failed ? 1 : 0, MPI_BYTE, 0, tag, self_.get());
}

}  // namespace papfft::comm::preload
