// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

namespace papfft::comm::preload {

/// The group of a communicator without its name, attributes and topology, for as long as it takes to duplicate it. MPI_Comm_dup of the
/// program's own would call its attribute functions.
class BareCommunicator {
 public:
  /// Collective.
  explicit BareCommunicator(MPI_Comm comm) {
    make(comm, [&](MPI_Group group) { PMPI_Comm_create(comm, group, &bare_); });
  }
  /// Collective over the ranks of `comm`, beside calls on it, by messages on `world`. Not on `comm` itself: Open MPI 4.1 copies attributes
  /// there. @param tag  on all these ranks the same; another one for each of the communicators that are made at the same time
  BareCommunicator(MPI_Comm comm, MPI_Comm world, int tag) {
    make(comm, [&](MPI_Group group) { PMPI_Comm_create_group(world, group, tag, &bare_); });
  }
  ~BareCommunicator() {
    if (bare_ != MPI_COMM_NULL) PMPI_Comm_free(&bare_);
  }
  BareCommunicator(const BareCommunicator&) = delete;
  BareCommunicator& operator=(const BareCommunicator&) = delete;
  [[nodiscard]] MPI_Comm get() const { return bare_; }

 private:
  template <typename Create>
  void make(MPI_Comm comm, Create create) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    create(group);
    PMPI_Group_free(&group);
    if (bare_ != MPI_COMM_NULL) PMPI_Comm_set_errhandler(bare_, MPI_ERRORS_RETURN);
  }

  MPI_Comm bare_ = MPI_COMM_NULL;
};

}  // namespace papfft::comm::preload
