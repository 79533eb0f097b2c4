// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include "comm/mpi/preload/large_calls.hpp"
#include "papfft/mpi_lists.h"

namespace papfft::comm::preload {

/// The functions of one name family behind this library: of the next tool that is loaded, or of the MPI library.
struct NextFunctions {
  decltype(&::MPI_Init) init;
  decltype(&::MPI_Init_thread) init_thread;
  decltype(&::MPI_Comm_free) comm_free;
  decltype(&::MPI_Comm_disconnect) comm_disconnect;
// NOLINTBEGIN(bugprone-macro-parentheses): these are declarations
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments) decltype(&::MPI_##Name) name;
  PAPFFT_FOR_EACH_MPI_CALL_OF_ONE_TYPE(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments) decltype(&::MPI_I##name) i##name;
  PAPFFT_FOR_EACH_MPI_CALL_OF_ONE_TYPE(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
#define PAPFFT_DECLARE_(Name, name, parameters, arguments, as_ints) decltype(&::MPI_##Name##_c) name##_c;
  PAPFFT_FOR_EACH_LARGE_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
  // NOLINTEND(bugprone-macro-parentheses)
};

/// A call of MPI_X goes on to the next MPI_X, so that other tools see it, and one of PMPI_X to the next PMPI_X. Found when the library
/// is loaded.
[[nodiscard]] const NextFunctions& next_mpi();
[[nodiscard]] const NextFunctions& next_pmpi();

}  // namespace papfft::comm::preload
