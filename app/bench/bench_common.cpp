// SPDX-License-Identifier: MIT
#include "app/bench/bench_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

namespace {

using comm::check_mpi;
using comm::Patience;

constexpr auto kBarrierNap = std::chrono::microseconds(100);

/// @param where  what this rank is in
comm::StuckError stuck_error(std::chrono::milliseconds stuck_after, int rank, const std::string& where) {
  const std::string waits = fmt::format("rank {} {}", rank, where);
  return {fmt::format("no progress for {} ms: {}", stuck_after.count(), waits), true, waits};
}

}  // namespace

OwnComm::OwnComm(std::chrono::milliseconds stuck_after) : stuck_after_(stuck_after) {
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

OwnComm::~OwnComm() {
  if (std::uncaught_exceptions() == 0)
    MPI_Comm_free(&comm_);  // collective: after a failure it might wait for ever
}

void OwnComm::wait_for(MPI_Request request, const char* what, bool naps) const {
  Patience patience;
  for (int done = 0;;) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (naps) std::this_thread::sleep_for(kBarrierNap);
    if (stuck_after_.count() > 0 && patience.look() > stuck_after_) {
      throw stuck_error(stuck_after_, rank_,
                        fmt::format("waits for others in {} of the benchmark's own", what));
    }
  }
}

void OwnComm::double_barrier() const {
  for (int i = 0; i < 2; ++i) {
    if (stuck_after_.count() == 0) {
      check_mpi(MPI_Barrier(comm_), "MPI_Barrier");
    } else {
      watched_barrier(false);
    }
  }
}

void OwnComm::quiet_barrier() const { watched_barrier(true); }

void OwnComm::watched_barrier(bool naps) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  wait_for(request, "a barrier", naps);
}

void OwnComm::gather(const void* mine, void* all, std::size_t bytes) const {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw std::length_error("too many measurements at a time");
  }
  const int count = static_cast<int>(bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Igather(mine, count, MPI_BYTE, all, count, MPI_BYTE, 0, comm_, &request), "MPI_Igather");
  wait_for(request, "a gather of results", true);
}

CallAlarm::CallAlarm(Job& job) {
  const auto stuck_after = job.comm().options().stuck_after;
  if (stuck_after.count() == 0) return;
  // Calls of our own say by themselves who waits for whom, and are given the time for that.
  watch_.emplace(stuck_after + std::chrono::seconds(3), [this, &job, stuck_after] {
    job.end_stuck(stuck_error(stuck_after, job.rank(), fmt::format("is still in a call of {}", *call_)));
  });
}

void CallAlarm::begins(const std::string& call) noexcept {
  if (!watch_) return;
  call_ = &call;
  watch_->begins();
}

void CallAlarm::ends() noexcept {
  if (watch_) watch_->ends();
}

Work::Work(const std::string& kind) : spins_(kind == "spin") {
  if (kind != "spin" && kind != "sleep") {
    throw std::invalid_argument("no work '" + kind + "'; known: sleep, spin");
  }
}

void Work::run_for(std::chrono::nanoseconds duration) const {
  const auto end = std::chrono::steady_clock::now() + duration;
  if (!spins_) {
    std::this_thread::sleep_until(end);
    return;
  }
  while (std::chrono::steady_clock::now() < end) {
  }
}

void require_launcher(const std::string& command) {
  if (!is_launched()) {
    throw UsageError(fmt::format(
        "{} measures messages between ranks; what would work: mpirun -n 4 papfft {} ...", command, command));
  }
}

io::Json to_json(const report::Summary& s) {
  return {{"median", s.median},    {"mean", s.mean}, {"stddev", s.stddev},
          {"p10", s.p10},          {"p90", s.p90},   {"p99", s.p99},
          {"min", s.min},          {"max", s.max},   {"median_ci95", {s.median_low, s.median_high}},
          {"outliers", s.outliers}};
}

double milliseconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

std::string figure(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 100 ? 1 : size >= 1 ? 2 : 3);
}

}  // namespace papfft::app
