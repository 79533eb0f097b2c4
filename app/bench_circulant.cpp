// SPDX-License-Identifier: MIT
// papfft bench circulant: how long a rank takes to find its part of a circulant broadcast, which the paper (CIR) leaves at
// O(log^3 P) and 3 to 29 us, and how long all parts take that an allgatherv needs. No messages.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/bench.hpp"
#include "app/bench_common.hpp"
#include "app/report/text_table.hpp"
#include "app/version.hpp"
#include "comm/schedule/circulant.hpp"

namespace papfft::app {

namespace {

using Clock = std::chrono::steady_clock;

struct CirculantOptions {
  std::vector<int> ranks = {8, 48, 1000, 1152, 100'000, 1'000'000, 10'000'000};
  int repetitions = 9;
  std::string json;
  bool quiet = false;
};

struct CirculantRow {
  int ranks = 0;
  int rounds = 0;
  int sampled = 0;                   ///< ranks whose parts were made; all of small groups
  std::vector<double> rank_ns = {};  ///< receive and send schedule of one rank
  std::vector<double> all_us =
      {};  ///< receive schedules of all ranks (of allgatherv); empty for groups that are sampled
  long long checksum = 0;  ///< so that nothing is optimised away
};

constexpr int kMostSampled = 20'000;

CirculantRow measure(int ranks, int repetitions) {
  const comm::Circulant graph(ranks);
  CirculantRow row{.ranks = ranks, .rounds = graph.rounds(), .sampled = std::min(ranks, kMostSampled)};
  const auto q = static_cast<std::size_t>(graph.rounds());
  const auto ns_since = [](Clock::time_point start) {
    return static_cast<double>(std::chrono::nanoseconds(Clock::now() - start).count());
  };
  for (int i = 0; i < repetitions; ++i) {
    const auto start = Clock::now();
    for (std::int64_t k = 0; k < row.sampled; ++k) {
      const int r = static_cast<int>(k * ranks / row.sampled);
      row.checksum += graph.receive(r)[q / 2] + graph.send(r)[q / 2];
    }
    row.rank_ns.push_back(ns_since(start) / row.sampled);
    if (row.sampled < ranks) continue;
    std::vector<int> all(static_cast<std::size_t>(ranks) * q);
    const auto start_all = Clock::now();
    for (int r = 0; r < ranks; ++r)
      graph.receive(r, std::span(all).subspan(static_cast<std::size_t>(r) * q, q));
    row.all_us.push_back(ns_since(start_all) * 1e-3);
    row.checksum += all.empty() ? 0 : all.back();
  }
  return row;
}

int run(const CirculantOptions& options) {
  check_outputs({options.json});
  std::vector<CirculantRow> rows;
  for (const int ranks : options.ranks) rows.push_back(measure(ranks, options.repetitions));
  if (!options.quiet) {
    report::TextTable table({"ranks", "rounds", "ns per rank", "best", "all ranks, us", "bytes per rank"});
    for (const CirculantRow& row : rows) {
      table.add({std::to_string(row.ranks), std::to_string(row.rounds), figure(report::median(row.rank_ns)),
                 figure(*std::ranges::min_element(row.rank_ns)),
                 row.all_us.empty() ? "-" : figure(report::median(row.all_us)),
                 std::to_string(2 * sizeof(comm::Circulant::Blocks))});
    }
    fmt::print(
        "{}\nns per rank: its receive and send schedule; all ranks: every receive schedule, as allgatherv "
        "needs\n",
        table.text());
  }
  nlohmann::ordered_json json;
  json["papfft"] = kVersion;
  json["rows"] = nlohmann::ordered_json::array();
  for (const CirculantRow& row : rows) {
    json["rows"].push_back({{"op", "bcast"},
                            {"algorithm", "circulant"},
                            {"ranks", row.ranks},
                            {"rounds", row.rounds},
                            {"sampled_ranks", row.sampled},
                            {"rank_ns", to_json(report::summarize(row.rank_ns))},
                            {"memory_bytes", 2 * sizeof(comm::Circulant::Blocks)},
                            {"checksum", row.checksum}});
    if (!row.all_us.empty()) json["rows"].back()["all_ranks_us"] = to_json(report::summarize(row.all_us));
  }
  write_text(options.json, options.json.empty() ? "" : json.dump(2) + "\n");
  return kOk;
}

}  // namespace

void add_bench_circulant(CLI::App& bench, Action& action) {
  const auto options = std::make_shared<CirculantOptions>();
  CLI::App* command =
      bench.add_subcommand("circulant", "time the planning of circulant broadcasts and allgathers");
  command->add_option("--ranks", options->ranks, "sizes of the group")
      ->delimiter(',')
      ->check(CLI::Range(1, comm::Circulant::kMostRanks))
      ->capture_default_str();
  command->add_option("--repetitions", options->repetitions, "of each measurement; the table shows medians")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--json", options->json, "write the results as JSON to this file");
  command->add_flag("--quiet", options->quiet, "print nothing");
  command->footer(
      "Examples:\n"
      "  papfft bench circulant\n"
      "  papfft bench circulant --ranks 1000,1000000 --repetitions 100 --json circulant.json\n"
      "Exit codes: 0 ok, 64 usage, 73 cannot write.");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace papfft::app
