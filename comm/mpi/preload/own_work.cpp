// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/own_work.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

namespace papfft::comm::preload {

namespace {

/// No message can be sent there to agree on who speaks. So the ranks have their turns, and the launcher ends all of them when the first has
/// spoken.
[[noreturn]] void end(std::chrono::milliseconds limit, int rank, const std::string& what) {
  constexpr int kTurns = 8;
  std::this_thread::sleep_for(std::chrono::seconds(4) * std::min(rank, kTurns));
  std::fprintf(
      stderr,
      "papfft preload: no progress for %lld ms: rank %d waits for the others, with whom the library %s\n",
      static_cast<long long>(limit.count()), rank, what.c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

OwnWork::OwnWork(const Options& options, std::string what) {
  const std::chrono::milliseconds limit = options.stuck_after;
  if (limit.count() <= 0) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    watch_.emplace(limit, [=, what = std::move(what)] { end(limit, rank, what); });
    watch_->begins();
  } catch (const std::system_error&) {
    // No thread can begin: then nobody watches.
  }
}

}  // namespace papfft::comm::preload
