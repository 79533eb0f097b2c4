// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/io/json.hpp"
#include "app/run/job.hpp"
#include "app/run/job_options.hpp"

namespace papfft::app {

/// What a session did for a job.
struct ArrivalSummary {
  std::int64_t calls = 0;
  std::int64_t planned = 0;                   ///< by predicted arrivals
  std::int64_t distrusted = 0;                ///< predicted too badly to be planned so
  std::int64_t begun_early = 0;               ///< on the rank where most were
  std::optional<double> prediction_error_ms;  ///< mean over ranks and calls; nothing: none was predicted
  bool has_thread = false;
  double thread_share = 0;  ///< of a core, that of the busiest background thread
  std::vector<comm::GuardedCalls> guarded = {};
};

/// How a job went: what --stats prints and --json writes. Filled on the root.
struct RunReport {
  std::string command;
  std::string summary;  ///< one line: what was computed, by how many ranks and threads, how
  io::Json settings;    ///< the job's own
  std::vector<std::pair<std::string, double>> phases_s;
  std::uint64_t bytes_out = 0;   ///< sent by the root to other ranks
  std::uint64_t bytes_back = 0;  ///< received by it
  double share_over_link = 1;    ///< of these: with ranks of other hosts; 1 where all ranks share one host
  int ranks = 1;
  int threads = 1;
  std::uint64_t non_finite = 0;  ///< samples that are NaN or infinite
  /// The same job without communication: what this run's ranks needed beside moving data, and what one process needs.
  double shared_work_s = 0;
  double single_process_s = 0;
  std::optional<ArrivalSummary> arrivals;  ///< nothing: there was no session
  comm::Recorder* recorder = nullptr;      ///< who wants to know of the phases; nullptr: nobody

  /// Says whose report it is.
  void begin(const std::string& of_command, Job& job);
  /// "3 ranks with 2 threads"
  [[nodiscard]] std::string who() const;
  /// Link speed above which sharing beats one process, by these measurements. Nothing: no link is fast enough.
  [[nodiscard]] std::optional<double> break_even_bytes_per_s() const;
  /// As the options want it: printed, written as JSON, both or nothing. @throws io::OutputError
  /// @param outputs  of the job; if one is standard output, this is printed on stderr
  void deliver(const JobOptions& options, const std::vector<std::string>& outputs) const;

 private:
  [[nodiscard]] std::string text() const;
  void write_json(const std::string& path) const;
};

/// "1 vector", "3 vectors"
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

/// Seconds that `work` takes: the least of several runs within about a fifth of a second.
template <typename Work>
[[nodiscard]] double least_seconds(Work work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double least = 1e300;
  do {
    const auto start = Clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  } while (Clock::now() - begin < std::chrono::milliseconds(200));
  return least;
}

/// Runs `work` and adds its time to a sum.
template <typename Work>
void clocked(double& sum_s, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  sum_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The same, and tells the report's recorder.
template <typename Work>
void clocked(const RunReport& report, const char* name, double& sum_s, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  clocked(sum_s, work);
  if (report.recorder != nullptr) report.recorder->span(name, start, std::chrono::steady_clock::now());
}

/// Runs `work` and adds its time to the report under `name`.
template <typename Work>
void timed(RunReport& report, const char* name, Work work) {
  double seconds = 0;
  clocked(report, name, seconds, work);
  report.phases_s.emplace_back(name, seconds);
}

/// The largest of the ranks' values, at the root; elsewhere meaningless. Collective, by the job's own reduce.
[[nodiscard]] double largest_at_root(Job& job, double value, const std::string& algorithm);

}  // namespace papfft::app
