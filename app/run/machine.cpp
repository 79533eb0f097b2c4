// SPDX-License-Identifier: MIT
#include "app/run/machine.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/utsname.h>

#include <array>
#include <string>

#include "comm/engine/call_engine.hpp"
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

HostLayout host_layout(Job& job) { return {job.size(), job.comm().engine().transport().host_of_rank()}; }

io::Json machine_json(Job& job) {
  utsname system{};
  uname(&system);
  const HostLayout layout = host_layout(job);
  return {{"host", system.nodename},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"architecture", system.machine},
          {"cores", comm::available_cores()},
          {"mpi", library_name()},
          {"ranks", job.size()},
          {"ranks_on_host", job.comm().ranks_on_host()},
          {"hosts", layout.hosts().count()},
          {"ranks_per_host", layout.per_host_text()},
          {"rank_order", layout.order()}};
}

}  // namespace papfft::app
