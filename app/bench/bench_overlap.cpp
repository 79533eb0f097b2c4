// SPDX-License-Identifier: MIT
// papfft bench overlap: how much of a started call is hidden behind computation, ours beside stock MPI's. As the OSU benchmarks measure
// non-blocking collectives, with the computation's slow-down besides.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/collective_data.hpp"
#include "app/bench/collective_settings.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "comm/choose/select.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using comm::Operation;

struct OverlapOptions {
  OverlapOptions() { job.stuck_after_s = 0; }  // as programs are by default

  JobOptions job;
  std::vector<std::string> operations = {"bcast", "reduce", "allreduce", "gather", "allgather", "alltoall"};
  std::vector<std::string> algorithms = {"auto"};
  std::vector<std::string> bytes = {"64K", "1M"};
  int iterations = 20;
  int warmup = 3;
  std::string csv;
};

double now_us() { return MPI_Wtime() * 1e6; }

/// Work of an amount that does not depend on how fast it is done.
class Computation {
 public:
  /// Measures how fast this rank does it, alone.
  Computation() {
    constexpr std::int64_t kTrial = 1'000'000;
    const double begin_us = now_us();
    run(kTrial);
    steps_per_us = static_cast<double>(kTrial) / std::max(now_us() - begin_us, 1.0);
  }
  /// @return how long it took, in us
  double run(std::int64_t steps) {
    const double begin_us = now_us();
    double x = value_;
    for (std::int64_t i = 0; i < steps; ++i) x = x * 0.999999 + 1e-6;
    value_ = x;
    return now_us() - begin_us;
  }

  double steps_per_us = 1;

 private:
  volatile double value_ = 1;
};

/// Of one call on this rank, in us.
struct Times {
  double compute = 0;  // the computation while the call is under way
  double total = 0;    // start, computation and wait
};

constexpr int kCalibrations = 3;

struct Row {
  Operation operation;
  std::string algorithm;
  std::uint64_t bytes = 0;
  std::int64_t steps = 0;  // of the computation
  std::vector<double> pure_us = {};
  std::vector<double> total_us = {};
  std::vector<double> alone_us = {};
  std::vector<double> compute_us = {};

  /// Of the communication, hidden behind the computation.
  [[nodiscard]] double overlap_percent() const {
    const double shown = report::median(total_us) - report::median(compute_us);
    return std::clamp(100 * (1 - shown / report::median(pure_us)), 0.0, 100.0);
  }
  [[nodiscard]] double slowdown_percent() const {
    return 100 * (report::median(compute_us) / report::median(alone_us) - 1);
  }
};

class OverlapBench {
 public:
  OverlapBench(Job& job, const OverlapOptions& options)
      : job_(job),
        options_(options),
        own_(std::chrono::milliseconds(0)),
        session_(MPI_COMM_WORLD, options.job.to_comm_options()) {
    steps_per_us_ = mean(computation_.steps_per_us);
  }

  void run() {
    Progress progress = options_.job.make_progress(job_.is_root(), "bench overlap");
    const std::size_t total = options_.operations.size() * options_.bytes.size();
    std::size_t done = 0;
    for (const std::string& operation : options_.operations) {
      for (const std::string& bytes : options_.bytes) {
        measure(operation, report::parse_byte_count(bytes));
        progress.show(++done, total);
      }
    }
    has_thread_ = session_.statistics().has_thread;
    session_.close();
    const io::Json machine = machine_json(job_);
    job_.at_root([&] { write(machine); });
  }

 private:
  void measure(const std::string& operation, std::uint64_t bytes) {
    CollectiveOptions asked;
    asked.operation = operation;
    asked.algorithms = {"mpi"};
    const CollectiveSettings settings(asked);
    const Case size = settings.make_case(bytes, settings.patterns.front(), job_.size());
    CollectiveData data(settings.operation, size, job_.size(), job_.rank(), 0, true);
    std::vector<Row> rows;
    for (const std::string& algorithm : options_.algorithms)
      rows.push_back({.operation = settings.operation, .algorithm = algorithm, .bytes = size.total_bytes});
    rows.push_back({.operation = settings.operation, .algorithm = "mpi", .bytes = size.total_bytes});
    for (int round = -options_.warmup; round < options_.iterations; ++round) {
      for (Row& row : rows) {
        const double pure_us = mean(timed_call(row, data, 0).total);
        if (round >= 0) row.pure_us.push_back(pure_us);
      }
    }
    for (Row& row : rows) choose_steps(row);
    for (int round = -options_.warmup; round < options_.iterations; ++round) {
      for (Row& row : rows) overlap(row, data, round >= 0);
    }
    std::ranges::move(rows, std::back_inserter(rows_));
  }

  /// As many as take as long as the call, while all ranks compute: they may share cores.
  void choose_steps(Row& row) {
    const double wanted_us = report::median(row.pure_us);
    double steps = wanted_us * steps_per_us_;
    for (int i = 0; i < kCalibrations; ++i) {
      row.steps = std::max<std::int64_t>(1, std::llround(steps));
      steps *= wanted_us / std::max(alone_us(row), 1e-3);
    }
    row.steps = std::max<std::int64_t>(1, std::llround(steps));
  }

  double alone_us(const Row& row) {
    own_.double_barrier();
    return mean(computation_.run(row.steps));
  }

  /// The computation alone, then a call with as much computation.
  void overlap(Row& row, CollectiveData& data, bool counts) {
    const double work_us = alone_us(row);
    const Times times = timed_call(row, data, row.steps);
    const double compute_us = mean(times.compute);
    const double total_us = mean(times.total);
    if (!counts) return;
    row.alone_us.push_back(work_us);
    row.compute_us.push_back(compute_us);
    row.total_us.push_back(total_us);
  }

  /// Of this rank.
  Times timed_call(const Row& row, CollectiveData& data, std::int64_t steps) {
    data.fill(++calls_);
    own_.double_barrier();
    Times times;
    const double begin_us = now_us();
    if (row.algorithm == "mpi") {
      MPI_Request request = MPI_REQUEST_NULL;
      data.post(own_.get(), request);
      if (steps > 0) times.compute = computation_.run(steps);
      comm::check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    } else {
      comm::Pending call = data.start(session_, row.algorithm);
      if (steps > 0) times.compute = computation_.run(steps);
      call.wait();
    }
    times.total = now_us() - begin_us;
    own_.quiet_barrier();
    wrong_ = wrong_ || !data.is_correct();
    return times;
  }

  /// Over the ranks.
  [[nodiscard]] double mean(double mine) const {
    double sum = 0;
    comm::check_mpi(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, own_.get()), "MPI_Allreduce");
    return sum / own_.size();
  }

  void write(const io::Json& machine) const {
    report::TextTable table({"operation", "algorithm", "bytes", "call us", "computation us", "both us",
                             "overlap %", "slow-down %"});
    io::Json json;
    json["machine"] = machine;
    json["settings"] = {
        {"iterations", options_.iterations}, {"warmup", options_.warmup}, {"background_thread", has_thread_}};
    json["rows"] = io::Json::array();
    for (const Row& row : rows_) {
      const std::string_view operation = comm::to_string(row.operation);
      const std::array<double, 4> us = {report::median(row.pure_us), report::median(row.alone_us),
                                        report::median(row.compute_us), report::median(row.total_us)};
      table.add({std::string(operation), row.algorithm, fmt::format("{}", row.bytes), figure(us[0]),
                 figure(us[1]), figure(us[3]), fmt::format("{:.0f}", row.overlap_percent()),
                 fmt::format("{:.0f}", row.slowdown_percent())});
      json["rows"].push_back({{"op", operation},
                              {"algorithm", row.algorithm},
                              {"bytes", row.bytes},
                              {"call_us", us[0]},
                              {"computation_us", us[1]},
                              {"computation_beside_us", us[2]},
                              {"both_us", us[3]},
                              {"overlap_percent", row.overlap_percent()},
                              {"slowdown_percent", row.slowdown_percent()}});
    }
    if (!options_.job.quiet) fmt::print("{}", table.text());
    if (!options_.job.json.empty()) write_text(options_.job.json, json.dump(2) + "\n");
    if (!options_.csv.empty()) write_text(options_.csv, table.csv());
    if (wrong_) throw Quit{kInternal};
  }

  Job& job_;
  const OverlapOptions& options_;
  OwnComm own_;
  comm::MpiSession session_;
  Computation computation_;
  double steps_per_us_ = 1;  // the same on all ranks
  bool has_thread_ = false;
  std::vector<Row> rows_;
  std::uint64_t calls_ = 0;
  bool wrong_ = false;
};

/// @throws std::invalid_argument  an operation does not know an algorithm
void check(const OverlapOptions& options, int ranks) {
  check_outputs({options.job.json, options.csv});
  if (ranks < 2) throw UsageError("bench overlap: what would work: two ranks or more");
  for (const std::string& bytes : options.bytes) (void)report::parse_byte_count(bytes);
  for (const std::string& name : options.operations) {
    for (const std::string& algorithm : options.algorithms) {
      const Operation operation = comm::parse_operation(name);
      if (comm::choose(operation, algorithm, ranks, 0, false).algorithm == nullptr && algorithm != "auto")
        throw UsageError("bench overlap: the algorithm 'mpi' has rows of its own; leave it out");
    }
  }
}

int run_overlap(const OverlapOptions& options) {
  require_launcher("bench overlap");
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    job.at_root([&] { check(options, job.size()); });
    OverlapBench(job, options).run();
  });
}

}  // namespace

void add_bench_overlap(cli::Command& bench) {
  const auto options = std::make_shared<OverlapOptions>();
  cli::Command* command = bench.add_subcommand(
      "overlap", "how much of a started call is hidden behind computation, ours and stock MPI's");
  command->add_option("--op", options->operations, "operations, which are started: ibcast and so on")
      ->delimiter(',')
      ->one_of(comm::kOperationNames)
      ->capture_default_str();
  command->add_option("--algorithms", options->algorithms, "of ours; stock MPI's call comes on top")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--bytes", options->bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--iterations", options->iterations, "calls that count, of each kind")
      ->in_range(1, 1'000'000)
      ->capture_default_str();
  command->add_option("--warmup", options->warmup, "calls before them")
      ->in_range(0, 1'000'000)
      ->capture_default_str();
  command->add_option("--csv", options->csv, "write the rows as CSV to this file");
  options->job.declare_common(*command);
  command->footer(
      "call us: the call alone. computation us: work that takes as long, alone. both us: start, the same "
      "work, "
      "wait.\n"
      "overlap % = 100 (1 - (both - work) / call), from 0 to 100, where work is the work's time beside the "
      "call, as the OSU benchmarks define it.\n"
      "slow-down %: by how much longer the work takes beside the call. Medians of the ranks' means.\n"
      "Ours is moved on by the session's background thread, which needs MPI_THREAD_MULTIPLE.\n"
      "Examples:\n"
      "  mpirun -n 2 papfft bench overlap --op bcast,allreduce --bytes 64K,1M\n"
      "  papfft cluster run -n 8 -- papfft bench overlap --json overlap.json\n"
      "Exit codes: 0 ok, 64 usage, 70 wrong data, 73 cannot write, 74 communication failed.");
  command->runs([options] { return run_overlap(*options); });
}

}  // namespace papfft::app
