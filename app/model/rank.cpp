// SPDX-License-Identifier: MIT
// papfft rank: which way to carry out a collective is the fastest, by simulation. No communication.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "app/bench/bench_common.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/version.hpp"
#include "app/io/known_inputs.hpp"
#include "app/model/host_layout.hpp"
#include "app/model/rank_options.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "comm/choose/decision_table.hpp"
#include "comm/mpi/decisions_file.hpp"

namespace papfft::app {

namespace {

using comm::Ranking;
using comm::SimulatedWay;

/// The ranking for one operation and size.
struct Cell {
  comm::Operation operation = comm::Operation::scatter;
  std::uint64_t bytes = 0;        // of the whole vector
  std::uint64_t block_bytes = 0;  // of a block, or of the vector
  std::string automatic;          // what "auto" takes
  std::vector<comm::ArrivalCase> cases = {};
  Ranking ranking = {};

  [[nodiscard]] const std::string& worst_case(const SimulatedWay& way) const {
    return cases[way.worst_case].name;
  }
};

std::string us(double ns) { return fmt::format("{:.3f}", ns / 1e3); }

class WayRanker {
 public:
  explicit WayRanker(const RankOptions& options) : options_(options), links_(options.links()) {
    const std::vector<int> layout = parse_hosts(options.hosts);
    if (layout.empty()) throw UsageError("--hosts: what would work: 8x4");
    hosts_ = comm::Hosts(static_cast<int>(layout.size()), layout);
    if (options.root >= hosts_.rank_count())
      throw UsageError(fmt::format("no rank {} among {} as --root", options.root, hosts_.rank_count()));
  }

  [[nodiscard]] Cell rank(comm::Operation operation, std::uint64_t bytes) const {
    const auto ranks = static_cast<std::uint64_t>(hosts_.rank_count());
    const comm::RankedCall call{
        .operation = operation,
        .hosts = hosts_,
        .root = options_.root,
        .bytes = comm::moves_per_rank(operation) ? (bytes + ranks - 1) / ranks : bytes,
        .is_crowded = options_.is_crowded};
    Cell cell{operation, bytes, call.bytes, automatic(call)};
    const double vector_ns = comm::message_ns(links_.between.link, operation, static_cast<double>(bytes));
    cell.cases = options_.are_arrivals_unknown
                     ? comm::unknown_arrivals(hosts_.rank_count(), options_.root, vector_ns)
                     : std::vector{comm::all_together(hosts_.rank_count())};
    std::vector<std::string> ways = options_.ways;
    if (ways.empty()) ways = comm::candidate_ways(call);
    std::erase(ways, cell.automatic);
    ways.insert(ways.begin(), cell.automatic);  // before others as cheap
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.budget_s);
    cell.ranking = comm::rank_ways(call, links_, ways, cell.cases,
                                   {.most_steps = options_.most_steps,
                                    .may_go_on = [&] { return std::chrono::steady_clock::now() < end; },
                                    .compared = seeks_best() ? cell.automatic : std::string()});
    return cell;
  }

  [[nodiscard]] const comm::MachineLinks& links() const { return links_; }
  [[nodiscard]] comm::GroupProfile group() const {
    return {.library = comm::mpi_library(),
            .ranks = hosts_.rank_count(),
            .hosts = hosts_.count(),
            .is_crowded = options_.is_crowded};
  }

  [[nodiscard]] io::Json settings_json() const {
    const auto link = [](const comm::LevelProfile& level) {
      const comm::LinkModel& l = level.link;
      return io::Json{{"alpha_ns", l.alpha_ns},
                      {"beta_ns_per_byte", l.beta_ns_per_byte},
                      {"gamma_ns_per_byte", l.gamma_ns_per_byte},
                      {"latency_ns", l.latency_ns}};
    };
    return {{"hosts", options_.hosts},
            {"root", options_.root},
            {"between", link(links_.between)},
            {"inside", link(links_.inside)}};
  }

 private:
  /// A table has the next best ways, too.
  [[nodiscard]] bool seeks_best() const { return options_.checks_auto && options_.table.empty(); }

  /// Where a profile tells the links, "auto" goes by simulations.
  [[nodiscard]] std::string automatic(const comm::RankedCall& call) const {
    if (options_.profile.empty() || options_.is_crowded) return comm::rule_choice(call, links_.between.link);
    return comm::simulated_choice(call, links_, {.most_steps = comm::kStepsAtRunTime});
  }

  const RankOptions& options_;
  comm::MachineLinks links_;
  comm::Hosts hosts_{1, {}};
};

/// All that is best, a line each; behind them what "auto" takes, if it is none of these.
std::string ranking_table(const std::vector<Cell>& cells, const RankOptions& options) {
  std::vector<std::string> headings = {"operation", "bytes", "way", "run us", "slow-down"};
  if (options.are_arrivals_unknown) headings.emplace_back("worst with");
  report::TextTable table(headings);
  std::string left_out;
  for (const Cell& cell : cells) {
    int shown = 0;
    for (const SimulatedWay& way : cell.ranking.ways) {
      const bool is_automatic = way.name == cell.automatic;
      if (++shown > options.most_shown && !is_automatic) continue;
      std::vector<std::string> line = {std::string(comm::to_string(cell.operation)),
                                       report::byte_count_text(cell.bytes),
                                       way.name + (is_automatic ? " (auto)" : ""), us(way.run_ns.front()),
                                       fmt::format("{:.3f}", way.worst_slowdown)};
      if (options.are_arrivals_unknown) line.push_back(cell.worst_case(way));
      table.add(line);
    }
    for (const Ranking::LeftOut& way : cell.ranking.left_out) {
      left_out += fmt::format("left out: {} {} {}: {}\n", comm::to_string(cell.operation),
                              report::byte_count_text(cell.bytes), way.name, way.why);
    }
  }
  return table.text() + left_out;
}

/// How many times as long as the best way "auto" takes.
struct Slowdown {
  double known = 0;                 // as the best of those that were simulated
  std::optional<double> most = {};  // if those that were left out take no longer than their ports are busy

  explicit Slowdown(const Cell& cell, const SimulatedWay& mine) {
    const SimulatedWay& best = cell.ranking.ways.front();
    known = mine.worst_slowdown / best.worst_slowdown;
    double least_ns = best.run_ns.front();
    for (const Ranking::LeftOut& way : cell.ranking.left_out) {
      if (way.is_beaten) continue;
      if (cell.cases.size() > 1 || way.least_ns == 0) return;
      least_ns = std::min(least_ns, way.least_ns);
    }
    most = cell.cases.size() > 1 ? known : mine.run_ns.front() / least_ns;
  }
};

/// What "auto" takes, and how much slower it is than the best.
std::string check_table(const std::vector<Cell>& cells) {
  constexpr double kMiss = 1.1;
  report::TextTable table(
      {"operation", "bytes", "auto", "auto us", "best", "best us", "slow-down", "at most"});
  int misses = 0;
  int unknown = 0;
  for (const Cell& cell : cells) {
    std::vector<std::string> line = {std::string(comm::to_string(cell.operation)),
                                     report::byte_count_text(cell.bytes), cell.automatic};
    if (const SimulatedWay* mine = cell.ranking.find(cell.automatic); mine != nullptr) {
      const SimulatedWay& best = cell.ranking.ways.front();
      const Slowdown slowdown(cell, *mine);
      if (slowdown.known > kMiss) {
        ++misses;
      } else if (!slowdown.most || *slowdown.most > kMiss) {
        ++unknown;
      }
      for (const std::string& text : {us(mine->run_ns.front()), best.name, us(best.run_ns.front()),
                                      fmt::format("{:.3f}", slowdown.known),
                                      slowdown.most ? fmt::format("{:.3f}", *slowdown.most) : "-"})
        line.push_back(text);
    } else {
      ++unknown;
      line.insert(line.end(), 5, "-");
    }
    table.add(line);
  }
  std::string text = table.text() + fmt::format("{} of {} choices are more than 10 % slower than the best\n",
                                                misses, cells.size());
  if (unknown > 0) {
    text += fmt::format(
        "{} of {} are not known, because ways were left out that could be faster, or what 'auto' takes; what "
        "would "
        "work: --most-steps, --budget\n",
        unknown, cells.size());
  }
  return text;
}

io::Json cell_json(const Cell& cell) {
  io::Json ways = io::Json::array();
  for (const SimulatedWay& way : cell.ranking.ways) {
    ways.push_back({{"way", way.name},
                    {"run_ns", way.run_ns.front()},
                    {"worst_slowdown", way.worst_slowdown},
                    {"worst_arrivals", cell.worst_case(way)}});
  }
  io::Json left_out = io::Json::array();
  for (const Ranking::LeftOut& way : cell.ranking.left_out)
    left_out.push_back({{"way", way.name}, {"why", way.why}, {"least_ns", way.least_ns}});
  return {{"op", comm::to_string(cell.operation)},
          {"bytes", cell.bytes},
          {"auto", cell.automatic},
          {"ways", ways},
          {"left_out", left_out}};
}

/// What "auto" can go by. Where arrivals are not known the order counts, not the times when all come together.
std::string decisions_text(const std::vector<Cell>& cells, const WayRanker& ranker,
                           const RankOptions& options) {
  constexpr std::size_t kRemembered = 4;
  comm::DecisionTable table(ranker.group());
  if (options.are_arrivals_unknown) table.set_for_unknown_arrivals();
  for (const Cell& cell : cells) {
    comm::DecisionTable::Row row{cell.operation, cell.block_bytes};
    for (const SimulatedWay& way : cell.ranking.ways) {
      if (row.ways.size() < kRemembered)
        row.ways.push_back({way.name, options.are_arrivals_unknown ? 0 : way.run_ns.front() / 1e3});
    }
    if (!row.ways.empty()) table.set(std::move(row));
  }
  table.set_machine({.inside = ranker.links().inside, .between = ranker.links().between});
  return table.text();
}

int run_rank(const RankOptions& options) {
  const WayRanker ranker(options);
  const std::vector<comm::Operation> operations = options.parsed_operations();
  std::vector<std::uint64_t> sizes;
  for (const std::string& text : options.bytes) sizes.push_back(report::parse_byte_count(text));
  io::know_input(options.profile);
  check_outputs({options.json, options.table});
  std::vector<Cell> cells;
  for (const comm::Operation operation : operations) {
    for (const std::uint64_t bytes : sizes) cells.push_back(ranker.rank(operation, bytes));
  }
  if (!options.quiet)
    fmt::print("{}", options.checks_auto ? check_table(cells) : ranking_table(cells, options));
  if (!options.table.empty()) write_text(options.table, decisions_text(cells, ranker, options));
  if (options.json.empty()) return kOk;
  io::Json rows = io::Json::array();
  for (const Cell& cell : cells) rows.push_back(cell_json(cell));
  const io::Json document = {{"papfft", kVersion}, {"settings", ranker.settings_json()}, {"rows", rows}};
  write_text(options.json, document.dump(2) + "\n");
  return kOk;
}

}  // namespace

void add_rank(cli::Command& app) {
  const auto options = std::make_shared<RankOptions>();
  cli::Command* command =
      app.add_subcommand("rank", "say which way to carry out a collective is the fastest, by simulation");
  options->declare(*command);
  command->runs([options] { return run_rank(*options); });
}

}  // namespace papfft::app
