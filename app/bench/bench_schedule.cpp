// SPDX-License-Identifier: MIT
// papfft bench schedule: how long it takes to plan, and in how much memory: of reductions that go by arrival times, before
// each call (CLV Table 1, Figs 7 and 8); of broadcasts on the circulant graph, at any number of ranks (CIR). No messages.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/heap_meter.hpp"
#include "app/bench/schedule_rows.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::app {

namespace {

constexpr int kMostPlanned = 1 << 20;  // ranks with an arrival each

/// Those whose ranks each plan by Circulant::receive and send.
bool plans_by_circulant(const comm::Algorithm& algorithm) {
  return algorithm.name == "circulant" &&
         (algorithm.operation == comm::Operation::bcast || algorithm.operation == comm::Operation::reduce);
}

class ScheduleBench {
 public:
  /// @throws std::invalid_argument
  ScheduleBench(const ScheduleBenchOptions& options, Job& job)
      : options_(options),
        job_(job),
        operation_(comm::parse_operation(options.operation)),
        result_{.options = options} {
    const bool has_planned = std::ranges::any_of(comm::algorithms(), [&](const comm::Algorithm* a) {
      return a->operation == operation_ && a->uses_arrival;
    });
    for (const std::string& name : algorithm_names(has_planned)) {
      if (name != "all") result_.algorithms.push_back(&comm::find_algorithm(operation_, name));
      for (const comm::Algorithm* a : comm::algorithms()) {
        if (name == "all" && a->operation == operation_ && (a->uses_arrival || !has_planned))
          result_.algorithms.push_back(a);
      }
    }
    for (const std::string& pattern : options.patterns) (void)Instances(pattern, 0);
    goes_by_arrival_ = std::ranges::any_of(result_.algorithms, &comm::Algorithm::uses_arrival);
    result_.patterns = goes_by_arrival_ ? options.patterns : std::vector<std::string>{kNoPattern};
    const bool is_local = std::ranges::all_of(
        result_.algorithms, [](const comm::Algorithm* a) { return plans_by_circulant(*a); });
    result_.ranks = !options.ranks.empty() ? options.ranks
                    : is_local             ? std::vector{8, 48, 1000, 1152, 100'000, 1'000'000, 10'000'000}
                                           : std::vector{4, 8, 16, 32, 64, 128, 256, 512};
    if (!is_local && *std::ranges::max_element(result_.ranks) > kMostPlanned) {
      throw UsageError(fmt::format(
          "bench schedule: more than {} ranks only for the circulant broadcast and reduction", kMostPlanned));
    }
  }

  void run() {
    Progress progress = options_.job.make_progress(true, "bench schedule");
    const std::size_t total =
        result_.patterns.size() * result_.ranks.size() * static_cast<std::size_t>(options_.repetitions);
    std::size_t done = 0;
    for (const std::string& pattern : result_.patterns) {
      for (const int ranks : result_.ranks) {
        const int segments = options_.segments > 0 ? options_.segments
                             : goes_by_arrival_    ? ranks
                                                   : std::max(1, comm::Circulant(ranks).rounds());
        const std::size_t first = result_.rows.size();
        for (const comm::Algorithm* algorithm : result_.algorithms) {
          result_.rows.push_back({algorithm, ranks, segments, pattern, {}, 0});
          if (plans_by_circulant(*algorithm))
            result_.rows.back().circulant = time_circulant(ranks, options_.repetitions);
        }
        Instances instances(pattern, options_.seed);
        for (int i = 0; i < options_.repetitions; ++i) {
          const comm::Request request = instances.next(operation_, ranks, segments);
          for (std::size_t row = first; row < result_.rows.size(); ++row)
            measure(result_.rows[row], request, i == 0);
          progress.show(++done, total);
        }
      }
    }
    write();
  }

 private:
  [[nodiscard]] std::vector<std::string> algorithm_names(bool has_planned) const {
    if (!options_.algorithms.empty()) return options_.algorithms;
    if (operation_ == comm::Operation::reduce) return {"clv", "clv-linear", "clv-heap"};
    return {has_planned ? "all" : "circulant"};
  }

  static void measure(ScheduleRow& row, const comm::Request& request, bool is_first) {
    if (is_first) {
      row.memory_bytes = planning_bytes(*row.algorithm, request);
      (void)plan_us(row, request);  // warms the code and the pages of memory
    }
    row.time_us.push_back(plan_us(row, request));
  }

  /// At most at a time; without the resulting program where the planner hands it out piece by piece.
  static std::size_t planning_bytes(const comm::Algorithm& algorithm, const comm::Request& request) {
    const HeapMeter meter;
    if (algorithm.transfers != nullptr) {
      algorithm.transfers(request, [](std::span<const comm::Transfer>) {});
    } else {
      (void)comm::make_rank_schedule(algorithm, request, request.root);
    }
    return meter.peak_bytes();
  }

  /// The plan, and out of it the longest of all programs, the root's.
  static double plan_us(const ScheduleRow& row, const comm::Request& request) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const comm::RankSchedule schedule = comm::make_rank_schedule(*row.algorithm, request, request.root);
    const Clock::time_point end = Clock::now();
    return std::chrono::duration<double, std::micro>(end - start).count();
  }

  void write() {
    if (!options_.job.quiet) fmt::print("{}", result_.text());
    if (!options_.csv.empty()) write_text(options_.csv, result_.csv());
    if (options_.job.json.empty()) return;
    write_text(options_.job.json, result_.document(machine_json(job_)).dump(2) + "\n");
  }

  const ScheduleBenchOptions& options_;
  Job& job_;
  comm::Operation operation_;
  bool goes_by_arrival_ = false;
  ScheduleResult result_;
};

int run_schedule_bench(const ScheduleBenchOptions& options) {
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    job.at_root([&] {
      ScheduleBench bench(options, job);
      check_outputs({options.job.json, options.csv});
      bench.run();
    });
  });
}

}  // namespace

void add_bench_schedule(cli::Command& bench) {
  const auto options = std::make_shared<ScheduleBenchOptions>();
  cli::Command* command = bench.add_subcommand(
      "schedule", "time the planning itself: Clairvoyant's three planners, circulant broadcasts, ...");
  command->add_option("--op", options->operation, "operation")
      ->one_of(comm::kOperationNames)
      ->capture_default_str();
  command
      ->add_option(
          "--algorithms", options->algorithms,
          "names from 'papfft algorithms'; all: those that go by arrival times, or all where none does "
          "[of reduce: clv,clv-linear,clv-heap; of bcast: circulant; else all]")
      ->delimiter(',');
  command
      ->add_option("--ranks", options->ranks,
                   "sizes of the group [4 to 512; the circulant broadcast: 8 to 10 million]")
      ->delimiter(',')
      ->in_range(1, comm::Circulant::kMostRanks);
  command
      ->add_option("--segments", options->segments,
                   "segments of the vector; 0: as many as ranks, or ceil(log2 P) without arrivals")
      ->in_range(0, 1 << 20)
      ->capture_default_str();
  command
      ->add_option("--patterns", options->patterns,
                   "arrivals: uniform (all within P + 0.1, random root), skewed (all at 0, the last at N), "
                   "rounds:R (all within R rounds, random root)")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--repetitions", options->repetitions, "instances per size and pattern")
      ->in_range(1, 1000000)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the instances")->capture_default_str();
  command->add_option("--csv", options->csv, "write the times one by one as CSV to this file");
  options->job.declare_common(*command);
  command->footer(
      "Examples:\n"
      "  papfft bench schedule --ranks 4,8,16,32,64,128 --repetitions 250 --json schedule.json\n"
      "  papfft bench schedule --ranks 1024,2048,4096 --algorithms clv --repetitions 3\n"
      "  papfft bench schedule --op gather --algorithms all --segments 1\n"
      "  papfft bench schedule --op bcast --ranks 1000,1000000,10000000\n"
      "  papfft bench schedule --ranks 512 --algorithms papbi --patterns "
      "rounds:512,rounds:4000,rounds:20000\n"
      "A round takes 0.001 to 1 of the patterns' unit of time, at random, or in rounds:R just one. Needs no "
      "mpirun.");
  command->runs([options] { return run_schedule_bench(*options); });
}

}  // namespace papfft::app
