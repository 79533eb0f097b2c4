// SPDX-License-Identifier: MIT
// papfft spectrogram: short-time spectra of a recording; each rank takes a stretch of it.
#include "fft/spectral/spectrogram.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <exception>
#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/number_checks.hpp"
#include "app/cli/tell.hpp"
#include "app/io/row_files.hpp"
#include "app/jobs/row_reader.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/run/arrivals.hpp"
#include "app/run/stop_request.hpp"
#include "comm/engine/farm.hpp"

namespace papfft::app {

namespace {

struct SpectrogramOptions {
  JobOptions job;
  InputOptions io;
  std::size_t nperseg = 256;
  std::optional<std::size_t> noverlap;
  std::string window = "tukey";
  double alpha = 0.25;
  std::string scaling = "density";
  std::string detrend = "constant";
  std::string mode = "psd";
  double rate_hz = 0;  ///< 0: the file's, or 1
  bool log_frequency = false;
};

struct Plan {
  std::uint64_t samples = 0;
  std::uint64_t frames = 0;
  double rate_hz = 1;
  std::int32_t is_complex = 0;
  std::int32_t is_endless = 0;  ///< a pipe, whose frames are dealt out and written as they come
};

constexpr std::size_t kTaskBytes = std::size_t{1} << 18;

template <typename T>
class SpectrogramJob {
 public:
  using Complex = std::complex<T>;

  SpectrogramJob(Job& job, const SpectrogramOptions& options) : job_(job), options_(options) {
    report_.recorder = job.recorder();
    settings_ = {.window = fft::parse_window(options.window),
                 .tukey_alpha = options.alpha,
                 .nperseg = options.nperseg,
                 .noverlap = options.noverlap.value_or(options.nperseg / 8),
                 .scaling = options.scaling == "density" ? fft::Scaling::density : fft::Scaling::spectrum,
                 .detrend = fft::parse_detrend(options.detrend),
                 .mode = options.mode == "psd" ? fft::SpectrogramMode::psd : fft::SpectrogramMode::magnitude};
  }

  void run() {
    job_.at_root([&] { prepare(); });
    plan_ = job_.from_root(plan_);
    settings_.sample_rate_hz = plan_.rate_hz;
    window_ = shared_window(job_, settings_, options_.job.bcast);
    settings_.window_samples = window_;
    if (plan_.is_endless != 0) {
      plan_.is_complex != 0 ? deal_out<Complex>() : deal_out<T>();
    } else if (plan_.is_complex != 0) {
      compute<Complex>(in_.complex);
    } else {
      compute<T>(in_.real);
    }
    const double compute_s = largest_at_root(job_, compute_s_, options_.job.reduce);
    job_.at_root([&] {
      if (plan_.frames == 0) return;  // stopped before the first was done
      finish_report(compute_s);
      write();
      if (read_failure_) std::rethrow_exception(read_failure_);
    });
    if (const int code = job_.from_root(stopped_); code != kOk) throw Quit{code};
  }

 private:
  [[nodiscard]] fft::Framing framing() const {
    return {plan_.samples, settings_.nperseg, settings_.noverlap};
  }

  void prepare() {
    std::unique_ptr<io::Source> source = open_checked(options_.io, options_.job, job_.size());
    const io::SignalInfo& info = source->info();
    if (info.rows != 1) {
      throw UsageError(
          fmt::format("{}: a spectrogram shows one vector, and there are {}", source->name(), info.rows));
    }
    plan_.is_complex = info.is_complex ? 1 : 0;
    plan_.rate_hz = options_.rate_hz > 0      ? options_.rate_hz
                    : info.sample_rate_hz > 0 ? info.sample_rate_hz
                                              : 1;
    knows_rate_ = options_.rate_hz > 0 || info.sample_rate_hz > 0;
    if (!info.any_order && io::RowFiles<T>::can_grow(options_.io.out)) {
      plan_.is_endless = 1;
      source_ = std::move(source);
      return;
    }
    in_ = read_samples<T>(*source, info.is_complex, report_);
    plan_.samples = info.is_complex ? in_.complex.size() : in_.real.size();
    plan_.frames = framing().frames();
    if (plan_.frames == 0) {
      throw UsageError(fmt::format("{}: {} samples are shorter than a frame; what would work: --nperseg {}",
                                   source->name(), plan_.samples, plan_.samples));
    }
    if (plan_.frames < static_cast<std::uint64_t>(job_.size())) {
      throw UsageError(
          fmt::format("{}: {} frames for {} ranks; what would work: {} ranks, or a smaller --nperseg",
                      source->name(), plan_.frames, job_.size(), plan_.frames));
    }
  }

  /// Every rank gets as many frames (the last ones' may lie beyond the end), as samples with the overlap.
  template <typename Sample>
  void compute(const std::vector<Sample>& whole) {
    const auto p = static_cast<std::uint64_t>(job_.size());
    const std::uint64_t share = (plan_.frames + p - 1) / p;
    const std::uint64_t block = framing().samples_spanned(0, share);
    const auto frames_of = [&](std::uint64_t rank) {
      return std::min(plan_.frames, (rank + 1) * share) - std::min(plan_.frames, rank * share);
    };
    fft::Spectrogram<T> spectrogram(settings_, fft::Rigor::tuned);
    bins_ = plan_.is_complex != 0 ? spectrogram.complex_bins() : spectrogram.real_bins();

    std::vector<Sample> blocks;
    if (job_.is_root()) {
      timed(report_, "split", [&] {
        blocks.resize(p * block);
        for (std::uint64_t r = 0; r < p; ++r) {
          const std::uint64_t first =
              std::min<std::uint64_t>(whole.size(), framing().first_sample(r * share));
          const std::uint64_t count = std::min<std::uint64_t>(block, whole.size() - first);
          std::copy_n(whole.data() + first, count, blocks.data() + r * block);
        }
      });
    }
    ArrivalAware arrivals(job_, options_.job, 1);
    std::vector<Sample> mine(block);
    timed(report_, "scatter",
          [&] { arrivals.comm().scatter<Sample>(blocks, mine, 0, options_.job.scatter); });
    std::vector<T> result(share * bins_);
    if (job_.is_root()) values_.resize(p * share * bins_);
    std::optional<comm::PersistentCall> gather;
    if (arrivals.session() != nullptr) {  // the root can take the others' results while it computes its own
      gather = arrivals.session()->gather_init<T>(result, values_, 0, options_.job.gather);
      gather->start();
    }
    const std::uint64_t my_frames = frames_of(static_cast<std::uint64_t>(job_.rank()));
    Progress progress = options_.job.make_progress(job_.is_root(), "spectrogram");
    const auto start = std::chrono::steady_clock::now();
    arrivals.watch().compute_begins();
    spectrogram.process(std::span<const Sample>(mine), my_frames, result.data(), arrivals.watch().progress());
    arrivals.watch().compute_ends();
    compute_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report_.phases_s.emplace_back("compute", compute_s_);
    compute_phase_ = report_.phases_s.size() - 1;
    progress.show(my_frames, my_frames);
    timed(report_, "gather", [&] {
      if (gather) {
        gather->wait();
      } else {
        job_.comm().gather<T>(result, values_, 0, options_.job.gather);
      }
    });
    report_.arrivals = arrivals.finish();
    if (!job_.is_root()) return;
    values_.resize(plan_.frames * bins_);
    report_.bytes_out = (p - 1) * block * sizeof(Sample);
    report_.bytes_back = (p - 1) * share * bins_ * sizeof(T);
    if (!options_.job.arrivals.delays() && (options_.job.stats || !options_.job.json.empty())) {
      std::vector<T> again(values_.size());
      report_.single_process_s = least_seconds(
          [&] { spectrogram.process(std::span<const Sample>(whole), plan_.frames, again.data()); });
    }
  }

  /// In bounded memory: some frames at a time, to whoever is free, and written in order.
  template <typename Sample>
  void deal_out() {
    fft::Spectrogram<T> spectrogram(settings_, fft::Rigor::tuned);
    bins_ = plan_.is_complex != 0 ? spectrogram.complex_bins() : spectrogram.real_bins();
    const std::size_t hop = settings_.nperseg - settings_.noverlap;
    const std::size_t share =
        std::max<std::size_t>(1, kTaskBytes / (hop * sizeof(Sample)));  // frames of a task
    const std::size_t span = (share - 1) * hop + settings_.nperseg;

    StopRequest& stop = *job_.stop();
    // The input then ends where it is, so that of slow ones, too, all frames that have come are done.
    orderly_.emplace(stop, [source = source_] {
      if (source) source->give_up();
    });
    std::optional<RowReader<Sample>> reader;
    std::optional<io::RowFiles<T>> files;
    if (job_.is_root()) files.emplace(options_.io.out, bins_, std::nullopt, std::nullopt);
    if (job_.is_root()) reader.emplace(source_, share * hop, 0);
    std::vector<Sample> waiting;     // samples of frames that are not complete
    std::deque<std::size_t> counts;  // frames of the tasks under way
    bool ended = false;
    bool stopped = false;
    using Feed = comm::Farm::Feed;
    const auto fill = [&](std::span<std::byte> task) {
      while (waiting.size() < span && !ended) {
        typename RowReader<Sample>::Next next;
        try {
          next = reader->next();
        } catch (const io::DataError&) {
          read_failure_ = std::current_exception();
        }
        if (next.state == RowReader<Sample>::State::later) return Feed::later;
        ended = next.state == RowReader<Sample>::State::end;
        stopped = ended && source_->given_up();
        const std::span<const Sample> more = ended ? reader->left_over() : std::span(next.row, share * hop);
        waiting.insert(waiting.end(), more.begin(), more.end());
        plan_.samples += more.size();
      }
      const std::size_t frames =
          std::min(share, fft::Framing{waiting.size(), settings_.nperseg, settings_.noverlap}.frames());
      if (frames == 0) return Feed::end;
      std::fill(task.begin(), task.end(), std::byte{0});
      const std::size_t used = std::min(span, waiting.size());
      std::copy_n(waiting.begin(), used, reinterpret_cast<Sample*>(task.data()));
      waiting.erase(waiting.begin(),
                    waiting.begin() + static_cast<std::ptrdiff_t>(std::min(frames * hop, waiting.size())));
      counts.push_back(frames);
      return Feed::task;
    };
    ArrivalAware arrivals(job_, options_.job, 0);
    fft::Pauses idle(&arrivals.watch());
    comm::Farm farm(job_.comm(), span * sizeof(Sample), share * bins_ * sizeof(T));
    (void)farm.run(
        [&](std::span<std::byte> room) {
          const auto begin = std::chrono::steady_clock::now();
          const Feed feed = fill(room);
          if (feed == Feed::task) idle.interrupted("read", begin);
          return comm::Farm::Task{feed, room};
        },
        [&](std::span<const std::byte> task, std::span<std::byte> result, const comm::Farm::MoveOn&) {
          const auto start = std::chrono::steady_clock::now();
          idle.end();
          arrivals.watch().compute_begins();
          spectrogram.process(std::span(reinterpret_cast<const Sample*>(task.data()), span), share,
                              reinterpret_cast<T*>(result.data()));
          arrivals.watch().compute_ends();
          idle.begin();
          compute_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        },
        [&](std::span<const std::byte> result) {
          const auto begin = std::chrono::steady_clock::now();
          for (std::size_t f = 0; f < counts.front(); ++f) {
            files->write(reinterpret_cast<const T*>(result.data()) + f * bins_);
          }
          plan_.frames += counts.front();
          counts.pop_front();
          idle.interrupted("write", begin);
        });
    idle.end();
    report_.phases_s.emplace_back("compute", compute_s_);
    compute_phase_ = report_.phases_s.size() - 1;
    job_.at_root([&] {
      report_.non_finite = reader->non_finite();
      say_non_finite(report_.non_finite, options_.io.name());
      if (stopped) {
        stopped_ = stop.exit_code();
        tell("papfft: stopped by {} {}\n", stop.name(),
             plan_.frames == 0 ? "before the first frame was done; there is no output"
                               : fmt::format("after {} frames; the output holds these", plan_.frames));
        if (plan_.frames == 0) return;
      } else if (plan_.frames == 0) {
        if (read_failure_) std::rethrow_exception(read_failure_);
        throw io::DataError(options_.io.name(),
                            fmt::format("{} samples are shorter than a frame; what would work: --nperseg {}",
                                        plan_.samples, plan_.samples));
      }
      if (read_failure_) {
        fmt::print(
            stderr,
            "papfft: note: the input could not be read to its end; the output holds the {} frames before\n",
            plan_.frames);
      }
      timed(report_, "write", [&] { files->finish(); });
    });
  }

  void finish_report(double compute_s) {
    report_.command = "spectrogram";
    report_.ranks = job_.size();
    report_.threads = omp_get_max_threads();
    report_.phases_s[compute_phase_].second = compute_s;
    report_.shared_work_s = compute_s;
    for (const auto& [name, seconds] : report_.phases_s) {
      if (name == "split") report_.shared_work_s += seconds;
    }
    report_.summary = fmt::format(
        "spectrogram of {} {} samples: {} frames of {} ({} overlapping), {} bins, {} precision, {} rank{} "
        "with {} "
        "thread{}: scatter {}, gather {}",
        plan_.samples, plan_.is_complex != 0 ? "complex" : "real", plan_.frames, settings_.nperseg,
        settings_.noverlap, bins_, options_.io.precision, job_.size(), job_.size() == 1 ? "" : "s",
        report_.threads, report_.threads == 1 ? "" : "s", options_.job.scatter, options_.job.gather);
    report_.settings = {{"samples", plan_.samples},
                        {"frames", plan_.frames},
                        {"bins", bins_},
                        {"nperseg", settings_.nperseg},
                        {"noverlap", settings_.noverlap},
                        {"window", options_.window},
                        {"scaling", options_.scaling},
                        {"detrend", options_.detrend},
                        {"mode", options_.mode},
                        {"sample_rate_hz", plan_.rate_hz},
                        {"precision", options_.io.precision},
                        {"scatter", options_.job.scatter},
                        {"gather", options_.job.gather}};
  }

  [[nodiscard]] std::vector<double> frequencies_hz() const {
    const fft::Spectrogram<T> spectrogram(settings_);
    std::vector<double> result(bins_);
    for (std::size_t k = 0; k < bins_; ++k) {
      result[k] = plan_.is_complex != 0 ? spectrogram.complex_bin_hz(k) : spectrogram.real_bin_hz(k);
    }
    return result;
  }

  void write() {
    if (plan_.is_endless == 0) {
      timed(report_, "write", [&] {
        for (const std::string& path : options_.io.out) write_as(path);
      });
    }
    report_.deliver(options_.job, options_.io.out);
  }

  void write_as(const std::string& path) {
    if (io::is_picture(path)) return draw(path);
    io::write_numbers(path, std::span<const T>(values_), plan_.frames,
                      knows_rate_ ? "frequency_hz" : "cycles_per_sample", [&] { return frequencies_hz(); });
  }

  void draw(const std::string& path) {
    // Row = frequency from the lowest on, column = frame.
    std::vector<float> levels_db(bins_ * plan_.frames);
    const std::size_t shift =
        plan_.is_complex != 0 ? (bins_ + 1) / 2 : 0;  // the first negative frequency's bin
    const double decibel = settings_.mode == fft::SpectrogramMode::psd ? 10 : 20;
    for (std::size_t f = 0; f < plan_.frames; ++f) {
      for (std::size_t k = 0; k < bins_; ++k) {
        const auto value = static_cast<double>(values_[f * bins_ + (k + shift) % bins_]);
        levels_db[k * plan_.frames + f] = static_cast<float>(decibel * std::log10(value));
      }
    }
    const fft::Framing cut = framing();
    const double step_s = static_cast<double>(cut.hop()) / plan_.rate_hz;
    const double first_s = static_cast<double>(settings_.nperseg) / 2 / plan_.rate_hz - step_s / 2;
    const double bin_hz = plan_.rate_hz / static_cast<double>(settings_.nperseg);
    const double lowest_hz = plan_.is_complex != 0 ? -plan_.rate_hz / 2 : 0;
    report::HeatMap map;
    map.values = report::MatrixView(levels_db, bins_, plan_.frames);
    map.x = {.label = "Time", .unit = knows_rate_ ? "s" : "samples"};
    map.x_edges = {first_s, first_s + static_cast<double>(plan_.frames) * step_s};
    map.y = {.label = "Frequency",
             .unit = knows_rate_ ? "Hz" : "cycles/sample",
             .scale = options_.log_frequency ? report::Scale::log : report::Scale::linear};
    map.y_edges = {lowest_hz - bin_hz / 2, lowest_hz + (static_cast<double>(bins_) - 0.5) * bin_hz};
    if (plan_.is_complex == 0) map.y.range = {options_.log_frequency ? bin_hz : 0.0, plan_.rate_hz / 2};
    map.color = {
        .label = settings_.scaling == fft::Scaling::density ? "Power density" : "Power",
        .unit = settings_.scaling == fft::Scaling::density ? (knows_rate_ ? "dB re 1/Hz" : "dB") : "dB"};
    write_picture(path, map, options_.io);
  }

  Job& job_;
  const SpectrogramOptions& options_;
  fft::SpectrogramSettings settings_;
  std::vector<double> window_;
  Plan plan_;
  RunReport report_;
  bool knows_rate_ = false;
  std::size_t bins_ = 0;
  std::size_t compute_phase_ = 0;
  double compute_s_ = 0;
  Samples<T> in_;
  std::vector<T> values_;
  std::shared_ptr<io::Source> source_;  // endless
  int stopped_ = kOk;                   // the exit code, if a signal has ended the job
  std::optional<StopRequest::Orderly> orderly_;
  std::exception_ptr read_failure_;  // what came before counts
};

int run_spectrogram(const SpectrogramOptions& options) {
  if (options.noverlap && *options.noverlap >= options.nperseg) {
    throw UsageError(
        fmt::format("--noverlap {} must be below --nperseg {}", *options.noverlap, options.nperseg));
  }
  (void)fft::parse_window(options.window);
  return run_sample_job<SpectrogramJob>(options);
}

}  // namespace

void add_spectrogram(CLI::App& app, Action& action) {
  const auto options = std::make_shared<SpectrogramOptions>();
  CLI::App* command =
      app.add_subcommand("spectrogram", "short-time spectra of a recording, as numbers or as a picture");
  options->io.declare(*command, "a picture .png/.svg, or .npy (frames x bins), .raw/.bin, .csv");
  command->add_option("--nperseg", options->nperseg, "samples per frame")
      ->check(positive_number())
      ->capture_default_str();
  command
      ->add_option("--noverlap", options->noverlap,
                   "samples that neighbouring frames share (default: nperseg/8)")
      ->check(count_from_0());
  command->add_option("--window", options->window, "boxcar, hann, hamming, blackman or tukey")
      ->capture_default_str();
  command->add_option("--alpha", options->alpha, "tapered share of the tukey window")
      ->check(finite_number())
      ->capture_default_str();
  command->add_option("--scaling", options->scaling, "density (per Hz) or spectrum")
      ->check(CLI::IsMember({"density", "spectrum"}))
      ->capture_default_str();
  command
      ->add_option("--detrend", options->detrend,
                   "subtract each frame's mean (constant), its line (linear) or nothing (none)")
      ->check(CLI::IsMember({"constant", "linear", "none"}))
      ->capture_default_str();
  command->add_option("--mode", options->mode, "psd or magnitude")
      ->check(CLI::IsMember({"psd", "magnitude"}))
      ->capture_default_str();
  command->add_option("--rate", options->rate_hz, "sample rate in Hz, where the file does not tell")
      ->check(positive_number());
  command->add_flag("--log-frequency", options->log_frequency,
                    "logarithmic frequency axis in pictures of real samples");
  options->job.declare(*command);
  command->footer(
      "Examples:\n"
      "  papfft spectrogram bell.flac -o bell.png\n"
      "  mpirun -n 4 papfft spectrogram bell.flac --nperseg 1024 --noverlap 768 --window hann -o bell.npy -o "
      "bell.png\n"
      "  papfft spectrogram iq.sigmf-meta --nperseg 512 -o iq.svg\n"
      "  cat iq.cf32 | mpirun -n 4 papfft spectrogram - --format cf32_le --nperseg 1024 -o iq.npy\n"
      "Samples from a pipe may be endless: frames are written to .npy and raw files as they come, in "
      "bounded\n"
      "memory. SIGUSR1, SIGINT and SIGTERM, to any rank, then end the input: the frames that have come are\n"
      "written. Before the first frame, and where the input is a file, there is no output. mpirun kills its\n"
      "ranks 1 s after SIGINT and SIGTERM (10 s: --mca odls_base_sigkill_timeout 10); SIGUSR1 it only "
      "passes\n"
      "on. An input that cannot be read to its end leaves what came before, too, with exit code 65.\n"
      "The numbers are those of scipy.signal.spectrogram (transposed: one row per frame).\n"
      "Exit codes: 0 ok, 64 usage, 65 bad data, 70 internal, 73 cannot write, 74 communication, 75 "
      "stopped by SIGUSR1, 130 by SIGINT, 143 by SIGTERM.");
  command->callback([&action, options] { action = [options] { return run_spectrogram(*options); }; });
}

}  // namespace papfft::app
