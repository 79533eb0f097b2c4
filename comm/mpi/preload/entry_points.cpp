// SPDX-License-Identifier: MIT
// The functions that programs call, each by both of its names. What each does is in calls_rooted.cpp, calls_to_all.cpp and
// calls_reducing.cpp.
#include <mpi.h>

#include <exception>
#include <optional>
#include <string_view>

#include "comm/mpi/preload/calls.hpp"
#include "comm/mpi/preload/large_calls.hpp"
#include "comm/mpi/preload/next_functions.hpp"
#include "comm/mpi/preload/runtime.hpp"
#include "papfft/export.h"

namespace papfft::comm::preload {

namespace {

/// Into a program, which may be written in C, no exception of ours may leave. Its own error handlers may throw.
template <typename Work>
int guarded(std::string_view call, MPI_Comm comm, const Way& way, Work work) {
  try {
    return work();
  } catch (const std::exception& e) {
    if (way.is_passing()) throw;
    return Runtime::get().fail(call, comm, e);
  }
}

/// MPI_Comm_free and MPI_Comm_disconnect.
template <typename Free>
int end_of(Free free, MPI_Comm* comm) {
  if (Runtime::is_watching_started()) Runtime::get().before_end_of(*comm);
  return free(comm);
}

int start(const NextFunctions& next, MPI_Request* request) {
  if (!Runtime::is_watching_started() || request == nullptr) return next.start(request);
  const Inside inside;
  try {
    if (const std::optional<int> code = Runtime::get().persistent().start(request)) return *code;
  } catch (const std::exception& e) {
    return Runtime::get().fail("MPI_Start", MPI_COMM_WORLD, e);
  }
  return next.start(request);
}

/// One by one, in this order, if they may be ours.
int start_all(const NextFunctions& next, int count, MPI_Request requests[]) {
  if (!Runtime::is_watching_started() || !Runtime::get().persistent().are_there() || requests == nullptr)
    return next.startall(count, requests);
  for (int i = 0; i < count; ++i) {
    if (const int code = start(next, &requests[i]); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int free_request(const NextFunctions& next, MPI_Request* request) {
  if (Runtime::is_watching_started() && request != nullptr) {
    const Inside inside;
    Runtime::get().persistent().forget(*request);  // before another thread can get one of the same name
  }
  return next.request_free(request);
}

}  // namespace

}  // namespace papfft::comm::preload

using namespace papfft::comm::preload;

// Open MPI's header says that these functions are visible; MPICH's does not.
// A function by the name that it has behind P (MPI's own calls and tools) or without.
// Serves a call, made by a Way of these arguments.
#define PAPFFT_SERVE_(Name, name, arguments, ...) \
  Way way(__VA_ARGS__);                           \
  return guarded("MPI_" #Name, comm, way,         \
                 [&] { return papfft::comm::preload::name(way, PAPFFT_LIST arguments, comm); })
#define PAPFFT_DEFINE_AS_(P, next, Name, name, parameters, arguments)                                 \
  PAPFFT_API int P##MPI_##Name(PAPFFT_LIST parameters, MPI_Comm comm) {                               \
    const auto pass = [&] { return next().name(PAPFFT_LIST arguments, comm); };                       \
    PAPFFT_SERVE_(Name, name, arguments, pass);                                                       \
  }                                                                                                   \
  PAPFFT_API int P##MPI_I##name(PAPFFT_LIST parameters, MPI_Comm comm, MPI_Request* request) {        \
    const auto pass = [&] { return next().i##name(PAPFFT_LIST arguments, comm, request); };           \
    if (!Runtime::is_watching_started() || request == nullptr) return pass();                         \
    PAPFFT_SERVE_(Name, name, arguments, pass, Way::Form::started, request);                          \
  }                                                                                                   \
  PAPFFT_API int PAPFFT_INIT_OF_(P, Name)(PAPFFT_LIST parameters, MPI_Comm comm, MPI_Info info,       \
                                          MPI_Request * request) {                                    \
    const auto pass = [&] { return next().name##_init(PAPFFT_LIST arguments, comm, info, request); }; \
    if (!Runtime::is_watching_started() || request == nullptr) return pass();                         \
    PAPFFT_SERVE_(Name, name, arguments, pass, Way::Form::persistent, request);                       \
  }
#define PAPFFT_DEFINE_(Name, name, operation, parameters, arguments) \
  PAPFFT_DEFINE_AS_(, next_mpi, Name, name, parameters, arguments)   \
  PAPFFT_DEFINE_AS_(P, next_pmpi, Name, name, parameters, arguments)

#define PAPFFT_DEFINE_LARGE_AS_(P, next, Name, name, parameters, arguments, as_ints)               \
  PAPFFT_API int P##MPI_##Name##_c(PAPFFT_LIST parameters, MPI_Comm comm) {                        \
    const auto pass = [&] { return next().name##_c(PAPFFT_LIST arguments, comm); };                \
    PAPFFT_SERVE_(Name, name, as_ints, pass);                                                      \
  }                                                                                                \
  PAPFFT_API int P##MPI_I##name##_c(PAPFFT_LIST parameters, MPI_Comm comm, MPI_Request* request) { \
    const auto pass = [&] { return next().i##name##_c(PAPFFT_LIST arguments, comm, request); };    \
    if (!Runtime::is_watching_started() || request == nullptr) return pass();                      \
    PAPFFT_SERVE_(Name, name, as_ints, pass, Way::Form::started, request);                         \
  }
#define PAPFFT_DEFINE_LARGE_(Name, name, parameters, arguments, as_ints)          \
  PAPFFT_DEFINE_LARGE_AS_(, next_mpi, Name, name, parameters, arguments, as_ints) \
  PAPFFT_DEFINE_LARGE_AS_(P, next_pmpi, Name, name, parameters, arguments, as_ints)

extern "C" {

PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DEFINE_)
PAPFFT_FOR_EACH_LARGE_CALL(PAPFFT_DEFINE_LARGE_)

PAPFFT_API int MPI_Comm_free(MPI_Comm* comm) { return end_of(next_mpi().comm_free, comm); }
PAPFFT_API int PMPI_Comm_free(MPI_Comm* comm) { return end_of(next_pmpi().comm_free, comm); }
PAPFFT_API int MPI_Comm_disconnect(MPI_Comm* comm) { return end_of(next_mpi().comm_disconnect, comm); }
PAPFFT_API int PMPI_Comm_disconnect(MPI_Comm* comm) { return end_of(next_pmpi().comm_disconnect, comm); }

PAPFFT_API int MPI_Start(MPI_Request* request) { return start(next_mpi(), request); }
PAPFFT_API int PMPI_Start(MPI_Request* request) { return start(next_pmpi(), request); }
PAPFFT_API int MPI_Startall(int count, MPI_Request requests[]) {
  return start_all(next_mpi(), count, requests);
}
PAPFFT_API int PMPI_Startall(int count, MPI_Request requests[]) {
  return start_all(next_pmpi(), count, requests);
}
PAPFFT_API int MPI_Request_free(MPI_Request* request) { return free_request(next_mpi(), request); }
PAPFFT_API int PMPI_Request_free(MPI_Request* request) { return free_request(next_pmpi(), request); }

}  // extern "C"
