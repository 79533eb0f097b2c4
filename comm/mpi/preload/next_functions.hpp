// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include "comm/mpi/preload/large_calls.hpp"
#include "papfft/mpi_lists.h"

/// What persistent collectives are called: before MPI 4 they are an extension, which Open MPI has.
#if MPI_VERSION >= 4
#define PAPFFT_INIT_OF_(P, Name) P##MPI_##Name##_init
#define PAPFFT_INIT_PREFIX_ "MPI_"
#else
#define PAPFFT_INIT_OF_(P, Name) P##MPIX_##Name##_init
#define PAPFFT_INIT_PREFIX_ "MPIX_"
#endif

namespace papfft::comm::preload {

/// The functions of one name family behind this library: of the next tool that is loaded, or of the MPI library.
struct NextFunctions {
  decltype(&::MPI_Init) init;
  decltype(&::MPI_Init_thread) init_thread;
  decltype(&::MPI_Comm_free) comm_free;
  decltype(&::MPI_Comm_disconnect) comm_disconnect;
  decltype(&::MPI_Start) start;
  decltype(&::MPI_Startall) startall;
  decltype(&::MPI_Request_free) request_free;
// NOLINTBEGIN(bugprone-macro-parentheses): these are declarations
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments) decltype(&::MPI_##Name) name;
  PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments) decltype(&::MPI_I##name) i##name;
  PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments) \
  int (*name##_init)(PAPFFT_LIST parameters, MPI_Comm, MPI_Info, MPI_Request*);
  PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
#define PAPFFT_DECLARE_(Name, name, parameters, arguments, as_ints) \
  decltype(&::MPI_##Name##_c) name##_c;                             \
  decltype(&::MPI_I##name##_c) i##name##_c;
  PAPFFT_FOR_EACH_LARGE_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
  // NOLINTEND(bugprone-macro-parentheses)
};

/// A call of MPI_X goes on to the next MPI_X, so that other tools see it, and one of PMPI_X to the next PMPI_X. Found when the library
/// is loaded.
[[nodiscard]] const NextFunctions& next_mpi();
[[nodiscard]] const NextFunctions& next_pmpi();

}  // namespace papfft::comm::preload
