// SPDX-License-Identifier: MIT
// papfft transform: the spectra of a recording or of many vectors, shared by all ranks.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "app/arrivals.hpp"
#include "app/command.hpp"
#include "app/distributed_output.hpp"
#include "app/sample_job.hpp"
#include "app/stop_request.hpp"
#include "comm/select/select.hpp"
#include "fft/farm_fft.hpp"
#include "fft/parallel_fft.hpp"
#include "fft/stream_fft.hpp"

namespace papfft::app {

namespace {

struct TransformOptions {
  JobOptions job;
  InputOptions io;
  bool inverse = false;
  bool real = false;
  bool full = false;
  bool batch = false;
  bool distributed = false;  ///< --leave-distributed
  std::uint64_t length = 0;
  std::string engine = "auto";
};

/// How vectors are shared.
enum class Engine : std::int32_t { fftw, dif, stream, farm };
constexpr const char* kEngines[] = {"fftw", "dif", "stream", "farm"};

/// Planning by arrivals and beginning early need calls in turn; MPI's own collectives cannot be started without waiting.
bool can_overlap(comm::Operation operation, const std::string& name) {
  if (name == "auto") return true;
  const comm::Choice choice = comm::choose(operation, name, 2, 0, false);
  return choice.algorithm != nullptr && !choice.background && !choice.algorithm->uses_arrival;
}

/// What the root finds out and every rank must know. Without padding: it is sent as bytes.
struct Plan {
  std::uint64_t length = 0;  ///< N
  std::uint64_t rows = 1;
  double rate_hz = 0;            ///< 0: unknown
  std::int64_t matrix = 0;       ///< the result has rows, even if it is one
  std::int32_t real_in = 0;      ///< real samples come in (forward)
  std::int32_t real_out = 0;     ///< real samples go out (inverse)
  std::int32_t split_real = 0;   ///< shared at half the cost; else as complex vectors
  Engine engine = Engine::fftw;  ///< fftw: the root computes alone
};

std::string lengths_that_work(std::uint64_t length, bool real, int ranks) {
  const std::uint64_t unit = static_cast<std::uint64_t>(ranks) * (real ? 2 : 1);
  const std::uint64_t below = length / unit * unit;
  std::string text = below > 0
                         ? fmt::format("--length {} (cut) or {} (padded with zeros)", below, below + unit)
                         : fmt::format("--length {} (padded with zeros)", unit);
  for (int p = ranks - 1; p > 1; --p) {
    if (length % static_cast<std::uint64_t>(p) == 0) return text + fmt::format(", {} ranks", p);
  }
  return text + ", or one rank";
}

/// Rows of samples, Sample being T or complex<T>, in and out; at the root.
template <typename T>
class TransformJob {
 public:
  using Complex = std::complex<T>;

  TransformJob(Job& job, const TransformOptions& options) : job_(job), options_(options) {}

  void run() {
    job_.at_root([&] { prepare(); });
    plan_ = job_.from_root(plan_);
    transform();
    const double compute_s = largest_at_root(job_, times_.compute_s, options_.job.reduce);
    if (options_.distributed) {
      job_.at_root([&] { finish_report(compute_s); });
      leave_distributed();
      return;
    }
    job_.at_root([&] {
      if (plan_.rows == 0) return;  // stopped before the first was done
      finish_report(compute_s);
      write();
    });
    if (job_.from_root(stopped_) != 0) throw Quit{kStopped};
  }

 private:
  [[nodiscard]] std::uint64_t bins() const { return plan_.length / 2 + 1; }
  [[nodiscard]] std::uint64_t row_in() const { return plan_.real_out != 0 ? bins() : plan_.length; }
  [[nodiscard]] std::uint64_t row_out() const { return plan_.real_in != 0 ? bins() : plan_.length; }

  void prepare() {
    const std::unique_ptr<io::Source> source = open_checked(options_.io, options_.job, job_.size());
    const io::SignalInfo& info = source->info();
    plan_.rate_hz = info.sample_rate_hz;
    plan_.matrix = info.two_dimensional || options_.batch ? 1 : 0;
    if (options_.real && !options_.inverse && info.is_complex) {
      throw UsageError(source->name() + ": --real, but the samples are complex");
    }
    plan_.real_in = !options_.inverse && !info.is_complex && !options_.full ? 1 : 0;
    plan_.real_out = options_.inverse && options_.real ? 1 : 0;
    in_ = read_samples<T>(*source, plan_.real_in == 0, report_);
    shape_rows(info.rows, source->name());
    choose_engine(source->name());
  }

  /// Cuts or pads the rows to the asked length.
  void shape_rows(std::uint64_t rows, const std::string& name) {
    const std::uint64_t total = plan_.real_in != 0 ? in_.real.size() : in_.complex.size();
    std::uint64_t have = total / rows;
    const bool half = plan_.real_out != 0;
    plan_.length = options_.length > 0 ? options_.length
                   : half              ? std::max<std::uint64_t>(1, 2 * (have - 1))
                                       : have;
    if (options_.batch) {
      if (rows > 1)
        throw UsageError(name + ": --batch cuts one vector into many, and this file has rows of its own");
      if (options_.length == 0) throw UsageError("--batch needs --length: how long each vector is");
      if (total % row_in() != 0) {
        const std::uint64_t whole = total / row_in();
        throw UsageError(
            fmt::format("{}: {} samples are {} vectors of {} and {} more; a --length that works: {}", name,
                        total, whole, row_in(), total % row_in(), std::gcd(total, row_in())));
      }
      rows = total / row_in();
      have = row_in();
    }
    plan_.rows = rows;
    const std::uint64_t want = row_in();
    if (want == have) return;
    if (plan_.real_in != 0) {
      in_.real = resized(in_.real, rows, have, want);
    } else {
      in_.complex = resized(in_.complex, rows, have, want);
    }
  }

  template <typename Sample>
  static std::vector<Sample> resized(const std::vector<Sample>& samples, std::uint64_t rows,
                                     std::uint64_t have, std::uint64_t want) {
    std::vector<Sample> result(rows * want);
    for (std::uint64_t r = 0; r < rows; ++r) {
      std::copy_n(samples.data() + r * have, std::min(have, want), result.data() + r * want);
    }
    return result;
  }

  void choose_engine(const std::string& name) {
    const bool real = plan_.real_in != 0 || plan_.real_out != 0;
    const bool real_split = real && fft::can_share(plan_.length, true, job_.size());
    const bool can_split = real_split || fft::can_share(plan_.length, false, job_.size());
    const auto use = [this](Engine engine, const char* why) {
      plan_.engine = engine;
      why_ = why;
    };
    const std::string& asked = options_.engine;
    if (options_.distributed) {
      use(Engine::dif, "the result stays with the ranks");
    } else if (asked != "auto") {
      const auto* found = std::ranges::find(kEngines, asked);
      use(static_cast<Engine>(found - std::begin(kEngines)), "as asked");
    } else if (job_.size() == 1) {
      use(Engine::fftw, "there is one rank alone");
    } else if (plan_.rows == 1) {
      use(Engine::dif, "there is one vector");
    } else if (!can_split) {
      use(Engine::farm, "the ranks do not divide the length");
    } else if (can_overlap(comm::Operation::scatter, options_.job.scatter) &&
               can_overlap(comm::Operation::gather, options_.job.gather)) {
      use(Engine::stream, "there are several vectors");
    } else {
      use(Engine::dif, "the named algorithms need one call after another");
    }
    const bool can_stay = !options_.distributed || fft::can_share(plan_.length, false, job_.size());
    plan_.split_real = real_split && plan_.engine != Engine::fftw && !options_.distributed ? 1 : 0;
    if ((can_split && can_stay) || plan_.engine == Engine::fftw || plan_.engine == Engine::farm) return;
    throw UsageError(
        fmt::format("{}: a vector of {} samples cannot be shared by {} ranks; what would work: {}", name,
                    plan_.length, job_.size(), lengths_that_work(plan_.length, real, job_.size())));
  }

  void transform() {
    if (options_.distributed) {
      Progress progress = options_.job.make_progress(job_.is_root(), "transform");
      transform_in_place(progress);
      return;
    }
    if (job_.is_root()) {
      if (plan_.real_out != 0) {
        out_.real.resize(plan_.rows * row_out());
      } else {
        out_.complex.resize(plan_.rows * row_out());
      }
    }
    Progress progress = options_.job.make_progress(job_.is_root(), "transform");
    const bool overlaps = plan_.engine == Engine::stream;
    const bool moves = overlaps || plan_.engine == Engine::dif;
    ArrivalAware arrivals(job_, options_.job, moves ? plan_.rows : 0,
                          {comm::Operation::scatter, comm::Operation::gather}, overlaps);
    switch (plan_.engine) {
      case Engine::fftw:
        if (job_.is_root()) compute_alone(progress, arrivals.watch());
        return;
      case Engine::dif:
        each_vector(progress, arrivals);
        report_.arrivals = arrivals.finish();
        return;
      case Engine::stream:
        overlapped<fft::StreamFft<T>>(progress, arrivals, plan_.split_real != 0);
        break;
      case Engine::farm:
        overlapped<fft::FarmFft<T>>(progress, arrivals, plan_.real_in != 0 || plan_.real_out != 0);
        break;
    }
    (void)arrivals.finish();
  }

  [[nodiscard]] fft::ParallelPlan shared_plan(bool real) const {
    return {.length = plan_.length,
            .direction = direction(),
            .real = real,
            .scatter = options_.job.scatter,
            .gather = options_.job.gather,
            .rigor = fft::Rigor::tuned};
  }

  void each_vector(Progress& progress, ArrivalAware& arrivals) {
    fft::ParallelFft<T> parallel(arrivals.comm(), shared_plan(plan_.split_real != 0));
    parallel.observe(&arrivals.watch());
    for (std::uint64_t row = 0; row < plan_.rows; ++row) {
      if (plan_.split_real == 0) {
        through_complex(row, [&](const Complex* in, Complex* out) { parallel.execute(in, out); });
      } else if (plan_.real_out != 0) {
        parallel.execute(at(in_.complex, row * row_in()), at(out_.real, row * row_out()));
      } else {
        parallel.execute(at(in_.real, row * row_in()), at(out_.complex, row * row_out()));
      }
      progress.show(row + 1, plan_.rows);
    }
    times_ = parallel.times();
  }

  /// Of each vector this rank keeps the elements k = rank, rank + P, ... that it computes: what `interleave` would put
  /// in order. Real vectors go as complex ones, as the blocks of RealSplit belong to no such simple rule.
  void transform_in_place(Progress& progress) {
    fft::SharedTransform<T> shared(shared_plan(false), job_.rank(), job_.size());
    const std::size_t block = shared.block_length();
    ArrivalAware arrivals(job_, options_.job, plan_.rows, {comm::Operation::scatter});
    fft::Buffer<Complex> blocks(job_.is_root() ? shared.parts() * block : 0);
    std::vector<Complex> row_in(job_.is_root() ? plan_.length : 0);
    kept_.resize(plan_.rows * block);
    for (std::uint64_t row = 0; row < plan_.rows; ++row) {
      const std::span<Complex> mine = std::span(kept_).subspan(row * block, block);
      clocked(times_.split_s, [&] {
        if (job_.is_root()) shared.split(complex_row(row, row_in), shared.blocks_of(blocks.data()));
      });
      clocked(times_.scatter_s, [&] {
        arrivals.comm().template scatter<Complex>(std::span<const Complex>(blocks.data(), blocks.size()),
                                                  mine, 0, options_.job.scatter);
      });
      clocked(times_.compute_s, [&] { shared.compute(mine.data(), mine.data(), &arrivals.watch()); });
      if (job_.is_root()) times_.bytes_scattered += (shared.parts() - 1) * block * sizeof(Complex);
      progress.show(row + 1, plan_.rows);
    }
    report_.arrivals = arrivals.finish();
  }

  /// Each rank writes what it has; the index comes last, when all have.
  void leave_distributed() {
    const auto ranks = static_cast<std::uint64_t>(job_.size());
    const auto rank = static_cast<std::uint64_t>(job_.rank());
    const std::uint64_t block = kept_.size() / plan_.rows;
    const std::uint64_t wanted = rank >= row_out() ? 0 : (row_out() - rank + ranks - 1) / ranks;
    double write_s = 0;
    clocked(write_s, [&] {
      job_.on_every_rank([&] {
        for (const std::string& path : options_.io.out) {
          if (plan_.real_out != 0) {
            write_share<T>(path_of_rank(path, job_.rank()), wanted, block,
                           [](const Complex& z) { return z.real(); });
          } else {
            write_share<Complex>(path_of_rank(path, job_.rank()), wanted, block,
                                 [](const Complex& z) { return z; });
          }
        }
      });
    });
    job_.at_root([&] {
      const bool is_float = options_.io.precision == "float";
      for (const std::string& path : options_.io.out) {
        write_index(path, {.ranks = job_.size(),
                           .rows = plan_.rows,
                           .length = row_out(),
                           .element = plan_.real_out != 0 ? (is_float ? "float32" : "float64")
                                                          : (is_float ? "complex64" : "complex128"),
                           .sample_rate_hz = plan_.rate_hz});
      }
      report_.phases_s.emplace_back("write", write_s);
      report_.deliver(options_.job);
    });
  }

  template <typename Sample, typename Convert>
  void write_share(const std::string& path, std::uint64_t wanted, std::uint64_t block, Convert convert) {
    std::vector<Sample> share;
    share.reserve(plan_.rows * wanted);
    for (std::uint64_t row = 0; row < plan_.rows; ++row) {
      const auto first = kept_.begin() + static_cast<std::ptrdiff_t>(row * block);
      std::transform(first, first + static_cast<std::ptrdiff_t>(wanted), std::back_inserter(share), convert);
    }
    const std::optional<std::size_t> rows =
        plan_.matrix != 0 ? std::optional<std::size_t>(plan_.rows) : std::nullopt;
    io::write_numbers(path, std::span<const Sample>(share), rows, axis_name(), [&] {
      const std::vector<double> all = axis();
      std::vector<double> values;
      for (std::uint64_t k = 0; k < wanted; ++k)
        values.push_back(
            all[static_cast<std::uint64_t>(job_.rank()) + k * static_cast<std::uint64_t>(job_.size())]);
      return values;
    });
  }

  /// Many vectors, several under way. SIGUSR1 ends it after those.
  template <typename Stream>
  void overlapped(Progress& progress, ArrivalAware& arrivals, bool real) {
    const StopRequest stop;
    Stream stream(arrivals.comm(), shared_plan(real));
    stream.observe(&arrivals.watch());
    std::uint64_t given = 0;
    std::uint64_t done = 0;
    const auto run = [&]<typename In, typename Out>(auto in_of, auto take) {
      stream.run(typename fft::StreamFft<T>::template Source<In>([&]() -> fft::Offer<In> {
                   if (given == plan_.rows || stop.asked()) return fft::Offer<In>::end();
                   return fft::Offer<In>::of(in_of(given++));
                 }),
                 typename fft::StreamFft<T>::template Sink<Out>([&](const Out* result) {
                   take(done++, result);
                   progress.show(done, plan_.rows);
                 }));
    };
    if (real && plan_.real_out != 0) {
      run.template operator()<Complex, T>(
          [&](std::uint64_t row) { return at(in_.complex, row * row_in()); },
          [&](std::uint64_t row, const T* x) { std::copy_n(x, row_out(), at(out_.real, row * row_out())); });
    } else if (real) {
      run.template operator()<T, Complex>([&](std::uint64_t row) { return at(in_.real, row * row_in()); },
                                          [&](std::uint64_t row, const Complex* x) {
                                            std::copy_n(x, row_out(), at(out_.complex, row * row_out()));
                                          });
    } else {
      std::vector<Complex> in(job_.is_root() ? plan_.length : 0);
      run.template operator()<Complex, Complex>(
          [&](std::uint64_t row) { return complex_row(row, in); },
          [&](std::uint64_t row, const Complex* x) { take_complex(row, x); });
    }
    times_ = stream.times();
    if (job_.is_root() && done < plan_.rows) stop_at(done);
  }

  void stop_at(std::uint64_t rows) {
    fmt::print(stderr, "papfft: stopped by SIGUSR1 after {} of {} vectors; the output holds these\n", rows,
               plan_.rows);
    plan_.rows = rows;
    if (plan_.real_out != 0) {
      out_.real.resize(rows * row_out());
    } else {
      out_.complex.resize(rows * row_out());
    }
    stopped_ = 1;
  }

  void make_room_for_one() {
    if (plan_.real_out != 0) {
      out_.real.resize(row_out());
    } else {
      out_.complex.resize(row_out());
    }
  }

  template <typename Sample>
  static Sample* at(std::vector<Sample>& samples, std::uint64_t offset) {
    return samples.empty() ? nullptr : samples.data() + offset;  // elsewhere than at the root there are none
  }

  [[nodiscard]] fft::Direction direction() const {
    return options_.inverse ? fft::Direction::inverse : fft::Direction::forward;
  }

  /// A row by a complex transform of the same length, whatever comes in and goes out.
  template <typename Execute>
  void through_complex(std::uint64_t row, Execute execute) {
    if (plan_.real_in == 0 && plan_.real_out == 0) {
      execute(at(in_.complex, row * row_in()), at(out_.complex, row * row_out()));
      return;
    }
    std::vector<Complex> in(job_.is_root() ? plan_.length : 0);
    std::vector<Complex> out(in.size());
    execute(job_.is_root() ? complex_row(row, in) : nullptr, out.data());
    if (job_.is_root()) take_complex(row, out.data());
  }

  /// At the root. @param room  for what must be made complex
  const Complex* complex_row(std::uint64_t row, std::vector<Complex>& room) {
    if (plan_.real_in == 0 && plan_.real_out == 0) return in_.complex.data() + row * row_in();
    if (plan_.real_in != 0) {
      std::copy_n(in_.real.data() + row * row_in(), plan_.length, room.begin());
      return room.data();
    }
    // The other half of the spectrum is the conjugate of this one.
    const Complex* half = in_.complex.data() + row * row_in();
    std::copy_n(half, bins(), room.begin());
    for (std::uint64_t k = bins(); k < plan_.length; ++k) room[k] = std::conj(half[plan_.length - k]);
    room[0] = room[0].real();
    if (plan_.length % 2 == 0) room[bins() - 1] = room[bins() - 1].real();
    return room.data();
  }

  void take_complex(std::uint64_t row, const Complex* result) {
    if (plan_.real_out == 0) {
      std::copy_n(result, row_out(), out_.complex.data() + row * row_out());
    } else {
      std::transform(result, result + plan_.length, out_.real.data() + row * row_out(),
                     [](const Complex& z) { return z.real(); });
    }
  }

  /// The root on its own; also what --stats compares with.
  void compute_alone(Progress& progress, ComputeWatch& watch) {
    timed(report_, "compute", [&] {
      const auto one = one_process();
      for (std::uint64_t row = 0; row < plan_.rows; ++row) {
        watch.compute_begins();
        one(row);
        watch.compute_ends();
        progress.show(row + 1, plan_.rows);
      }
    });
  }

  std::function<void(std::uint64_t)> one_process() {
    const T scale = options_.inverse ? T(1) / static_cast<T>(plan_.length) : T(1);
    if (plan_.real_in != 0 || plan_.real_out != 0) {
      const auto fft =
          options_.engine == "fftw"
              ? std::make_shared<fft::RealFft<T>>(plan_.length, fft::Engine::fftw, fft::Rigor::tuned)
              : std::make_shared<fft::RealFft<T>>(plan_.length, fft::Rigor::tuned);
      local_engine_ = fft->engine();
      return [this, fft, scale](std::uint64_t row) {
        if (plan_.real_in != 0) {
          fft->forward(at(in_.real, row * row_in()), at(out_.complex, row * row_out()));
          return;
        }
        T* out = at(out_.real, row * row_out());
        fft->inverse(at(in_.complex, row * row_in()), out);
        std::for_each(out, out + plan_.length, [&](T& x) { x *= scale; });
      };
    }
    const fft::Engine by_fftw = fft::pieces_of(plan_.length) > 1 ? fft::Engine::pieces : fft::Engine::fftw;
    const auto fft =
        options_.engine == "fftw"
            ? std::make_shared<fft::LocalFft<T>>(plan_.length, direction(), by_fftw, fft::Rigor::tuned)
            : std::make_shared<fft::LocalFft<T>>(plan_.length, direction(), fft::Rigor::tuned);
    local_engine_ = fft->engine();
    return [this, fft, scale](std::uint64_t row) {
      Complex* out = at(out_.complex, row * row_out());
      fft->execute(at(in_.complex, row * row_in()), out);
      if (options_.inverse) std::for_each(out, out + plan_.length, [&](Complex& x) { x *= scale; });
    };
  }

  void finish_report(double compute_s) {
    report_.command = "transform";
    report_.ranks = job_.size();
    report_.threads = omp_get_max_threads();
    const bool real = plan_.real_in != 0 || plan_.real_out != 0;
    const char* engine = kEngines[static_cast<int>(plan_.engine)];
    const bool split = plan_.engine == Engine::dif || plan_.engine == Engine::stream;
    const std::string how =
        fmt::format("{} ({}){}", engine, why_,
                    split ? fmt::format(", scatter {}, gather {}", options_.job.scatter, options_.job.gather)
                    : plan_.engine == Engine::fftw ? fmt::format(", kernel {}", fft::to_string(local_engine_))
                                                   : "");
    report_.summary = fmt::format(
        "{} transform of {} {} vector{} of {} samples, {} precision, {} rank{} with {} thread{}: {}",
        options_.inverse ? "inverse" : "forward", plan_.rows, real ? "real" : "complex",
        plan_.rows == 1 ? "" : "s", plan_.length, options_.io.precision, job_.size(),
        job_.size() == 1 ? "" : "s", report_.threads, report_.threads == 1 ? "" : "s", how);
    report_.settings = {{"length", plan_.length},
                        {"rows", plan_.rows},
                        {"real", real},
                        {"inverse", options_.inverse},
                        {"precision", options_.io.precision},
                        {"engine", engine},
                        {"engine_because", why_},
                        {"scatter", options_.job.scatter},
                        {"gather", options_.job.gather}};
    if (plan_.engine == Engine::fftw) return;
    auto& phases = report_.phases_s;
    phases.emplace_back("split", times_.split_s);
    phases.emplace_back("scatter", times_.scatter_s);
    phases.emplace_back("compute", compute_s);
    if (!options_.distributed) {
      phases.emplace_back("gather", times_.gather_s);
      phases.emplace_back("assemble", times_.assemble_s);
    }
    report_.bytes_out = times_.bytes_scattered;
    report_.bytes_back = times_.bytes_gathered;
    report_.shared_work_s = times_.split_s + compute_s + times_.assemble_s;
    // Delays on purpose say nothing about whether sharing pays.
    if (!options_.job.arrivals.delays() && (options_.job.stats || !options_.job.json.empty())) {
      // Into the result's place: the same numbers come out again, but for rounding, so they are kept aside.
      const Samples<T> kept = out_;
      if (options_.distributed) make_room_for_one();
      const auto one = one_process();
      report_.single_process_s = least_seconds([&] { one(0); }) * static_cast<double>(plan_.rows);
      out_ = kept;
    }
  }

  void write() {
    timed(report_, "write", [&] {
      for (const std::string& path : options_.io.out) {
        if (plan_.real_out != 0) {
          write_as<T>(path, out_.real);
        } else {
          write_as<Complex>(path, out_.complex);
        }
      }
    });
    report_.deliver(options_.job);
  }

  [[nodiscard]] std::vector<double> axis() const {
    std::vector<double> values(row_out());
    const double rate = plan_.rate_hz > 0 ? plan_.rate_hz : 1;
    const double step = options_.inverse    ? 1 / rate
                        : plan_.rate_hz > 0 ? rate / static_cast<double>(plan_.length)
                                            : 1;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * step;
    return values;
  }

  template <typename Sample>
  void write_as(const std::string& path, const std::vector<Sample>& samples) {
    const std::span<const Sample> all(samples);
    const std::optional<std::size_t> rows =
        plan_.matrix != 0 ? std::optional<std::size_t>(plan_.rows) : std::nullopt;
    if (io::is_picture(path)) return draw(path, all);
    io::write_numbers(path, all, rows, axis_name(), [&] { return axis(); });
  }

  [[nodiscard]] const char* axis_name() const {
    if (options_.inverse) return plan_.rate_hz > 0 ? "time_s" : "sample";
    return plan_.rate_hz > 0 ? "frequency_hz" : "bin";
  }

  template <typename Sample>
  void draw(const std::string& path, std::span<const Sample> samples) {
    if (plan_.rows > 1) {
      throw io::OutputError(path, fmt::format("a picture shows one vector, and there are {}", plan_.rows));
    }
    report::LinePlot plot;
    report::Series series{.x = axis(), .y = std::vector<double>(samples.size())};
    if (options_.inverse) {
      plot.x = {.label = plan_.rate_hz > 0 ? "Time" : "Sample", .unit = plan_.rate_hz > 0 ? "s" : ""};
      plot.y = {.label = "Value", .unit = ""};
      for (std::size_t i = 0; i < samples.size(); ++i)
        series.y[i] = static_cast<double>(std::real(samples[i]));
    } else {
      plot.x = {.label = plan_.rate_hz > 0 ? "Frequency" : "Bin", .unit = plan_.rate_hz > 0 ? "Hz" : ""};
      plot.y = {.label = "Magnitude", .unit = "dB"};
      for (std::size_t i = 0; i < samples.size(); ++i) {
        series.y[i] = 20 * std::log10(static_cast<double>(std::abs(samples[i])));
      }
      if (plan_.real_in == 0) {  // negative frequencies belong on the left
        const std::size_t n = samples.size();
        const auto first_negative = static_cast<std::ptrdiff_t>((n + 1) / 2);
        for (std::size_t i = (n + 1) / 2; i < n; ++i)
          series.x[i] -= static_cast<double>(n) * (n > 1 ? series.x[1] : 1);
        for (std::vector<double>* values : {&series.x, &series.y}) {
          std::rotate(values->begin(), values->begin() + first_negative, values->end());
        }
      }
    }
    plot.series.push_back(std::move(series));
    write_picture(path, plot, options_.io);
  }

  Job& job_;
  const TransformOptions& options_;
  Plan plan_;
  RunReport report_;
  const char* why_ = "";  // this engine
  std::int32_t stopped_ = 0;
  fft::PhaseTimes times_;
  std::vector<Complex> kept_;  ///< with --leave-distributed: this rank's blocks of all rows
  fft::Engine local_engine_ = fft::Engine::fftw;
  Samples<T> in_;
  Samples<T> out_;
};

void check_distributed(const TransformOptions& options) {
  if (options.engine != "auto" && options.engine != "dif") {
    throw UsageError("--leave-distributed is for engine dif, by which each rank has a share of every vector");
  }
  for (const std::string& path : options.io.out) {
    if (path == "-" || path.starts_with("/dev/") || io::is_picture(path)) {
      throw UsageError(path +
                       ": --leave-distributed writes a file per rank; what would work: -o spectrum.npy");
    }
    if (options.job.json == path_of_index(path)) {
      throw UsageError("--json " + options.job.json +
                       " is where --leave-distributed says which file holds what");
    }
  }
}

int run_transform(const TransformOptions& options) {
  if (options.engine != "auto" && std::ranges::find(kEngines, options.engine) == std::end(kEngines)) {
    throw UsageError("no engine '" + options.engine + "'; known: auto, dif, stream, farm, fftw");
  }
  if (options.full && (options.inverse || options.real))
    throw UsageError("--full is for forward transforms without --real");
  if (options.distributed) check_distributed(options);
  return run_sample_job<TransformJob>(options);
}

}  // namespace

void add_transform(CLI::App& app, Action& action) {
  const auto options = std::make_shared<TransformOptions>();
  CLI::App* command =
      app.add_subcommand("transform", "Fourier transform of a recording or of a batch of vectors");
  options->io.declare(*command, ".npy, .raw/.bin, .csv, or a picture .png/.svg");
  command->add_flag("--inverse", options->inverse, "the inverse transform, scaled by 1/N");
  command->add_flag("--real", options->real,
                    "real samples (checked); with --inverse: half spectrum in, real samples out");
  command->add_flag("--full", options->full,
                    "all N bins of real samples, instead of the N/2+1 that determine them");
  command->add_option("--length", options->length, "cut or zero-pad each vector to N samples")
      ->check(CLI::PositiveNumber);
  command->add_flag("--batch", options->batch,
                    "the input is many vectors of --length N samples, one after another");
  command->add_flag(
      "--leave-distributed", options->distributed,
      "results stay with the ranks: of OUT.npy, rank r of P writes elements r, r+P, r+2P, ... to "
      "OUT.rankr.npy on its own host, and rank 0 writes OUT.index.json");
  command
      ->add_option(
          "--engine", options->engine,
          "auto, dif (each vector shared by all ranks), stream (the same, several vectors under way), farm "
          "(whole vectors to whoever is free) or fftw (rank 0 alone)")
      ->envname("PAPFFT_ENGINE")
      ->capture_default_str();
  options->job.declare(*command);
  command->footer(
      "Examples:\n"
      "  papfft transform bell.flac -o spectrum.npy -o spectrum.png\n"
      "  mpirun -n 4 papfft transform bell.flac -o spectrum.npy --length 65536 --stats\n"
      "  cat iq.cf32 | papfft transform - --format cf32_le --batch --length 4096 -o spectra.npy\n"
      "  mpirun -n 4 papfft transform iq.npy --batch --length 4096 -o spectra.npy --gather bsls --delay "
      "uniform:20ms --stats\n"
      "  papfft transform spectrum.npy --inverse --real -o samples.npy\n"
      "  mpirun -n 4 papfft transform iq.npy --leave-distributed -o spectrum.npy\n"
      "Real samples give the N/2+1 bins of numpy.fft.rfft, complex ones the N bins of numpy.fft.fft.\n"
      "SIGUSR1 stops engines stream and farm: the vectors under way are finished and written.\n"
      "Exit codes: 0 ok, 64 usage, 65 bad data, 70 internal, 73 cannot write, 74 communication, 75 stopped "
      "by "
      "SIGUSR1.");
  command->callback([&action, options] { action = [options] { return run_transform(*options); }; });
}

}  // namespace papfft::app
