// SPDX-License-Identifier: MIT
// papfft bench fft: whole transforms from the root and back to it, per engine and gather algorithm, against one process.
#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/fftw_mpi.hpp"
#include "app/bench/fftw_threads.hpp"
#include "app/cli/number_checks.hpp"
#include "app/cli/tell.hpp"
#include "app/cli/version.hpp"
#include "app/report/text_table.hpp"
#include "app/run/arrivals.hpp"
#include "app/run/recording.hpp"
#include "app/run/run_report.hpp"
#include "comm/bounds/bounds.hpp"
#include "comm/choose/select.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "fft/engines/farm_fft.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/engines/stream_fft.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"
#include "fft/split/dif.hpp"
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
  std::vector<std::string> engines = {"dif"};
  std::vector<std::string> gathers = {"mpi", "ls", "bsls", "bsbn"};
  bool real = false;
  int depth = 0;
  int block = 50;
  int warm_up = 1;
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
  Recorder(comm::Session& session, double edge, Delay delay, comm::Recorder* recorder)
      : ComputeWatch(&session, edge, std::move(delay), recorder), session_(session) {}

  void compute_begins() override {
    begin_ = Clock::now();
    ComputeWatch::compute_begins();
  }
  void compute_ends() override {
    ComputeWatch::compute_ends();
    record_.compute_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
    record_.arrival_ns = session_.now_ns();
    if (keeps_all_) all_.push_back(record_);
  }
  void gather_ends() override { record_.exit_ns = session_.now_ns(); }

  [[nodiscard]] const VectorRecord& record() const { return record_; }

  /// Of vectors that overlap: each as it leaves its computation.
  void keep_all() { keeps_all_ = true; }
  void forget() { all_.clear(); }
  [[nodiscard]] const std::vector<VectorRecord>& all() const { return all_; }

 private:
  bool keeps_all_ = false;
  std::vector<VectorRecord> all_;
  comm::Session& session_;
  Clock::time_point begin_;
  VectorRecord record_;
};

/// What an engine needs of the root's link per vector.
enum class Wire { none, both_ways, one_way };

/// What this process has used of its cores, all its threads together.
double cpu_ms() {
  struct rusage used {};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

struct Engine {
  const char* name;
  Wire wire;
  bool has_gather;  ///< one row per --gathers
};

constexpr Engine kEngines[] = {
    {"dif", Wire::both_ways, true},       {"stream", Wire::one_way, true},
    {"farm", Wire::one_way, false},       {"mpi-sequential", Wire::both_ways, false},
    {"mpi-fftw", Wire::both_ways, false}, {"fftw-mpi", Wire::both_ways, false},
    {"alone", Wire::none, false},         {"fftw-measure", Wire::none, false}};

const Engine& find_engine(const std::string& name) {
  std::string known;
  for (const Engine& engine : kEngines) {
    if (name == engine.name) return engine;
    known += std::string(known.empty() ? "" : ", ") + engine.name;
  }
  throw UsageError("no engine '" + name + "' to time; known: " + known);
}

/// Of one engine and gather algorithm, at rank 0; per vector, in ms.
struct Row {
  const Engine* engine = nullptr;
  std::string gather;
  double total_ms = 0;
  std::vector<double> vector;
  std::vector<double> gather_run;
  std::vector<double> gather_elapsed;
  std::vector<double> compute;  ///< of the slowest rank
  fft::PhaseTimes phases;       ///< of the root, over all vectors
  double root_cpu_ms = 0;       ///< over all vectors
  double other_cpu_ms = 0;      ///< mean of the other ranks
  double error_l2 = 0;          ///< the largest
  double own_vectors = 0;       ///< of a farm: that the root has transformed
};

/// What has been spent since `before`.
void add(fft::PhaseTimes& sum, const fft::PhaseTimes& now, const fft::PhaseTimes& before = {}) {
  sum.split_s += now.split_s - before.split_s;
  sum.scatter_s += now.scatter_s - before.scatter_s;
  sum.compute_s += now.compute_s - before.compute_s;
  sum.gather_s += now.gather_s - before.gather_s;
  sum.assemble_s += now.assemble_s - before.assemble_s;
}

template <typename Stream>
std::uint64_t own_vectors(const Stream& stream) {
  if constexpr (requires { stream.own_vectors(); }) {
    return stream.own_vectors();
  } else {
    return 0;
  }
}

/// @tparam Sample  T or complex<T>
template <typename T, typename Sample>
class FftBench {
 public:
  using Complex = std::complex<T>;

  FftBench(Job& job, const FftOptions& options) : job_(job), options_(options) {}

  void run() {
    if (job_.is_root()) {
      in_ = fft::Buffer<Sample>(options_.length);
      out_ = fft::Buffer<Complex>(bins());
    }
    job_.at_root([&] {  // the others sleep
      measure_alone();
      if (std::ranges::count(options_.engines, "fftw-measure") > 0) measure_fftw();
    });
    const OwnComm comm(job_.comm().options().stuck_after);
    comm::MpiSession session(MPI_COMM_WORLD, options_.job.to_comm_options(), comm::SessionOptions{});
    link_ = session.measure_link(rate_probe(0));
    if (job_.recorder() != nullptr) {
      session.observe(job_.recorder());
      job_.recorder()->follow([&] { return session.now_ns(); });
    }
    make_rows();
    Progress progress = options_.job.make_progress(job_.is_root(), "bench fft");
    const std::size_t total = rows_.size() * static_cast<std::size_t>(options_.vectors);
    std::size_t done = 0;
    for (int first = 0; first < options_.vectors; first += options_.block) {
      const int count = std::min(options_.block, options_.vectors - first);
      if (job_.is_root()) fill(first);
      for (Row& row : rows_) {
        run_block(comm, session, row, makers_[static_cast<std::size_t>(&row - rows_.data())], first, count);
        progress.show(done += static_cast<std::size_t>(count), total);
      }
    }
    if (job_.recorder() != nullptr) job_.recorder()->unfollow();
    makers_.clear();
    session.close();
    job_.at_root([&] { write(); });
  }

 private:
  static constexpr double kTolerance = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
  static constexpr bool kReal = !std::is_same_v<Sample, Complex>;

  /// What is made once for all blocks of a row, as it would be for a long job.
  struct Maker {
    std::unique_ptr<fft::StreamFft<T>> stream;
    std::unique_ptr<fft::FarmFft<T>> farm;
  };

  [[nodiscard]] std::size_t bins() const { return kReal ? options_.length / 2 + 1 : options_.length; }

  void make_rows() {
    for (const std::string& name : options_.engines) {
      const Engine& engine = find_engine(name);
      if (engine.wire == Wire::none) continue;  // always measured
      const std::vector<std::string> none = {""};
      for (const std::string& gather : engine.has_gather ? options_.gathers : none) {
        Row& row = rows_.emplace_back();
        row.engine = &engine;
        row.gather = gather;
      }
    }
    makers_.resize(rows_.size());
  }

  void fill(int first) {
    std::mt19937_64 random(options_.arrivals.seed + static_cast<std::uint64_t>(first));
    std::uniform_real_distribution<T> value(-1, 1);
    const auto sample = [&] {
      if constexpr (kReal) {
        return value(random);
      } else {
        const T re = value(random);
        return Complex{re, value(random)};
      }
    };
    for (Sample& x : in_) x = sample();
    std::vector<std::complex<double>> wide(in_.begin(), in_.end());
    fft::LocalFft<double>(options_.length, fft::Direction::forward).execute(wide.data(), wide.data());
    wide.resize(bins());
    expected_ = std::move(wide);
  }

  /// The relative L2 distance of the last result from one process's transform in double precision.
  [[nodiscard]] double error_l2() const {
    double difference = 0;
    double norm = 0;
    for (std::size_t k = 0; k < bins(); ++k) {
      difference += std::norm(std::complex<double>(out_[k]) - expected_[k]);
      norm += std::norm(expected_[k]);
    }
    return std::sqrt(difference / norm);
  }

  void measure_alone() {
    fill(0);
    std::function<void()> transform;
    if constexpr (kReal) {
      const auto fft = std::make_shared<fft::RealFft<T>>(options_.length, fft::Rigor::tuned);
      alone_kernel_ = fft->kernel();
      transform = [this, fft] { fft->forward(in_.data(), out_.data()); };
    } else {
      const auto fft =
          std::make_shared<fft::LocalFft<T>>(options_.length, fft::Direction::forward, fft::Rigor::tuned);
      alone_kernel_ = fft->kernel();
      transform = [this, fft] { fft->execute(in_.data(), out_.data()); };
    }
    const auto begin = Clock::now();
    do {
      const auto start = Clock::now();
      transform();
      alone_ms_.push_back(since_ms(start));
    } while (Clock::now() - begin < std::chrono::milliseconds(300));
    alone_error_ = error_l2();
  }

  /// What one would do without us on this machine alone.
  void measure_fftw() {
    FftwThreads<T> fftw(options_.length, kReal);
    std::copy_n(in_.data(), options_.length, static_cast<Sample*>(fftw.in()));
    fftw.execute();
    std::copy_n(fftw.out(), bins(), out_.data());
    FftwFigures& f = fftw_.emplace();
    f.threads = fftw.threads();
    f.error_l2 = error_l2();
    const auto begin = Clock::now();
    do {
      const auto start = Clock::now();
      fftw.execute();
      f.ms.push_back(since_ms(start));
    } while (Clock::now() - begin < std::chrono::seconds(1));
  }

  static double since_ms(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  [[nodiscard]] fft::ParallelPlan plan(const Row& row) const {
    return {.length = options_.length,
            .real = kReal,
            .scatter = options_.scatter,
            .gather = row.gather,
            .rigor = fft::Rigor::tuned};
  }

  void run_block(const OwnComm& comm, comm::MpiSession& session, Row& row, Maker& maker, int first,
                 int count) {
    // The same delays in each engine's turn, none while it warms up.
    Recorder watch(
        session, options_.arrivals.edge,
        [this, first, pattern = options_.arrivals.pattern()](std::int64_t vector) {
          const std::int64_t counted = first + vector - options_.warm_up;
          return vector < options_.warm_up ? 0 : pattern.delay_ns(counted, job_.rank(), job_.size(), 0);
        },
        job_.recorder());
    std::ranges::fill(out_, Complex{});
    const std::string_view engine = row.engine->name;
    if (engine == "stream") {
      if (!maker.stream) {
        const int depth = options_.depth > 0 ? options_.depth : fft::StreamFft<T>::kDepth;
        maker.stream = std::make_unique<fft::StreamFft<T>>(session, plan(row), depth);
      }
      run_stream(comm, *maker.stream, row, watch, count);
    } else if (engine == "farm") {
      if (!maker.farm) maker.farm = std::make_unique<fft::FarmFft<T>>(session, plan(row));
      run_stream(comm, *maker.farm, row, watch, count);
    } else if (engine == "mpi-sequential" || engine == "mpi-fftw") {
      run_stock(comm, row, watch, count, engine == "mpi-fftw");
    } else if (engine == "fftw-mpi") {
      run_fftw_mpi(comm, row, count);
    } else {
      run_shared(comm, session, row, watch, count);
    }
    const double used_ms = cpu_ms() - cpu_before_ms_;
    const std::vector<double> all_used_ms = comm.to_root(std::span(&used_ms, 1));
    if (job_.is_root()) {
      row.root_cpu_ms += used_ms;
      row.other_cpu_ms += (std::accumulate(all_used_ms.begin(), all_used_ms.end(), 0.0) - used_ms) /
                          static_cast<double>(job_.size() - 1);
    }
    if (job_.is_root()) row.error_l2 = std::max(row.error_l2, error_l2());
  }

  void begin_turn(const OwnComm& comm) {
    comm.double_barrier();
    cpu_before_ms_ = cpu_ms();
  }

  /// Calls `each` once per vector, and keeps the times. @param warmed  called before the first that counts
  template <typename Each, typename Warmed = void (*)()>
  void repeat(
      const OwnComm& comm, Row& row, const Recorder& watch, int count, Each each, Warmed warmed = [] {}) {
    std::vector<VectorRecord> mine;
    for (int v = 0; v < options_.warm_up; ++v) each();
    warmed();
    begin_turn(comm);
    for (int v = 0; v < count; ++v) {
      const auto start = Clock::now();
      each();
      row.vector.push_back(since_ms(start));
      row.total_ms += row.vector.back();
      mine.push_back(watch.record());
    }
    collect(comm, row, mine);
  }

  void run_shared(const OwnComm& comm, comm::MpiSession& session, Row& row, Recorder& watch, int count) {
    fft::ParallelFft<T> parallel(session, plan(row));
    parallel.observe(&watch);
    fft::PhaseTimes before;
    const auto each = [&] { parallel.execute(in_.data(), out_.data()); };
    repeat(comm, row, watch, count, each, [&] { before = parallel.times(); });
    add(row.phases, parallel.times(), before);
  }

  /// What one would write with MPI alone, but with our split. @param by_fftw  local transforms as planned by FFTW_MEASURE,
  /// from one buffer to another as it likes best; else our own, in place
  void run_stock(const OwnComm& comm, Row& row, Recorder& watch, int count, bool by_fftw) {
    fft::ParallelPlan how = plan(row);
    if (by_fftw) {
      how.local_kernel = fft::LocalKernel::fftw;
      how.rigor = fft::Rigor::measure;
    }
    fft::SharedTransform<T> transform(how, job_.rank(), job_.size());
    const auto blocks = transform.parts() * transform.block_length();
    fft::Buffer<Complex> whole(job_.is_root() ? blocks : 0);
    fft::Buffer<Complex> block(transform.block_length());
    fft::Buffer<Complex> other_block(by_fftw ? transform.block_length() : 0);
    Complex* const spectrum = by_fftw ? other_block.data() : block.data();
    const int bytes = static_cast<int>(transform.block_length() * sizeof(Complex));
    repeat(comm, row, watch, count, [&] {
      if (job_.is_root()) transform.split(in_.data(), transform.blocks_of(whole.data()));
      const auto scatter_begin = Clock::now();
      comm::check_mpi(
          MPI_Scatter(whole.data(), bytes, MPI_BYTE, block.data(), bytes, MPI_BYTE, 0, comm.get()),
          "MPI_Scatter");
      watch.phase_ends("MPI_Scatter", scatter_begin);
      transform.compute(block.data(), spectrum, &watch);
      const auto gather_begin = Clock::now();
      comm::check_mpi(MPI_Gather(spectrum, bytes, MPI_BYTE, whole.data(), bytes, MPI_BYTE, 0, comm.get()),
                      "MPI_Gather");
      watch.gather_ends();
      watch.phase_ends("MPI_Gather", gather_begin);
      if (job_.is_root()) {
        transform.assemble(transform.template blocks_of<const Complex*>(whole.data()), out_.data());
      }
    });
  }

  /// Its own order of bins counts as a result; they are put in order for the check alone.
  void run_fftw_mpi(const OwnComm& comm, Row& row, int count) {
    if constexpr (!kReal) {
      FftwMpi<T> fft(comm.get(), options_.length);
      fft::Buffer<Complex> blocks(job_.is_root() ? options_.length : 0);
      for (int v = 0; v < options_.warm_up; ++v) fft.execute(in_.data(), blocks.data());
      begin_turn(comm);
      for (int v = 0; v < count; ++v) {
        const auto start = Clock::now();
        fft.execute(in_.data(), blocks.data());
        row.vector.push_back(since_ms(start));
        row.total_ms += row.vector.back();
      }
      if (!job_.is_root()) return;
      const std::size_t block = options_.length / static_cast<std::size_t>(job_.size());
      std::vector<const Complex*> each;
      for (int r = 0; r < job_.size(); ++r)
        each.push_back(blocks.data() + static_cast<std::size_t>(r) * block);
      fft::interleave<T>(each, block, out_.data());
    }
  }

  /// A vector's time is that from the result before to its own.
  template <typename Stream>
  void run_stream(const OwnComm& comm, Stream& stream, Row& row, Recorder& watch, int count) {
    watch.keep_all();
    stream.observe(&watch);
    const auto source = [this](int vectors) {  // which lasts
      return [this, left = vectors]() mutable {
        return left-- > 0 ? fft::Offer<Sample>::of(in_.data(), true) : fft::Offer<Sample>::end();
      };
    };
    if (options_.warm_up > 0) stream.run(source(options_.warm_up), [](const Complex*) {});
    watch.forget();
    const fft::PhaseTimes before = stream.times();
    const std::uint64_t own_before = own_vectors(stream);
    begin_turn(comm);
    const auto begin = Clock::now();
    auto last = begin;
    stream.run(source(count), [&](const Complex* result) {
      row.vector.push_back(since_ms(last));
      last = Clock::now();
      if (row.vector.size() % static_cast<std::size_t>(count) == 0) {
        std::copy_n(result, bins(), out_.data());
      }
    });
    row.total_ms += since_ms(begin);
    // Who has nothing left to return would plan the next engine meanwhile, on a core that the root may still need.
    comm.quiet_barrier();
    add(row.phases, stream.times(), before);
    row.own_vectors += static_cast<double>(own_vectors(stream) - own_before);
    if (row.engine->has_gather) {
      collect(comm, row, watch.all());
    } else {  // who computes how many is not known before
      for (const VectorRecord& record : watch.all()) row.compute.push_back(record.compute_ms);
    }
  }

  void collect(const OwnComm& comm, Row& row, const std::vector<VectorRecord>& mine) {
    const std::vector<VectorRecord> all = comm.to_root(std::span<const VectorRecord>(mine));
    if (!job_.is_root()) return;
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
      row.compute.push_back(compute_ms);
      if (row.engine->wire != Wire::both_ways) continue;  // its gathers overlap
      row.gather_run.push_back(milliseconds(comm::run_time_ns(arrival_ns, exit_ns)));
      row.gather_elapsed.push_back(comm::elapsed_ns(arrival_ns, exit_ns) * 1e-6);
    }
  }

  /// The blocks out and back over the root's link: one way after the other, or both at the same time.
  [[nodiscard]] double wire_bound_ms(Wire wire) const {
    const auto ranks = static_cast<double>(job_.size());
    const double one_way = (ranks - 1) / ranks * static_cast<double>(options_.length * sizeof(Sample)) *
                           link_.beta_ns_per_byte * 1e-6;
    return wire == Wire::none ? 0 : wire == Wire::one_way ? one_way : 2 * one_way;
  }

  static double per_vector_ms(const Row& row) {
    return row.total_ms / static_cast<double>(row.vector.size());
  }

  [[nodiscard]] double efficiency(const Row& row) const {
    return wire_bound_ms(row.engine->wire) / per_vector_ms(row);
  }

  static bool is_farm(const Row& row) { return std::string_view(row.engine->name) == "farm"; }

  /// Of a farm's vectors, what the root has transformed itself.
  static double own_share(const Row& row) {
    return std::min(1.0, row.own_vectors / static_cast<double>(row.vector.size()));
  }

  static nlohmann::ordered_json median_json(const std::vector<double>& v) { return report::median(v); }

  [[nodiscard]] nlohmann::ordered_json document() {
    nlohmann::ordered_json json;
    json["papfft"] = kVersion;
    json["machine"] = machine_json(job_);
    json["settings"] = {{"vectors", options_.vectors},
                        {"length", options_.length},
                        {"real", options_.real},
                        {"block", options_.block},
                        {"warm_up", options_.warm_up},
                        {"scatter", options_.scatter},
                        {"edge", options_.arrivals.edge},
                        {"seed", options_.arrivals.seed},
                        {"delay", options_.arrivals.delay},
                        {"threads", omp_get_max_threads()}};
    json["alpha_us"] = link_.alpha_ns * 1e-3;
    json["beta_ns_per_byte"] = link_.beta_ns_per_byte;
    json["rows"] = nlohmann::ordered_json::array();
    json["rows"].push_back({{"engine", "alone"},
                            {"kernel", fft::to_string(alone_kernel_)},
                            {"ranks", 1},
                            {"n", options_.length},
                            {"precision", options_.precision},
                            {"vectors_per_s", 1e3 / report::median(alone_ms_)},
                            {"vector_ms", to_json(report::summarize(alone_ms_))},
                            {"wire_bound_ms", 0},
                            {"efficiency", nullptr},
                            {"compute_ms", report::median(alone_ms_)},
                            {"error_l2", alone_error_}});
    if (fftw_) {
      json["rows"].push_back({{"engine", "fftw-measure"},
                              {"ranks", 1},
                              {"threads", fftw_->threads},
                              {"n", options_.length},
                              {"precision", options_.precision},
                              {"vectors_per_s", 1e3 / report::median(fftw_->ms)},
                              {"vector_ms", to_json(report::summarize(fftw_->ms))},
                              {"wire_bound_ms", 0},
                              {"efficiency", nullptr},
                              {"compute_ms", report::median(fftw_->ms)},
                              {"error_l2", fftw_->error_l2}});
    }
    for (const Row& row : rows_) {
      nlohmann::ordered_json entry = {
          {"engine", row.engine->name},
          {"ranks", job_.size()},
          {"n", options_.length},
          {"precision", options_.precision},
          {"total_s", row.total_ms * 1e-3},
          {"vectors_per_s", 1e3 / per_vector_ms(row)},
          {"vector_ms", to_json(report::summarize(row.vector))},
          {"vector_samples_ms", row.vector},
          {"wire_bound_ms", wire_bound_ms(row.engine->wire)},
          {"efficiency", efficiency(row)},
          {"compute_ms", row.compute.empty() ? nlohmann::ordered_json() : median_json(row.compute)},
          {"error_l2", row.error_l2}};
      const auto vectors = static_cast<double>(row.vector.size());
      entry["cpu_ms"] = {{"root", row.root_cpu_ms / vectors}, {"other", row.other_cpu_ms / vectors}};
      if (is_farm(row)) entry["own_share"] = own_share(row);
      if (row.engine->has_gather) {
        const auto ms = [vectors](double s) { return 1e3 * s / vectors; };
        entry["root_ms"] = {{"split", ms(row.phases.split_s)},
                            {"compute", ms(row.phases.compute_s)},
                            {"assemble", ms(row.phases.assemble_s)},
                            {"scatter", ms(row.phases.scatter_s)},
                            {"gather", ms(row.phases.gather_s)}};
        entry["scatter"] = options_.scatter;
        entry["gather"] = row.gather;
      }
      if (!row.gather_run.empty()) {
        entry["gather_run_ms"] = to_json(report::summarize(row.gather_run));
        entry["gather_elapsed_ms"] = to_json(report::summarize(row.gather_elapsed));
      }
      json["rows"].push_back(std::move(entry));
    }
    return json;
  }

  void write() {
    const double tolerance = kTolerance * std::log2(static_cast<double>(options_.length) + 1);
    if (!options_.job.quiet) print();
    if (!options_.job.json.empty()) write_text(options_.job.json, document().dump(2) + "\n");
    for (const Row& row : rows_) {
      if (row.error_l2 <= tolerance) continue;  // not ">": NaN is wrong, too
      tell("papfft: bench fft: {} {} gave a wrong spectrum (error {:.1e}, expected {:.1e} at most)\n",
           row.engine->name, row.gather, row.error_l2, tolerance);
      throw Quit{kInternal};
    }
  }

  void print() const {
    fmt::print(
        "{} vectors of {} {} {} samples on {} ranks of {} threads, scatter {}, in blocks of {}, delay {}\n",
        options_.vectors, options_.length, kReal ? "real" : "complex", options_.precision, job_.size(),
        omp_get_max_threads(), options_.scatter, options_.block, options_.arrivals.delay);
    fmt::print("one process, kernel {}: {} ms per vector, {} vectors/s, error {:.1e}\n",
               fft::to_string(alone_kernel_), figure(report::median(alone_ms_)),
               figure(1e3 / report::median(alone_ms_)), alone_error_);
    if (fftw_) {
      fmt::print(
          "one process, FFTW planned by FFTW_MEASURE on {} threads: {} ms per vector, {} vectors/s, error "
          "{:.1e}\n",
          fftw_->threads, figure(report::median(fftw_->ms)), figure(1e3 / report::median(fftw_->ms)),
          fftw_->error_l2);
    }
    fmt::print("link: alpha {} us, beta {} ns/byte; wire bound {} ms per vector, {} if both ways at once\n\n",
               figure(link_.alpha_ns * 1e-3), figure(link_.beta_ns_per_byte),
               figure(wire_bound_ms(Wire::both_ways)), figure(wire_bound_ms(Wire::one_way)));
    report::TextTable table({"engine", "gather", "total s", "vectors/s", "vector ms", "efficiency",
                             "gather run ms", "gather elapsed ms", "compute ms", "own share", "error"});
    const auto median = [](const std::vector<double>& v) {
      return v.empty() ? std::string("-") : figure(report::median(v));
    };
    for (const Row& row : rows_) {
      table.add({row.engine->name, row.gather.empty() ? "-" : row.gather, figure(row.total_ms * 1e-3),
                 figure(1e3 / per_vector_ms(row)), median(row.vector), figure(efficiency(row)),
                 median(row.gather_run), median(row.gather_elapsed), median(row.compute),
                 is_farm(row) ? figure(own_share(row)) : "-", fmt::format("{:.1e}", row.error_l2)});
    }
    fmt::print("{}", table.text());
  }

  Job& job_;
  const FftOptions& options_;
  fft::Buffer<Sample> in_;
  fft::Buffer<Complex> out_;
  std::vector<std::complex<double>> expected_;
  std::vector<double> alone_ms_;
  double alone_error_ = 0;
  fft::LocalKernel alone_kernel_ = fft::LocalKernel::fftw;
  struct FftwFigures {
    int threads = 0;
    std::vector<double> ms;
    double error_l2 = 0;
  };
  std::optional<FftwFigures> fftw_;
  comm::LinkModel link_;
  std::vector<Row> rows_;
  std::vector<Maker> makers_;  // of the rows
  double cpu_before_ms_ = 0;
};

template <typename T>
void run_bench(Job& job, const FftOptions& options) {
  if (options.real) {
    FftBench<T, T>(job, options).run();
  } else {
    FftBench<T, std::complex<T>>(job, options).run();
  }
}

int run_fft(const FftOptions& options) {
  require_launcher("bench fft");
  if (options.precision != "float" && options.precision != "double") {
    throw UsageError("--precision " + options.precision + ": known are float and double");
  }
  (void)comm::choose(comm::Operation::scatter, options.scatter, 2, 0, false);
  for (const std::string& engine : options.engines) {
    (void)find_engine(engine);
    if (engine == "fftw-mpi" && !FftwMpi<float>::is_available()) {
      throw UsageError(
          "engine fftw-mpi: papfft was built without libfftw3-mpi (Debian: libfftw3-mpi-dev, then build "
          "anew)");
    }
    if (engine == "fftw-measure" && !FftwThreads<float>::is_available()) {
      throw UsageError(
          "engine fftw-measure: papfft was built without libfftw3_threads (Debian: libfftw3-dev, then build "
          "anew)");
    }
    if (engine == "fftw-mpi" && options.real) {
      throw UsageError("engine fftw-mpi: FFTW has no one-dimensional transform of real samples over MPI");
    }
    for (const std::string& name : options.gathers) {
      if (comm::choose(comm::Operation::gather, name, 2, 0, false).algorithm == nullptr &&
          engine == "stream") {
        throw UsageError("engine stream needs gathers of our own, and mpi is not");
      }
    }
  }
  if (options.scatter == "mpi" && std::ranges::count(options.engines, "stream") > 0) {
    throw UsageError("engine stream needs a scatter of our own, and mpi is not");
  }
  (void)options.arrivals.pattern();
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    options.job.apply_threads(job.comm().ranks_on_host());
    job.at_root([&] {
      check_outputs({options.job.json});
      if (job.size() < 2) throw UsageError("bench fft: what would work: two ranks or more");
      (void)options.arrivals.pattern().delay_ns(0, 0, job.size(), 0);
      const auto ranks = static_cast<std::size_t>(job.size());
      if (std::ranges::count(options.engines, "fftw-mpi") > 0 && options.length % (ranks * ranks) != 0) {
        throw UsageError(
            fmt::format("engine fftw-mpi: the square of the number of ranks must divide the length; what "
                        "would work: --length {}",
                        256 * ranks * ranks));
      }
      if (!fft::can_share(options.length, options.real, job.size())) {
        throw UsageError(
            fmt::format("a vector of {} samples cannot be shared by {} ranks; what would work: --length {}",
                        options.length, job.size(), 65536 * job.size()));
      }
    });
    run_recorded(job, options.job, [&] {
      if (options.precision == "float") {
        run_bench<float>(job, options);
      } else {
        run_bench<double>(job, options);
      }
    });
  });
}

}  // namespace

void add_bench_fft(CLI::App& bench, Action& action) {
  const auto options = std::make_shared<FftOptions>();
  CLI::App* command = bench.add_subcommand("fft", "time whole transforms, per engine and gather algorithm");
  command->add_option("--vectors", options->vectors, "transforms per algorithm")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--length", options->length, "samples per vector")
      ->check(positive_number())
      ->capture_default_str();
  command->add_option("--precision", options->precision, "float or double")->capture_default_str();
  command->add_flag("--real", options->real, "real samples instead of complex ones");
  auto* engines =
      command
          ->add_option(
              "--engines", options->engines,
              "dif (one vector at a time), stream (the same, overlapped), farm (whole vectors to whoever is "
              "free, the root included), mpi-sequential (MPI_Scatter, our split and local transforms, "
              "MPI_Gather), mpi-fftw (the same with local transforms by FFTW, planned by FFTW_MEASURE), "
              "fftw-mpi (MPI_Scatter, FFTW's transform over MPI with the bins in its own order, "
              "MPI_Gather); they take turns. alone (one process, kernel as tuned; always there), "
              "fftw-measure "
              "(one process, FFTW planned by FFTW_MEASURE on all cores of the root's host): before the turns")
          ->delimiter(',')
          ->capture_default_str();
  command
      ->add_option("--depth", options->depth,
                   "vectors under way in engine stream; 0: as many as transform has")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_option("--scatter", options->scatter, "algorithm of the scatter")->capture_default_str();
  auto* gathers = command
                      ->add_option("--gathers", options->gathers,
                                   "algorithms of the gather, which take turns; with --engines: auto")
                      ->delimiter(',')
                      ->capture_default_str();
  command->add_option("--block", options->block, "vectors per turn")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--warm-up", options->warm_up,
                   "vectors at the beginning of each turn that are not counted: they touch the memory")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  options->arrivals.declare(*command);
  options->job.declare_recording(*command);
  options->job.declare_common(*command);
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 papfft bench fft --vectors 1000 --length 131072 --gathers mpi,ls,bsls,bsbn --json "
      "fft.json\n"
      "  mpirun -n 4 papfft bench fft --engines dif,stream,mpi-sequential --length 262144 --vectors 200\n"
      "  mpirun -n 2 --bind-to core papfft bench fft --engines farm,fftw-measure --length 4194304 --vectors "
      "64\n"
      "Wire bound: what the root's link needs for all blocks out and back, one after the other or (stream) "
      "at the "
      "same time; efficiency: wire bound / time per vector, which is above 1 where a farm's root transforms "
      "most "
      "vectors itself (own share).\n"
      "Exit codes: 0 ok, 64 usage, 70 wrong spectrum, 73 cannot write, 74 communication.");
  command->callback([&action, options, engines, gathers] {
    if (engines->count() > 0 && gathers->count() == 0) options->gathers = {"auto"};
    for (std::string& engine : options->engines) {
      if (engine != "fftw") continue;
      engine = "alone";
      if (launched_rank() == 0 && !options->job.quiet)
        tell("papfft: note: engine fftw is called alone now\n");
    }
    action = [options] { return run_fft(*options); };
  });
}

}  // namespace papfft::app
