// SPDX-License-Identifier: MIT
// papfft bench engine: what the same algorithm costs in our executor and in the MPI library. Both are told the algorithm and its
// segments, so that what differs is how it runs, not what is run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/collective_data.hpp"
#include "app/bench/collective_settings.hpp"
#include "app/bench/stock_algorithms.hpp"
#include "app/bench/turns.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using comm::Operation;

/// One algorithm that both have.
struct Pair {
  Operation operation;
  std::string_view ours;
  std::string_view stock;  ///< its name in Open MPI
  std::uint64_t segment_bytes = 0;
};

constexpr std::uint64_t kSegment = 64512;  // needs no handshake over TCP

constexpr std::array kPairs = {
    Pair{Operation::bcast, "bnom", "binomial"},
    Pair{Operation::bcast, "chain", "pipeline", kSegment},
    Pair{Operation::reduce, "bnom", "binomial"},
    Pair{Operation::reduce, "chain", "pipeline", kSegment},
    Pair{Operation::allreduce, "recursive-doubling", "recursive_doubling"},
    Pair{Operation::allreduce, "ring", "ring"},
    Pair{Operation::allgather, "ring", "ring"},
    Pair{Operation::allgather, "recursive-doubling", "recursive_doubling"},
    Pair{Operation::reduce_scatter, "ring", "ring"},
    Pair{Operation::gather, "lin", "basic_linear"},
    Pair{Operation::scatter, "lin", "basic_linear"},
};

/// The operations of these pairs, each once.
std::vector<std::string> operations_of_both() {
  std::vector<std::string> names;
  for (const Pair& pair : kPairs) {
    const std::string name(comm::to_string(pair.operation));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

struct EngineOptions {
  EngineOptions() { job.stuck_after_s = 0; }  // as programs are by default

  JobOptions job;
  std::vector<std::string> operations;
  std::vector<std::string> bytes = {"1K", "16K", "256K", "4M", "16M"};
  int iterations = 30;
  int warmup = 3;
  std::string csv;
};

struct Cost {
  double wall_us = 0;  // of the slowest rank
  double cpu_us = 0;   // of all ranks together
};

struct Row {
  const Pair* pair = nullptr;
  std::uint64_t bytes = 0;
  std::array<std::vector<double>, 2> wall_us = {};  // ours, stock's
  std::array<std::vector<double>, 2> cpu_us = {};

  static double median(const std::array<std::vector<double>, 2>& times, std::size_t who) {
    return report::median(times.at(who));
  }
  [[nodiscard]] double wall_ratio() const { return median(wall_us, 0) / median(wall_us, 1); }
  [[nodiscard]] double cpu_ratio() const { return median(cpu_us, 0) / median(cpu_us, 1); }
};

/// Of this process, all threads.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class EngineBench {
 public:
  EngineBench(Job& job, const EngineOptions& options)
      : job_(job),
        options_(options),
        own_(std::chrono::milliseconds(0)),
        ours_(MPI_COMM_WORLD, options.job.to_comm_options()) {}

  void run() {
    Progress progress = options_.job.make_progress(job_.is_root(), "bench engine");
    std::vector<const Pair*> pairs;
    for (const Pair& pair : kPairs) {
      if (wanted(pair)) pairs.push_back(&pair);
    }
    std::size_t done = 0;
    for (const Pair* pair : pairs) {
      const StockAlgorithms stock(pair->operation);
      const auto number =
          std::ranges::find_if(stock.names(), [&](const auto& n) { return n.second == pair->stock; });
      for (const std::string& bytes : options_.bytes) {
        if (number != stock.names().end())
          measure(*pair, stock, number->first, report::parse_byte_count(bytes));
        progress.show(++done, pairs.size() * options_.bytes.size());
      }
    }
    const io::Json machine = machine_json(job_);
    job_.at_root([&] { write(machine); });
  }

 private:
  [[nodiscard]] bool wanted(const Pair& pair) const {
    return options_.operations.empty() ||
           std::ranges::find(options_.operations, comm::to_string(pair.operation)) !=
               options_.operations.end();
  }

  void measure(const Pair& pair, const StockAlgorithms& stock, int number, std::uint64_t bytes) {
    const CollectiveOptions asked = [&] {
      CollectiveOptions o;
      o.operation = comm::to_string(pair.operation);
      o.algorithms = {"mpi"};
      return o;
    }();
    const CollectiveSettings settings(asked);
    const Case size = settings.make_case(bytes, settings.patterns.front(), job_.size());
    CollectiveData data(pair.operation, size, job_.size(), job_.rank(), 0, true);
    const std::uint64_t segment = pair.segment_bytes;
    const auto theirs = stock.communicator(MPI_COMM_WORLD, options_.job.to_comm_options(), {number, segment});
    const bool is_cut =
        comm::find_algorithm(pair.operation, pair.ours).segmentation == comm::Segmentation::even;
    const std::uint64_t segments =
        segment == 0 ? 1 : std::max<std::uint64_t>(1, (size.block_bytes + segment - 1) / segment);
    const std::string ours = std::string(pair.ours) + (is_cut ? fmt::format("/{}", segments) : "");
    Row row{.pair = &pair, .bytes = bytes};
    Turns turns(2);
    for (int round = -options_.warmup; round < options_.iterations; ++round) {
      for (const std::size_t who : turns.next()) {
        const Cost cost = who == 0 ? time([&] { data.call(ours_, ours); }, data)
                                   : time([&] { data.call(*theirs, "mpi"); }, data);
        if (round < 0) continue;
        row.wall_us.at(who).push_back(cost.wall_us);
        row.cpu_us.at(who).push_back(cost.cpu_us);
      }
    }
    rows_.push_back(std::move(row));
  }

  template <typename Call>
  Cost time(Call call, CollectiveData& data) {
    data.fill(++calls_);
    own_.double_barrier();
    const double begin_s = MPI_Wtime();
    const double cpu_s = cpu_seconds();
    call();
    std::array<double, 2> mine = {MPI_Wtime() - begin_s, cpu_seconds() - cpu_s};
    own_.quiet_barrier();
    wrong_ = wrong_ || !data.is_correct();
    Cost cost;
    comm::check_mpi(MPI_Allreduce(&mine[0], &cost.wall_us, 1, MPI_DOUBLE, MPI_MAX, own_.get()),
                    "MPI_Allreduce");
    comm::check_mpi(MPI_Allreduce(&mine[1], &cost.cpu_us, 1, MPI_DOUBLE, MPI_SUM, own_.get()),
                    "MPI_Allreduce");
    cost.wall_us *= 1e6;
    cost.cpu_us *= 1e6;
    return cost;
  }

  void write(const io::Json& machine) const {
    report::TextTable table({"operation", "ours", "stock MPI's", "bytes", "ours us", "stock us", "time ratio",
                             "ours CPU us", "stock CPU us", "CPU ratio"});
    io::Json json;
    json["machine"] = machine;
    json["settings"] = {{"iterations", options_.iterations}, {"warmup", options_.warmup}};
    json["rows"] = io::Json::array();
    for (const Row& row : rows_) {
      const std::array<double, 4> us = {Row::median(row.wall_us, 0), Row::median(row.wall_us, 1),
                                        Row::median(row.cpu_us, 0), Row::median(row.cpu_us, 1)};
      table.add({std::string(comm::to_string(row.pair->operation)), std::string(row.pair->ours),
                 std::string(row.pair->stock), fmt::format("{}", row.bytes), figure(us[0]), figure(us[1]),
                 fmt::format("{:.2f}", row.wall_ratio()), figure(us[2]), figure(us[3]),
                 fmt::format("{:.2f}", row.cpu_ratio())});
      json["rows"].push_back({{"op", comm::to_string(row.pair->operation)},
                              {"algorithm", row.pair->ours},
                              {"mpi_algorithm", row.pair->stock},
                              {"bytes", row.bytes},
                              {"time_us", us[0]},
                              {"mpi_time_us", us[1]},
                              {"time_ratio", row.wall_ratio()},
                              {"cpu_us", us[2]},
                              {"mpi_cpu_us", us[3]},
                              {"cpu_ratio", row.cpu_ratio()}});
    }
    if (!options_.job.quiet) fmt::print("{}", table.text());
    if (!options_.job.json.empty()) write_text(options_.job.json, json.dump(2) + "\n");
    if (!options_.csv.empty()) write_text(options_.csv, table.csv());
    if (wrong_) throw Quit{kInternal};
  }

  Job& job_;
  const EngineOptions& options_;
  OwnComm own_;
  comm::Communicator ours_;
  std::vector<Row> rows_;
  std::uint64_t calls_ = 0;
  bool wrong_ = false;
};

int run_engine(const EngineOptions& options) {
  require_launcher("bench engine");
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    job.at_root([&] {
      check_outputs({options.job.json, options.csv});
      if (job.size() < 2) throw UsageError("bench engine: what would work: two ranks or more");
      for (const std::string& bytes : options.bytes) (void)report::parse_byte_count(bytes);
    });
    EngineBench(job, options).run();
  });
}

}  // namespace

void add_bench_engine(cli::Command& bench) {
  const auto options = std::make_shared<EngineOptions>();
  cli::Command* command =
      bench.add_subcommand("engine", "what one algorithm costs in our executor and in the MPI library");
  command->add_option("--op", options->operations, "operations; all that both have, if none is named")
      ->delimiter(',')
      ->one_of(operations_of_both());
  command->add_option("--bytes", options->bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--iterations", options->iterations, "pairs of calls that count, per algorithm and size")
      ->in_range(1, 1'000'000)
      ->capture_default_str();
  command->add_option("--warmup", options->warmup, "pairs of calls before them")
      ->in_range(0, 1'000'000)
      ->capture_default_str();
  command->add_option("--csv", options->csv, "write the rows as CSV to this file");
  options->job.declare_common(*command);
  command->footer(
      "time ratio, CPU ratio: ours / stock MPI's, medians; below 1 ours costs less. Time is that of the "
      "slowest rank, CPU time that\n"
      "of all ranks together.\n"
      "Examples:\n"
      "  mpirun -n 2 papfft bench engine\n"
      "  papfft cluster run -n 8 -- papfft bench engine --op bcast,reduce --bytes 64K,1M --json engine.json\n"
      "Exit codes: 0 ok, 64 usage, 70 wrong data, 74 communication failed.");
  command->runs([options] { return run_engine(*options); });
}

}  // namespace papfft::app
