// SPDX-License-Identifier: MIT
// The functions that programs call, each by both of its names. What each does is in calls_rooted.cpp, calls_to_all.cpp and
// calls_reducing.cpp.
#include <mpi.h>

#include "comm/mpi/preload/calls.hpp"

using papfft::comm::preload::next_mpi;
using papfft::comm::preload::next_pmpi;

#define PAPFFT_DEFINE_(Name, name, operation, parameters, arguments)              \
  int MPI_##Name(PAPFFT_LIST parameters, MPI_Comm comm) {                         \
    return papfft::comm::preload::name(next_mpi(), PAPFFT_LIST arguments, comm);  \
  }                                                                               \
  int PMPI_##Name(PAPFFT_LIST parameters, MPI_Comm comm) {                        \
    return papfft::comm::preload::name(next_pmpi(), PAPFFT_LIST arguments, comm); \
  }

extern "C" {
PAPFFT_FOR_EACH_MPI_CALL_OF_ONE_TYPE(PAPFFT_DEFINE_)
}  // extern "C"
