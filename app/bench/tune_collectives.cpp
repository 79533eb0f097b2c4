// SPDX-License-Identifier: MIT
#include "app/bench/tune_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/bench/bench_common.hpp"
#include "app/bench/call_timer.hpp"
#include "app/bench/openmpi_rules.hpp"
#include "app/bench/way_race.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "app/run/job.hpp"
#include "app/run/output_files.hpp"
#include "app/run/progress.hpp"
#include "comm/choose/select.hpp"
#include "comm/engine/call_engine.hpp"
#include "comm/mpi/decisions_file.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

namespace {

using comm::DecisionTable;
using comm::Operation;

constexpr std::array<std::uint64_t, 4> kStockSegmentBytes = {0, 16384, 65536, 262144};
constexpr std::size_t kRememberedWays = 4;

bool is_stock(const std::string& way) { return way.starts_with("mpi"); }

class CollectiveTuner {
 public:
  CollectiveTuner(Job& job, const CollectiveTuning& options, std::vector<Operation> operations,
                  std::vector<std::uint64_t> bytes)
      : job_(job),
        options_(options),
        operations_(std::move(operations)),
        bytes_(std::move(bytes)),
        group_(comm_.engine().planner().group()),
        table_({.library = comm::mpi_library(),
                .ranks = group_.ranks,
                .hosts = group_.hosts,
                .is_crowded = group_.is_crowded}) {}

  [[nodiscard]] std::filesystem::path path() const {
    if (!options_.file.empty()) return options_.file;
    const auto paths = comm::decisions_paths(group_.ranks, group_.hosts);
    return paths.empty() ? std::filesystem::path() : paths.front();
  }

  void run() {
    Progress progress(Progress::When::automatic, options_.quiet || !job_.is_root(), "tune");
    const std::size_t total = operations_.size() * bytes_.size();
    std::size_t done = 0;
    for (const Operation operation : operations_) {
      for (const std::uint64_t bytes : bytes_) {
        tune(operation, bytes, options_.budget_s / static_cast<double>(total));
        progress.show(++done, total);
      }
    }
    job_.at_root([&] { write(); });
  }

 private:
  void tune(Operation operation, std::uint64_t bytes, double budget_s) {
    const Case size = make_case(operation, bytes);
    CollectiveData data(operation, size, job_.size(), job_.rank(), 0, true);
    WayRace race([&](const std::string& way) { return timer_.time_of(comm_, data, way); }, budget_s);
    race.add("mpi", true);
    race.add(own_choice(operation, size.block_bytes), true);
    add_stock(operation, race);
    for (const std::string& name : own_algorithms(operation)) race.add(name);
    race.round(1, kFarOff);
    race.round(1, kNear);
    add_segments(operation, size.block_bytes, race);
    race.round(2, kNear);
    race.round(4, kNear);
    keep(operation, size, race.ways());
    keep_stock(operation, size, race.ways());
  }

  /// The best few, and in any case MPI's default and the best of ours, for those who cannot go the others.
  void keep(Operation operation, const Case& size, const std::vector<DecisionTable::Way>& ways) {
    DecisionTable::Row row{operation, size.block_bytes};
    bool has_own = false;
    for (const DecisionTable::Way& way : ways) {
      const bool is_best_own = !is_stock(way.name) && !std::exchange(has_own, has_own || !is_stock(way.name));
      if (row.ways.size() < kRememberedWays || is_best_own || way.name == "mpi") row.ways.push_back(way);
    }
    report(operation, size, row);
    table_.set(std::move(row));
  }

  /// The best that the MPI library can do by itself.
  void keep_stock(Operation operation, const Case& size, const std::vector<DecisionTable::Way>& ways) {
    const auto best =
        std::ranges::find_if(ways, [](const DecisionTable::Way& way) { return is_stock(way.name); });
    const comm::Choice choice = comm::choose(operation, best->name, group_, size.block_bytes, false);
    stock_.push_back({operation, size.total_bytes, choice.stock});
  }

  [[nodiscard]] Case make_case(Operation operation, std::uint64_t bytes) const {
    const std::size_t words = bytes / sizeof(std::uint32_t);
    if (!comm::moves_per_rank(operation)) return {.block_bytes = 4 * words, .total_bytes = 4 * words};
    const auto ranks = static_cast<std::size_t>(job_.size());
    const std::size_t block = words / ranks;
    return {.block_bytes = 4 * block, .total_bytes = 4 * block * ranks, .counts = std::vector(ranks, block)};
  }

  /// What "auto" would take without a table, if that is one of ours.
  [[nodiscard]] std::string own_choice(Operation operation, std::size_t bytes) const {
    return std::string(comm::without_arrivals(comm::select_algorithm(operation, group_, bytes, false)).name);
  }

  /// All that work without arrivals, flat and, on several hosts with several ranks, composed.
  [[nodiscard]] std::vector<std::string> own_algorithms(Operation operation) const {
    std::vector<std::string> names;
    for (const comm::Algorithm* a : comm::algorithms()) {
      if (a->operation != operation || a->uses_arrival || a->may_differ) continue;
      names.emplace_back(a->name);
      for (const comm::Composition* c : comm::compositions()) {
        if (group_.has_levels() && c->serves(*a)) names.push_back(fmt::format("{}@{}", a->name, c->name));
      }
    }
    return names;
  }

  void add_stock(Operation operation, WayRace& race) const {
    try {
      const comm::StockVariables variables(operation);
      for (const auto& [number, name] : variables.names()) {
        for (const std::uint64_t segment_bytes : kStockSegmentBytes) {
          race.add(std::string(comm::kStockPrefix) + comm::StockAlgorithm{number, segment_bytes}.text());
        }
      }
    } catch (const std::invalid_argument&) {
      // This library does not let a program choose.
    }
  }

  /// Other numbers of segments for the best of ours.
  void add_segments(Operation operation, std::size_t bytes, WayRace& race) const {
    for (const DecisionTable::Way& way : race.ways()) {
      if (is_stock(way.name)) continue;
      const comm::Algorithm& algorithm = comm::find_algorithm(operation, way.name);
      if (algorithm.segmentation != comm::Segmentation::even) return;
      const int usual = comm::select_segments(algorithm, group_, bytes, comm_.options());
      for (const int segments : {usual / 2, usual * 2, usual * 4}) {
        if (segments > 0) race.add(fmt::format("{}/{}", way.name, segments));
      }
      return;
    }
  }

  void report(Operation operation, const Case& size, const DecisionTable::Row& row) {
    const DecisionTable::Way& best = row.ways.front();
    const double stock_us = std::ranges::find(row.ways, "mpi", &DecisionTable::Way::name)->us;
    lines_.add({std::string(comm::to_string(operation)), report::byte_count_text(size.total_bytes), best.name,
                figure(best.us), figure(stock_us), figure(stock_us / best.us)});
  }

  void write() {
    const std::filesystem::path to = path();
    std::error_code error;  // writing will tell
    if (to.has_parent_path()) std::filesystem::create_directories(to.parent_path(), error);
    write_text(to.string(), table_.text());
    if (!options_.rules_file.empty()) write_text(options_.rules_file, openmpi_rules(group_.ranks, stock_));
    if (!options_.quiet) {
      fmt::print("{}{}; remembered in {}\n", lines_.text(), table_.group().text(), to.string());
    }
  }

  static constexpr double kFarOff = 4;  // of the best time, in a first call
  static constexpr double kNear = 1.5;

  Job& job_;
  const CollectiveTuning& options_;
  std::vector<Operation> operations_;
  std::vector<std::uint64_t> bytes_;
  OwnComm comm_world_{job_.comm().options().stuck_after};
  CallTimer timer_{comm_world_};
  comm::Communicator comm_{MPI_COMM_WORLD, job_.comm().options()};
  comm::GroupSize group_;
  DecisionTable table_;
  std::vector<StockDecision> stock_;
  report::TextTable lines_{{"operation", "bytes", "chosen", "us", "mpi us", "gain over mpi"}};
};

bool is_chosen_by_size(Operation operation) { return !comm::traits(operation).sizes_are_own; }

}  // namespace

int tune_collectives(const CollectiveTuning& options) {
  require_launcher("tune --collectives");
  if (!options.rules_file.empty()) check_outputs({options.rules_file});
  std::vector<Operation> operations;
  for (const std::string& name : options.operations) {
    operations.push_back(comm::parse_operation(name));
    if (!is_chosen_by_size(operations.back())) {
      throw UsageError("tune --collectives: of " + name +
                       " only their owners know the sizes, so nothing can be chosen by them");
    }
  }
  if (operations.empty()) {
    for (const comm::OperationTraits& row : comm::kOperations) {
      if (is_chosen_by_size(row.operation)) operations.push_back(row.operation);
    }
  }
  std::ranges::sort(operations);
  operations.erase(std::unique(operations.begin(), operations.end()), operations.end());
  std::vector<std::uint64_t> bytes;
  for (const std::string& text : options.bytes) bytes.push_back(report::parse_byte_count(text));
  std::ranges::sort(bytes);
  return run_job(comm::Options::from_environment(), "auto", [&](Job& job) {
    CollectiveTuner tuner(job, options, operations, bytes);
    job.at_root([&] {
      if (job.size() < 2) throw UsageError("tune --collectives: what would work: two ranks or more");
      if (tuner.path().empty())
        throw UsageError("there is no folder to remember anything in; what would work: --file FILE");
    });
    tuner.run();
  });
}

}  // namespace papfft::app
