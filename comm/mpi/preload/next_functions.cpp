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

/// This library needs the MPI library, so the loader has always loaded it. What it lacks, no program calls that was linked with it.
NextFunctions found(const std::string& prefix) {
  NextFunctions next{};
  find(next.init, prefix, "MPI_Init");
  find(next.init_thread, prefix, "MPI_Init_thread");
  find(next.comm_free, prefix, "MPI_Comm_free");
  find(next.comm_disconnect, prefix, "MPI_Comm_disconnect");
  find(next.start, prefix, "MPI_Start");
  find(next.startall, prefix, "MPI_Startall");
  find(next.request_free, prefix, "MPI_Request_free");
#define PAPFFT_FIND_(Name, name, operation, parameters, arguments) \
  find(next.name, prefix, "MPI_" #Name);                           \
  find(next.i##name, prefix, "MPI_I" #name);                       \
  find(next.name##_init, prefix, PAPFFT_INIT_PREFIX_ #Name "_init");
  PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_FIND_)
#undef PAPFFT_FIND_
#define PAPFFT_FIND_(Name, name, parameters, arguments, as_ints) \
  find(next.name##_c, prefix, "MPI_" #Name "_c");                \
  find(next.i##name##_c, prefix, "MPI_I" #name "_c");
  PAPFFT_FOR_EACH_LARGE_CALL(PAPFFT_FIND_)
#undef PAPFFT_FIND_
  return next;
}

const NextFunctions kNextMpi = found("");
const NextFunctions kNextPmpi = found("P");

}  // namespace

const NextFunctions& next_mpi() { return kNextMpi; }
const NextFunctions& next_pmpi() { return kNextPmpi; }

}  // namespace papfft::comm::preload
