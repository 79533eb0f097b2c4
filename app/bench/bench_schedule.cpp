// SPDX-License-Identifier: MIT
// papfft bench schedule: how long it takes to plan, and in how much memory: of reductions that go by arrival times, before
// each call (CLV Table 1, Figs 7 and 8); of broadcasts on the circulant graph, at any number of ranks (CIR). No messages.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/heap_meter.hpp"
#include "app/cli/version.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::app {

namespace {

/// What all others are compared with, where they run (CLV Table 1).
constexpr std::array kPeers = {"clv-linear", "clv-heap"};
constexpr double kUnitNs = 1e6;             // the paper's unit of time; it has no name there
constexpr const char* kNoPattern = "none";  // of algorithms that know nothing of arrivals
constexpr int kMostPlanned = 1 << 20;       // ranks with an arrival each
constexpr int kMostSampled = 20'000;

struct ScheduleBenchOptions {
  JobOptions job;
  std::string operation = "reduce";
  std::vector<std::string> algorithms;  ///< empty: see default_algorithms
  std::vector<int> ranks;               ///< empty: see default_ranks
  int segments = 0;
  std::vector<std::string> patterns = {"uniform", "skewed"};
  int repetitions = 10;
  std::uint64_t seed = 1;
  std::string csv;
};

/// The instances of CLV 5.7.
///   uniform  all arrive within [0, P + 0.1], at a random root
///   skewed   all arrive at 0 but the last rank, which comes at N; root 0
/// A round takes 0.001 to 1 in both. One that tells how much there is to plan:
///   rounds:R  all arrive within R rounds, at a random root
/// And one for algorithms that plan without arrivals:
///   none     root 0
class Instances {
 public:
  /// @throws std::invalid_argument
  Instances(const std::string& pattern, std::uint64_t seed)
      : uniform_(pattern == "uniform"), skewed_(pattern == "skewed"), random_(seed) {
    if (pattern.starts_with(kRounds)) {
      uniform_ = true;
      rounds_ = static_cast<double>(report::parse_byte_count(pattern.substr(kRounds.size())));
    } else if (!uniform_ && !skewed_ && pattern != kNoPattern) {
      throw std::invalid_argument("no pattern '" + pattern + "'; known: uniform, skewed, rounds:R");
    }
  }

  comm::Request next(comm::Operation operation, int ranks, int segments) {
    comm::Request request{.operation = operation, .ranks = ranks, .segments = segments};
    if (!uniform_ && !skewed_) return request;
    request.round_ns = rounds_ > 0 ? std::llround(kUnitNs) : time_ns(0.001, 1);
    request.arrival_ns.resize(static_cast<std::size_t>(ranks));
    if (uniform_) {
      const double last = rounds_ > 0 ? rounds_ : ranks + 0.1;
      for (std::int64_t& arrival : request.arrival_ns) arrival = time_ns(0, last);
      if (comm::is_rooted(operation)) request.root = std::uniform_int_distribution(0, ranks - 1)(random_);
    } else {
      request.arrival_ns.back() = std::llround(segments * kUnitNs);
    }
    return request;
  }

 private:
  std::int64_t time_ns(double from, double to) {
    return std::llround(std::uniform_real_distribution(from, to)(random_) * kUnitNs);
  }

  static constexpr std::string_view kRounds = "rounds:";
  bool uniform_;
  bool skewed_;
  double rounds_ = 0;  ///< 0: not by rounds
  std::mt19937_64 random_;
};

/// How long ranks take to find what they receive and send in each round of a phase, which the paper (CIR) leaves at
/// O(log^3 P) and 3 to 29 us: one rank, and all receive schedules, which an allgatherv needs.
struct CirculantTimes {
  std::vector<double> rank_ns = {};  ///< mean over the sampled ranks, each receiving and sending
  std::vector<double> all_us = {};   ///< nothing for groups of which ranks are sampled
  int sampled = 0;                   ///< ranks; all of small groups
  std::int64_t checksum = 0;         ///< so that nothing is optimised away
};

CirculantTimes time_circulant(int ranks, int repetitions) {
  using Clock = std::chrono::steady_clock;
  const comm::Circulant graph(ranks);
  CirculantTimes times{.sampled = std::min(ranks, kMostSampled)};
  const auto q = static_cast<std::size_t>(graph.rounds());
  const auto ns_since = [](Clock::time_point start) {
    return static_cast<double>(std::chrono::nanoseconds(Clock::now() - start).count());
  };
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    for (std::int64_t k = 0; k < times.sampled; ++k) {
      const int r = static_cast<int>(k * ranks / times.sampled);
      times.checksum += graph.receive(r)[q / 2] + graph.send(r)[q / 2];
    }
    times.rank_ns.push_back(ns_since(start) / times.sampled);
    if (times.sampled < ranks) continue;
    std::vector<int> all(static_cast<std::size_t>(ranks) * q);
    const auto start_all = Clock::now();
    for (int r = 0; r < ranks; ++r)
      graph.receive(r, std::span(all).subspan(static_cast<std::size_t>(r) * q, q));
    times.all_us.push_back(ns_since(start_all) * 1e-3);
    times.checksum += all.empty() ? 0 : all.back();
  }
  return times;
}

/// Those whose ranks each plan by Circulant::receive and send.
bool plans_by_circulant(const comm::Algorithm& algorithm) {
  return algorithm.name == "circulant" &&
         (algorithm.operation == comm::Operation::bcast || algorithm.operation == comm::Operation::reduce);
}

/// One algorithm on the instances of one size and pattern.
struct ScheduleRow {
  const comm::Algorithm* algorithm = nullptr;
  int ranks = 0;
  int segments = 0;
  std::string pattern;
  std::vector<double> time_us;
  std::size_t memory_bytes = 0;  ///< for planning the first instance
  std::optional<CirculantTimes> circulant = {};
};

class ScheduleBench {
 public:
  /// @throws std::invalid_argument
  ScheduleBench(const ScheduleBenchOptions& options, Job& job)
      : options_(options), job_(job), operation_(comm::parse_operation(options.operation)) {
    const bool has_planned = std::ranges::any_of(comm::algorithms(), [&](const comm::Algorithm* a) {
      return a->operation == operation_ && a->uses_arrival;
    });
    for (const std::string& name : algorithm_names(has_planned)) {
      if (name != "all") algorithms_.push_back(&comm::find_algorithm(operation_, name));
      for (const comm::Algorithm* a : comm::algorithms()) {
        if (name == "all" && a->operation == operation_ && (a->uses_arrival || !has_planned))
          algorithms_.push_back(a);
      }
    }
    for (const std::string& pattern : options.patterns) (void)Instances(pattern, 0);
    goes_by_arrival_ = std::ranges::any_of(algorithms_, &comm::Algorithm::uses_arrival);
    patterns_ = goes_by_arrival_ ? options.patterns : std::vector<std::string>{kNoPattern};
    const bool is_local =
        std::ranges::all_of(algorithms_, [](const comm::Algorithm* a) { return plans_by_circulant(*a); });
    ranks_ = !options.ranks.empty() ? options.ranks
             : is_local             ? std::vector{8, 48, 1000, 1152, 100'000, 1'000'000, 10'000'000}
                                    : std::vector{4, 8, 16, 32, 64, 128, 256, 512};
    if (!is_local && *std::ranges::max_element(ranks_) > kMostPlanned) {
      throw UsageError(fmt::format(
          "bench schedule: more than {} ranks only for the circulant broadcast and reduction", kMostPlanned));
    }
  }

  void run() {
    Progress progress = options_.job.make_progress(true, "bench schedule");
    const std::size_t total =
        patterns_.size() * ranks_.size() * static_cast<std::size_t>(options_.repetitions);
    std::size_t done = 0;
    for (const std::string& pattern : patterns_) {
      for (const int ranks : ranks_) {
        const int segments = options_.segments > 0 ? options_.segments
                             : goes_by_arrival_    ? ranks
                                                   : std::max(1, comm::Circulant(ranks).rounds());
        const std::size_t first = rows_.size();
        for (const comm::Algorithm* algorithm : algorithms_) {
          rows_.push_back({algorithm, ranks, segments, pattern, {}, 0});
          if (plans_by_circulant(*algorithm))
            rows_.back().circulant = time_circulant(ranks, options_.repetitions);
        }
        Instances instances(pattern, options_.seed);
        for (int i = 0; i < options_.repetitions; ++i) {
          const comm::Request request = instances.next(operation_, ranks, segments);
          for (std::size_t row = first; row < rows_.size(); ++row) measure(rows_[row], request, i == 0);
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

  /// How many times as long the peer took on the same instances, in the mean; NaN if it did not run.
  [[nodiscard]] double gain(const ScheduleRow& row, std::string_view peer) const {
    for (const ScheduleRow& other : rows_) {
      if (other.algorithm->name == peer && other.ranks == row.ranks && other.segments == row.segments &&
          other.pattern == row.pattern) {
        return report::summarize(other.time_us).mean / report::summarize(row.time_us).mean;
      }
    }
    return std::nan("");
  }

  [[nodiscard]] nlohmann::ordered_json row_json(const ScheduleRow& row) const {
    nlohmann::ordered_json json = {{"op", options_.operation},
                                   {"algorithm", row.algorithm->name},
                                   {"ranks", row.ranks},
                                   {"segments", row.segments},
                                   {"pattern", row.pattern},
                                   {"repetitions", row.time_us.size()},
                                   {"time_us", to_json(report::summarize(row.time_us))},
                                   {"time_samples_us", row.time_us},
                                   {"memory_bytes", nullptr},
                                   {"gain_over", nlohmann::ordered_json::object()}};
    if (HeapMeter::works()) json["memory_bytes"] = row.memory_bytes;
    for (const char* peer : kPeers) {
      const double value = gain(row, peer);
      json["gain_over"][peer] = std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
    }
    if (row.circulant) {
      json["rounds"] = comm::Circulant(row.ranks).rounds();
      json["sampled_ranks"] = row.circulant->sampled;
      json["rank_ns"] = to_json(report::summarize(row.circulant->rank_ns));
      if (!row.circulant->all_us.empty())
        json["all_ranks_us"] = to_json(report::summarize(row.circulant->all_us));
      json["checksum"] = row.circulant->checksum;
    }
    return json;
  }

  [[nodiscard]] std::string circulant_text() const {
    report::TextTable table({"ranks", "rounds", "ns per rank", "min", "all ranks, us", "bytes per rank"});
    bool any = false;
    for (const ScheduleRow& row : rows_) {
      if (!row.circulant) continue;
      any = true;
      const CirculantTimes& times = *row.circulant;
      table.add({std::to_string(row.ranks), std::to_string(comm::Circulant(row.ranks).rounds()),
                 figure(report::median(times.rank_ns)), figure(*std::ranges::min_element(times.rank_ns)),
                 times.all_us.empty() ? "-" : figure(report::median(times.all_us)),
                 std::to_string(2 * sizeof(comm::Circulant::Blocks))});
    }
    return !any ? ""
                : "\nwhat a rank receives and sends in a phase of the circulant graph\n\n" + table.text() +
                      "all ranks: every receive schedule, as an allgatherv needs\n";
  }

  [[nodiscard]] std::string text() const {
    report::TextTable table({"pattern", "ranks", "segments", "algorithm", "mean us", "median", "min",
                             "memory KiB", "gain over clv-linear", "over clv-heap"});
    for (const ScheduleRow& row : rows_) {
      const report::Summary time = report::summarize(row.time_us);
      table.add({row.pattern, std::to_string(row.ranks), std::to_string(row.segments),
                 std::string(row.algorithm->name), figure(time.mean), figure(time.median), figure(time.min),
                 figure(static_cast<double>(row.memory_bytes) / 1024), figure(gain(row, kPeers[0])),
                 figure(gain(row, kPeers[1]))});
    }
    return table.text();
  }

  [[nodiscard]] std::string csv() const {
    report::TextTable table(
        {"op", "algorithm", "ranks", "segments", "pattern", "repetition", "time_us", "memory_bytes"});
    for (const ScheduleRow& row : rows_) {
      for (std::size_t i = 0; i < row.time_us.size(); ++i) {
        table.add({options_.operation, std::string(row.algorithm->name), std::to_string(row.ranks),
                   std::to_string(row.segments), row.pattern, std::to_string(i),
                   fmt::format("{:.3f}", row.time_us[i]), std::to_string(row.memory_bytes)});
      }
    }
    return table.csv();
  }

  static std::vector<std::string> names(std::span<const comm::Algorithm* const> algorithms) {
    std::vector<std::string> result;
    for (const comm::Algorithm* a : algorithms) result.emplace_back(a->name);
    return result;
  }

  void write() {
    if (!options_.job.quiet) {
      fmt::print(
          "planning {}: {} instances per size and pattern, seed {}\n\n{}\n"
          "time: the plan of one rank, the root (it has the longest program)\n"
          "memory: for planning, the program itself apart\n"
          "gain: mean time of the peer / mean time, on the same instances\n{}",
          options_.operation, options_.repetitions, options_.seed, text(), circulant_text());
    }
    if (!options_.csv.empty()) write_text(options_.csv, csv());
    if (options_.job.json.empty()) return;
    nlohmann::ordered_json json;
    json["papfft"] = kVersion;
    json["machine"] = machine_json(job_);
    json["settings"] = {{"op", options_.operation}, {"algorithms", names(algorithms_)},
                        {"ranks", ranks_},          {"segments", options_.segments},
                        {"patterns", patterns_},    {"repetitions", options_.repetitions},
                        {"seed", options_.seed}};
    json["rows"] = nlohmann::ordered_json::array();
    for (const ScheduleRow& row : rows_) json["rows"].push_back(row_json(row));
    write_text(options_.job.json, json.dump(2) + "\n");
  }

  const ScheduleBenchOptions& options_;
  Job& job_;
  comm::Operation operation_;
  std::vector<const comm::Algorithm*> algorithms_;
  std::vector<int> ranks_;
  std::vector<std::string> patterns_;
  bool goes_by_arrival_ = false;
  std::vector<ScheduleRow> rows_;
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

void add_bench_schedule(CLI::App& bench, Action& action) {
  const auto options = std::make_shared<ScheduleBenchOptions>();
  CLI::App* command = bench.add_subcommand(
      "schedule", "time the planning itself: Clairvoyant's three planners, circulant broadcasts, ...");
  command->add_option("--op", options->operation, "operation: reduce, bcast, scatter, gather, ...")
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
      ->check(CLI::Range(1, comm::Circulant::kMostRanks));
  command
      ->add_option("--segments", options->segments,
                   "segments of the vector; 0: as many as ranks, or ceil(log2 P) without arrivals")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--patterns", options->patterns,
                   "arrivals: uniform (all within P + 0.1, random root), skewed (all at 0, the last at N), "
                   "rounds:R (all within R rounds, random root)")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--repetitions", options->repetitions, "instances per size and pattern")
      ->check(CLI::Range(1, 1000000))
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
  command->callback([&action, options] { action = [options] { return run_schedule_bench(*options); }; });
}

}  // namespace papfft::app
