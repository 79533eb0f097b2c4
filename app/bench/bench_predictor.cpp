// SPDX-License-Identifier: MIT
// papfft bench predictor: what the background thread costs the computation, and how well it predicts.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/predictor_replay.hpp"
#include "app/bench/replay_command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/version.hpp"
#include "app/io/known_inputs.hpp"
#include "app/jobs/transform_sizes.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "app/run/arrival_pattern.hpp"
#include "comm/choose/select.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using Seconds = std::chrono::duration<double>;

constexpr int kPhasesPerBlock = 10;  // the first of a session has no history to predict from

struct PredictorOptions {
  JobOptions job;
  std::string algorithm = "bsls";
  std::string bytes = "1M";
  std::string compute = "50ms";
  int blocks = 5;
  ArrivalOptions arrivals{.delay = "uniform:20ms"};
  std::vector<std::string> replay;
};

/// A dependent chain of multiplications, so that nothing but the core's speed and share decides how long it takes.
double spin(std::uint64_t steps) {
  double x = 0.5;
  for (std::uint64_t i = 0; i < steps; ++i) x = 3.7 * x * (1 - x);
  return x;
}

struct Phase {
  double work_s = 0;
  double prediction_error_ms = -1;  ///< -1: not predicted
};

class PredictorBench {
 public:
  PredictorBench(Job& job, const PredictorOptions& options)
      : job_(job),
        options_(options),
        pattern_(options.arrivals.pattern()),
        block_(report::parse_byte_count(options.bytes) / static_cast<std::uint64_t>(job.size())),
        whole_(job.is_root() ? block_.size() * static_cast<std::size_t>(job.size()) : 0) {}

  void run() {
    calibrate();
    Progress progress = options_.job.make_progress(job_.is_root(), "bench predictor");
    for (int block = 0; block < options_.blocks; ++block) {
      run_block(nullptr, block);
      comm::MpiSession session(MPI_COMM_WORLD, options_.job.to_comm_options(), comm::SessionOptions{});
      run_block(&session, block);
      session.close();
      progress.show(static_cast<std::size_t>(block) + 1, static_cast<std::size_t>(options_.blocks));
    }
    const std::vector<Phase> without = comm_.to_root(std::span<const Phase>(without_));
    const std::vector<Phase> with = comm_.to_root(std::span<const Phase>(with_));
    const std::vector<double> shares = comm_.to_root(std::span<const double>(shares_));
    job_.at_root([&] { write(without, with, shares); });
  }

 private:
  /// As many steps on every rank, such that rank 0 needs about the asked time for them.
  void calibrate() {
    constexpr std::uint64_t kProbe = 1'000'000;
    double probe_s = 1e300;
    for (int i = 0; i < 5; ++i) probe_s = std::min(probe_s, timed_spin(kProbe));
    const double asked_s = static_cast<double>(parse_duration_ns(options_.compute)) * 1e-9;
    steps_ =
        job_.from_root(std::max<std::uint64_t>(2, static_cast<std::uint64_t>(asked_s / probe_s * kProbe)));
  }

  double timed_spin(std::uint64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    sink_ = spin(steps);
    return Seconds(std::chrono::steady_clock::now() - start).count();
  }

  /// Phases of fixed work, the same delays in both kinds of block; the delay is slept, before and after the edge alike.
  void run_block(comm::MpiSession* session, int block) {
    const auto before_edge = static_cast<std::uint64_t>(static_cast<double>(steps_) * options_.arrivals.edge);
    for (int i = 0; i < kPhasesPerBlock; ++i) {
      const double delay_s =
          static_cast<double>(pattern_.delay_ns(block * kPhasesPerBlock + i, job_.rank(), job_.size(), 0)) *
          1e-9;
      Phase phase;
      comm_.double_barrier();
      if (session != nullptr) session->processing_start();
      phase.work_s = timed_spin(before_edge);
      std::this_thread::sleep_for(Seconds(delay_s * options_.arrivals.edge));
      if (session != nullptr) session->edge(options_.arrivals.edge);
      phase.work_s += timed_spin(steps_ - before_edge);
      std::this_thread::sleep_for(Seconds(delay_s * (1 - options_.arrivals.edge)));
      if (session == nullptr) {
        without_.push_back(phase);
        continue;
      }
      session->processing_end();
      session->gather<std::byte>(block_, whole_, 0, options_.algorithm);
      const comm::SessionStatistics statistics = session->statistics();
      if (statistics.predicted_ns) {
        phase.prediction_error_ms = std::abs(milliseconds(*statistics.predicted_ns - statistics.arrived_ns));
      }
      with_.push_back(phase);
    }
    if (session != nullptr) shares_.push_back(session->statistics().thread_share);
  }

  void write(const std::vector<Phase>& without, const std::vector<Phase>& with,
             const std::vector<double>& shares) {
    const auto work_ms = [](const std::vector<Phase>& phases) {
      std::vector<double> values;
      values.reserve(phases.size());
      for (const Phase& phase : phases) values.push_back(phase.work_s * 1e3);
      return report::summarize(values);
    };
    std::vector<double> errors;
    for (const Phase& phase : with) {
      if (phase.prediction_error_ms >= 0) errors.push_back(phase.prediction_error_ms);
    }
    const report::Summary plain = work_ms(without);
    const report::Summary watched = work_ms(with);
    const report::Summary share = report::summarize(shares);
    const double cost = watched.median / plain.median - 1;
    if (!options_.job.quiet) {
      fmt::print("predictor on {} ranks: {} phases of fixed work with and without it, {} at a time\n",
                 job_.size(), options_.blocks * kPhasesPerBlock, kPhasesPerBlock);
      report::TextTable table({"", "work ms", "p90", "p99"});
      table.add({"without", figure(plain.median), figure(plain.p90), figure(plain.p99)});
      table.add({"with", figure(watched.median), figure(watched.p90), figure(watched.p99)});
      fmt::print("{}cost {} %, the thread's share of a core {} % (largest {} %)\n", table.text(),
                 figure(cost * 100), figure(share.median * 100), figure(share.max * 100));
      if (!errors.empty()) {
        fmt::print("prediction error under {}: median {} ms, p90 {} ms\n", options_.arrivals.delay,
                   figure(report::median(errors)), figure(report::percentile(errors, 0.9)));
      }
    }
    if (options_.job.json.empty()) return;
    io::Json json;
    json["papfft"] = kVersion;
    json["machine"] = machine_json(job_);
    json["settings"] = {{"algorithm", options_.algorithm},  {"bytes", options_.bytes},
                        {"delay", options_.arrivals.delay}, {"compute", options_.compute},
                        {"edge", options_.arrivals.edge},   {"blocks", options_.blocks},
                        {"seed", options_.arrivals.seed}};
    io::Json row = {{"ranks", job_.size()},
                    {"pattern", options_.arrivals.delay},
                    {"phases", with.size()},
                    {"work_without_ms", to_json(plain)},
                    {"work_with_ms", to_json(watched)},
                    {"cost", cost},
                    {"thread_share", to_json(share)},
                    {"predicted", errors.size()},
                    {"prediction_error_ms", nullptr}};
    if (!errors.empty()) row["prediction_error_ms"] = to_json(report::summarize(errors));
    json["rows"] = io::Json::array({row});
    write_text(options_.job.json, json.dump(2) + "\n");
  }

  Job& job_;
  const PredictorOptions& options_;
  ArrivalPattern pattern_;
  OwnComm comm_{job_.comm().options().stuck_after};
  std::vector<std::byte> block_;
  std::vector<std::byte> whole_;
  std::uint64_t steps_ = 0;
  std::atomic<double> sink_ = 0;  // the work's result must not be optimised away
  std::vector<Phase> without_;
  std::vector<Phase> with_;
  std::vector<double> shares_;
};

int run_predictor(const PredictorOptions& options) {
  if (!options.replay.empty()) {
    refuse_launcher("bench predictor --replay");
    std::ranges::for_each(options.replay, [](const std::string& trace) { io::know_input(trace); });
    check_outputs({options.job.json});
    replay_traces(options.replay, report::parse_byte_count(options.bytes), options.job.json,
                  options.job.quiet);
    return kOk;
  }
  require_launcher("bench predictor");
  (void)comm::choose(comm::Operation::gather, options.algorithm, 2, 0, false);
  (void)options.arrivals.pattern();
  (void)parse_duration_ns(options.compute);
  (void)report::parse_byte_count(options.bytes);
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    job.at_root([&] {
      check_outputs({options.job.json});
      (void)options.arrivals.pattern().delay_ns(0, 0, job.size(), 0);
    });
    PredictorBench(job, options).run();
  });
}

}  // namespace

void add_bench_predictor(cli::Command& bench) {
  const auto options = std::make_shared<PredictorOptions>();
  cli::Command* command = bench.add_subcommand("predictor", "what predicting costs, and how good it is");
  command->add_option("--algorithm", options->algorithm, "of the gather after each phase")
      ->capture_default_str();
  command->add_option("--bytes", options->bytes, "size of its whole vector")->capture_default_str();
  command->add_option("--compute", options->compute, "about how long the fixed work takes")
      ->capture_default_str();
  command
      ->add_option("--blocks", options->blocks,
                   "how often ten phases without and ten with the predictor alternate")
      ->in_range(1, 100000)
      ->capture_default_str();
  command
      ->add_option("--replay", options->replay,
                   "measure nothing, but say what the predictor makes of these: files of 'papfft record', or "
                   "synthetic: and one of " +
                       std::string(kSyntheticNames))
      ->delimiter(',');
  options->arrivals.declare(*command);
  options->job.declare_common(*command);
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 papfft bench predictor --delay uniform:20ms --json predictor.json\n"
      "  papfft bench predictor --replay psd.csv,synthetic:trend,synthetic:two-phase\n"
      "Cost: the work's median time with the predictor at work over that without, less one.\n"
      "Replay: 'chosen' are the estimators that erred least of late, 'together' is no prediction, 'decided' "
      "is what 'auto' does.");
  command->runs([options] { return run_predictor(*options); });
}

}  // namespace papfft::app
