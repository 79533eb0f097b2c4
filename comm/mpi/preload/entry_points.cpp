// SPDX-License-Identifier: MIT
// The functions that programs call, each by both of its names. What each does is in calls_rooted.cpp, calls_to_all.cpp and
// calls_reducing.cpp.
#include <mpi.h>

#include "comm/mpi/preload/calls.hpp"
#include "comm/mpi/preload/large_calls.hpp"
#include "comm/mpi/preload/next_functions.hpp"
#include "comm/mpi/preload/runtime.hpp"
#include "papfft/export.h"

namespace papfft::comm::preload {

namespace {

/// MPI_Comm_free and MPI_Comm_disconnect.
template <typename Free>
int end_of(Free free, MPI_Comm* comm) {
  if (Runtime::is_watching_started()) Runtime::get().before_end_of(*comm);
  return free(comm);
}

}  // namespace

}  // namespace papfft::comm::preload

using namespace papfft::comm::preload;

// Open MPI's header says that these functions are visible; MPICH's does not.
// A function by the name that it has behind P (MPI's own calls and tools) or without.
#define PAPFFT_DEFINE_AS_(P, next, Name, name, parameters, arguments)                          \
  PAPFFT_API int P##MPI_##Name(PAPFFT_LIST parameters, MPI_Comm comm) {                        \
    const auto pass = [&] { return next().name(PAPFFT_LIST arguments, comm); };                \
    Way way(pass);                                                                             \
    return papfft::comm::preload::name(way, PAPFFT_LIST arguments, comm);                      \
  }                                                                                            \
  PAPFFT_API int P##MPI_I##name(PAPFFT_LIST parameters, MPI_Comm comm, MPI_Request* request) { \
    const auto pass = [&] { return next().i##name(PAPFFT_LIST arguments, comm, request); };    \
    if (!Runtime::is_watching_started() || request == nullptr) return pass();                  \
    Way way(pass, request);                                                                    \
    return papfft::comm::preload::name(way, PAPFFT_LIST arguments, comm);                      \
  }
#define PAPFFT_DEFINE_(Name, name, operation, parameters, arguments) \
  PAPFFT_DEFINE_AS_(, next_mpi, Name, name, parameters, arguments)   \
  PAPFFT_DEFINE_AS_(P, next_pmpi, Name, name, parameters, arguments)

#define PAPFFT_DEFINE_LARGE_AS_(P, next, Name, name, parameters, arguments, as_ints) \
  PAPFFT_API int P##MPI_##Name##_c(PAPFFT_LIST parameters, MPI_Comm comm) {          \
    const auto pass = [&] { return next().name##_c(PAPFFT_LIST arguments, comm); };  \
    Way way(pass);                                                                   \
    return papfft::comm::preload::name(way, PAPFFT_LIST as_ints, comm);              \
  }
#define PAPFFT_DEFINE_LARGE_(Name, name, parameters, arguments, as_ints)          \
  PAPFFT_DEFINE_LARGE_AS_(, next_mpi, Name, name, parameters, arguments, as_ints) \
  PAPFFT_DEFINE_LARGE_AS_(P, next_pmpi, Name, name, parameters, arguments, as_ints)

extern "C" {

PAPFFT_FOR_EACH_MPI_CALL_OF_ONE_TYPE(PAPFFT_DEFINE_)
PAPFFT_FOR_EACH_LARGE_CALL(PAPFFT_DEFINE_LARGE_)

PAPFFT_API int MPI_Comm_free(MPI_Comm* comm) { return end_of(next_mpi().comm_free, comm); }
PAPFFT_API int PMPI_Comm_free(MPI_Comm* comm) { return end_of(next_pmpi().comm_free, comm); }
PAPFFT_API int MPI_Comm_disconnect(MPI_Comm* comm) { return end_of(next_mpi().comm_disconnect, comm); }
PAPFFT_API int PMPI_Comm_disconnect(MPI_Comm* comm) { return end_of(next_pmpi().comm_disconnect, comm); }

}  // extern "C"
