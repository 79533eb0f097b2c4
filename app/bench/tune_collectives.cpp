// SPDX-License-Identifier: MIT
#include "app/bench/tune_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "app/bench/bench_common.hpp"
#include "app/bench/call_timer.hpp"
#include "app/bench/machine_probe.hpp"
#include "app/bench/openmpi_rules.hpp"
#include "app/bench/way_race.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "app/run/job.hpp"
#include "app/run/output_files.hpp"
#include "app/run/progress.hpp"
#include "comm/choose/ranking.hpp"
#include "comm/engine/call_engine.hpp"
#include "comm/mpi/decisions_file.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

namespace {

using comm::DecisionTable;
using comm::Operation;

constexpr std::array<std::uint64_t, 4> kStockSegmentBytes = {0, 16384, 65536, 262144};
constexpr std::array<std::uint64_t, 2> kFewStockSegmentBytes = {0, 65536};
constexpr std::size_t kRememberedWays = 4;
constexpr std::size_t kRankedWays = 3;     // so many of the best by simulation are measured
constexpr double kRankingShare = 0.2;      // of a cell's budget
constexpr int kMostRankedSteps = 200'000;  // less than a second

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
    const auto start = std::chrono::steady_clock::now();
    measure_links();
    Progress progress(Progress::When::automatic, options_.quiet || !job_.is_root(), "tune");
    std::vector<Cell> cells;
    for (const Operation operation : operations_) {
      for (const std::uint64_t bytes : bytes_) cells.push_back({operation, make_case(operation, bytes)});
    }
    name_ways(cells, options_.budget_s / static_cast<double>(cells.size()));
    const std::chrono::duration<double> before = std::chrono::steady_clock::now() - start;
    const double for_calls_s = options_.budget_s - job_.from_root(before.count());
    std::size_t turns = 0;
    const auto for_all = [&](double until_s, auto&& act) {
      for (std::size_t done = 0; done < cells.size();) {
        const double left_s = std::max(0.0, until_s - timer_.spent_s());
        const double share_s = left_s / static_cast<double>(cells.size() - done);
        act(cells[done++], share_s);
        progress.show(++turns, 2 * cells.size());
      }
    };
    for_all(kRaceShare * for_calls_s, [&](Cell& cell, double budget_s) { hold_race(cell, budget_s); });
    for_all(for_calls_s, [&](Cell& cell, double budget_s) { settle(cell, budget_s); });
    clock_.close();
    job_.at_root([&] { write(); });
  }

 private:
  struct Cell {
    Operation operation;
    Case size;
    std::vector<std::string> ways = {};  // of ours
    std::optional<WayRace> race = {};
  };

  /// What the next smaller size of an operation has taught.
  struct Smaller {
    Operation operation{};
    std::uint64_t bytes = 0;
    double least_us = 0;
    std::string fastest = {};
    std::vector<std::string> hopeless = {};  // ways that need no call with longer vectors
  };

  /// The time grows nearly as the bytes do: so it will go on, and a way that is far off stays so.
  static bool is_by_bytes(const Smaller& smaller, const Smaller& larger) {
    constexpr double kNearly = 0.75;
    if (smaller.bytes == 0) return false;
    const double bytes_ratio = static_cast<double>(larger.bytes) / static_cast<double>(smaller.bytes);
    return larger.least_us > kNearly * bytes_ratio * smaller.least_us;
  }

  /// Calls are cut by the link that the table will have.
  void measure_links() {
    const comm::MachineProfile machine = measure_machine(comm_, comm_world_);
    if (machine.between) comm_.use_link(machine.between->link);
    table_.set_machine(machine);
    if (options_.are_arrivals_unknown) table_.set_for_unknown_arrivals();
  }

  /// Which of ours are measured. Each rank simulates its share of the cells and tells the others.
  void name_ways(std::vector<Cell>& cells, double budget_s) const {
    int turn = 0;
    for (Cell& cell : cells) {
      if (options_.measures_all)
        cell.ways = comm::candidate_ways(cell.operation, group_);
      else if (turn++ % job_.size() == job_.rank())
        cell.ways = best_by_simulation(cell, budget_s);
    }
    if (options_.measures_all) return;
    turn = 0;
    for (Cell& cell : cells)
      cell.ways = words_of(fmt::format("{}", fmt::join(cell.ways, " ")), turn++ % job_.size());
  }

  /// Those of a text that one rank has, on all.
  [[nodiscard]] std::vector<std::string> words_of(std::string text, int owner) const {
    std::uint64_t length = text.size();
    comm::check_mpi(MPI_Bcast(&length, 1, MPI_UINT64_T, owner, comm_world_.get()), "MPI_Bcast");
    text.resize(length);
    comm::check_mpi(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, owner, comm_world_.get()),
                    "MPI_Bcast");
    std::vector<std::string> words;
    for (std::istringstream stream(text); stream >> text;) words.push_back(text);
    return words;
  }

  [[nodiscard]] std::vector<std::string> best_by_simulation(const Cell& cell, double budget_s) const {
    const comm::RankedCall call = ranked_call(cell.operation, cell.size.block_bytes);
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(kRankingShare * budget_s);
    const comm::Ranking ranking = comm::rank_ways(
        call, comm::MachineLinks::of(table_.machine()), comm::candidate_ways(cell.operation, group_),
        std::array{comm::all_together(group_.ranks)}, {.most_steps = kMostRankedSteps, .may_go_on = [&] {
                                                         return std::chrono::steady_clock::now() < end;
                                                       }});
    std::vector<std::string> names;
    for (const comm::SimulatedWay& way : ranking.ways) {
      if (names.size() < kRankedWays) names.push_back(way.name);
    }
    return names;
  }

  /// Time of a call of the cell that `use_data` was last called for.
  [[nodiscard]] WayRace::Timer timer() {
    return [this](const std::string& way) { return timer_.time_of(comm_, *data_, way); };
  }

  void use_data(const Cell& cell) {
    data_.emplace(cell.operation, cell.size, job_.size(), job_.rank(), 0, true);
  }

  void hold_race(Cell& cell, double budget_s) {
    const Operation operation = cell.operation;
    const Case& size = cell.size;
    use_data(cell);
    WayRace& race = cell.race.emplace(timer(), budget_s);
    const Smaller smaller = smaller_.operation == operation ? smaller_ : Smaller{};
    const auto add = [&](const std::string& way) {
      if (std::ranges::find(smaller.hopeless, way) == smaller.hopeless.end()) race.add(way);
    };
    race.add("mpi", true);
    race.add(own_choice(operation, size.block_bytes), true);
    if (!smaller.fastest.empty()) race.add(smaller.fastest, true);
    if (options_.measures_all)
      add_stock(operation, kStockSegmentBytes, add);
    else
      add_stock(operation, kFewStockSegmentBytes, add);
    for (const std::string& name : cell.ways) add(name);
    std::vector<std::string> far_off = race.round(1, kFarOff);
    race.round(1, kNear);
    add_segments(operation, size.block_bytes, race);
    race.round(2, kNear);
    race.round(4, kNear);
    for (int calls = 8; calls < kMostCalls && race.has_time(); calls += 8) race.round(8, kClose);
    const DecisionTable::Way fastest = race.ways("mpi").front();
    smaller_ = {operation, size.total_bytes, fastest.us, fastest.name, smaller.hopeless};
    if (is_by_bytes(smaller, smaller_)) std::ranges::move(far_off, std::back_inserter(smaller_.hopeless));
  }

  /// After all races, since what a call takes depends on the calls before it: TCP remembers how fast it sent, and the caches what
  /// they held.
  void settle(Cell& cell, double budget_s) {
    use_data(cell);
    cell.race->confirm("mpi", kConfirmingCalls, budget_s);
    const std::vector<DecisionTable::Way> ways = cell.race->ways("mpi");
    keep_stock(cell.operation, cell.size, ways);
    if (options_.are_arrivals_unknown)
      keep(cell.operation, cell.size, by_worst_slowdown(cell, ways, budget_s));
    else
      keep(cell.operation, cell.size, ways);
  }

  /// How late each case lets the ranks come depends on the link that most messages take.
  [[nodiscard]] std::vector<comm::ArrivalCase> late_cases(const Cell& cell) const {
    const comm::MachineLinks links = comm::MachineLinks::of(table_.machine());
    const comm::LevelProfile& level = table_.machine().between ? links.between : links.inside;
    const double vector_ns =
        comm::message_ns(level.link, cell.operation, static_cast<double>(cell.size.total_bytes));
    std::vector<comm::ArrivalCase> cases = comm::unknown_arrivals(job_.size(), 0, vector_ns);
    cases.erase(cases.begin());  // all together: the race
    return cases;
  }

  /// Calls each way once in each case of late ranks, while the budget lasts. @return the ways, the least worst slow-down first
  [[nodiscard]] std::vector<DecisionTable::Way> by_worst_slowdown(const Cell& cell,
                                                                  std::vector<DecisionTable::Way> ways,
                                                                  double budget_s) {
    constexpr double kUsPerS = 1e6;
    std::vector<std::vector<double>> times_us;
    for (const DecisionTable::Way& way : ways) times_us.push_back({way.us});
    double spent_us = 0;
    for (const comm::ArrivalCase& late : late_cases(cell)) {
      if (spent_us > budget_s * kUsPerS) break;
      const std::chrono::nanoseconds delay(late.delay_ns[static_cast<std::size_t>(job_.rank())]);
      for (std::size_t w = 0; w < ways.size(); ++w) {
        const auto time_s = timer_.time_of(comm_, *data_, ways[w].name, delay);
        times_us[w].push_back(time_s ? *time_s * kUsPerS : std::numeric_limits<double>::infinity());
        spent_us += time_s.value_or(0) * kUsPerS;
      }
    }
    const std::vector<comm::WorstSlowdown> worst = comm::worst_slowdowns(times_us);
    std::vector<std::size_t> order(ways.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t w) { return worst[w].slowdown; });
    std::vector<DecisionTable::Way> sorted;
    for (const std::size_t w : order) sorted.push_back(ways[w]);
    return sorted;
  }

  /// The best few, and in any case MPI's default and the best of ours, for those who cannot go the others.
  void keep(Operation operation, const Case& size, const std::vector<DecisionTable::Way>& ways) {
    DecisionTable::Row row{operation, size.block_bytes};
    bool has_own = false;
    for (const DecisionTable::Way& way : ways) {
      const bool is_best_own = !is_stock(way.name) && !std::exchange(has_own, has_own || !is_stock(way.name));
      if (row.ways.size() < kRememberedWays || is_best_own || way.name == "mpi") row.ways.push_back(way);
    }
    const std::vector<DecisionTable::Way> timed = row.ways;
    if (options_.are_arrivals_unknown) {  // a table without times keeps the order
      for (DecisionTable::Way& way : row.ways) way.us = 0;
    }
    table_.set(std::move(row));
    report(operation, size, timed);
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
    return comm::rule_choice(ranked_call(operation, bytes), comm_.options().link);
  }

  [[nodiscard]] comm::RankedCall ranked_call(Operation operation, std::size_t bytes) const {
    return {.operation = operation, .hosts = hosts_, .bytes = bytes, .is_crowded = group_.is_crowded};
  }

  void add_stock(Operation operation, std::span<const std::uint64_t> all_segment_bytes,
                 const std::function<void(const std::string&)>& add) const {
    try {
      const comm::StockVariables variables(operation);
      for (const auto& [number, name] : variables.names()) {
        for (const std::uint64_t segment_bytes : all_segment_bytes) {
          add(std::string(comm::kStockPrefix) + comm::StockAlgorithm{number, segment_bytes}.text());
        }
      }
    } catch (const std::invalid_argument&) {
      // This library does not let a program choose.
    }
  }

  /// Other sizes of segments for the best of stock's, and other numbers of segments for the best of ours, as far as they are not in the
  /// race.
  void add_segments(Operation operation, std::size_t bytes, WayRace& race) const {
    const std::vector<DecisionTable::Way> ways = race.ways();
    const auto best = [&](bool of_stock) {
      return std::ranges::find_if(ways, [&](const auto& way) { return is_stock(way.name) == of_stock; });
    };
    if (const auto way = best(true); way != ways.end()) {
      const comm::StockAlgorithm stock = comm::choose(operation, way->name, group_, bytes, false).stock;
      for (const std::uint64_t segment_bytes : kStockSegmentBytes) {
        if (stock.number != 0)
          race.add(std::string(comm::kStockPrefix) +
                   comm::StockAlgorithm{stock.number, segment_bytes}.text());
      }
    }
    if (const auto way = best(false); way != ways.end()) {
      const std::string name = way->name.substr(0, way->name.find('/'));
      const comm::Algorithm& algorithm = comm::find_algorithm(operation, name);
      if (algorithm.segmentation != comm::Segmentation::even) return;
      const int usual = comm::select_segments(algorithm, group_, bytes, comm_.options());
      for (const int segments : {usual / 2, usual * 2, usual * 4}) {
        if (segments > 0) race.add(fmt::format("{}/{}", name, segments));
      }
    }
  }

  void report(Operation operation, const Case& size, const std::vector<DecisionTable::Way>& timed) {
    const auto us_of = [&](const std::string& name) {
      return std::ranges::find(timed, name, &DecisionTable::Way::name)->us;
    };
    const std::string chosen = table_.ways(operation, size.block_bytes).front().name;
    lines_.add({std::string(comm::to_string(operation)), report::byte_count_text(size.total_bytes), chosen,
                figure(us_of(chosen)), figure(us_of("mpi")), figure(us_of("mpi") / us_of(chosen))});
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
  static constexpr double kClose = 1.2;
  static constexpr int kMostCalls = 48;      // of a way: short calls vary
  static constexpr double kRaceShare = 0.6;  // of the time for calls
  static constexpr int kConfirmingCalls = 20;

  Job& job_;
  const CollectiveTuning& options_;
  std::vector<Operation> operations_;
  std::vector<std::uint64_t> bytes_;
  OwnComm comm_world_{job_.comm().options().stuck_after};
  comm::MpiSession clock_{MPI_COMM_WORLD, job_.comm().options(), comm::SessionOptions{.background = false}};
  CallTimer timer_{comm_world_, clock_};
  std::optional<CollectiveData> data_;
  comm::Communicator comm_{MPI_COMM_WORLD, job_.comm().options()};
  comm::Hosts hosts_{job_.size(), comm_.engine().transport().host_of_rank()};
  comm::GroupSize group_;
  DecisionTable table_;
  std::vector<StockDecision> stock_;
  Smaller smaller_;
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
