// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/next_functions.hpp"

#include <dlfcn.h>

#include <string>

namespace papfft::comm::preload {

namespace {

template <typename Function>
void find(Function& function, const std::string& prefix, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, (prefix + name).c_str()));
}

/// This library needs the MPI library, so the loader has always loaded it, and there are no null pointers.
NextFunctions found(const std::string& prefix) {
  NextFunctions next{};
  find(next.init, prefix, "MPI_Init");
  find(next.init_thread, prefix, "MPI_Init_thread");
  find(next.bcast, prefix, "MPI_Bcast");
  find(next.scatter, prefix, "MPI_Scatter");
  find(next.gather, prefix, "MPI_Gather");
  find(next.scatterv, prefix, "MPI_Scatterv");
  find(next.gatherv, prefix, "MPI_Gatherv");
  find(next.allgather, prefix, "MPI_Allgather");
  find(next.allgatherv, prefix, "MPI_Allgatherv");
  find(next.alltoall, prefix, "MPI_Alltoall");
  find(next.alltoallv, prefix, "MPI_Alltoallv");
  find(next.reduce, prefix, "MPI_Reduce");
  find(next.allreduce, prefix, "MPI_Allreduce");
  find(next.reduce_scatter, prefix, "MPI_Reduce_scatter");
  find(next.reduce_scatter_block, prefix, "MPI_Reduce_scatter_block");
  return next;
}

const NextFunctions kNextMpi = found("");
const NextFunctions kNextPmpi = found("P");

}  // namespace

const NextFunctions& next_mpi() { return kNextMpi; }
const NextFunctions& next_pmpi() { return kNextPmpi; }

}  // namespace papfft::comm::preload
