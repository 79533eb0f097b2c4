// SPDX-License-Identifier: MIT
// papfft bench fft: whole transforms from the root and back to it, per engine and gather algorithm, against one process.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/fft_data.hpp"
#include "app/bench/fft_recorder.hpp"
#include "app/bench/fft_rows.hpp"
#include "app/bench/fftw_mpi.hpp"
#include "app/bench/overlapped_fft.hpp"
#include "app/cli/tell.hpp"
#include "app/run/arrivals.hpp"
#include "app/run/recording.hpp"
#include "app/run/run_report.hpp"
#include "comm/bounds/bounds.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "fft/engines/farm_fft.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/engines/real_slices_fft.hpp"
#include "fft/engines/slices_fft.hpp"
#include "fft/engines/stream_fft.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"
#include "fft/split/dif.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using Clock = std::chrono::steady_clock;

double since_ms(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

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

  FftBench(Job& job, const FftBenchOptions& options)
      : job_(job),
        options_(options),
        result_{.options = options, .links = links_, .ranks = job.size(), .sample_bytes = sizeof(Sample)},
        data_{.length = options.length} {}

  void run() {
    if (job_.is_root()) {
      data_.allocate();
    }
    job_.at_root([&] {  // the others sleep
      data_.fill(options_.arrivals.seed);
      result_.alone = data_.measure_alone();
      if (std::ranges::count(options_.engines, "fftw-measure") > 0) result_.fftw = data_.measure_fftw();
    });
    const OwnComm comm(job_.comm().options().stuck_after);
    comm::MpiSession session(MPI_COMM_WORLD, options_.job.to_comm_options(), comm::SessionOptions{});
    result_.link = session.measure_link(links_.rate_probe());
    links_.add_measurement(result_.link);
    if (job_.recorder() != nullptr) {
      session.observe(job_.recorder());
      job_.recorder()->follow([&] { return session.now_ns(); });
    }
    make_rows();
    Progress progress = options_.job.make_progress(job_.is_root(), "bench fft");
    const std::size_t total = result_.rows.size() * static_cast<std::size_t>(options_.vectors);
    std::size_t done = 0;
    for (int first = 0; first < options_.vectors; first += options_.block) {
      const int count = std::min(options_.block, options_.vectors - first);
      if (job_.is_root()) data_.fill(options_.arrivals.seed + static_cast<std::uint64_t>(first));
      for (FftRow& row : result_.rows) {
        run_block(comm, session, row, makers_[static_cast<std::size_t>(&row - result_.rows.data())], first,
                  count);
        progress.show(done += static_cast<std::size_t>(count), total);
      }
    }
    if (job_.recorder() != nullptr) job_.recorder()->unfollow();
    makers_.clear();
    session.close();
    result_.machine = machine_json(job_);
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

  void make_rows() {
    for (const std::string& name : options_.engines) {
      const FftEngine& engine = find_fft_engine(name);
      if (engine.wire == Wire::none) continue;  // always measured
      const std::vector<std::string> none = {""};
      const std::vector<std::string> orders = {"scrambled", "natural"};
      for (const std::string& variant : engine.is_distributed ? orders
                                        : engine.has_gather   ? options_.gathers
                                                              : none) {
        FftRow& row = result_.rows.emplace_back();
        row.engine = &engine;
        (engine.is_distributed ? row.order : row.gather) = variant;
      }
    }
    makers_.resize(result_.rows.size());
  }

  [[nodiscard]] fft::ParallelPlan plan(const FftRow& row) const {
    return {.length = options_.length,
            .real = kReal,
            .scatter = options_.scatter,
            .gather = row.gather,
            .rigor = fft::Rigor::tuned};
  }

  void run_block(const OwnComm& comm, comm::MpiSession& session, FftRow& row, Maker& maker, int first,
                 int count) {
    // The same delays in each engine's turn, none while it warms up.
    VectorRecorder watch(
        session, options_.arrivals.edge,
        [this, first, pattern = options_.arrivals.pattern()](std::int64_t vector) {
          const std::int64_t counted = first + vector - options_.warm_up;
          return vector < options_.warm_up ? 0 : pattern.delay_ns(counted, job_.rank(), job_.size(), 0);
        },
        job_.recorder());
    std::ranges::fill(data_.out, Complex{});
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
    } else if (engine == "mpi-overlapped") {
      fft::ParallelPlan how = plan(row);
      how.local_kernel = fft::LocalKernel::fftw;
      how.rigor = fft::Rigor::measure;
      OverlappedFft<T> overlapped(comm.get(), how, job_.rank(), job_.size());
      run_stream(comm, overlapped, row, watch, count);
    } else if (engine == "fftw-mpi") {
      run_fftw_mpi(comm, row, count);
    } else if (engine == "fftw-mpi-distributed") {
      run_fftw_mpi_distributed(comm, row, count);
    } else if (engine == "slices") {
      run_slices(comm, session, row, count);
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
    if (job_.is_root()) row.error_l2 = std::max(row.error_l2, data_.error_l2());
  }

  void begin_turn(const OwnComm& comm) {
    comm.double_barrier();
    cpu_before_ms_ = cpu_ms();
  }

  /// Calls `each` once per vector, and keeps the times. @param warmed  called before the first that counts
  template <typename Each, typename Warmed = void (*)()>
  void repeat(
      const OwnComm& comm, FftRow& row, const VectorRecorder& watch, int count, Each each,
      Warmed warmed = [] {}) {
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

  void run_shared(const OwnComm& comm, comm::MpiSession& session, FftRow& row, VectorRecorder& watch,
                  int count) {
    fft::ParallelFft<T> parallel(session, plan(row));
    parallel.observe(&watch);
    fft::PhaseTimes before;
    const auto each = [&] { parallel.execute(data_.in.data(), data_.out.data()); };
    repeat(comm, row, watch, count, each, [&] { before = parallel.times(); });
    add(row.phases, parallel.times(), before);
  }

  /// What one would write with MPI alone, but with our split. @param by_fftw  local transforms as planned by FFTW_MEASURE,
  /// from one buffer to another as it likes best; else our own, in place
  void run_stock(const OwnComm& comm, FftRow& row, VectorRecorder& watch, int count, bool by_fftw) {
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
      if (job_.is_root()) transform.split(data_.in.data(), transform.blocks_of(whole.data()));
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
        transform.assemble(transform.template blocks_of<const Complex*>(whole.data()), data_.out.data());
      }
    });
  }

  /// As repeat(), without an observer.
  template <typename Each>
  void time_vectors(const OwnComm& comm, FftRow& row, int count, Each each) {
    for (int v = 0; v < options_.warm_up; ++v) each();
    begin_turn(comm);
    for (int v = 0; v < count; ++v) {
      const auto start = Clock::now();
      each();
      row.vector.push_back(since_ms(start));
      row.total_ms += row.vector.back();
    }
  }

  /// Its own order of bins counts as a result; they are put in order for the check alone.
  void run_fftw_mpi(const OwnComm& comm, FftRow& row, int count) {
    if constexpr (!kReal) {
      FftwMpi<T> fft(comm.get(), options_.length);
      fft::Buffer<Complex> blocks(job_.is_root() ? options_.length : 0);
      time_vectors(comm, row, count, [&] { fft.execute(data_.in.data(), blocks.data()); });
      keep_scrambled(blocks);
    }
  }

  /// @param blocks  at the root: each rank's bins r, r+P, ...
  void keep_scrambled(const fft::Buffer<Complex>& blocks) {
    if (!job_.is_root()) return;
    const std::size_t block = options_.length / static_cast<std::size_t>(job_.size());
    std::vector<const Complex*> each(static_cast<std::size_t>(job_.size()));
    for (std::size_t r = 0; r < each.size(); ++r) each[r] = blocks.data() + r * block;
    fft::interleave<T>(each, block, data_.out.data());
  }

  /// The samples are with the ranks before and the bins after; handing out and collecting them is not timed.
  void run_fftw_mpi_distributed(const OwnComm& comm, FftRow& row, int count) {
    if constexpr (!kReal) {
      const bool natural = row.order == "natural";
      FftwMpi<T> fft(comm.get(), options_.length, natural ? BinOrder::natural : BinOrder::scrambled);
      const std::size_t block = options_.length / static_cast<std::size_t>(job_.size());
      const std::span<const Complex> whole(data_.in.data(), data_.in.size());
      job_.comm().template scatter<Complex>(whole, std::span(fft.samples(), block), 0);
      time_vectors(comm, row, count, [&] { fft.execute(); });
      collect_bins(std::span(fft.bins(), block), natural);
    }
  }

  void run_slices(const OwnComm& comm, comm::MpiSession& session, FftRow& row, int count) {
    const bool natural = row.order == "natural";
    const fft::SlicesPlan how{.length = options_.length, .rigor = fft::Rigor::tuned};
    const auto ranks = static_cast<std::size_t>(job_.size());
    if constexpr (kReal) {
      fft::RealSlicesFft<T> fft(session, how);
      const fft::Buffer<T> slice = hand_out_slices(fft.layout(), 2 * ranks);
      const fft::Columns part = fft.part(static_cast<std::size_t>(job_.rank()));
      fft::Buffer<Complex> ordered(natural ? part.count() + 1 : 0);
      const auto keep = [&](std::uint64_t first, std::span<const Complex> bins) {
        const bool is_last = first + 1 == data_.bins();  // which rank 0 is given besides
        std::ranges::copy(bins, ordered.data() + (is_last ? part.count() : first - part.begin));
      };
      time_vectors(comm, row, count, [&] {
        fft.execute(slice.data());
        if (natural) {
          fft.put_in_order(keep);
        } else {
          (void)fft.block();
        }
      });
      if (!natural) return collect_half(fft.block());
      std::vector<std::size_t> counts;
      for (std::size_t r = 0; r < ranks; ++r) counts.push_back(fft.part(r).count());
      collect_parts(std::span<const Complex>(ordered.data(), part.count()), counts);
      if (job_.is_root()) data_.out[data_.bins() - 1] = ordered[part.count()];
    } else {
      fft::SlicesFft<T> fft(session, how);
      const fft::Buffer<Complex> slice = hand_out_slices(fft.layout(), ranks);
      fft::Buffer<Complex> ordered(natural ? slice.size() : 0);
      time_vectors(comm, row, count, [&] {
        fft.execute(slice.data());
        if (natural) {
          fft.put_in_order(ordered.data());
        } else {
          (void)fft.bins();
        }
      });
      if (!natural) return collect_bins(fft.bins(), false);
      collect_parts(std::span<const Complex>(ordered.data(), ordered.size()),
                    slice_sizes(fft.layout(), ranks));
    }
  }

  /// Of all ranks, if the vector has so many rows.
  [[nodiscard]] static std::vector<std::size_t> slice_sizes(const fft::SliceLayout& layout,
                                                            std::size_t rows) {
    std::vector<std::size_t> sizes;
    for (std::size_t r = 0; r < layout.ranks; ++r) sizes.push_back(rows * layout.slice(r).count());
    return sizes;
  }

  /// @return this rank's part of each of so many rows
  [[nodiscard]] fft::Buffer<Sample> hand_out_slices(const fft::SliceLayout& layout, std::size_t rows) {
    const std::vector<std::size_t> sizes = slice_sizes(layout, rows);
    fft::Buffer<Sample> all(job_.is_root() ? options_.length : 0);
    Sample* next = all.data();
    for (std::size_t r = 0; r < layout.ranks && job_.is_root(); ++r) {
      const fft::Columns columns = layout.slice(r);
      for (std::size_t j = 0; j < rows; ++j) {
        next = std::copy_n(data_.in.data() + j * layout.block_length + columns.begin, columns.count(), next);
      }
    }
    fft::Buffer<Sample> slice(sizes[static_cast<std::size_t>(job_.rank())]);
    job_.comm().template scatterv<Sample>(std::span<const Sample>(all.data(), all.size()), sizes,
                                          std::span(slice.data(), slice.size()), 0);
    return slice;
  }

  /// Parts one after another, for the check.
  void collect_parts(std::span<const Complex> mine, const std::vector<std::size_t>& counts) {
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    job_.comm().template gatherv<Complex>(mine, std::span(data_.out.data(), job_.is_root() ? all : 0), counts,
                                          0);
  }

  /// What each rank has computed of a real vector, for the check.
  void collect_half(std::span<const Complex> mine) {
    fft::Buffer<Complex> blocks(job_.is_root() ? options_.length / 2 : 0);
    job_.comm().template gather<Complex>(mine, std::span(blocks.data(), blocks.size()), 0);
    if (!job_.is_root()) return;
    std::vector<const Complex*> each;
    for (std::size_t r = 0; r * mine.size() < blocks.size(); ++r)
      each.push_back(blocks.data() + r * mine.size());
    fft::assemble_half_spectrum<T>(each, mine.size(), data_.out.data());
  }

  /// Of each rank as many, for the check.
  void collect_bins(std::span<const Complex> mine, bool natural) {
    fft::Buffer<Complex> blocks(job_.is_root() ? options_.length : 0);
    job_.comm().template gather<Complex>(mine, std::span(blocks.data(), blocks.size()), 0);
    if (natural) {
      std::ranges::copy(blocks, data_.out.data());
    } else {
      keep_scrambled(blocks);
    }
  }

  /// A vector's time is that from the result before to its own.
  template <typename Stream>
  void run_stream(const OwnComm& comm, Stream& stream, FftRow& row, VectorRecorder& watch, int count) {
    watch.keep_all();
    stream.observe(&watch);
    const auto source = [this](int vectors) {  // which lasts
      return [this, left = vectors]() mutable {
        return left-- > 0 ? fft::Offer<Sample>::of(data_.in.data(), true) : fft::Offer<Sample>::end();
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
        std::copy_n(result, data_.bins(), data_.out.data());
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

  void collect(const OwnComm& comm, FftRow& row, const std::vector<VectorRecord>& mine) {
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

  void write() {
    const double tolerance = kTolerance * std::log2(static_cast<double>(options_.length) + 1);
    if (!options_.job.quiet) fmt::print("{}", result_.text());
    if (!options_.job.json.empty()) write_text(options_.job.json, result_.document().dump(2) + "\n");
    for (const FftRow& row : result_.rows) {
      if (row.error_l2 <= tolerance) continue;  // not ">": NaN is wrong, too
      tell("papfft: bench fft: {} {} gave a wrong spectrum (error {:.1e}, expected {:.1e} at most)\n",
           row.engine->name, row.gather, row.error_l2, tolerance);
      throw Quit{kInternal};
    }
  }

  Job& job_;
  const FftBenchOptions& options_;
  BenchLinks links_{0};
  FftResult result_;
  FftData<T, Sample> data_;
  std::vector<Maker> makers_;  // of the rows
  double cpu_before_ms_ = 0;
};

template <typename T>
void run_bench(Job& job, const FftBenchOptions& options) {
  if (options.real) {
    FftBench<T, T>(job, options).run();
  } else {
    FftBench<T, std::complex<T>>(job, options).run();
  }
}

int run_fft(const FftBenchOptions& options) {
  require_launcher("bench fft");
  options.check();
  (void)ToldCable::from_environment();
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    options.job.apply_threads(job.comm().ranks_on_host());
    job.at_root([&] { options.check(job.size()); });
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

void add_bench_fft(cli::Command& bench) {
  const auto options = std::make_shared<FftBenchOptions>();
  cli::Command* command =
      bench.add_subcommand("fft", "time whole transforms, per engine and gather algorithm");
  options->declare(*command);
  command->runs([options] {
    options->complete();
    return run_fft(*options);
  });
}

}  // namespace papfft::app
