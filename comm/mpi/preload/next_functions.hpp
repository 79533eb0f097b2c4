// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

namespace papfft::comm::preload {

/// The functions of one name family behind this library: of the next tool that is loaded, or of the MPI library.
struct NextFunctions {
  decltype(&::MPI_Init) init;
  decltype(&::MPI_Init_thread) init_thread;
  decltype(&::MPI_Bcast) bcast;
  decltype(&::MPI_Scatter) scatter;
  decltype(&::MPI_Gather) gather;
  decltype(&::MPI_Scatterv) scatterv;
  decltype(&::MPI_Gatherv) gatherv;
  decltype(&::MPI_Allgather) allgather;
  decltype(&::MPI_Allgatherv) allgatherv;
  decltype(&::MPI_Alltoall) alltoall;
  decltype(&::MPI_Alltoallv) alltoallv;
  decltype(&::MPI_Reduce) reduce;
  decltype(&::MPI_Allreduce) allreduce;
  decltype(&::MPI_Reduce_scatter) reduce_scatter;
  decltype(&::MPI_Reduce_scatter_block) reduce_scatter_block;
};

/// A call of MPI_X goes on to the next MPI_X, so that other tools see it, and one of PMPI_X to the next PMPI_X. Found when the library
/// is loaded.
[[nodiscard]] const NextFunctions& next_mpi();
[[nodiscard]] const NextFunctions& next_pmpi();

}  // namespace papfft::comm::preload
