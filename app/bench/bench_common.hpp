// SPDX-License-Identifier: MIT
// What the benchmarks have in common.
#pragma once
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "app/io/json.hpp"
#include "app/report/statistics.hpp"
#include "app/run/job.hpp"
#include "app/run/job_options.hpp"
#include "app/run/machine.hpp"
#include "app/run/output_files.hpp"
#include "comm/engine/call_watch.hpp"
#include "papfft/collectives.hpp"

namespace papfft::app {

/// A communicator of the benchmark's own: its messages do not disturb those that are measured.
class OwnComm {
 public:
  /// Collective over MPI_COMM_WORLD. @param stuck_after  so long a rank waits for the others in what follows; 0: for ever
  /// @throws comm::TransportError; and what follows, comm::StuckError
  explicit OwnComm(std::chrono::milliseconds stuck_after);
  ~OwnComm();
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// Two barriers, so that the ranks leave the second one nearly together (the first gets late ranks' attention).
  void double_barrier() const;

  /// Returns when all have called it; naps meanwhile, so that those who have not get the cores that ranks may share.
  void quiet_barrier() const;

  /// Each rank's `mine` (all of one length) to rank 0, one rank after another; elsewhere nothing.
  template <typename Value>
  [[nodiscard]] std::vector<Value> to_root(std::span<const Value> mine) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
    gather(mine.data(), all.data(), mine.size_bytes());
    return all;
  }

 private:
  void gather(const void* mine, void* all, std::size_t bytes) const;
  void watched_barrier(bool naps) const;
  void wait_for(MPI_Request request, const char* what, bool naps) const;

  std::chrono::milliseconds stuck_after_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// Ends the job if a call lasts longer than Options::stuck_after: those of the MPI library itself cannot be looked into.
class CallAlarm {
 public:
  /// @param job  must outlive this object
  explicit CallAlarm(Job& job);

  /// @param call  what it is, for the line on stderr; must outlive it
  void begins(const std::string& call) noexcept;
  void ends() noexcept;

 private:
  const std::string* call_ = nullptr;
  std::optional<comm::CallWatch> watch_;
};

/// The compute phase of an experiment.
class Work {
 public:
  /// @param kind  "sleep", or "spin" that keeps a core busy. @throws std::invalid_argument
  explicit Work(const std::string& kind);
  void run_for(std::chrono::nanoseconds duration) const;

 private:
  bool spins_;
};

/// Before any MPI call. @throws UsageError  not started by a launcher
void require_launcher(const std::string& command);

[[nodiscard]] io::Json to_json(const report::Summary& summary);

[[nodiscard]] double milliseconds(std::int64_t ns);

/// 1.2345 -> "1.23"; three figures that matter, without exponent.
[[nodiscard]] std::string figure(double value);

}  // namespace papfft::app
