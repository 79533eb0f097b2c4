// SPDX-License-Identifier: MIT
// papfft transform: the spectra of a recording or of many vectors, shared by all ranks.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "app/cli/command.hpp"
#include "app/cli/tell.hpp"
#include "app/jobs/array_transform.hpp"
#include "app/jobs/batch_journal.hpp"
#include "app/jobs/distributed_run.hpp"
#include "app/jobs/early_end.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/jobs/slices_run.hpp"
#include "app/jobs/transform_engines.hpp"
#include "app/jobs/transform_output.hpp"
#include "app/jobs/transform_plan.hpp"
#include "app/run/cores.hpp"
#include "app/run/machine.hpp"
#include "app/run/memory.hpp"

namespace papfft::app {

namespace {

/// Cuts or pads each row.
template <typename Sample>
std::vector<Sample> resized(std::vector<Sample> samples, std::uint64_t rows, std::uint64_t have,
                            std::uint64_t want) {
  if (want == have) return samples;
  std::vector<Sample> result(rows * want);
  for (std::uint64_t r = 0; r < rows; ++r) {
    std::copy_n(samples.data() + r * have, std::min(have, want), result.data() + r * want);
  }
  return result;
}

/// N, of vectors that have so many elements in the input.
std::uint64_t length_of(std::uint64_t have, bool is_half_spectrum) {
  return is_half_spectrum ? std::max<std::uint64_t>(1, 2 * (have - 1)) : have;
}

/// Vectors of samples of one kind, from the input to the outputs.
template <typename In, typename Out>
class Transform {
 public:
  using Shape = TransformShape<In, Out>;

  /// @param input  nullptr elsewhere than at the root. @param started  ranks, of which some may have nothing to do
  Transform(Job& job, const TransformOptions& options, std::shared_ptr<io::Source> input, int started)
      : job_(job), options_(options), input_(std::move(input)), started_(started) {
    report_.recorder = job.recorder();
  }

  /// Collective.
  void run() {
    host_cores_ = cores_of_host(job_);
    // Where hosts have different numbers of ranks, their ranks have different numbers of threads.
    least_threads_ = -static_cast<int>(largest_at_root(job_, -omp_get_max_threads(), options_.job.reduce));
    job_.at_root([&] { prepare(); });
    plan_ = job_.from_root(plan_);
    if (plan_.engine == Engine::slices && !slices()) {
      job_.at_root([&] {
        slices_refused_ = true;
        prepare();
      });
      plan_ = job_.from_root(plan_);
    }
    if (plan_.engine == Engine::slices) return;
    const bool one_by_one = options_.distributed() || plan_.row_by_row != 0 || plan_.engine != Engine::alone;
    if (plan_.many() && one_by_one) {
      orderly_.emplace(*job_.stop(), nullptr, [this] { return keep_at_last(); });
    }
    options_.distributed() ? leave_distributed() : to_root();
    early_.rethrow(job_);
  }

 private:
  void prepare() {
    const io::SignalInfo& info = input_->info();
    plan_.rate_hz = info.sample_rate_hz;
    plan_.matrix = info.two_dimensional || options_.batch ? 1 : 0;
    const bool cuts = options_.batch && info.rows == 1;
    if (cuts && options_.length == 0) throw UsageError("--batch needs --length: how long each vector is");
    if (options_.batch && !cuts) say_rows_are_vectors(info);
    if (takes_slices(info, cuts)) return;
    const std::uint64_t stored = Shape::in(options_.length);
    if (info.rows > 1 && options_.length > 0 && stored != info.length) {
      input_ = io::resize_rows(std::move(input_), stored);
    }
    load(input_->info(), cuts);
    if (sink_) sink_->scale_by(norm_factor(options_, plan_.length));
    if (options_.job.compares_with_one_process()) source_->keep_first();
  }

  /// Makes source and sink, for the engine that is chosen. @param cuts  the input is one row, to be cut into vectors
  void load(const io::SignalInfo& info, bool cuts) {
    if (can_stream(info, cuts)) {
      plan_.row_by_row = 1;
      plan_.length = cuts || options_.length > 0 ? options_.length : default_length(*info.length);
      plan_.rows = cuts ? kUnknownRows : info.rows;
      if (const auto total = input_->sample_count(); cuts && total) plan_.rows = whole_rows(*total);
      choose();
      stream_rows();  // by a thread that has the cores chosen before
    } else {
      if (options_.resume) {
        throw UsageError(
            "--resume is for many vectors (--batch with --length, or the rows of a .npy file) whose results "
            "rank 0 writes to .npy or raw files");
      }
      check_memory(info, cuts);
      std::vector<In> samples = read_samples<In>(*input_, report_);
      const std::uint64_t have = shape_rows(info.rows, samples.size(), cuts);
      const std::uint64_t want = Shape::in(plan_.length);
      samples = resized(std::move(samples), plan_.rows, have, want);
      choose();
      keep_in_memory(std::move(samples), want);
    }
  }

  /// @param samples  of all vectors, each with so many
  void keep_in_memory(std::vector<In> samples, std::uint64_t want) {
    if constexpr (std::is_same_v<In, Out>) {
      if (plan_.engine == Engine::alone) {  // which transforms in place
        sink_.emplace(want, std::move(samples));
        source_.emplace(std::span<const In>(sink_->samples()), want, asked_to_stop());
        return;
      }
    }
    source_.emplace(std::move(samples), want, asked_to_stop());
    if (!options_.distributed()) sink_.emplace(Shape::out(plan_.length), plan_.rows);
  }

  /// A file from which anybody who sees it can read any samples, of a length that is not merely claimed.
  [[nodiscard]] static bool is_seekable(const io::SignalInfo& info) {
    return info.any_order && info.length.has_value() && !info.is_sound;
  }

  /// What is to be done with a seekable input.
  [[nodiscard]] TransformPlan plan_of(const io::SignalInfo& info, bool cuts) const {
    TransformPlan plan = plan_;
    plan.stored = cuts ? Shape::in(options_.length) : *info.length;
    plan.length = options_.length > 0 ? options_.length : default_length(plan.stored);
    plan.rows = cuts ? whole_rows(*input_->sample_count()) : info.rows;
    return plan;
  }

  /// Whether each rank shall read its part of the input itself; then the plan is made for that.
  [[nodiscard]] bool takes_slices(const io::SignalInfo& info, bool cuts) {
    if (slices_refused_ || (!options_.asks_for_slices() && !is_seekable(info))) return false;
    if (!is_seekable(info)) {
      throw UsageError(fmt::format("{}: not every rank can read its part by itself; what would work: {}",
                                   input_->name(), way_without_slices(options_)));
    }
    const TransformPlan plan = plan_of(info, cuts);
    if (options_.asks_for_slices()) {
      check_slices(options_, plan, job_.size(), input_->name());
      why_ = "as asked";
    } else {
      const auto why = why_slices(options_, plan, shared_work(plan),
                                  {.vector_bytes = plan.length * sizeof(In),
                                   .root_bytes = root_bytes(plan),
                                   .available_bytes = available_memory_bytes(job_.comm().ranks_on_host())});
      if (!why) return false;
      why_ = *why;
    }
    plan_ = plan;
    plan_.engine = Engine::slices;
    plan_.split_real = can_share_real(shared_work(plan)) ? 1 : 0;
    return true;
  }

  /// What rank 0 needs for vectors in memory, about: the samples, the results, and the work space of its transform; or all blocks, and its
  /// own with work space.
  [[nodiscard]] std::uint64_t root_bytes(const TransformPlan& plan) const {
    constexpr bool kComplex = std::is_same_v<In, Out>;
    const auto ranks = static_cast<std::uint64_t>(job_.size());
    const bool alone = ranks == 1 || options_.engine == "alone";
    const std::uint64_t in = plan.rows * std::max(plan.stored, Shape::in(plan.length)) * sizeof(In);
    const std::uint64_t out = plan.rows * Shape::out(plan.length) * sizeof(Out);
    const std::uint64_t work = plan.length * sizeof(typename Shape::Complex) / (kComplex ? 1 : 2);
    // Our own kernels hold the half-length transform apart, and roots of both directions.
    const std::uint64_t apart = alone && !kComplex && std::has_single_bit(plan.length) ? 2 * work : 0;
    return in + (alone && kComplex ? 0 : out) + work + apart + (alone ? 0 : 2 * work / ranks);
  }

  /// @throws MemoryError  the input does not fit into this rank's memory
  void check_memory(const io::SignalInfo& info, bool cuts) const {
    if (!is_seekable(info)) return;
    const TransformPlan plan = plan_of(info, cuts);
    const std::uint64_t need = root_bytes(plan);
    const std::uint64_t there = available_memory_bytes(job_.comm().ranks_on_host());
    if (need <= there) return;
    using Real = typename Shape::Real;
    throw MemoryError(fmt::format("{}: rank 0 needs {} of memory, and {} is there; what would work: {}{}",
                                  input_->name(), memory_text(need), memory_text(there),
                                  enough_ranks<Real>(plan.length, there), precision_hint<Real>()));
  }

  /// Whether vectors can be read and written as they are worked on.
  [[nodiscard]] bool can_stream(const io::SignalInfo& info, bool cuts) const {
    if (!io::RowFiles<Out>::can_grow(options_.io.out) || (options_.distributed() && options_.resume)) {
      return false;
    }
    if (cuts) return info.length != 0;
    return info.rows > 1;
  }

  void say_rows_are_vectors(const io::SignalInfo& info) const {
    const std::uint64_t want = Shape::in(options_.length);
    const bool changes = options_.length > 0 && want != info.length;
    if (options_.job.quiet) return;
    tell("papfft: note: {} has rows of its own: these are the vectors{}\n", input_->name(),
         !changes ? ""
                  : fmt::format(", each {} to {} samples", want < info.length ? "cut" : "padded with zeros",
                                want));
  }

  /// N, of vectors that come in with so many samples.
  [[nodiscard]] static std::uint64_t default_length(std::uint64_t have) {
    return length_of(have, Shape::kRealOut);
  }

  /// How many vectors a batch is. @throws UsageError  there is a rest
  [[nodiscard]] std::uint64_t whole_rows(std::uint64_t total) const {
    const std::uint64_t length = Shape::in(options_.length);
    if (total % length == 0) return total / length;
    throw UsageError(fmt::format("{}: {} samples are {} vectors of {} and {} more; a --length that works: {}",
                                 input_->name(), total, total / length, length, total % length,
                                 std::gcd(total, length)));
  }

  /// Of samples in memory. @return how many of them each vector has
  [[nodiscard]] std::uint64_t shape_rows(std::uint64_t rows, std::uint64_t total, bool cuts) {
    if (options_.length > kMostSamples / rows) {
      throw UsageError(fmt::format("--length {}: more samples than any memory holds", options_.length));
    }
    plan_.length = options_.length > 0 ? options_.length : default_length(total / rows);
    plan_.rows = cuts ? whole_rows(total) : rows;
    for (const std::string& path : options_.io.out) {
      if (plan_.rows > 1 && io::is_picture(path)) {
        throw io::UnsuitableOutput(path,
                                   fmt::format("a picture shows one vector, and there are {}", plan_.rows));
      }
    }
    return total / plan_.rows;
  }

  [[nodiscard]] fft::SharedWork shared_work(const TransformPlan& plan) const {
    return {.length = plan.length,
            .vectors = plan.known_rows(),
            .real = !std::is_same_v<In, Out>,
            .sample_bytes = sizeof(typename Shape::Real),
            .ranks_per_host = host_layout(job_).ranks_per_host(),  // the root is on the first
            .threads = least_threads_,
            .root_threads = options_.job.threads_on(host_cores_.count()),
            .link = job_.comm().options().link};
  }

  void choose() {
    const int threads_alone = options_.job.threads_on(host_cores_.count());
    const EngineChoice choice = choose_engine(options_, plan_, shared_work(plan_), input_->name());
    plan_.engine = choice.engine;
    plan_.split_real = choice.split_real ? 1 : 0;
    why_ = choice.why;
    if (plan_.engine == Engine::alone) {  // the others sleep
      alone_on_.emplace(host_cores_);
      omp_set_num_threads(threads_alone);
    }
  }

  [[nodiscard]] typename VectorSource<In>::Stop asked_to_stop() const {
    return [stop = job_.stop()] { return stop->asked(); };
  }

  /// Opens the files that grow, and begins to read where they end.
  void stream_rows() {
    if (!options_.distributed()) {
      const auto rows = plan_.rows == kUnknownRows ? std::nullopt : std::optional(plan_.rows);
      const auto journal = options_.resume
                               ? std::optional(batch_journal(options_, plan_, job_.size(), *input_))
                               : std::nullopt;
      sink_.emplace(Shape::out(plan_.length), std::make_unique<io::RowFiles<Out>>(
                                                  options_.io.out, Shape::out(plan_.length), rows, journal));
      if (sink_->done() > 0 && !options_.job.quiet) {
        const auto& otherwise = sink_->files()->made_otherwise();
        tell("papfft: note: {} vectors are there already{}\n", sink_->done(),
             otherwise
                 ? fmt::format("; they were transformed {}, so that their last bits may differ from one "
                               "run's",
                               *otherwise)
                 : "");
      }
    }
    source_.emplace(input_, Shape::in(plan_.length), sink_ ? sink_->done() : 0, asked_to_stop());
  }

  /// Collective. @return whether all ranks can read the input and write the output; if not, and nobody asked for it, nothing is done
  [[nodiscard]] bool slices() {
    SlicesRun<In, Out> run(job_, options_, plan_, input_, report_);
    if (!run.open(job_.from_root(options_.asks_for_slices()))) return false;
    run.run();
    const double compute_s = largest_at_root(job_, run.times().compute_s, options_.job.reduce);
    const std::uint64_t non_finite = run.non_finite();
    job_.comm().template reduce<std::uint64_t>(std::span(&non_finite, 1),
                                               std::span(&report_.non_finite, job_.is_root() ? 1 : 0),
                                               std::plus<>(), 0, options_.job.reduce);
    job_.at_root([&] {
      say_non_finite(report_.non_finite, options_.io.name());
      describe(run.times(), compute_s);
      report_.summary += fmt::format(", kernel {}", fft::to_string(run.kernel()));
      report_.phases_s = run.phases();
      report_.deliver(options_.job, options_.io.out);
    });
    return true;
  }

  /// All results come to the root.
  void to_root() {
    EngineRun<In, Out> engine(job_, options_, plan_, source_ ? &*source_ : nullptr, sink_ ? &*sink_ : nullptr,
                              report_);
    engine.run();
    end_good_order();
    const double compute_s = largest_at_root(job_, engine.times().compute_s, options_.job.reduce);
    job_.at_root([&] {
      end_input(sink_->done());
      if (plan_.rows == 0) return;  // stopped before the first was done
      describe(engine.times(), compute_s);
      if (plan_.engine == Engine::alone) {
        report_.summary += fmt::format(", kernel {}", fft::to_string(engine.kernel()));
      } else {
        compare_with_one_process();
      }
      timed(report_, "write", [&] {
        sink_->finish(early_.is_early() && options_.resume);
        if (plan_.row_by_row != 0) return;
        for (const std::string& path : options_.io.out) write(path);
      });
      report_.deliver(options_.job, options_.io.out);
    });
  }

  void leave_distributed() {
    DistributedRun<In, Out> run(job_, options_, plan_, source_ ? &*source_ : nullptr, report_);
    run.run();
    end_good_order();
    const double compute_s = largest_at_root(job_, run.times().compute_s, options_.job.reduce);
    job_.at_root([&] {
      end_input(run.done());
      if (plan_.rows == 0) return;
      describe(run.times(), compute_s);
      compare_with_one_process();
    });
    if (run.done() > 0) run.leave();
  }

  /// By another thread, at the root: the launcher is about to kill the job. @return whether there was something to be kept
  [[nodiscard]] bool keep_at_last() {
    try {
      if (!sink_ || !sink_->finish_from_outside(options_.resume)) return false;
    } catch (const io::OutputError& e) {
      tell("papfft: {}\n", e.what());
      return false;
    }
    tell("papfft: {}ended by {} with vectors under way; {}\n", job_.stop()->note(), job_.stop()->name(),
         EarlyEnd::kept_text(
             {.count = sink_->done(),
              .kept = options_.resume ? EarlyEnd::Kept::for_resume : EarlyEnd::Kept::in_output}));
    return true;
  }

  /// What is in memory is written as a whole: a signal ends the job from now on.
  void end_good_order() {
    if (plan_.row_by_row == 0 && !job_.stop()->asked()) orderly_.reset();
  }

  /// At the root, when no more vectors will be done.
  void end_input(std::uint64_t done) {
    EarlyEnd::Done so_far{.count = done, .of = plan_.known_rows()};
    if (options_.resume) so_far.kept = EarlyEnd::Kept::for_resume;
    early_.failed(source_->failure());
    if (job_.stop()->asked() && !source_->ended() && done != plan_.rows) {
      early_.say_stopped(*job_.stop(), so_far);
    } else if (early_.has_failed()) {
      early_.say_failed(so_far);
    }
    plan_.rows = done;
    if (plan_.row_by_row == 0) return;
    report_.non_finite = source_->non_finite();
    say_non_finite(report_.non_finite, options_.io.name());
    if (const std::uint64_t rest = source_->left_over(); rest > 0 && !early_.is_early()) {
      tell("papfft: note: the last {} samples of {} are no whole vector, and were left out\n", rest,
           options_.io.name());
    }
    if (done > 0 || early_.is_stopped()) return;
    if (early_.has_failed()) std::rethrow_exception(early_.failure());
    throw io::DataError(options_.io.name(), "holds no whole vector");
  }

  void describe(const fft::PhaseTimes& times, double compute_s) {
    report_.begin("transform", job_);
    const char* const engine = to_string(plan_.engine);
    const bool real = !std::is_same_v<In, Out>;
    const bool shares = plan_.engine == Engine::dif || plan_.engine == Engine::stream;
    report_.summary = fmt::format(
        "{} transform of {} of {} samples, {} precision, {}: {} ({}){}",
        options_.inverse ? "inverse" : "forward",
        counted(plan_.rows, real ? "real vector" : "complex vector"), plan_.length, options_.io.precision,
        report_.who(), engine, why_ + idle_text(),
        shares ? fmt::format(", scatter {}, gather {}", options_.job.scatter, options_.job.gather) : "");
    report_.settings = {{"length", plan_.length},
                        {"rows", plan_.rows},
                        {"real", real},
                        {"inverse", options_.inverse},
                        {"precision", options_.io.precision},
                        {"engine", engine},
                        {"engine_because", why_ + idle_text()},
                        {"scatter", options_.job.scatter},
                        {"gather", options_.job.gather}};
    if (plan_.engine == Engine::alone) return;
    report_.bytes_out = times.bytes_scattered;
    report_.bytes_back = times.bytes_gathered;
    if (plan_.engine == Engine::slices) return;
    auto& phases = report_.phases_s;
    phases.emplace_back("split", times.split_s);
    phases.emplace_back("scatter", times.scatter_s);
    phases.emplace_back("compute", compute_s);
    if (!options_.distributed()) {
      phases.emplace_back("gather", times.gather_s);
      phases.emplace_back("assemble", times.assemble_s);
    }
    report_.shared_work_s = times.split_s + compute_s + times.assemble_s;
  }

  /// Why some ranks have nothing to do; empty: all have.
  [[nodiscard]] std::string idle_text() const {
    if (job_.size() == started_) return "";
    return fmt::format("; {} of {} ranks share it, as {} do not divide {} samples", job_.size(), started_,
                       started_, plan_.length);
  }

  void compare_with_one_process() {
    if (!options_.job.compares_with_one_process() || source_->first() == nullptr) return;
    OneProcess<In, Out> transform(options_, plan_.length);
    std::vector<Out> result(Shape::out(plan_.length));
    const double least_s = least_seconds([&] { transform(source_->first(), result.data(), 1); });
    report_.single_process_s = least_s * static_cast<double>(plan_.rows);
  }

  void write(const std::string& path) const {
    const std::span<const Out> all(sink_->samples());
    if (io::is_picture(path)) {
      draw_result(path, options_, plan_, drawn_values(all, options_.inverse), !Shape::kRealIn);
      return;
    }
    const auto rows = plan_.matrix != 0 ? std::optional<std::size_t>(plan_.rows) : std::nullopt;
    io::write_numbers(path, all, rows, axis_name(options_, plan_),
                      [&] { return axis_values(options_, plan_, Shape::out(plan_.length)); });
  }

  Job& job_;
  const TransformOptions& options_;
  std::shared_ptr<io::Source> input_;
  int started_;
  TransformPlan plan_;
  RunReport report_;
  CoreSet host_cores_ = CoreSet::of_this_thread();
  int least_threads_ = 1;          // of any rank; at the root
  std::optional<RunOn> alone_on_;  // at the root
  std::string why_;                // this engine
  bool slices_refused_ = false;    // a rank cannot read the input, or write the output
  EarlyEnd early_;
  std::optional<StopRequest::Orderly> orderly_;
  std::optional<VectorSource<In>> source_;  // at the root, as the sink
  std::optional<VectorSink<Out>> sink_;
};

/// Opens the input, and transforms it as the kind of its samples wants.
template <typename T>
class TransformJob {
 public:
  TransformJob(Job& job, const TransformOptions& options) : job_(job), options_(options) {}

  void run() {
    using Complex = std::complex<T>;
    std::shared_ptr<io::Source> input;
    std::int32_t real_in = 0;
    std::int32_t is_array = 0;
    std::int32_t ranks = job_.size();
    job_.at_root([&] {
      input = open_checked(options_.io, options_.job, job_.size());
      if (options_.file_per_rank()) check_files_of_ranks();
      const bool is_complex = input->info().is_complex;
      if (options_.real && !options_.inverse && is_complex) {
        throw UsageError(input->name() + ": --real, but the samples are complex");
      }
      real_in = !options_.inverse && !is_complex && !options_.full ? 1 : 0;
      is_array = is_array_transform(options_, input->info()) ? 1 : 0;
      if (is_array != 0) check_array_transform(options_, input->name());
      const bool real_out = options_.inverse && options_.real;
      ranks = sharing_ranks(options_, only_length(input->info(), real_out), real_in != 0 || real_out, ranks);
    });
    if (job_.from_root(is_array) != 0) return transform_array<T>(job_, options_, std::move(input));
    real_in = job_.from_root(real_in);
    const int started = job_.size();
    job_.among(job_.from_root(ranks), [&] {
      if (real_in != 0) {
        Transform<T, Complex>(job_, options_, std::move(input), started).run();
      } else if (options_.inverse && options_.real) {
        Transform<Complex, T>(job_, options_, std::move(input), started).run();
      } else {
        Transform<Complex, Complex>(job_, options_, std::move(input), started).run();
      }
    });
  }

 private:
  /// Elsewhere nobody may know that another rank's file is an input.
  void check_files_of_ranks() const {
    for (const std::string& path : options_.io.out) {
      io::require_no_input(path_of_index(path));
      for (int rank = 0; rank < job_.size(); ++rank) io::require_no_input(path_of_rank(path, rank));
    }
  }

  /// N, if there is one vector and its length is known before it is read.
  [[nodiscard]] std::optional<std::uint64_t> only_length(const io::SignalInfo& info, bool real_out) const {
    if (options_.batch || info.rows > 1) return std::nullopt;
    if (options_.length > 0) return options_.length;
    return info.length ? std::optional(length_of(*info.length, real_out)) : std::nullopt;
  }

  Job& job_;
  const TransformOptions& options_;
};

/// Engine alone was called so once, after the kernels that it then took.
constexpr const char* kOldNameOfAlone = "fftw";

void accept_old_name(TransformOptions& options) {
  if (options.engine != kOldNameOfAlone) return;
  options.engine = "alone";
  options.fftw_kernels = true;
  if (launched_rank() == 0 && !options.job.quiet) {
    tell(
        "papfft: note: --engine fftw is called alone now, and only the old name insists on FFTW's kernels\n");
  }
}

}  // namespace

void add_transform(cli::Command& app) {
  const auto options = std::make_shared<TransformOptions>();
  cli::Command* command =
      app.add_subcommand("transform", "Fourier transform of a recording or of a batch of vectors");
  options->io.declare(*command, ".npy, .raw/.bin, .csv, or a picture .png/.svg");
  InputOptions::declare_each_channel(*command, options->io.each_channel);
  command->add_flag("--inverse", options->inverse, "the inverse transform, scaled by 1/N");
  command
      ->add_option(
          "--norm", options->norm,
          "what is scaled, as scipy.fft says it: the inverse transform by 1/N (backward), the forward "
          "one by 1/N (forward), both by 1/sqrt(N) (ortho)")
      ->one_of({"backward", "ortho", "forward"})
      ->capture_default_str();
  command->add_flag("--real", options->real,
                    "the input must be real samples; with --inverse: half a spectrum in, real samples out");
  command->add_flag("--full", options->full,
                    "all N bins of real samples, instead of the N/2+1 that determine them");
  command
      ->add_option(
          "--axes,--axis", options->axes,
          "along which axes of a .npy file of any number of dimensions: some of 0, 1, ..., or all; "
          "negative ones count from the end. Real samples have half a spectrum along the last of these "
          "axes. Large arrays are shared as slabs (engine slices)")
      ->capture_default_str();
  command
      ->add_option("--dct", options->dct,
                   "a cosine transform of this type, 2 or 3, of real samples, as scipy.fft.dct and idct")
      ->in_range(2, 3);
  command->add_option("--length", options->length, "cut or zero-pad each vector to N samples")->positive();
  command->add_flag(
      "--batch", options->batch,
      "the input is many vectors of --length N samples, one after another. Where all outputs are "
      ".npy or raw files, vectors are read and written while the job runs: the input may be "
      "endless. The rows of a two-dimensional .npy file are a batch without this option");
  command->add_flag(
      "--resume", options->resume,
      "go on with a batch that was stopped, with the same input (a pipe must begin again), by any "
      "number of ranks. What is done is kept in OUT.partial, and OUT.journal says what that is");
  cli::Option* leave =
      command->add_flag("--leave-distributed", options->leave_distributed,
                        "results stay with the ranks: rank r of P writes elements r, r+P, "
                        "r+2P, ... (bins of real samples by engine slices: r, 2P-r, 2P+r, ...; real "
                        "samples: pair r, r+P, ...) of OUT.npy "
                        "to OUT.rankr.npy on its own host, and rank 0 writes OUT.index.json");
  cli::Option* everywhere =
      command
          ->add_flag("--everywhere", options->everywhere,
                     "every rank gets the whole result (by an allgatherv) and writes it to OUT.rankr.npy on "
                     "its own host")
          ->excludes(leave);
  command
      ->add_flag(
          "--parts", options->parts,
          "results in natural order, for hosts that share no folder: rank r writes a contiguous part to "
          "OUT.rankr.npy on its own host, and rank 0 writes OUT.index.json (engine slices)")
      ->excludes(leave)
      ->excludes(everywhere);
  command
      ->add_option(
          "--engine", options->engine,
          "how ranks share the work: dif (all ranks share each vector), stream (the same, with "
          "several vectors under way), farm (each vector goes to a rank that is free), slices (all ranks "
          "share each vector, which no rank holds: each reads its part of the input and writes its part of "
          "the result), alone (rank 0 by itself) or auto")
      ->envname("PAPFFT_ENGINE")
      ->one_of(engine_words(), {kOldNameOfAlone})
      ->capture_default_str();
  command
      ->add_option(
          "--read", options->read,
          "who reads the input: root, parallel (each rank reads its part of a file that all ranks see, by "
          "engine slices) or auto")
      ->one_of({"auto", "root", "parallel"})
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
      "  papfft transform image.npy --axes all -o spectrum.npy\n"
      "  papfft transform rows.npy --axis 0 --norm ortho -o spectrum.npy\n"
      "  papfft transform samples.npy --dct 2 -o coefficients.npy\n"
      "  mpirun -n 4 papfft transform iq.npy --leave-distributed -o spectrum.npy\n"
      "  mpirun -n 64 papfft transform huge.npy --engine slices --precision float -o spectrum.npy\n"
      "Real samples give the N/2+1 bins of numpy.fft.rfft, complex samples the N bins of numpy.fft.fft.\n"
      "For batches over TCP, mpirun --mca btl_tcp_sndbuf 262144 keeps results from waiting behind vectors "
      "on\n"
      "their way out.\n"
      "SIGUSR1, SIGINT or SIGTERM, sent to any rank, stops a batch in good order: the job finishes and\n"
      "writes the vectors under way. A second SIGINT or SIGTERM ends the job at once. Before the first\n"
      "vector is done, or without a batch, a signal ends the job and there is no output.\n" +
      std::string(kMpirunAndSignals) +
      "If an input cannot be read to its end, the output holds the vectors before, and the exit code is 65.\n"
      "If the communication fails, the output holds the vectors that rank 0 has, and the exit code is 74.\n" +
      kExitCodes);
  command->runs([options] {
    accept_old_name(*options);
    options->io.any_dimensions = true;
    if (options->dct != 0) check_array_transform(*options, "--dct");
    if (options->axes != TransformOptions::kLastAxis) check_array_transform(*options, "--axes");
    check_transform(*options);
    return run_sample_job<TransformJob>(*options);
  });
}

}  // namespace papfft::app
