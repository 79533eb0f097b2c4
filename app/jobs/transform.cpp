// SPDX-License-Identifier: MIT
// papfft transform: the spectra of a recording or of many vectors, shared by all ranks.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <exception>
#include <numeric>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/number_checks.hpp"
#include "app/cli/tell.hpp"
#include "app/io/row_files.hpp"
#include "app/jobs/distributed_output.hpp"
#include "app/jobs/row_reader.hpp"
#include "app/jobs/row_writer.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/run/arrivals.hpp"
#include "app/run/cores.hpp"
#include "app/run/stop_request.hpp"
#include "comm/choose/select.hpp"
#include "fft/engines/farm_fft.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/engines/sharing_model.hpp"
#include "fft/engines/stream_fft.hpp"
#include "fft/engines/turns.hpp"

namespace papfft::app {

namespace {

struct TransformOptions {
  JobOptions job;
  InputOptions io;
  bool inverse = false;
  bool real = false;
  bool full = false;
  bool batch = false;
  bool leave_distributed = false;
  bool everywhere = false;
  bool resume = false;
  std::uint64_t length = 0;
  std::string engine = "auto";
  bool fftw_kernels =
      false;  ///< by --engine fftw, the old name of alone, which took FFTW's whatever is faster

  /// Each rank writes a file.
  [[nodiscard]] bool distributed() const { return leave_distributed || everywhere; }
};

/// How vectors are shared.
enum class Engine : std::int32_t { alone, dif, stream, farm };
constexpr const char* kEngines[] = {"alone", "dif", "stream", "farm"};

/// Planning by arrivals and beginning early need calls in turn; MPI's own collectives cannot be started without waiting.
bool can_overlap(comm::Operation operation, const std::string& name) {
  if (name == "auto") return true;
  const comm::Choice choice = comm::choose(operation, name, 2, 0, false);
  return choice.algorithm != nullptr && !choice.background && !choice.algorithm->uses_arrival;
}

constexpr std::uint64_t kUnknownRows = ~std::uint64_t{0};

/// In all vectors of a job together; as bytes, too, this can still be counted.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 58U;

/// How long to wait for a pipe before looking for something else to do, such as to stop.
constexpr auto kPatience = std::chrono::milliseconds(50);

/// What the root finds out and every rank must know. Without padding: it is sent as bytes.
struct Plan {
  std::uint64_t length = 0;     ///< N
  std::uint64_t rows = 1;       ///< kUnknownRows: known when the input ends
  double rate_hz = 0;           ///< 0: unknown
  std::int64_t matrix = 0;      ///< the result has rows, even if it is one
  std::int32_t real_in = 0;     ///< real samples come in (forward)
  std::int32_t real_out = 0;    ///< real samples go out (inverse)
  std::int32_t split_real = 0;  ///< shared at half the cost; else as complex vectors
  Engine engine = Engine::alone;
  std::int32_t row_by_row = 0;  ///< a batch is read and written as it is worked on
  std::int32_t unused = 0;
};

std::string in_ms(double seconds) { return fmt::format("{:.3g}", seconds * 1e3); }

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

  TransformJob(Job& job, const TransformOptions& options) : job_(job), options_(options) {
    report_.recorder = job.recorder();
  }

  void run() {
    host_cores_ = cores_of_host(job_);
    job_.at_root([&] { prepare(); });
    plan_ = job_.from_root(plan_);
    transform();
    // What is in memory is written as a whole: a signal then ends the job.
    if (plan_.row_by_row == 0 && !job_.stop()->asked()) orderly_.reset();
    const double compute_s = largest_at_root(job_, times_.compute_s, options_.job.reduce);
    job_.at_root([&] {
      if (is_one_by_one_) end_rows();
      if (plan_.rows == 0) return;  // stopped before the first was done
      finish_report(compute_s);
      if (!options_.distributed()) write();
    });
    if (options_.distributed()) {
      plan_.rows = job_.from_root(plan_.rows);
      if (plan_.rows > 0) leave_distributed();
    }
    job_.at_root([&] {
      if (read_failure_) std::rethrow_exception(read_failure_);
    });
    if (const int code = job_.from_root(stopped_); code != kOk) throw Quit{code};
  }

 private:
  [[nodiscard]] std::uint64_t bins() const { return plan_.length / 2 + 1; }
  [[nodiscard]] std::uint64_t row_in() const { return plan_.real_out != 0 ? bins() : plan_.length; }
  [[nodiscard]] std::uint64_t row_out() const { return plan_.real_in != 0 ? bins() : plan_.length; }

  void prepare() {
    const std::shared_ptr<io::Source> source = open_checked(options_.io, options_.job, job_.size());
    const io::SignalInfo& info = source->info();
    plan_.rate_hz = info.sample_rate_hz;
    plan_.matrix = info.two_dimensional || options_.batch ? 1 : 0;
    if (options_.real && !options_.inverse && info.is_complex) {
      throw UsageError(source->name() + ": --real, but the samples are complex");
    }
    plan_.real_in = !options_.inverse && !info.is_complex && !options_.full ? 1 : 0;
    plan_.real_out = options_.inverse && options_.real ? 1 : 0;
    if (options_.batch && info.rows == 1 && options_.length > 0 && info.length != 0 &&
        io::RowFiles<T>::can_grow(options_.io.out) && !(options_.distributed() && options_.resume)) {
      plan_.row_by_row = 1;
      plan_.length = options_.length;
      plan_.rows = kUnknownRows;
      if (const auto total = source->sample_count()) plan_.rows = whole_rows(*total, source->name());
      choose_engine(source->name());
      open_rows(source);  // whose thread has the cores chosen before
      return;
    }
    if (options_.resume) {
      throw UsageError(
          "--resume is for --batch with --length and outputs .npy or raw, whose results come to rank 0");
    }
    in_ = read_samples<T>(*source, plan_.real_in == 0, report_);
    shape_rows(info.rows, source->name());
    choose_engine(source->name());
  }

  /// How many vectors a batch is. @throws UsageError  there is a rest
  [[nodiscard]] std::uint64_t whole_rows(std::uint64_t total, const std::string& name) const {
    if (total % row_in() == 0) return total / row_in();
    throw UsageError(fmt::format("{}: {} samples are {} vectors of {} and {} more; a --length that works: {}",
                                 name, total, total / row_in(), row_in(), total % row_in(),
                                 std::gcd(total, row_in())));
  }

  /// Of samples from all over a file, to notice when it has changed. Of a pipe nothing is known yet.
  [[nodiscard]] static std::string fingerprint(io::Source& source) {
    constexpr std::uint64_t kPlaces = 16;
    constexpr std::uint64_t kSamples = 1024;  // each
    const std::uint64_t total = source.sample_count().value_or(0);
    if (!source.info().any_order || total == 0) return "";
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    std::vector<Complex> samples(std::min(kSamples, total));
    for (std::uint64_t i = 0; i < kPlaces; ++i) {
      const std::uint64_t first = (total - samples.size()) / (kPlaces - 1) * i;
      (void)source.read<Complex>(first, std::span<Complex>(samples));
      for (const std::byte b : std::as_bytes(std::span<const Complex>(samples))) {
        hash = (hash ^ std::to_integer<unsigned>(b)) * 1099511628211U;
      }
    }
    return fmt::format("{:016x}", hash);
  }

  /// Everything that the numbers of a batch depend on, to be compared when it is resumed.
  [[nodiscard]] std::string journal(io::Source& source) const {
    const nlohmann::ordered_json text = {
        {"papfft", "transform --batch"},
        {"input", options_.io.in},
        {"fingerprint", fingerprint(source)},
        {"vectors",
         plan_.rows == kUnknownRows ? nlohmann::ordered_json() : nlohmann::ordered_json(plan_.rows)},
        {"length", plan_.length},
        {"format", options_.io.raw_type},
        {"channel", options_.io.channel ? static_cast<int>(*options_.io.channel) : -1},
        {"precision", options_.io.precision},
        {"inverse", options_.inverse},
        {"real", options_.real},
        {"full", options_.full},
        {"ranks", job_.size()},
        {"engine", kEngines[static_cast<int>(plan_.engine)]}};
    return text.dump(2) + "\n";
  }

  void open_rows(std::shared_ptr<io::Source> source) {
    const std::optional<std::uint64_t> rows =
        plan_.rows == kUnknownRows ? std::nullopt : std::optional(plan_.rows);
    const std::optional<std::string> kept = options_.resume ? std::optional(journal(*source)) : std::nullopt;
    const auto open_files = [&]<typename Sample>(std::unique_ptr<io::RowFiles<Sample>>& files) {
      files = std::make_unique<io::RowFiles<Sample>>(options_.io.out, row_out(), rows, kept);
      given_ = done_ = files->rows_before();
    };
    if (options_.distributed()) {
      // Each rank opens its own.
    } else if (plan_.real_out != 0) {
      open_files(real_files_);
    } else {
      open_files(complex_files_);
    }
    if (done_ > 0 && !options_.job.quiet) {
      tell("papfft: note: {} vectors are there already\n", done_);
    }
    if (plan_.real_in != 0) {
      real_rows_ = std::make_unique<RowReader<T>>(std::move(source), row_in(), given_);
    } else {
      complex_rows_ = std::make_unique<RowReader<Complex>>(std::move(source), row_in(), given_);
    }
  }

  /// Cuts or pads the rows to the asked length.
  void shape_rows(std::uint64_t rows, const std::string& name) {
    const std::uint64_t total = plan_.real_in != 0 ? in_.real.size() : in_.complex.size();
    std::uint64_t have = total / rows;
    const bool half = plan_.real_out != 0;
    if (options_.length > kMostSamples / rows) {
      throw UsageError(fmt::format("--length {}: more samples than any memory holds", options_.length));
    }
    plan_.length = options_.length > 0 ? options_.length
                   : half              ? std::max<std::uint64_t>(1, 2 * (have - 1))
                                       : have;
    if (options_.batch) {
      if (rows > 1)
        throw UsageError(name + ": --batch cuts one vector into many, and this file has rows of its own");
      if (options_.length == 0) throw UsageError("--batch needs --length: how long each vector is");
      rows = whole_rows(total, name);
      have = row_in();
    }
    plan_.rows = rows;
    for (const std::string& path : options_.io.out) {
      if (rows > 1 && io::is_picture(path)) {
        throw io::OutputError(path, fmt::format("a picture shows one vector, and there are {}", rows));
      }
    }
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
    const auto use = [this](Engine engine, std::string why) {
      plan_.engine = engine;
      why_ = std::move(why);
    };
    const std::string& asked = options_.engine;
    const bool named = options_.job.scatter != "auto" || options_.job.gather != "auto";
    const bool overlap = can_overlap(comm::Operation::scatter, options_.job.scatter) &&
                         can_overlap(comm::Operation::gather, options_.job.gather);
    if (options_.distributed()) {
      use(Engine::dif, "the result stays with the ranks");
    } else if (asked != "auto") {
      const auto* found = std::ranges::find(kEngines, asked);
      use(static_cast<Engine>(found - std::begin(kEngines)), "as asked");
    } else if (job_.size() == 1) {
      use(Engine::alone, "there is one rank alone");
    } else if (plan_.rows == 1 && plan_.row_by_row == 0) {
      use(Engine::dif, "there is one vector");
    } else if (named && !can_split) {
      use(Engine::farm, "the ranks do not divide the length");
    } else if (named && !overlap) {
      use(Engine::dif, "the named algorithms need one call after another");
    } else if (named) {
      use(Engine::stream, "the named algorithms move shares of vectors");
    } else {
      const fft::SharedWork work = shared_work(real);
      const fft::SharingEstimate model = fft::estimate_sharing(work);
      const fft::Sharing best = fft::choose_sharing(work, model, can_split);
      use(best == fft::Sharing::alone    ? Engine::alone
          : best == fft::Sharing::stream ? Engine::stream
                                         : Engine::farm,
          fmt::format("there are {} vectors; model: {}{} ms per vector by farm, {} by one process alone",
                      plan_.rows == kUnknownRows ? "many" : "several",
                      can_split ? in_ms(model.stream_s) + " ms per vector by stream, " : "",
                      in_ms(model.farm_s), in_ms(model.alone_s)));
    }
    if (plan_.engine == Engine::alone) {  // the others sleep
      alone_on_.emplace(host_cores_);
      omp_set_num_threads(threads_alone());
    }
    const bool can_stay = !options_.distributed() || fft::can_share(plan_.length, false, job_.size());
    plan_.split_real = real_split && plan_.engine != Engine::alone && !options_.distributed() ? 1 : 0;
    if ((can_split && can_stay) || plan_.engine == Engine::alone || plan_.engine == Engine::farm) return;
    throw UsageError(
        fmt::format("{}: a vector of {} samples cannot be shared by {} ranks; what would work: {}", name,
                    plan_.length, job_.size(), lengths_that_work(plan_.length, real, job_.size())));
  }

  /// Of the root on its own.
  [[nodiscard]] int threads_alone() const { return options_.job.threads_on(host_cores_.count()); }

  [[nodiscard]] fft::SharedWork shared_work(bool real) const {
    const bool one_host = job_.comm().ranks_on_host() == job_.size();
    return {.length = plan_.length,
            .vectors = plan_.rows == kUnknownRows ? 0 : plan_.rows,
            .real = real,
            .sample_bytes = sizeof(T),
            .ranks = job_.size(),
            .threads = omp_get_max_threads(),
            .root_threads = threads_alone(),
            .link = one_host ? fft::memory_link() : job_.comm().options().link};
  }

  void transform() {
    const bool many = plan_.row_by_row != 0 || plan_.rows != 1;
    is_one_by_one_ = options_.distributed() || plan_.row_by_row != 0 || plan_.engine == Engine::stream ||
                     plan_.engine == Engine::farm || (plan_.engine == Engine::dif && many);
    if (is_one_by_one_ && many) orderly_.emplace(*job_.stop());
    if (options_.distributed()) {
      Progress progress = options_.job.make_progress(job_.is_root(), "transform");
      transform_in_place(progress);
      return;
    }
    if (job_.is_root()) {
      const std::uint64_t rows = plan_.row_by_row != 0 ? 1 : plan_.rows;
      if (plan_.real_out != 0) {
        out_.real.resize(rows * row_out());
      } else {
        out_.complex.resize(rows * row_out());
      }
    }
    Progress progress = options_.job.make_progress(job_.is_root(), "transform");
    const bool overlaps = plan_.engine == Engine::stream;
    const bool moves = overlaps || plan_.engine == Engine::dif;
    ArrivalAware arrivals(job_, options_.job, moves ? plan_.rows : 0,
                          {comm::Operation::scatter, comm::Operation::gather}, overlaps);
    switch (plan_.engine) {
      case Engine::alone:
        job_.at_root([&] {
          timed(report_, "compute", [&] {
            by_kind([&]<typename In, typename Out>() { compute_alone<In, Out>(progress, arrivals.watch()); });
          });
        });
        return;
      case Engine::dif: {
        const bool real = plan_.split_real != 0;
        if (is_one_by_one_) {
          fft::TurnsFft<T> turns(arrivals.comm(), job_.comm(), shared_plan(real));
          one_by_one(turns, progress, arrivals, real, kPatience);
        } else {
          one_vector(progress, arrivals);
        }
        report_.arrivals = arrivals.finish();
        return;
      }
      case Engine::stream: {
        const bool real = plan_.split_real != 0;
        fft::StreamFft<T> stream(arrivals.comm(), shared_plan(real));
        one_by_one(stream, progress, arrivals, real);
        break;
      }
      case Engine::farm: {
        const bool real = plan_.real_in != 0 || plan_.real_out != 0;
        fft::FarmFft<T> farm(arrivals.comm(), shared_plan(real));
        one_by_one(farm, progress, arrivals, real);
        break;
      }
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

  /// Straight from and to its place in memory.
  void one_vector(Progress& progress, ArrivalAware& arrivals) {
    fft::ParallelFft<T> parallel(arrivals.comm(), shared_plan(plan_.split_real != 0));
    parallel.observe(&arrivals.watch());
    if (plan_.split_real == 0) {
      through_complex([&](const Complex* in, Complex* out) { parallel.execute(in, out); });
    } else if (plan_.real_out != 0) {
      parallel.execute(in_.complex.data(), out_.real.data());
    } else {
      parallel.execute(in_.real.data(), out_.complex.data());
    }
    progress.show(1, 1);
    times_ = parallel.times();
  }

  /// Of each vector this rank keeps the elements k = rank, rank + P, ... that it computes: what `interleave` would put
  /// in order. Real vectors go as complex ones, as the blocks of RealSplit belong to no such simple rule.
  void transform_in_place(Progress& progress) {
    fft::SharedTransform<T> shared(shared_plan(false), job_.rank(), job_.size());
    const std::size_t block = shared.block_length();
    ArrivalAware arrivals(job_, options_.job, plan_.rows, {comm::Operation::scatter});
    fft::Buffer<Complex> blocks(job_.is_root() ? shared.parts() * block : 0);
    std::vector<Complex> room(job_.is_root() ? plan_.length : 0);
    if (plan_.row_by_row != 0) job_.on_every_rank([&] { open_share(); });
    fft::Turns turns(job_.comm());
    fft::Offer<Complex> offer;
    const auto ask = [&]() -> std::optional<bool> {
      offer = next_as_complex(room, kPatience);
      if (offer.kind == fft::Offer<Complex>::Kind::later) return std::nullopt;
      return offer.kind == fft::Offer<Complex>::Kind::vector;
    };
    for (; turns.another(ask); ++done_) {
      const std::size_t before = plan_.row_by_row != 0 ? 0 : kept_.size();
      kept_.resize(before + block);
      const std::span<Complex> mine = std::span(kept_).subspan(before);
      clocked(times_.split_s, [&] {
        if (job_.is_root()) shared.split(offer.vector, shared.blocks_of(blocks.data()));
      });
      clocked(times_.scatter_s, [&] {
        arrivals.comm().template scatter<Complex>(std::span<const Complex>(blocks.data(), blocks.size()),
                                                  mine, 0, options_.job.scatter);
      });
      clocked(times_.compute_s, [&] { shared.compute(mine.data(), mine.data(), &arrivals.watch()); });
      if (job_.is_root()) times_.bytes_scattered += (shared.parts() - 1) * block * sizeof(Complex);
      if (plan_.row_by_row != 0) write_share();
      progress.show(done_ + 1, plan_.rows == kUnknownRows ? 0 : plan_.rows);
    }
    report_.arrivals = arrivals.finish();
  }

  /// This rank's files, which grow row by row.
  void open_share() {
    std::vector<std::string> paths;
    for (const std::string& path : options_.io.out) paths.push_back(path_of_rank(path, job_.rank()));
    const std::uint64_t length = options_.everywhere ? row_out() : share_of(job_.rank());
    const std::optional<std::uint64_t> rows =
        plan_.rows == kUnknownRows ? std::nullopt : std::optional(plan_.rows);
    if (plan_.real_out != 0) {
      real_files_ = std::make_unique<io::RowFiles<T>>(paths, length, rows, std::nullopt);
    } else {
      complex_files_ = std::make_unique<io::RowFiles<Complex>>(paths, length, rows, std::nullopt);
    }
  }

  /// Of the one row that is kept.
  void write_share() {
    const auto write = [&]<typename Sample>(std::vector<Sample> samples) {
      if (options_.everywhere) samples = all_shares(samples, 1);
      files_of<Sample>().write(samples.data());
    };
    if (plan_.real_out != 0) {
      write(my_share<T>([](const Complex& z) { return z.real(); }, 1));
    } else {
      write(my_share<Complex>([](const Complex& z) { return z; }, 1));
    }
  }

  /// Each rank writes what it has, or, when all shall have all, everything; the index comes last, when all have.
  void leave_distributed() {
    if (plan_.row_by_row != 0) {
      timed(report_, "write", [&] {
        job_.on_every_rank([&] { real_files_ ? real_files_->finish() : complex_files_->finish(); });
      });
    } else if (plan_.real_out != 0) {
      leave_as<T>([](const Complex& z) { return z.real(); });
    } else {
      leave_as<Complex>([](const Complex& z) { return z; });
    }
    job_.at_root([&] {
      const bool is_float = options_.io.precision == "float";
      for (const std::string& path : options_.io.out) {
        write_index(path, {.ranks = job_.size(),
                           .rows = plan_.rows,
                           .length = row_out(),
                           .element = plan_.real_out != 0 ? (is_float ? "float32" : "float64")
                                                          : (is_float ? "complex64" : "complex128"),
                           .sample_rate_hz = plan_.rate_hz,
                           .everywhere = options_.everywhere});
      }
      report_.deliver(options_.job, options_.io.out);
    });
  }

  /// How many elements of each row of the result are a rank's: rank, rank + ranks, ...
  [[nodiscard]] std::uint64_t share_of(int rank) const {
    const auto first = static_cast<std::uint64_t>(rank);
    const auto ranks = static_cast<std::uint64_t>(job_.size());
    return first >= row_out() ? 0 : (row_out() - first + ranks - 1) / ranks;
  }

  template <typename Sample, typename Convert>
  void leave_as(Convert convert) {
    std::vector<Sample> samples = my_share<Sample>(convert, plan_.rows);
    if (options_.everywhere) timed(report_, "allgatherv", [&] { samples = all_shares(samples, plan_.rows); });
    const std::optional<std::size_t> rows =
        plan_.matrix != 0 ? std::optional<std::size_t>(plan_.rows) : std::nullopt;
    timed(report_, "write", [&] {
      job_.on_every_rank([&] {
        for (const std::string& path : options_.io.out) {
          io::write_numbers(path_of_rank(path, job_.rank()), std::span<const Sample>(samples), rows,
                            axis_name(), [&] { return options_.everywhere ? axis() : axis_of_share(); });
        }
      });
    });
  }

  template <typename Sample, typename Convert>
  [[nodiscard]] std::vector<Sample> my_share(Convert convert, std::uint64_t rows) const {
    const std::uint64_t block = kept_.size() / rows;
    const std::uint64_t wanted = share_of(job_.rank());
    std::vector<Sample> share;
    share.reserve(rows * wanted);
    for (std::uint64_t row = 0; row < rows; ++row) {
      const auto first = kept_.begin() + static_cast<std::ptrdiff_t>(row * block);
      std::transform(first, first + static_cast<std::ptrdiff_t>(wanted), std::back_inserter(share), convert);
    }
    return share;
  }

  /// Collective. @return the whole result
  template <typename Sample>
  [[nodiscard]] std::vector<Sample> all_shares(const std::vector<Sample>& mine, std::uint64_t rows) {
    const auto ranks = static_cast<std::uint64_t>(job_.size());
    std::vector<std::size_t> counts;
    counts.reserve(ranks);
    for (int r = 0; r < job_.size(); ++r) counts.push_back(rows * share_of(r));
    std::vector<Sample> gathered(rows * row_out());
    job_.comm().template allgatherv<Sample>(mine, gathered, counts);
    std::vector<Sample> whole(gathered.size());
    auto next = gathered.begin();
    for (std::uint64_t r = 0; r < ranks; ++r) {
      for (std::uint64_t row = 0; row < rows; ++row) {
        for (std::uint64_t k = r; k < row_out(); k += ranks) whole[row * row_out() + k] = *next++;
      }
    }
    return whole;
  }

  [[nodiscard]] std::vector<double> axis_of_share() const {
    const std::vector<double> all = axis();
    std::vector<double> values;
    for (auto k = static_cast<std::uint64_t>(job_.rank()); k < all.size();
         k += static_cast<std::uint64_t>(job_.size())) {
      values.push_back(all[k]);
    }
    return values;
  }

  /// Many vectors, given and taken one by one. A signal ends it after those under way.
  /// @param patience  of who has nothing else to do than to wait for the next
  template <typename Stream>
  void one_by_one(Stream& stream, Progress& progress, ArrivalAware& arrivals, bool real,
                  std::chrono::milliseconds patience = {}) {
    try {
      run_stream(stream, progress, arrivals, real, patience);
    } catch (const Quit&) {
      throw;
    } catch (...) {
      // At once, while the buffers are there: MPI may still read them, and any call moves its messages on.
      const int code = report_exception(std::current_exception());
      abort_job(code);
      throw Quit{code};
    }
  }

  template <typename Stream>
  void run_stream(Stream& stream, Progress& progress, ArrivalAware& arrivals, bool real,
                  std::chrono::milliseconds patience) {
    stream.observe(&arrivals.watch());
    const auto run = [&]<typename In, typename Out>(auto source, auto sink) {
      stream.run(typename fft::StreamFft<T>::template Source<In>(source),
                 typename fft::StreamFft<T>::template Sink<Out>(sink));
    };
    if (real && plan_.real_out != 0) {
      run.template operator()<Complex, T>([&] { return next_row<Complex>(patience); },
                                          [&](const T* x) { take_row(x, progress); });
    } else if (real) {
      run.template operator()<T, Complex>([&] { return next_row<T>(patience); },
                                          [&](const Complex* x) { take_row(x, progress); });
    } else {
      std::vector<Complex> in(job_.is_root() ? plan_.length : 0);
      std::vector<T> out(job_.is_root() && plan_.real_out != 0 ? plan_.length : 0);
      run.template operator()<Complex, Complex>([&] { return next_as_complex(in, patience); },
                                                [&](const Complex* x) {
                                                  if (plan_.real_out == 0) return take_row(x, progress);
                                                  std::transform(x, x + plan_.length, out.begin(),
                                                                 [](const Complex& z) { return z.real(); });
                                                  take_row(out.data(), progress);
                                                });
    }
    times_ = stream.times();
  }

  /// Rows one after another in memory.
  template <typename Sample>
  struct Run {
    fft::Offer<Sample> offer;  // of the first
    std::size_t rows = 0;
  };

  /// At the root: the next rows of the input, at least one if there is any, be they in memory or read now. What there is of an
  /// input that cannot be read to its end counts all the same: it may have taken days to come.
  /// @param most  no more rows than so many
  template <typename Sample>
  Run<Sample> next_run(std::chrono::milliseconds patience, std::size_t most) {
    using Offer = fft::Offer<Sample>;
    if (job_.stop()->asked() || read_failure_) return {Offer::end()};
    if (plan_.row_by_row == 0) {
      const std::uint64_t rows = std::min<std::uint64_t>(most, plan_.rows - given_);
      if (rows == 0) return {Offer::end()};
      const Sample* const first = at(samples_of<Sample>(in_), given_ * row_in());
      given_ += rows;
      return {Offer::of(first, true), rows};
    }
    typename RowReader<Sample>::Next next;
    try {
      next = rows_of<Sample>().next(patience, most);
    } catch (const io::DataError&) {
      read_failure_ = std::current_exception();
    }
    if (next.state == RowReader<Sample>::State::later) return {Offer::later()};
    if (next.state == RowReader<Sample>::State::end) {
      input_ended_ = true;
      return {Offer::end()};
    }
    given_ += next.count;
    return {Offer::of(next.row), next.count};
  }

  template <typename Sample>
  fft::Offer<Sample> next_row(std::chrono::milliseconds patience) {
    const fft::Offer<Sample> offer = next_run<Sample>(patience, 1).offer;
    // To compare with.
    if (plan_.row_by_row != 0 && offer.vector != nullptr && samples_of<Sample>(in_).empty()) {
      samples_of<Sample>(in_).assign(offer.vector, offer.vector + row_in());
    }
    return offer;
  }

  fft::Offer<Complex> next_as_complex(std::vector<Complex>& room, std::chrono::milliseconds patience) {
    const auto convert = [&](const auto& offer) {
      using Offer = fft::Offer<Complex>;
      if (offer.vector == nullptr) return Offer{static_cast<typename Offer::Kind>(offer.kind)};
      const Complex* const row = as_complex(offer.vector, room);
      return Offer::of(row, offer.lasting && row != room.data());
    };
    return plan_.real_in != 0 ? convert(next_row<T>(patience)) : convert(next_row<Complex>(patience));
  }

  template <typename Sample>
  void take_row(const Sample* row, Progress& progress) {
    if (plan_.row_by_row != 0) {
      files_of<Sample>().write(row);
    } else {
      std::copy_n(row, row_out(), at(samples_of<Sample>(out_), done_ * row_out()));
    }
    ++done_;
    progress.show(done_, plan_.rows == kUnknownRows ? 0 : plan_.rows);
  }

  /// At the root, when no more rows will be done.
  void end_rows() {
    const bool unknown = plan_.rows == kUnknownRows;
    const StopRequest& stop = *job_.stop();
    if (stop.asked() && !input_ended_ && done_ != plan_.rows) {
      stopped_ = stop.exit_code();
      const std::string after = done_ == 0 ? "before the first vector was done"
                                           : fmt::format("after {}{} vectors", done_,
                                                         unknown ? "" : fmt::format(" of {}", plan_.rows));
      tell("papfft: stopped by {} {}; {}\n", stop.name(), after,
           options_.resume ? "--resume goes on from there"
           : done_ == 0    ? "there is no output"
                           : "the output holds these");
    } else if (read_failure_ && done_ > 0) {
      tell("papfft: note: the input could not be read to its end; {}\n",
           options_.resume ? fmt::format("{} vectors are kept for --resume", done_)
                           : fmt::format("the output holds the {} vectors before", done_));
    }
    plan_.rows = done_;
    if (plan_.row_by_row == 0) {
      if (!options_.distributed()) (plan_.real_out != 0 ? resize(out_.real) : resize(out_.complex));
      return;
    }
    std::uint64_t left_over = 0;
    if (real_rows_) {
      report_.non_finite = real_rows_->non_finite();
      left_over = real_rows_->left_over().size();
    } else {
      report_.non_finite = complex_rows_->non_finite();
      left_over = complex_rows_->left_over().size();
    }
    say_non_finite(report_.non_finite, options_.io.name());
    if (left_over > 0 && stopped_ == kOk && !read_failure_) {
      tell("papfft: note: the last {} samples of {} are no whole vector, and were left out\n", left_over,
           options_.io.name());
    }
    if (done_ > 0 || stopped_ != kOk) return;
    if (read_failure_) std::rethrow_exception(read_failure_);
    throw io::DataError(options_.io.name(), "holds no whole vector");
  }

  template <typename Sample>
  void resize(std::vector<Sample>& rows) {
    rows.resize(plan_.rows * row_out());
  }

  template <typename Sample>
  static auto& samples_of(Samples<T>& samples) {
    if constexpr (std::is_same_v<Sample, T>) {
      return samples.real;
    } else {
      return samples.complex;
    }
  }
  template <typename Sample>
  RowReader<Sample>& rows_of() {
    if constexpr (std::is_same_v<Sample, T>) {
      return *real_rows_;
    } else {
      return *complex_rows_;
    }
  }
  template <typename Sample>
  io::RowFiles<Sample>& files_of() {
    if constexpr (std::is_same_v<Sample, T>) {
      return *real_files_;
    } else {
      return *complex_files_;
    }
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

  /// A vector by a complex transform of the same length, whatever comes in and goes out.
  template <typename Execute>
  void through_complex(Execute execute) {
    if (plan_.real_in == 0 && plan_.real_out == 0) {
      execute(in_.complex.data(), out_.complex.data());
      return;
    }
    std::vector<Complex> in(job_.is_root() ? plan_.length : 0);
    std::vector<Complex> out(in.size());
    const Complex* row = nullptr;
    if (job_.is_root()) {
      row = plan_.real_in != 0 ? as_complex(in_.real.data(), in) : as_complex(in_.complex.data(), in);
    }
    execute(row, out.data());
    if (job_.is_root()) take_complex(out.data());
  }

  /// At the root. @param room  for what must be made complex
  const Complex* as_complex(const T* samples, std::vector<Complex>& room) {
    std::copy_n(samples, plan_.length, room.begin());
    return room.data();
  }

  const Complex* as_complex(const Complex* row, std::vector<Complex>& room) {
    if (plan_.real_out == 0) return row;
    // The other half of the spectrum is the conjugate of this one.
    std::copy_n(row, bins(), room.begin());
    for (std::uint64_t k = bins(); k < plan_.length; ++k) room[k] = std::conj(row[plan_.length - k]);
    room[0] = room[0].real();
    if (plan_.length % 2 == 0) room[bins() - 1] = room[bins() - 1].real();
    return room.data();
  }

  void take_complex(const Complex* result) {
    if (plan_.real_out == 0) {
      std::copy_n(result, row_out(), out_.complex.data());
    } else {
      std::transform(result, result + plan_.length, out_.real.data(),
                     [](const Complex& z) { return z.real(); });
    }
  }

  /// Calls work.operator()<In, Out>() with the kinds of samples that come in and go out of one process.
  template <typename Work>
  void by_kind(const Work& work) {
    if (plan_.real_in != 0) {
      work.template operator()<T, Complex>();
    } else if (plan_.real_out != 0) {
      work.template operator()<Complex, T>();
    } else {
      work.template operator()<Complex, Complex>();
    }
  }

  /// The root on its own, with all cores of its host. Short vectors go many at a time, unless each has a delay of its own.
  template <typename In, typename Out>
  void compute_alone(Progress& progress, ComputeWatch& watch) {
    const OneProcess<In, Out> one = one_process<In, Out>();
    const std::size_t most = options_.job.arrivals.delays() ? 1 : RowReader<In>::longest_run(row_in());
    std::optional<RowWriter<Out>> writer;
    if (plan_.row_by_row != 0) writer.emplace(files_of<Out>(), row_out(), most);
    while (true) {
      const Run<In> in = next_run<In>(kPatience, most);
      if (in.offer.kind == fft::Offer<In>::Kind::later) continue;
      if (in.offer.vector == nullptr) break;
      Out* const out = writer ? writer->room() : at(samples_of<Out>(out_), done_ * row_out());
      watch.compute_begins();
      one(in.offer.vector, out, in.rows);
      watch.compute_ends();
      if (writer) writer->pass(in.rows);
      done_ += in.rows;
      progress.show(done_, plan_.rows == kUnknownRows ? 0 : plan_.rows);
    }
    if (writer) writer->finish();
  }

  /// Transforms so many rows, one after another in memory.
  template <typename In, typename Out>
  using OneProcess = std::function<void(const In* in, Out* out, std::size_t rows)>;

  /// By this process alone; also what --stats compares with.
  template <typename In, typename Out>
  OneProcess<In, Out> one_process() {
    const T scale = options_.inverse ? T(1) / static_cast<T>(plan_.length) : T(1);
    const bool by_fftw = options_.fftw_kernels;
    if constexpr (std::is_same_v<In, Out>) {
      const auto kernel =
          fft::pieces_of(plan_.length) > 1 ? fft::LocalKernel::pieces : fft::LocalKernel::fftw;
      const auto fft =
          by_fftw ? std::make_shared<fft::LocalFft<T>>(plan_.length, direction(), kernel, fft::Rigor::tuned)
                  : std::make_shared<fft::LocalFft<T>>(plan_.length, direction(), fft::Rigor::tuned);
      local_kernel_ = fft->kernel();
      return [this, fft, scale](const Complex* in, Complex* out, std::size_t rows) {
        fft->execute(in, out, rows);
        if (options_.inverse) std::for_each(out, out + rows * plan_.length, [&](Complex& x) { x *= scale; });
      };
    } else {
      const auto fft =
          by_fftw ? std::make_shared<fft::RealFft<T>>(plan_.length, fft::LocalKernel::fftw, fft::Rigor::tuned)
                  : std::make_shared<fft::RealFft<T>>(plan_.length, fft::Rigor::tuned);
      local_kernel_ = fft->kernel();
      return [this, fft, scale](const In* in, Out* out, std::size_t rows) {
        if constexpr (std::is_same_v<In, T>) {
          fft->forward(in, out, rows);
        } else {
          fft->inverse(in, out, rows);
          std::for_each(out, out + rows * plan_.length, [&](T& x) { x *= scale; });
        }
      };
    }
  }

  void finish_report(double compute_s) {
    report_.command = "transform";
    report_.ranks = job_.size();
    report_.threads = omp_get_max_threads();
    const bool real = plan_.real_in != 0 || plan_.real_out != 0;
    const char* engine = kEngines[static_cast<int>(plan_.engine)];
    const bool split = plan_.engine == Engine::dif || plan_.engine == Engine::stream;
    const std::string how = fmt::format(
        "{} ({}){}", engine, why_,
        split ? fmt::format(", scatter {}, gather {}", options_.job.scatter, options_.job.gather)
        : plan_.engine == Engine::alone ? fmt::format(", kernel {}", fft::to_string(local_kernel_))
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
    if (plan_.engine == Engine::alone) return;
    auto& phases = report_.phases_s;
    phases.emplace_back("split", times_.split_s);
    phases.emplace_back("scatter", times_.scatter_s);
    phases.emplace_back("compute", compute_s);
    if (!options_.distributed()) {
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
      if (options_.distributed()) make_room_for_one();
      if (plan_.row_by_row != 0 && in_.real.empty() && in_.complex.empty()) return;
      by_kind([&]<typename In, typename Out>() {
        const OneProcess<In, Out> one = one_process<In, Out>();
        const double least_s =
            least_seconds([&] { one(samples_of<In>(in_).data(), samples_of<Out>(out_).data(), 1); });
        report_.single_process_s = least_s * static_cast<double>(plan_.rows);
      });
      out_ = kept;
    }
  }

  void write() {
    timed(report_, "write", [&] {
      if (plan_.row_by_row != 0) return write_rows();
      for (const std::string& path : options_.io.out) {
        if (plan_.real_out != 0) {
          write_as<T>(path, out_.real);
        } else {
          write_as<Complex>(path, out_.complex);
        }
      }
    });
    report_.deliver(options_.job, options_.io.out);
  }

  void write_rows() {
    const auto finish = [&](auto& files) {
      if ((stopped_ != kOk || read_failure_) && options_.resume) {
        files.flush();
      } else {
        files.finish();
      }
    };
    real_files_ ? finish(*real_files_) : finish(*complex_files_);
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
  CoreSet host_cores_ = CoreSet::of_this_thread();
  std::optional<RunOn> alone_on_;  // at the root
  std::string why_;                // this engine
  int stopped_ = kOk;              // the exit code, if a signal has ended the job
  fft::PhaseTimes times_;
  std::vector<Complex> kept_;  ///< with --leave-distributed: this rank's blocks of all rows
  fft::LocalKernel local_kernel_ = fft::LocalKernel::fftw;
  // Everything, or, row by row, one row for comparisons.
  Samples<T> in_;
  Samples<T> out_;
  std::uint64_t given_ = 0;  // rows
  std::uint64_t done_ = 0;
  bool is_one_by_one_ = false;  // vectors are given and taken so
  std::optional<StopRequest::Orderly> orderly_;
  bool input_ended_ = false;
  std::exception_ptr read_failure_;
  std::unique_ptr<RowReader<T>> real_rows_;
  std::unique_ptr<RowReader<Complex>> complex_rows_;
  std::unique_ptr<io::RowFiles<T>> real_files_;
  std::unique_ptr<io::RowFiles<Complex>> complex_files_;
};

void check_distributed(const TransformOptions& options) {
  const std::string flag = options.everywhere ? "--everywhere" : "--leave-distributed";
  if (options.engine != "auto" && options.engine != "dif") {
    throw UsageError(flag + " is for engine dif, by which each rank has a share of every vector");
  }
  for (const std::string& path : options.io.out) {
    if (path == "-" || path.starts_with("/dev/") || io::is_picture(path)) {
      throw UsageError(
          fmt::format("{}: {} writes a file per rank; what would work: -o spectrum.npy", path, flag));
    }
    if (options.job.json == path_of_index(path)) {
      throw UsageError("--json " + options.job.json + " is where " + flag + " says which file holds what");
    }
  }
}

/// The engine was called fftw once, after the kernels that it then took.
void accept_old_name(TransformOptions& options) {
  if (options.engine != "fftw") return;
  options.engine = "alone";
  options.fftw_kernels = true;
  if (launched_rank() == 0 && !options.job.quiet) {
    tell(
        "papfft: note: --engine fftw is called alone now, and only the old name insists on FFTW's kernels\n");
  }
}

int run_transform(TransformOptions& options) {
  accept_old_name(options);
  if (options.engine != "auto" && std::ranges::find(kEngines, options.engine) == std::end(kEngines)) {
    throw UsageError("no engine '" + options.engine + "'; known: auto, dif, stream, farm, alone");
  }
  if (options.full && (options.inverse || options.real))
    throw UsageError("--full is for forward transforms without --real");
  if (options.distributed()) check_distributed(options);
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
      ->check(positive_number());
  command->add_flag("--batch", options->batch,
                    "the input is many vectors of --length N samples, one after another; with .npy and raw "
                    "outputs they are "
                    "read and written as they are worked on: it may be endless");
  command->add_flag("--resume", options->resume,
                    "a batch that was stopped goes on where it was, with the same input (of a pipe: from its "
                    "beginning): what "
                    "is done is kept in OUT.partial, with OUT.journal");
  command->add_flag(
      "--leave-distributed", options->leave_distributed,
      "results stay with the ranks: of OUT.npy, rank r of P writes elements r, r+P, r+2P, ... to "
      "OUT.rankr.npy on its own host, and rank 0 writes OUT.index.json");
  command
      ->add_flag("--everywhere", options->everywhere,
                 "every rank gets the whole result (by an allgatherv) and writes it to OUT.rankr.npy on its "
                 "own host")
      ->excludes("--leave-distributed");
  command
      ->add_option(
          "--engine", options->engine,
          "auto, dif (each vector shared by all ranks), stream (the same, several vectors under way), farm "
          "(whole vectors to whoever is free) or alone (rank 0 by itself)")
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
      "Batches over TCP: mpirun --mca btl_tcp_sndbuf 262144 keeps the way back from waiting behind the way "
      "out.\n"
      "SIGUSR1, SIGINT and SIGTERM, to any rank, stop a batch in good order: the vectors under way are\n"
      "finished and written; a second SIGINT or SIGTERM ends the job at once. Before the first vector, and\n"
      "where there is no batch, they end the job, and there is no output. mpirun kills its ranks 1 s after\n"
      "SIGINT and SIGTERM (10 s: --mca odls_base_sigkill_timeout 10); SIGUSR1 it only passes on.\n"
      "An input that cannot be read to its end leaves what came before, too, with exit code 65.\n"
      "Exit codes: 0 ok, 64 usage, 65 bad data, 70 internal, 73 cannot write, 74 communication, 75 stopped "
      "by SIGUSR1, 130 by SIGINT, 143 by SIGTERM.");
  command->callback([&action, options] { action = [options] { return run_transform(*options); }; });
}

}  // namespace papfft::app
