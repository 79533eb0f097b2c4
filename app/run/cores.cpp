// SPDX-License-Identifier: MIT
#include "app/run/cores.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "app/run/job.hpp"

namespace papfft::app {

CoreSet CoreSet::everything() noexcept {
  CoreSet all;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all.set_);
  return all;
}

CoreSet CoreSet::of_this_thread() noexcept {
  CoreSet own;
  return sched_getaffinity(0, sizeof own.set_, &own.set_) == 0 ? own : everything();
}

CoreSet cores_of_host(Job& job) {
  struct Place {
    std::array<char, 256> host{};
    CoreSet cores = CoreSet::of_this_thread();
  };
  Place mine;
  (void)gethostname(mine.host.data(), mine.host.size() - 1);
  std::vector<Place> places(job.is_root() ? static_cast<std::size_t>(job.size()) : 0);
  job.comm().gather<Place>(std::span<const Place>(&mine, 1), places, 0, "lin");
  for (const Place& place : places) {
    if (std::strcmp(place.host.data(), mine.host.data()) == 0) mine.cores.add(place.cores);
  }
  return mine.cores;
}

}  // namespace papfft::app
