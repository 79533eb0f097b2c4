// SPDX-License-Identifier: MIT
// papfft bench fft: whole transforms shared by the ranks, per gather algorithm, against one process.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "app/arrivals.hpp"
#include "app/bench.hpp"
#include "app/bench_common.hpp"
#include "app/report/text_table.hpp"
#include "app/run_report.hpp"
#include "app/version.hpp"
#include "comm/predict/pure/imbalance.hpp"
#include "comm/select/select.hpp"
#include "fft/local.hpp"
#include "fft/parallel_fft.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using Clock = std::chrono::steady_clock;

struct FftOptions {
  JobOptions job;
  int vectors = 1000;
  std::size_t length = 131072;
  std::string precision = "float";
  std::string scatter = "lin";
  std::vector<std::string> gathers = {"mpi", "ls", "bsls", "bsbn"};
  int block = 50;
  ArrivalOptions arrivals;
};

/// One rank's view of one vector.
struct VectorRecord {
  std::int64_t arrival_ns = 0;  ///< at the gather
  std::int64_t exit_ns = 0;
  double compute_ms = 0;
};

/// Keeps the times of each vector.
class Recorder final : public ComputeWatch {
 public:
  Recorder(comm::Session& session, double edge, Delay delay)
      : ComputeWatch(&session, edge, std::move(delay)), session_(session) {}

  void compute_begins() override {
    begin_ = Clock::now();
    ComputeWatch::compute_begins();
  }
  void compute_ends() override {
    ComputeWatch::compute_ends();
    record_.compute_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
    record_.arrival_ns = session_.now_ns();
  }
  void gather_ends() override { record_.exit_ns = session_.now_ns(); }

  [[nodiscard]] const VectorRecord& record() const { return record_; }

 private:
  comm::Session& session_;
  Clock::time_point begin_;
  VectorRecord record_;
};

/// Of one gather algorithm, at rank 0; per vector, in ms.
struct Row {
  std::string gather;
  std::vector<double> vector;
  std::vector<double> gather_run;
  std::vector<double> gather_elapsed;
  std::vector<double> compute;  ///< of the slowest rank
  double error_l2 = 0;          ///< the largest
};

template <typename T>
class FftBench {
 public:
  using Complex = std::complex<T>;

  FftBench(Job& job, const FftOptions& options) : job_(job), options_(options) {}

  void run() {
    if (job_.is_root()) {
      in_ = fft::Buffer<Complex>(options_.length);
      out_ = fft::Buffer<Complex>(options_.length);
    }
    job_.at_root([&] { measure_alone(); });  // the others sleep
    const OwnComm comm;
    comm::MpiSession session(MPI_COMM_WORLD, options_.job.to_comm_options(), comm::SessionOptions{});
    link_ = session.measure_link(rate_probe(0));
    for (const std::string& gather : options_.gathers) rows_.emplace_back().gather = gather;
    Progress progress = options_.job.make_progress(job_.is_root(), "bench fft");
    const std::size_t total = rows_.size() * static_cast<std::size_t>(options_.vectors);
    std::size_t done = 0;
    for (int first = 0; first < options_.vectors; first += options_.block) {
      const int count = std::min(options_.block, options_.vectors - first);
      for (Row& row : rows_) {
        run_block(comm, session, row, first, count);
        progress.show(done += static_cast<std::size_t>(count), total);
      }
    }
    session.close();
    job_.at_root([&] { write(); });
  }

 private:
  static constexpr double kTolerance = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());

  void fill(int first) {
    std::mt19937_64 random(options_.arrivals.seed + static_cast<std::uint64_t>(first));
    std::uniform_real_distribution<T> value(-1, 1);
    for (Complex& z : in_) z = {value(random), value(random)};
    std::vector<std::complex<double>> wide(in_.begin(), in_.end());
    fft::LocalFft<double>(options_.length, fft::Direction::forward).execute(wide.data(), wide.data());
    expected_ = std::move(wide);
  }

  /// The relative L2 distance of the last result from one process's transform in double precision.
  [[nodiscard]] double error_l2() const {
    double difference = 0;
    double norm = 0;
    for (std::size_t k = 0; k < options_.length; ++k) {
      difference += std::norm(std::complex<double>(out_[k]) - expected_[k]);
      norm += std::norm(expected_[k]);
    }
    return std::sqrt(difference / norm);
  }

  void measure_alone() {
    fill(0);
    fft::LocalFft<T> fft(options_.length, fft::Direction::forward, fft::Rigor::tuned);
    alone_engine_ = fft.engine();
    const auto begin = Clock::now();
    do {
      const auto start = Clock::now();
      fft.execute(in_.data(), out_.data());
      alone_ms_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    } while (Clock::now() - begin < std::chrono::milliseconds(300));
    alone_error_ = error_l2();
  }

  void run_block(const OwnComm& comm, comm::MpiSession& session, Row& row, int first, int count) {
    fft::ParallelFft<T> parallel(session, {.length = options_.length,
                                           .scatter = options_.scatter,
                                           .gather = row.gather,
                                           .rigor = fft::Rigor::tuned});
    // The same delays in each algorithm's turn.
    Recorder watch(session, options_.arrivals.edge,
                   [this, first, pattern = options_.arrivals.pattern()](std::int64_t vector) {
                     return pattern.delay_ns(first + vector, job_.rank(), job_.size(), 0);
                   });
    parallel.observe(&watch);
    if (job_.is_root()) fill(first);
    std::vector<VectorRecord> mine;
    comm.double_barrier();
    for (int v = 0; v < count; ++v) {
      const auto start = Clock::now();
      parallel.execute(in_.data(), out_.data());
      if (job_.is_root()) {
        row.vector.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      }
      mine.push_back(watch.record());
    }
    const std::vector<VectorRecord> all = comm.to_root(std::span<const VectorRecord>(mine));
    if (!job_.is_root()) return;
    row.error_l2 = std::max(row.error_l2, error_l2());
    const auto ranks = static_cast<std::size_t>(job_.size());
    for (std::size_t v = 0; v < mine.size(); ++v) {
      std::vector<std::int64_t> arrival_ns;
      std::vector<std::int64_t> exit_ns;
      double compute_ms = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        const VectorRecord& record = all[r * mine.size() + v];
        arrival_ns.push_back(record.arrival_ns);
        exit_ns.push_back(record.exit_ns);
        compute_ms = std::max(compute_ms, record.compute_ms);
      }
      row.gather_run.push_back(milliseconds(comm::run_time_ns(arrival_ns, exit_ns)));
      row.gather_elapsed.push_back(comm::elapsed_ns(arrival_ns, exit_ns) * 1e-6);
      row.compute.push_back(compute_ms);
    }
  }

  /// P-1 blocks out and as many back over the root's link, one vector after another.
  [[nodiscard]] double wire_bound_ms() const {
    const auto ranks = static_cast<double>(job_.size());
    return 2 * (ranks - 1) / ranks * static_cast<double>(options_.length * sizeof(Complex)) *
           link_.beta_ns_per_byte * 1e-6;
  }

  static double sum(const std::vector<double>& values) {
    double total = 0;
    for (const double value : values) total += value;
    return total;
  }

  [[nodiscard]] nlohmann::ordered_json document() {
    nlohmann::ordered_json json;
    json["papfft"] = kVersion;
    json["machine"] = machine_json(job_);
    json["settings"] = {{"vectors", options_.vectors},      {"length", options_.length},
                        {"block", options_.block},          {"scatter", options_.scatter},
                        {"edge", options_.arrivals.edge},   {"seed", options_.arrivals.seed},
                        {"delay", options_.arrivals.delay}, {"threads", omp_get_max_threads()}};
    json["alpha_us"] = link_.alpha_ns * 1e-3;
    json["beta_ns_per_byte"] = link_.beta_ns_per_byte;
    json["rows"] = nlohmann::ordered_json::array();
    json["rows"].push_back({{"engine", fft::to_string(alone_engine_)},
                            {"ranks", 1},
                            {"n", options_.length},
                            {"precision", options_.precision},
                            {"vectors_per_s", 1e3 / report::median(alone_ms_)},
                            {"vector_ms", to_json(report::summarize(alone_ms_))},
                            {"wire_bound_ms", 0},
                            {"efficiency", nullptr},
                            {"compute_ms", report::median(alone_ms_)},
                            {"error_l2", alone_error_}});
    for (const Row& row : rows_) {
      json["rows"].push_back(
          {{"engine", "dif"},
           {"ranks", job_.size()},
           {"n", options_.length},
           {"precision", options_.precision},
           {"scatter", options_.scatter},
           {"gather", row.gather},
           {"total_s", sum(row.vector) * 1e-3},
           {"vectors_per_s", 1e3 * static_cast<double>(row.vector.size()) / sum(row.vector)},
           {"vector_ms", to_json(report::summarize(row.vector))},
           {"vector_samples_ms", row.vector},
           {"wire_bound_ms", wire_bound_ms()},
           {"efficiency", wire_bound_ms() / report::median(row.vector)},
           {"compute_ms", report::median(row.compute)},
           {"gather_run_ms", to_json(report::summarize(row.gather_run))},
           {"gather_elapsed_ms", to_json(report::summarize(row.gather_elapsed))},
           {"error_l2", row.error_l2}});
    }
    return json;
  }

  void write() {
    const double tolerance = kTolerance * std::log2(static_cast<double>(options_.length) + 1);
    if (!options_.job.quiet) {
      fmt::print(
          "{} vectors of {} complex {} samples on {} ranks of {} threads, scatter {}, in blocks of {}, delay "
          "{}\n",
          options_.vectors, options_.length, options_.precision, job_.size(), omp_get_max_threads(),
          options_.scatter, options_.block, options_.arrivals.delay);
      fmt::print("one process, engine {}: {} ms per vector, error {:.1e}\n", fft::to_string(alone_engine_),
                 figure(report::median(alone_ms_)), alone_error_);
      fmt::print("link: alpha {} us, beta {} ns/byte; wire bound {} ms per vector\n\n",
                 figure(link_.alpha_ns * 1e-3), figure(link_.beta_ns_per_byte), figure(wire_bound_ms()));
      report::TextTable table({"gather", "total s", "vectors/s", "vector ms", "gather run ms",
                               "gather elapsed ms", "compute ms", "error"});
      for (const Row& row : rows_) {
        table.add({row.gather, figure(sum(row.vector) * 1e-3),
                   figure(1e3 * static_cast<double>(row.vector.size()) / sum(row.vector)),
                   figure(report::median(row.vector)), figure(report::median(row.gather_run)),
                   figure(report::median(row.gather_elapsed)), figure(report::median(row.compute)),
                   fmt::format("{:.1e}", row.error_l2)});
      }
      fmt::print("{}", table.text());
    }
    if (!options_.job.json.empty()) write_text(options_.job.json, document().dump(2) + "\n");
    for (const Row& row : rows_) {
      if (row.error_l2 <= tolerance) continue;  // not ">": NaN is wrong, too
      fmt::print(
          stderr,
          "papfft: bench fft: gather {} gave a wrong spectrum (error {:.1e}, expected {:.1e} at most)\n",
          row.gather, row.error_l2, tolerance);
      throw Quit{kInternal};
    }
  }

  Job& job_;
  const FftOptions& options_;
  fft::Buffer<Complex> in_;
  fft::Buffer<Complex> out_;
  std::vector<std::complex<double>> expected_;
  std::vector<double> alone_ms_;
  double alone_error_ = 0;
  fft::Engine alone_engine_ = fft::Engine::fftw;
  comm::LinkModel link_;
  std::vector<Row> rows_;
};

int run_fft(const FftOptions& options) {
  require_launcher("bench fft");
  if (options.precision != "float" && options.precision != "double") {
    throw UsageError("--precision " + options.precision + ": known are float and double");
  }
  (void)comm::choose(comm::Operation::scatter, options.scatter, 2, 0, false);
  for (const std::string& name : options.gathers)
    (void)comm::choose(comm::Operation::gather, name, 2, 0, false);
  (void)options.arrivals.pattern();
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    options.job.apply_threads(job.comm().ranks_on_host());
    job.at_root([&] {
      check_outputs({options.job.json});
      if (job.size() < 2) throw UsageError("bench fft: what would work: two ranks or more");
      (void)options.arrivals.pattern().delay_ns(0, 0, job.size(), 0);
      if (!fft::can_share(options.length, false, job.size())) {
        throw UsageError(
            fmt::format("a vector of {} samples cannot be shared by {} ranks; what would work: --length {}",
                        options.length, job.size(), 65536 * job.size()));
      }
    });
    if (options.precision == "float") {
      FftBench<float>(job, options).run();
    } else {
      FftBench<double>(job, options).run();
    }
  });
}

}  // namespace

void add_bench_fft(CLI::App& bench, Action& action) {
  const auto options = std::make_shared<FftOptions>();
  CLI::App* command = bench.add_subcommand("fft", "time whole transforms, per gather algorithm");
  command->add_option("--vectors", options->vectors, "transforms per algorithm")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--length", options->length, "complex samples per vector")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--precision", options->precision, "float or double")->capture_default_str();
  command->add_option("--scatter", options->scatter, "algorithm of the scatter")->capture_default_str();
  command->add_option("--gathers", options->gathers, "algorithms of the gather, which take turns")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--block", options->block, "vectors per turn")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  options->arrivals.declare(*command);
  options->job.declare_common(*command);
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 papfft bench fft --vectors 1000 --length 131072 --gathers mpi,ls,bsls,bsbn --json "
      "fft.json\n"
      "Wire bound: what the root's link needs for all blocks out and back; efficiency: wire bound / time per "
      "vector.\n"
      "Exit codes: 0 ok, 64 usage, 70 wrong spectrum, 73 cannot write, 74 communication.");
  command->callback([&action, options] { action = [options] { return run_fft(*options); }; });
}

}  // namespace papfft::app
