// SPDX-License-Identifier: MIT
#include "app/run/machine.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/utsname.h>

#include <array>
#include <string>

#include "comm/transport/cores.hpp"

namespace papfft::app {

namespace {

std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string name(text.data(), static_cast<std::size_t>(length));
  return name.substr(0, name.find_first_of(",\n"));
}

}  // namespace

io::Json machine_json(Job& job) {
  utsname system{};
  uname(&system);
  return {{"host", system.nodename},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"architecture", system.machine},
          {"cores", comm::available_cores()},
          {"mpi", library_name()},
          {"ranks", job.size()},
          {"ranks_on_host", job.comm().ranks_on_host()}};
}

}  // namespace papfft::app
