// SPDX-License-Identifier: MIT
// MPI_Init and MPI_Init_thread. Fortran's and other languages' come here, too. What is to be done at the end hangs on MPI_COMM_SELF.
#include <mpi.h>

#include "comm/mpi/preload/next_functions.hpp"
#include "comm/mpi/preload/runtime.hpp"
#include "papfft/export.h"

namespace papfft::comm::preload {

namespace {

/// @param with_threads  the program may call MPI in several threads at a time, if MPI lets it
template <typename Init>
int start_after(Init initialize, bool with_threads = true) {
  int code = MPI_SUCCESS;
  {
    const Inside inside;  // another tool may come back with PMPI_Init
    code = initialize();
  }
  if (code == MPI_SUCCESS && !Inside::is_any()) Runtime::get().start(with_threads);
  return code;
}

int init_thread(const NextFunctions& next, int* argc, char*** argv, int required, int* provided) {
  const int wanted = Runtime::get().wants_thread_multiple() ? MPI_THREAD_MULTIPLE : required;
  // A level that only the library wants is none of the program's.
  return start_after([&] { return next.init_thread(argc, argv, wanted, provided); }, wanted == required);
}

int init(const NextFunctions& next, int* argc, char*** argv) {
  if (Runtime::get().wants_thread_multiple()) {
    int provided = MPI_THREAD_SINGLE;
    return init_thread(next, argc, argv, MPI_THREAD_SINGLE, &provided);
  }
  return start_after([&] { return next.init(argc, argv); });
}

}  // namespace

}  // namespace papfft::comm::preload

using papfft::comm::preload::next_mpi;
using papfft::comm::preload::next_pmpi;

extern "C" {

PAPFFT_API int MPI_Init(int* argc, char*** argv) {
  return papfft::comm::preload::init(next_mpi(), argc, argv);
}
PAPFFT_API int PMPI_Init(int* argc, char*** argv) {
  return papfft::comm::preload::init(next_pmpi(), argc, argv);
}

PAPFFT_API int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return papfft::comm::preload::init_thread(next_mpi(), argc, argv, required, provided);
}
PAPFFT_API int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return papfft::comm::preload::init_thread(next_pmpi(), argc, argv, required, provided);
}

}  // extern "C"
