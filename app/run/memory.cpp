// SPDX-License-Identifier: MIT
#include "app/run/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace papfft::app {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// What is left of the limit of this process's address space.
std::uint64_t address_space_left() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t used = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(used, limit.rlim_cur);
}

std::uint64_t host_memory_left() {
  std::ifstream lines("/proc/meminfo");
  std::string name;
  for (std::uint64_t kib = 0; lines >> name >> kib; lines.ignore(256, '\n')) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return kUnknown;
}

}  // namespace

std::uint64_t available_memory_bytes(int ranks_here) {
  const std::uint64_t host = host_memory_left();
  const auto ranks = static_cast<std::uint64_t>(std::max(1, ranks_here));
  return std::min(address_space_left(), host == kUnknown ? kUnknown : host / ranks);
}

void require_memory(const std::string& input, std::uint64_t need, std::uint64_t there,
                    const std::string& what_works) {
  if (need <= there) return;
  throw MemoryError(fmt::format("{}: rank 0 needs {} of memory, and {} is there; what would work: {}", input,
                                memory_text(need), memory_text(there), what_works));
}

std::string memory_text(std::uint64_t bytes) {
  const auto b = static_cast<double>(bytes);
  return b >= 1e9 ? fmt::format("{:.3g} GB", b / 1e9) : fmt::format("{:.3g} MB", b / 1e6);
}

}  // namespace papfft::app
