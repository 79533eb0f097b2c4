// SPDX-License-Identifier: MIT
// papfft bench guidelines: does `auto` keep its promises? After Hunold's PGChecker ("Verifying Performance Guidelines for MPI
// Collectives at Scale", SC Workshops 2023): each promise is a comparison of two samples that were taken in turns.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/bench_links.hpp"
#include "app/bench/collective_caller.hpp"
#include "app/bench/guidelines_result.hpp"
#include "app/bench/turns.hpp"

namespace papfft::app {

namespace {

using comm::Operation;

/// Who takes a turn in each iteration of a cell.
struct Entrant {
  Guideline guideline = Guideline::stock;  ///< of the peers
  std::size_t contender = 0;               ///< among those of the settings
  CollectiveData* data = nullptr;
  const Case* size = nullptr;
  std::optional<StockAlgorithm> stock = {};
  std::vector<double> run_ms = {};  ///< at rank 0
};

/// Open MPI lets a program choose its algorithm for most operations.
bool has_best(Operation operation) {
  try {
    const StockAlgorithms stock(operation);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

void require_peers(const GuidelinesSettings& settings) {
  const bool is_any = std::ranges::any_of(settings.operations, [&](Operation operation) {
    return !settings.peers(operation, settings.checks(Guideline::best) && has_best(operation)).empty();
  });
  if (is_any || (settings.checks(Guideline::monotone) && settings.bytes.size() > 1)) return;
  throw UsageError(
      "bench guidelines: none of these guidelines is about these operations and sizes; what would work: "
      "--guidelines stock");
}

class GuidelinesBench {
 public:
  GuidelinesBench(Job& job, const GuidelinesOptions& options, const GuidelinesSettings& settings)
      : job_(job),
        options_(options),
        settings_(settings),
        group_(job, options.call),
        result_{.options = options, .settings = settings, .ranks = job.size(), .layout = host_layout(job)} {}

  void run() {
    if (options_.call.measure_link) {
      const BenchLinks links(options_.call.root);
      group_.ours().use_link(group_.ours().measure_link(links.segment_probe()));
    }
    Progress progress = options_.call.job.make_progress(job_.is_root(), "bench guidelines");
    const std::size_t total =
        settings_.operations.size() * settings_.bytes.size() * options_.call.delays.size();
    std::size_t done = 0;
    for (const Operation operation : settings_.operations)
      check_operation(operation, [&] { progress.show(++done, total); });
    group_.session.close();
    result_.machine = machine_json(job_);
    job_.at_root([&] { write(); });
  }

 private:
  template <typename Shown>
  void check_operation(Operation operation, Shown shown) {
    const bool knows_best = settings_.checks(Guideline::best) && has_best(operation);
    if (settings_.checks(Guideline::best) && !knows_best) {
      result_.notes.push_back(
          fmt::format("best is not checked for {}: this MPI library does not let a program choose its "
                      "algorithm for it",
                      comm::to_string(operation)));
    }
    const std::vector<GuidelinePeer> peers = settings_.peers(operation, knows_best);
    CollectiveOptions call = options_.call;
    call.operation = comm::to_string(operation);
    call.algorithms.clear();
    CollectiveSettings settings(call);
    settings.contenders = {{.name = "auto"}};
    for (const GuidelinePeer& peer : peers) settings.contenders.push_back(peer.contender);
    CollectiveCaller caller(group_, call, settings, result_.layout.hosts());
    for (std::size_t i = 0; i < settings_.bytes.size(); ++i) {
      for (const ArrivalPattern& pattern : settings.patterns) {
        const Case size = settings.make_case(settings_.bytes[i], pattern, job_.size());
        std::optional<Case> larger;
        if (settings_.checks(Guideline::monotone) && i + 1 < settings_.bytes.size())
          larger = settings.make_case(settings_.bytes[i + 1], pattern, job_.size());
        check_cell(caller, settings, peers, size, larger);
        shown();
      }
    }
  }

  /// @param larger  the next size; nothing: this one is the largest, or nobody asks
  void check_cell(CollectiveCaller& caller, const CollectiveSettings& settings,
                  const std::vector<GuidelinePeer>& peers, const Case& size,
                  const std::optional<Case>& larger) {
    CollectiveData data = data_of(settings, size);
    std::optional<CollectiveData> larger_data;
    std::vector<Entrant> entrants = {{.contender = 0, .data = &data, .size = &size}};
    for (const GuidelinePeer& peer : peers) {
      const std::size_t contender = entrants.size();
      entrants.push_back({.guideline = peer.guideline,
                          .contender = contender,
                          .data = &data,
                          .size = &size,
                          .stock = caller.choose_stock(contender, data)});
    }
    if (larger) {
      larger_data.emplace(data_of(settings, *larger));
      entrants.push_back(
          {.guideline = Guideline::monotone, .contender = 0, .data = &*larger_data, .size = &*larger});
    }
    if (entrants.size() == 1) return;  // none of the guidelines is about this operation and size
    ++result_.cells;
    measure(caller, settings, entrants);
    if (job_.is_root()) judge_cell(settings, entrants);
  }

  [[nodiscard]] CollectiveData data_of(const CollectiveSettings& settings, const Case& size) const {
    return {settings.operation,           size, job_.size(), job_.rank(), options_.call.root,
            options_.call.type == "float"};
  }

  void measure(CollectiveCaller& caller, const CollectiveSettings& settings, std::vector<Entrant>& entrants) {
    const auto begin = std::chrono::steady_clock::now();
    Turns turns(entrants.size(), options_.call.seed);
    for (int round = 0; round < options_.call.warmup + options_.call.iterations; ++round) {
      const int counted = round - options_.call.warmup;
      for (const std::size_t turn : turns.next()) {
        Entrant& entrant = entrants[turn];
        const CallRecord mine = caller.call(*entrant.data, *entrant.size->pattern, entrant.contender, round);
        const std::vector<CallRecord> all = group_.comm.to_root(std::span(&mine, 1));
        if (!job_.is_root()) continue;
        is_correct_ = tell_wrong_data(all, settings.operation, settings.contenders[entrant.contender].name,
                                      *entrant.size, counted) &&
                      is_correct_;
        if (counted >= 0) entrant.run_ms.push_back(run_time_ms(all));
      }
      if (counted + 1 >= kFewestCalls && is_over(begin)) return;
    }
  }

  /// Collective: rank 0 decides for all.
  [[nodiscard]] bool is_over(std::chrono::steady_clock::time_point begin) {
    if (options_.budget_s <= 0) return false;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    return job_.from_root(static_cast<int>(spent.count() > options_.budget_s)) != 0;
  }

  /// A row for each guideline that has peers here.
  void judge_cell(const CollectiveSettings& settings, std::vector<Entrant>& entrants) {
    const Entrant& automatic = entrants.front();
    for (const Guideline guideline : settings_.guidelines) {
      std::vector<const Entrant*> peers;
      std::vector<std::vector<double>> samples;
      for (std::size_t i = 1; i < entrants.size(); ++i) {
        if (entrants[i].guideline != guideline) continue;
        peers.push_back(&entrants[i]);
        samples.push_back(entrants[i].run_ms);
      }
      if (peers.empty()) continue;
      const Verdict verdict = judge(automatic.run_ms, samples, settings_.tolerance);
      const Entrant& worst = *peers[verdict.peer];
      result_.rows.push_back({.operation = settings.operation,
                              .bytes = automatic.size->total_bytes,
                              .block_bytes = automatic.size->block_bytes,
                              .pattern = automatic.size->pattern->spec(),
                              .guideline = guideline,
                              .peer = settings.contenders[worst.contender].name,
                              .stock = worst.stock,
                              .peer_bytes = worst.size->total_bytes,
                              .peers = peers.size(),
                              .auto_ms = automatic.run_ms,
                              .peer_ms = worst.run_ms,
                              .verdict = verdict});
    }
  }

  void write() {
    const CollectiveOptions& call = options_.call;
    if (!call.job.quiet) fmt::print("{}", result_.text());
    if (!call.job.json.empty()) write_text(call.job.json, result_.document().dump(2) + "\n");
    if (!call.csv.empty()) write_text(call.csv, result_.csv());
    if (!is_correct_) throw Quit{kInternal};
    if (result_.fails()) throw Quit{kViolated};
  }

  Job& job_;
  const GuidelinesOptions& options_;
  const GuidelinesSettings& settings_;
  CallGroup group_;
  GuidelinesResult result_;
  bool is_correct_ = true;
};

int run_guidelines(const GuidelinesOptions& options) {
  require_launcher("bench guidelines");
  const GuidelinesSettings settings(options);
  const CollectiveSettings any(options.call);  // what is the same for all operations
  return run_job(options.call.job.to_comm_options(), options.call.job.bcast, [&](Job& job) {
    job.at_root([&] {
      check_outputs({options.call.job.json, options.call.csv});
      require_ranks("bench guidelines", job.size(), options.call, any);
      require_peers(settings);
    });
    GuidelinesBench(job, options, settings).run();
  });
}

}  // namespace

void add_bench_guidelines(cli::Command& bench) {
  const auto options = std::make_shared<GuidelinesOptions>();
  cli::Command* command =
      bench.add_subcommand("guidelines", "check that auto is not slower than what a user could do instead");
  options->declare(*command);
  command->runs([options] { return run_guidelines(*options); });
}

}  // namespace papfft::app
