// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

namespace papfft::comm::preload {

/// The group of a communicator without its name, attributes and topology, for as long as it takes to duplicate it. MPI_Comm_dup of the
/// program's own would call its attribute functions.
class BareCommunicator {
 public:
  /// Made beside other calls on the same communicator, in other threads.
  struct Beside {};

  /// Collective.
  explicit BareCommunicator(MPI_Comm comm) {
    make([&](MPI_Group group) { PMPI_Comm_create(comm, group, &bare_); }, comm);
  }
  /// Collective, but not in the order of the other calls on that communicator.
  BareCommunicator(MPI_Comm comm, Beside /*how*/) {
    make([&](MPI_Group group) { PMPI_Comm_create_group(comm, group, kTag, &bare_); }, comm);
  }
  ~BareCommunicator() {
    if (bare_ != MPI_COMM_NULL) PMPI_Comm_free(&bare_);
  }
  BareCommunicator(const BareCommunicator&) = delete;
  BareCommunicator& operator=(const BareCommunicator&) = delete;
  [[nodiscard]] MPI_Comm get() const { return bare_; }

 private:
  static constexpr int kTag = 0x5041;

  template <typename Create>
  void make(Create create, MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    create(group);
    PMPI_Group_free(&group);
    if (bare_ != MPI_COMM_NULL) PMPI_Comm_set_errhandler(bare_, MPI_ERRORS_RETURN);
  }

  MPI_Comm bare_ = MPI_COMM_NULL;
};

}  // namespace papfft::comm::preload
