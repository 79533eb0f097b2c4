// SPDX-License-Identifier: MIT
// papfft bench guard: how near the guard brings a program to the better way, if "auto" has been told something wrong.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/collective_data.hpp"
#include "app/bench/collective_settings.hpp"
#include "app/cli/tell.hpp"
#include "app/report/statistics.hpp"
#include "app/report/text_table.hpp"
#include "comm/choose/decision_table.hpp"
#include "comm/choose/select.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

struct GuardOptions {
  GuardOptions() {
    call.operation = "allreduce";
    call.bytes = {"1M"};
    call.iterations = 5;
  }

  CollectiveOptions call;
  std::string choice;
  int calls = 300;
};

/// Who makes the calls of a program.
enum Way : std::uint8_t { kStock, kUnguarded, kGuarded, kWays };

/// A group whose "auto" goes by a table of one line, as if that had been measured.
class ToldGroup : public comm::Communicator {
 public:
  ToldGroup(const comm::Options& options, const std::string& table)
      : comm::Communicator(MPI_COMM_WORLD, options) {
    if (!table.empty()) use_decisions(table, false);
  }
};

struct GuardRow {
  std::string operation;
  std::uint64_t bytes = 0;
  std::string algorithm = {};                      // that "auto" chose
  std::array<std::vector<double>, kWays> ms = {};  // of each program
  std::vector<comm::GuardedCalls> guarded = {};    // in the last one
};

class GuardBench {
 public:
  GuardBench(Job& job, const GuardOptions& options, const CollectiveSettings& settings)
      : job_(job), options_(options), settings_(settings), own_(job.comm().options().stuck_after) {}

  void run() {
    Progress progress = options_.call.job.make_progress(job_.is_root(), "bench guard");
    const auto repetitions = static_cast<std::size_t>(options_.call.iterations);
    const std::size_t total = settings_.bytes.size() * repetitions;
    for (const std::uint64_t bytes : settings_.bytes) {
      const Case size = settings_.make_case(bytes, settings_.patterns.front(), job_.size());
      rows_.push_back({.operation = options_.call.operation, .bytes = size.total_bytes});
      for (std::size_t i = 0; i < repetitions; ++i) {
        // Each is first as often as the others.
        for (int turn = 0; turn < kWays; ++turn)
          run_program(rows_.back(), size, static_cast<Way>((i + static_cast<std::size_t>(turn)) % kWays));
        progress.show((rows_.size() - 1) * repetitions + i + 1, total);
      }
    }
    const io::Json machine = machine_json(job_);
    job_.at_root([&] { write(machine); });
  }

 private:
  /// All calls of one program, in a group of its own.
  void run_program(GuardRow& row, const Case& size, Way way) {
    comm::Options options = options_.call.job.to_comm_options();
    options.guard = way == kGuarded;
    ToldGroup group(options, table(size));
    CollectiveData data(settings_.operation, size, job_.size(), job_.rank(), options_.call.root,
                        options_.call.type == "float");
    data.fill(++programs_);
    own_.double_barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (int call = 0; call < options_.calls; ++call) {
      data.call(group, way == kStock ? "mpi" : "auto");
      if (way == kUnguarded) row.algorithm = group.last_call().algorithm;
    }
    own_.double_barrier();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    row.ms.at(way).push_back(took.count());
    if (way == kGuarded) row.guarded = group.guarded_calls();
    const std::array<char, 1> mine{static_cast<char>(data.is_correct() ? 1 : 0)};
    const std::vector<char> all = own_.to_root(std::span<const char>(mine));
    is_correct_ = is_correct_ && std::ranges::find(all, 0) == all.end();
  }

  [[nodiscard]] std::string table(const Case& size) const {
    if (options_.choice.empty()) return {};
    comm::DecisionTable table;
    table.set({settings_.operation, size.block_bytes, {{options_.choice}}});
    return table.text();
  }

  void write(const io::Json& machine) const {
    report::TextTable text({"operation", "bytes", "auto chose", "stock ms", "unguarded ms", "guarded ms",
                            "unguarded / stock", "guarded / stock", "trials", "in use"});
    io::Json json;
    json["machine"] = machine;
    json["settings"] = {{"calls", options_.calls}, {"iterations", options_.call.iterations}};
    json["rows"] = io::Json::array();
    for (const GuardRow& row : rows_) {
      const std::array<double, kWays> ms = {report::median(row.ms[kStock]),
                                            report::median(row.ms[kUnguarded]),
                                            report::median(row.ms[kGuarded])};
      const bool is_guarded = !row.guarded.empty();
      const std::int64_t trials = is_guarded ? row.guarded.front().trials : 0;
      const std::string in_use = is_guarded && row.guarded.front().is_stock ? "mpi" : row.algorithm;
      text.add({row.operation, fmt::format("{}", row.bytes), row.algorithm, figure(ms[kStock]),
                figure(ms[kUnguarded]), figure(ms[kGuarded]),
                fmt::format("{:.3f}", ms[kUnguarded] / ms[kStock]),
                fmt::format("{:.3f}", ms[kGuarded] / ms[kStock]), fmt::format("{}", trials), in_use});
      json["rows"].push_back({{"op", row.operation},
                              {"bytes", row.bytes},
                              {"algorithm", row.algorithm},
                              {"stock_ms", ms[kStock]},
                              {"unguarded_ms", ms[kUnguarded]},
                              {"guarded_ms", ms[kGuarded]},
                              {"trials", trials},
                              {"in_use", in_use}});
    }
    const JobOptions& job = options_.call.job;
    if (!job.quiet) fmt::print("{}", text.text());
    if (!job.json.empty()) write_text(job.json, json.dump(2) + "\n");
    if (is_correct_) return;
    tell("papfft: bench guard: wrong data\n");
    throw Quit{kInternal};
  }

  Job& job_;
  const GuardOptions& options_;
  const CollectiveSettings& settings_;
  OwnComm own_;
  std::vector<GuardRow> rows_;
  std::uint64_t programs_ = 0;
  bool is_correct_ = true;
};

int run_guard(GuardOptions options) {
  require_launcher("bench guard");
  options.call.algorithms.clear();
  const CollectiveSettings settings(options.call);
  if (!options.choice.empty()) (void)comm::choose(settings.operation, options.choice, 2, 0, false);
  return run_job(options.call.job.to_comm_options(), options.call.job.bcast, [&](Job& job) {
    job.at_root([&] {
      check_outputs({options.call.job.json});
      require_ranks("bench guard", job.size(), options.call, settings);
    });
    GuardBench(job, options, settings).run();
  });
}

}  // namespace

void add_bench_guard(cli::Command& bench) {
  const auto options = std::make_shared<GuardOptions>();
  cli::Command* command = bench.add_subcommand(
      "guard",
      "how near the guard brings a program to the better way, if auto has been told something wrong");
  CollectiveOptions& call = options->call;
  command->add_option("--op", call.operation, "operation")
      ->one_of(comm::kOperationNames)
      ->capture_default_str();
  command->add_option("--bytes", call.bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option(
      "--choice", options->choice,
      "the algorithm that auto takes, as if a table said that it is the best; without it, auto "
      "chooses by its rules and PAPFFT_...");
  command->add_option("--calls", options->calls, "calls of a program")
      ->in_range(1, 1'000'000)
      ->capture_default_str();
  command->add_option("--iterations", call.iterations, "programs of each kind")
      ->in_range(1, 1'000'000)
      ->capture_default_str();
  call.job.declare_common(*command);
  command->footer(
      "A program is so many calls in a new group. Three kinds take turns: by stock MPI, by auto without the "
      "guard, and by auto with it.\n"
      "Times are medians over the programs of a kind; trials and the way in use are those of the last "
      "guarded "
      "one.\n"
      "Examples:\n"
      "  mpirun -n 2 papfft bench guard --op allreduce --bytes 1M --choice recursive-doubling\n"
      "  PAPFFT_ALPHA_NS=8000 PAPFFT_BETA_NS=8 papfft cluster run -n 8 -- papfft bench guard --op bcast\n"
      "Exit codes: 0 ok, 64 usage, 70 wrong data, 73 cannot write, 74 communication.");
  command->runs([options] { return run_guard(*options); });
}

}  // namespace papfft::app
