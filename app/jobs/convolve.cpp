// SPDX-License-Identifier: MIT
// papfft convolve: signals through a long filter, by overlap-save; each rank takes a stretch of blocks.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/tell.hpp"
#include "app/io/placed_file.hpp"
#include "app/io/wav.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/run/arrivals.hpp"
#include "app/run/memory.hpp"
#include "fft/spectral/overlap_save.hpp"

namespace papfft::app {

namespace {

struct ConvolveOptions {
  JobOptions job;
  InputOptions io;
  std::string filter;
  std::string filter_format;
  std::string mode = "full";
  std::optional<std::uint64_t> length;  ///< --nfft
  bool apart = false;                   ///< --each-channel
};

/// What the root finds out and every rank must know. Without padding: it is sent as bytes.
struct Plan {
  std::uint64_t rows = 1;
  std::uint64_t samples = 0;     ///< N, per row
  std::uint64_t taps = 0;        ///< M
  std::uint64_t length = 0;      ///< F, of the transforms
  std::uint64_t first = 0;       ///< of the N+M-1 results, the first one that is wanted
  std::uint64_t outputs = 0;     ///< and how many
  std::uint64_t blocks = 0;      ///< of overlap-save that a rank makes at a time
  std::int64_t is_streamed = 0;  ///< samples are read, and results written, stretch by stretch
  std::int64_t is_complex = 0;
};

template <typename T>
class ConvolveJob {
 public:
  using Complex = std::complex<T>;

  ConvolveJob(Job& job, const ConvolveOptions& options) : job_(job), options_(options) {
    report_.recorder = job.recorder();
  }

  void run() {
    job_.at_root([&] { prepare(); });
    plan_ = job_.from_root(plan_);
    if (plan_.is_complex != 0) {
      convolve<Complex>(in_.complex, taps_.complex, out_.complex);
    } else {
      convolve<T>(in_.real, taps_.real, out_.real);
    }
    const double compute_s = largest_at_root(job_, compute_s_, options_.job.reduce);
    job_.at_root([&] {
      describe(compute_s);
      write();
    });
  }

 private:
  void prepare() {
    io::know_input(options_.filter);
    std::unique_ptr<io::Source> source = open_checked(options_.io, options_.job, job_.size());
    const std::unique_ptr<io::Source> filter = open_filter();
    const io::SignalInfo& info = source->info();
    if (filter->info().rows != 1) {
      throw UsageError(
          fmt::format("{}: a filter is one vector, and there are {}", filter->name(), filter->info().rows));
    }
    plan_.is_complex = info.is_complex || filter->info().is_complex ? 1 : 0;
    set_rate(*source, *filter);
    RunReport of_filter;
    of_filter.recorder = job_.recorder();
    taps_ = read_samples<T>(*filter, plan_.is_complex != 0, of_filter);
    plan_.taps = std::max(taps_.real.size(), taps_.complex.size());
    const bool by_channel = options_.apart && info.channels > 1;
    plan_.rows = by_channel ? info.channels : info.rows;
    two_dimensional_ = by_channel || info.two_dimensional;
    if (info.length && *info.length > 0) {
      choose_sizes(*info.length);
      choose_stretches(*source, info.any_order && !by_channel);
    }
    if (plan_.is_streamed == 0) {
      if (by_channel) {
        read_channels(*source);
      } else {
        in_ = read_samples<T>(*source, plan_.is_complex != 0, report_);
      }
      choose_sizes(std::max(in_.real.size(), in_.complex.size()) / plan_.rows);
    }
    source_ = std::move(source);
    for (const std::string& path : options_.io.out) {
      if (is_sound(path)) {
        io::check_wav(path, {.is_complex = plan_.is_complex != 0,
                             .channels = plan_.rows,
                             .length = plan_.outputs,
                             .sample_rate_hz = rate_hz_});
      }
    }
  }

  static bool is_sound(const std::string& path) { return io::format_of(path) == io::OutputFormat::wav; }

  /// Where only one of the two tells its rate, it is the other's, too.
  void set_rate(const io::Source& source, const io::Source& filter) {
    const double of_filter_hz = filter.info().sample_rate_hz;
    rate_hz_ = source.info().sample_rate_hz;
    if (rate_hz_ > 0 && of_filter_hz > 0 && rate_hz_ != of_filter_hz) {
      throw UsageError(
          fmt::format("{} has {} samples per second, and {} has {}; what would work: resample one of them "
                      "to the other's rate",
                      source.name(), rate_hz_, filter.name(), of_filter_hz));
    }
    if (!(rate_hz_ > 0)) rate_hz_ = of_filter_hz;
  }

  /// Each channel of a sound becomes a row.
  void read_channels(const io::Source& sound) {
    if (!sound.info().any_order) {
      throw UsageError(
          fmt::format("{}: its {} channels are read one after another, for which it must be a file",
                      sound.name(), sound.info().channels));
    }
    timed(report_, "read", [&] {
      for (unsigned c = 0; c < plan_.rows; ++c) {
        RunReport of_channel;
        const std::unique_ptr<io::Source> source = options_.io.open_file(options_.io.in, c);
        const Samples<T> samples = read_samples<T>(*source, plan_.is_complex != 0, of_channel);
        in_.real.insert(in_.real.end(), samples.real.begin(), samples.real.end());
        in_.complex.insert(in_.complex.end(), samples.complex.begin(), samples.complex.end());
        report_.non_finite += of_channel.non_finite;
      }
    });
  }

  [[nodiscard]] std::unique_ptr<io::Source> open_filter() const {
    InputOptions input = options_.io;
    input.raw_type = options_.filter_format;
    return input.open_file(options_.filter, std::nullopt);
  }

  void choose_sizes(std::uint64_t samples) {
    plan_.samples = samples;
    choose_outputs();
    choose_length();
    plan_.blocks = blocks_per_rank();
  }

  [[nodiscard]] std::uint64_t step() const { return plan_.length - plan_.taps + 1; }
  /// Of one row.
  [[nodiscard]] std::uint64_t all_blocks() const { return (plan_.outputs + step() - 1) / step(); }
  [[nodiscard]] std::uint64_t blocks_per_rank() const {
    const auto p = static_cast<std::uint64_t>(job_.size());
    return (all_blocks() + p - 1) / p;
  }

  /// All at once if there is room; else stretch by stretch, where the samples can be read and the results be written so.
  /// @throws MemoryError
  void choose_stretches(const io::Source& source, bool can_read) {
    constexpr std::uint64_t kSamplesAtOnce = std::uint64_t{1} << 18U;
    const std::uint64_t there = available_memory_bytes(job_.comm().ranks_on_host());
    const std::uint64_t whole = plan_.rows * (plan_.samples + plan_.outputs) * sample_bytes();
    const std::uint64_t need = whole + bytes_of_blocks();
    if (need <= there) return;
    const std::string finer = sizeof(T) == sizeof(double) ? ", or --precision float" : "";
    if (!can_read || !io::can_place(options_.io.out)) {
      require_memory(
          source.name(), need, there,
          (can_read ? "-o result.npy, which is written as it is made" : "an input that is one file") + finer);
    }
    plan_.is_streamed = 1;
    plan_.blocks = std::min(plan_.blocks, std::max<std::uint64_t>(1, kSamplesAtOnce / step()));
    require_memory(source.name(), bytes_of_blocks(), there, "a shorter --nfft" + finer);
  }

  [[nodiscard]] std::uint64_t sample_bytes() const {
    return plan_.is_complex != 0 ? sizeof(Complex) : sizeof(T);
  }
  /// What the root needs, about, besides all samples and results: the filter's transform and the work space of one, every rank's samples
  /// and results, and its own once more.
  [[nodiscard]] std::uint64_t bytes_of_blocks() const {
    const auto p = static_cast<std::uint64_t>(job_.size());
    return 4 * plan_.length * sizeof(Complex) +
           (p + 1) * (2 * plan_.blocks * step() + plan_.taps) * sample_bytes();
  }

  /// As numpy and scipy mean full, same and valid.
  void choose_outputs() {
    const std::uint64_t shorter = std::min(plan_.samples, plan_.taps);
    if (options_.mode == "full") {
      plan_.outputs = plan_.samples + plan_.taps - 1;
    } else if (options_.mode == "same") {
      plan_.first = (plan_.taps - 1) / 2;
      plan_.outputs = plan_.samples;
    } else {
      plan_.first = shorter - 1;
      plan_.outputs = std::max(plan_.samples, plan_.taps) - shorter + 1;
    }
  }

  void choose_length() {
    if (options_.length) {
      if (*options_.length < plan_.taps) {
        throw UsageError(fmt::format("--nfft {} is below the filter's {} samples; what would work: --nfft {}",
                                     *options_.length, plan_.taps,
                                     fft::OverlapSave<T>::best_length(plan_.taps, plan_.outputs)));
      }
      plan_.length = *options_.length;
      return;
    }
    const auto ranks = static_cast<std::uint64_t>(job_.size());
    plan_.length = fft::OverlapSave<T>::best_length(plan_.taps, (plan_.outputs + ranks - 1) / ranks);
  }

  /// The filter's transform is made once and broadcast. FFTW's plans are not: with Rigor::estimate they follow from the
  /// length alone, so each rank makes the same by itself.
  template <typename Sample>
  fft::OverlapSave<Sample> make_filter(const std::vector<Sample>& taps) {
    using Filter = fft::OverlapSave<Sample>;
    std::vector<Complex> spectrum(Filter::bins_of(plan_.length));
    timed(report_, "filter", [&] {
      if (job_.is_root()) spectrum = Filter::filter_spectrum(taps, plan_.length);
      job_.comm().template bcast<Complex>(spectrum, 0, options_.job.bcast);
    });
    report_.bytes_out = static_cast<std::uint64_t>(job_.size() - 1) * spectrum.size() * sizeof(Complex);
    return Filter(plan_.length, plan_.taps, std::move(spectrum));
  }

  /// Some blocks of a row that the ranks share: each does as many, one after another; the last ranks may have fewer.
  struct Stretch {
    std::uint64_t row = 0;
    std::uint64_t first = 0;  ///< of the row's wanted results, the stretch's first
    std::uint64_t outputs = 0;
    std::uint64_t my_blocks = 0;
  };

  [[nodiscard]] std::vector<Stretch> stretches() const {
    const auto p = static_cast<std::uint64_t>(job_.size());
    const auto rank = static_cast<std::uint64_t>(job_.rank());
    std::vector<Stretch> all;
    for (std::uint64_t row = 0; row < plan_.rows; ++row) {
      for (std::uint64_t block = 0; block < all_blocks(); block += p * plan_.blocks) {
        const std::uint64_t mine = block + rank * plan_.blocks;
        const std::uint64_t first = block * step();
        all.push_back({row, first, std::min(p * plan_.blocks * step(), plan_.outputs - first),
                       std::min(all_blocks(), mine + plan_.blocks) - std::min(all_blocks(), mine)});
      }
    }
    return all;
  }

  /// What only the root does. It may fail where files are read and written in between; then all must hear of it.
  void at_root(const std::function<void()>& work) {
    if (plan_.is_streamed != 0) return job_.at_root(work);
    if (job_.is_root()) work();
  }

  template <typename Sample>
  void convolve(const std::vector<Sample>& whole, const std::vector<Sample>& taps, std::vector<Sample>& out) {
    fft::OverlapSave<Sample> filter = make_filter<Sample>(taps);
    const auto p = static_cast<std::uint64_t>(job_.size());
    const std::uint64_t samples_each = filter.samples_spanned(plan_.blocks);
    std::vector<Sample> blocks(job_.is_root() ? p * samples_each : 0);
    std::vector<Sample> mine(samples_each);
    std::vector<Sample> result(plan_.blocks * step());
    std::vector<Sample> results(job_.is_root() ? p * result.size() : 0);
    std::optional<io::PlacedFiles<Sample>> files;
    at_root([&] {
      if (plan_.is_streamed == 0) {
        out.resize(plan_.rows * plan_.outputs);
      } else {
        files.emplace(options_.io.out, shape());
      }
    });

    const std::vector<Stretch> all = stretches();
    ArrivalAware arrivals(job_, options_.job, all.size());
    std::optional<comm::PersistentCall> gather;
    if (arrivals.session() != nullptr) {  // the root can take the others' results while it computes its own
      gather = arrivals.session()->template gather_init<Sample>(result, results, 0, options_.job.gather);
    }
    Progress progress = options_.job.make_progress(job_.is_root(), "convolve");
    for (const Stretch& stretch : all) {
      clocked(report_, "split", split_s_,
              [&] { at_root([&] { cut<Sample>(whole, stretch, result.size(), blocks, samples_each); }); });
      clocked(report_, "scatter", scatter_s_,
              [&] { arrivals.comm().template scatter<Sample>(blocks, mine, 0, options_.job.scatter); });
      if (gather) gather->start();
      clocked(compute_s_, [&] {
        arrivals.watch().compute_begins();
        filter.process(mine, stretch.my_blocks, result.data(), arrivals.watch().progress());
        arrivals.watch().compute_ends();
      });
      clocked(report_, "gather", gather_s_, [&] {
        if (gather) {
          gather->wait();
        } else {
          job_.comm().template gather<Sample>(result, results, 0, options_.job.gather);
        }
      });
      at_root([&] {
        const std::uint64_t first = stretch.row * plan_.outputs + stretch.first;
        if (!files) {
          std::copy_n(results.begin(), stretch.outputs, out.data() + first);
          return;
        }
        clocked(report_, "write", write_s_,
                [&] { files->write(first, std::span<const Sample>(results).first(stretch.outputs)); });
      });
      progress.show(static_cast<std::uint64_t>(&stretch - all.data()) + 1, all.size());
    }
    report_.arrivals = arrivals.finish();
    report_.bytes_out += all.size() * (p - 1) * samples_each * sizeof(Sample);
    report_.bytes_back = all.size() * (p - 1) * result.size() * sizeof(Sample);
    if (plan_.is_streamed != 0) return end_files(files);
    if (job_.is_root() && options_.job.compares_with_one_process()) measure_alone<Sample>(whole, taps);
  }

  template <typename Files>
  void end_files(Files& files) {
    at_root([&] {
      clocked(report_, "write", write_s_, [&] { files->finish(); });
      say_non_finite(report_.non_finite, source_->name());
    });
  }

  [[nodiscard]] std::vector<std::uint64_t> shape() const {
    return two_dimensional_ ? std::vector<std::uint64_t>{plan_.rows, plan_.outputs}
                            : std::vector<std::uint64_t>{plan_.outputs};
  }

  /// Each rank's samples for `outputs` results, among them the M-1 before its first; zeros before and after the row.
  template <typename Sample>
  void cut(const std::vector<Sample>& whole, const Stretch& stretch, std::uint64_t outputs,
           std::vector<Sample>& blocks, std::uint64_t block) {
    for (std::uint64_t r = 0; r * block < blocks.size(); ++r) {
      const auto length = static_cast<std::int64_t>(plan_.samples);
      const std::int64_t first = static_cast<std::int64_t>(plan_.first + stretch.first + r * outputs) -
                                 static_cast<std::int64_t>(plan_.taps - 1);
      const std::int64_t begin = std::clamp<std::int64_t>(first, 0, length);
      const std::int64_t end = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(block), 0, length);
      Sample* const to = blocks.data() + r * block;
      std::fill_n(to, block, Sample{});
      const std::span<Sample> there(to + (begin - first), static_cast<std::size_t>(end - begin));
      const std::uint64_t from = stretch.row * plan_.samples + static_cast<std::uint64_t>(begin);
      if (plan_.is_streamed == 0) {
        std::copy_n(whole.data() + from, there.size(), there.data());
      } else if (!there.empty()) {
        (void)source_->template read<Sample>(from, there);
        const auto shared = std::min<std::size_t>(there.size(), first > 0 ? plan_.taps - 1 : 0);
        report_.non_finite +=
            io::count_non_finite<Sample>(there.subspan(shared));  // the others have been counted
      }
    }
  }

  /// The same by one process, with transforms as long as suit it.
  template <typename Sample>
  void measure_alone(const std::vector<Sample>& whole, const std::vector<Sample>& taps) {
    using Filter = fft::OverlapSave<Sample>;
    const std::size_t length = Filter::best_length(plan_.taps, plan_.outputs);
    Filter filter(length, plan_.taps, Filter::filter_spectrum(taps, length));
    const std::uint64_t blocks = (plan_.outputs + filter.step() - 1) / filter.step();
    std::vector<Sample> samples(filter.samples_spanned(blocks));
    std::vector<Sample> result(blocks * filter.step());
    report_.single_process_s = static_cast<double>(plan_.rows) * least_seconds([&] {
                                 cut<Sample>(whole, {}, result.size(), samples, samples.size());
                                 filter.process(samples, blocks, result.data());
                               });
  }

  void describe(double compute_s) {
    report_.begin("convolve", job_);
    report_.phases_s.emplace_back("split", split_s_);
    report_.phases_s.emplace_back("scatter", scatter_s_);
    report_.phases_s.emplace_back("compute", compute_s);
    report_.phases_s.emplace_back("gather", gather_s_);
    report_.shared_work_s = split_s_ + compute_s;
    report_.summary = fmt::format(
        "{} convolution of {} of {} samples with {} taps: transforms of {}, {} precision, {}: bcast {}, "
        "scatter {}, "
        "gather {}",
        options_.mode, counted(plan_.rows, plan_.is_complex != 0 ? "complex vector" : "real vector"),
        plan_.samples, plan_.taps, plan_.length, options_.io.precision, report_.who(), options_.job.bcast,
        options_.job.scatter, options_.job.gather);
    report_.settings = {{"samples", plan_.samples},
                        {"rows", plan_.rows},
                        {"taps", plan_.taps},
                        {"mode", options_.mode},
                        {"nfft", plan_.length},
                        {"complex", plan_.is_complex != 0},
                        {"precision", options_.io.precision},
                        {"bcast", options_.job.bcast},
                        {"scatter", options_.job.scatter},
                        {"gather", options_.job.gather}};
  }

  void write() {
    clocked(report_, "write", write_s_, [&] {
      if (plan_.is_streamed != 0) return;
      for (const std::string& path : options_.io.out) {
        if (plan_.is_complex != 0) {
          write_as<Complex>(path, out_.complex);
        } else {
          write_as<T>(path, out_.real);
        }
      }
    });
    report_.phases_s.emplace_back("write", write_s_);
    report_.deliver(options_.job, options_.io.out);
  }

  /// When each result is, the input's first sample being at 0.
  [[nodiscard]] std::vector<double> axis() const {
    const double step = rate_hz_ > 0 ? 1 / rate_hz_ : 1;
    std::vector<double> values(plan_.outputs);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(plan_.first + i) * step;
    return values;
  }

  template <typename Sample>
  void write_as(const std::string& path, const std::vector<Sample>& samples) {
    const std::span<const Sample> all(samples);
    const std::optional<std::size_t> rows =
        two_dimensional_ ? std::optional<std::size_t>(plan_.rows) : std::nullopt;
    if (io::is_picture(path)) return draw(path, all);
    if constexpr (!io::is_complex_v<Sample>) {
      if (is_sound(path)) return write_sound(path, all);
    }
    io::write_numbers(path, all, rows, rate_hz_ > 0 ? "time_s" : "sample", [&] { return axis(); });
  }

  void write_sound(const std::string& path, std::span<const T> samples) {
    const double peak = io::write_wav<T>(path, samples, plan_.rows, rate_hz_);
    if (peak > 1) {
      tell("papfft: note: {} goes up to {:.3g}; full scale is 1, and players cut off larger values\n", path,
           peak);
    }
  }

  [[nodiscard]] std::string row_name(std::size_t row) const {
    if (plan_.rows == 1) return "";
    return fmt::format("{} {}", options_.apart ? "channel" : "row", row);
  }

  template <typename Sample>
  void draw(const std::string& path, std::span<const Sample> samples) {
    report::LinePlot plot;
    plot.x = {.label = rate_hz_ > 0 ? "Time" : "Sample", .unit = rate_hz_ > 0 ? "s" : ""};
    plot.y = {.label = plan_.is_complex != 0 ? "Magnitude" : "Value", .unit = ""};
    for (std::size_t row = 0; row < plan_.rows; ++row) {
      report::Series series{.name = row_name(row), .x = axis()};
      for (const Sample& y : samples.subspan(row * plan_.outputs, plan_.outputs)) {
        series.y.push_back(static_cast<double>(plan_.is_complex != 0 ? std::abs(y) : std::real(y)));
      }
      plot.series.push_back(std::move(series));
    }
    write_picture(path, plot, options_.io);
  }

  Job& job_;
  const ConvolveOptions& options_;
  Plan plan_;
  RunReport report_;
  double rate_hz_ = 0;
  bool two_dimensional_ = false;
  double split_s_ = 0;
  double scatter_s_ = 0;
  double compute_s_ = 0;
  double gather_s_ = 0;
  double write_s_ = 0;
  std::unique_ptr<io::Source> source_;  // at the root
  Samples<T> in_;
  Samples<T> taps_;
  Samples<T> out_;
};

}  // namespace

void add_convolve(cli::Command& app) {
  const auto options = std::make_shared<ConvolveOptions>();
  cli::Command* command =
      app.add_subcommand("convolve", "a recording through a long filter, such as a room's impulse response");
  options->io.writes_sound = true;
  options->io.declare(*command, ".npy, .raw/.bin, .csv, a sound .wav, or a picture .png/.svg");
  command->add_option("FILTER", options->filter, "the filter's samples: a file as IN, of one vector")
      ->required();
  command->add_option("--filter-format", options->filter_format,
                      "FILTER is raw samples of this SigMF type (IN has --format)");
  command
      ->add_option("--mode", options->mode,
                   "full (all N+M-1 results), same (the middle N) or valid (where both overlap completely)")
      ->one_of({"full", "same", "valid"})
      ->capture_default_str();
  command
      ->add_option("--nfft", options->length, "length of the transforms (default: a power of two that suits)")
      ->positive();
  InputOptions::declare_each_channel(*command, options->apart);
  options->job.declare(*command);
  command->footer(
      "Examples:\n"
      "  papfft convolve dry.wav hall.wav -o wet.wav\n"
      "  mpirun -n 4 papfft convolve recording.flac lowpass.npy --mode same -o filtered.npy -o filtered.png "
      "--stats\n"
      "  papfft convolve stereo.flac hall.wav --each-channel -o wet.wav\n"
      "  mpirun -n 4 papfft convolve antennas.npy taps.npy --bcast bnom --gather bsls -o filtered.npy\n"
      "The numbers are those of scipy.signal.fftconvolve; rows of a .npy file are filtered one after "
      "another. A .wav has them as 32-bit floating point, one channel per row: nothing is scaled or cut "
      "off.\n"
      "An input that does not fit into rank 0's memory is read and filtered in pieces, if the outputs are "
      ".npy and raw files.\n"
      "SIGUSR1, SIGINT and SIGTERM end the job, which then leaves no incomplete output.\n" +
      std::string(kExitCodes));
  command->runs([options] {
    if (options->filter == "-" && options->io.in == "-")
      throw UsageError("standard input (-) can be read once: name a file for IN or FILTER");
    return run_sample_job<ConvolveJob>(*options);
  });
}

}  // namespace papfft::app
