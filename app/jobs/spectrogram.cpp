// SPDX-License-Identifier: MIT
// papfft spectrogram: short-time spectra of a recording; each rank takes a stretch of it.
#include "fft/spectral/spectrogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <exception>
#include <memory>
#include <optional>

#include "app/cli/command.hpp"
#include "app/cli/tell.hpp"
#include "app/io/row_files.hpp"
#include "app/jobs/early_end.hpp"
#include "app/jobs/frame_options.hpp"
#include "app/jobs/frame_tasks.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/run/arrivals.hpp"
#include "app/run/memory.hpp"
#include "app/run/stop_request.hpp"
#include "comm/engine/farm.hpp"

namespace papfft::app {

namespace {

struct SpectrogramOptions : FrameOptions {
  JobOptions job;
  InputOptions io;
  std::string mode = "psd";

  SpectrogramOptions() { window = "tukey"; }
};

struct Plan {
  std::uint64_t samples = 0;
  std::uint64_t frames = 0;
  double rate_hz = 1;
  std::int32_t is_complex = 0;
  std::int16_t is_dealt_out = 0;  ///< frames are dealt out and written as they are read
  std::int16_t is_endless = 0;    ///< because the input is a pipe, which a signal ends
};

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
                 .scaling = options.parsed_scaling(),
                 .detrend = fft::parse_detrend(options.detrend),
                 .mode = options.mode == "psd" ? fft::SpectrogramMode::psd : fft::SpectrogramMode::magnitude};
  }

  void run() {
    job_.at_root([&] { prepare(); });
    plan_ = job_.from_root(plan_);
    settings_.sample_rate_hz = plan_.rate_hz;
    window_ = shared_window(job_, settings_, options_.job.bcast);
    settings_.window_samples = window_;
    if (plan_.is_dealt_out != 0) {
      plan_.is_complex != 0 ? deal_out<Complex>() : deal_out<T>();
    } else if (plan_.is_complex != 0) {
      share<Complex>(in_.complex);
    } else {
      share<T>(in_.real);
    }
    const double compute_s = largest_at_root(job_, compute_s_, options_.job.reduce);
    job_.at_root([&] {
      if (plan_.frames == 0) return;  // stopped before the first was done
      describe(compute_s);
      write();
    });
    early_.rethrow(job_);
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
    const bool can_grow = io::RowFiles<T>::can_grow(options_.io.out);
    const std::uint64_t need = info.length ? bytes_at_once(*info.length) : 0;
    const std::uint64_t there = available_memory_bytes(job_.comm().ranks_on_host());
    if (can_grow && (!info.any_order || need > there)) {
      plan_.is_dealt_out = 1;
      plan_.is_endless = info.any_order ? 0 : 1;
      source_ = std::move(source);
      return;
    }
    require_memory(source->name(), need, there,
                   std::string("-o frames.npy, which is written as frames are made") +
                       (sizeof(T) == sizeof(double) ? ", or --precision float" : ""));
    in_ = read_samples<T>(*source, info.is_complex, report_);
    plan_.samples = info.is_complex ? in_.complex.size() : in_.real.size();
    plan_.frames = framing().frames();
    if (plan_.frames == 0) {
      throw UsageError(
          fmt::format("{}: {}; what would work: --nperseg {}", source->name(), too_short(), plan_.samples));
    }
  }

  /// What the root needs to share all frames at once, about: the samples, every rank's part of them, its own part, all results and its
  /// own; for pictures also levels.
  [[nodiscard]] std::uint64_t bytes_at_once(std::uint64_t samples) const {
    const fft::Framing cut{samples, settings_.nperseg, settings_.noverlap};
    const auto p = static_cast<std::uint64_t>(job_.size());
    const std::uint64_t share = (cut.frames() + p - 1) / p;
    const std::uint64_t block = cut.samples_spanned(0, share);
    const std::uint64_t bins = plan_.is_complex != 0 ? settings_.nperseg : settings_.nperseg / 2 + 1;
    const bool draws = std::ranges::any_of(options_.io.out, io::is_picture);
    return (samples + (p + 1) * block) * (plan_.is_complex != 0 ? sizeof(Complex) : sizeof(T)) +
           (p + 1) * share * bins * sizeof(T) + (draws ? cut.frames() * bins * sizeof(float) : 0);
  }

  [[nodiscard]] std::string too_short() const {
    return fmt::format("{} {} shorter than a frame", counted(plan_.samples, "sample"),
                       plan_.samples == 1 ? "is" : "are");
  }

  /// Every rank gets as many frames, as samples with the overlap. The last ranks' frames may lie beyond the end: the fewer
  /// frames there are, the fewer ranks have any.
  template <typename Sample>
  void share(const std::vector<Sample>& whole) {
    const auto p = static_cast<std::uint64_t>(job_.size());
    const std::uint64_t share = (plan_.frames + p - 1) / p;
    const std::uint64_t block = framing().samples_spanned(0, share);
    fft::Spectrogram<T> spectrogram(settings_, fft::Rigor::tuned);
    bins_ = plan_.is_complex != 0 ? spectrogram.complex_bins() : spectrogram.real_bins();
    std::vector<Sample> blocks;
    if (job_.is_root()) timed(report_, "split", [&] { blocks = cut(whole, share, block); });
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
    compute(spectrogram, std::span<const Sample>(mine), my_frames(share), result.data(), arrivals.watch());
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
    if (options_.job.compares_with_one_process()) {
      std::vector<T> again(values_.size());
      report_.single_process_s = least_seconds(
          [&] { spectrogram.process(std::span<const Sample>(whole), plan_.frames, again.data()); });
    }
  }

  /// Of this rank.
  [[nodiscard]] std::uint64_t my_frames(std::uint64_t share) const {
    const auto rank = static_cast<std::uint64_t>(job_.rank());
    return std::min(plan_.frames, (rank + 1) * share) - std::min(plan_.frames, rank * share);
  }

  /// A block of samples for each rank.
  template <typename Sample>
  [[nodiscard]] std::vector<Sample> cut(const std::vector<Sample>& whole, std::uint64_t share,
                                        std::uint64_t block) const {
    const auto p = static_cast<std::uint64_t>(job_.size());
    std::vector<Sample> blocks(p * block);
    for (std::uint64_t r = 0; r < p; ++r) {
      const std::uint64_t first = std::min<std::uint64_t>(whole.size(), framing().first_sample(r * share));
      const std::uint64_t count = std::min<std::uint64_t>(block, whole.size() - first);
      std::copy_n(whole.data() + first, count, blocks.data() + r * block);
    }
    return blocks;
  }

  /// This rank's frames.
  template <typename Sample>
  void compute(fft::Spectrogram<T>& spectrogram, std::span<const Sample> samples, std::uint64_t frames,
               T* result, ComputeWatch& watch) {
    Progress progress = options_.job.make_progress(job_.is_root(), "spectrogram");
    clocked(compute_s_, [&] {
      watch.compute_begins();
      spectrogram.process(samples, frames, result, watch.progress());
      watch.compute_ends();
    });
    note_compute();
    progress.show(frames, frames);
  }

  void note_compute() {
    report_.phases_s.emplace_back("compute", compute_s_);
    compute_phase_ = report_.phases_s.size() - 1;
  }

  /// In bounded memory: some frames at a time, to whoever is free, and written in order.
  template <typename Sample>
  void deal_out() {
    fft::Spectrogram<T> spectrogram(settings_, fft::Rigor::tuned);
    bins_ = plan_.is_complex != 0 ? spectrogram.complex_bins() : spectrogram.real_bins();
    const TaskShape shape = TaskShape::of(settings_.nperseg, settings_.noverlap, sizeof(Sample));
    // The input then ends where it is, so that of slow ones, too, all frames that have come are done.
    if (plan_.is_endless != 0) {
      orderly_.emplace(*job_.stop(), [source = source_] {
        if (source) source->give_up();
      });
    }
    std::optional<FrameTasks<Sample>> tasks;
    std::optional<io::RowFiles<T>> files;
    if (job_.is_root()) files.emplace(options_.io.out, bins_, std::nullopt, std::nullopt);
    if (job_.is_root()) tasks.emplace(source_, shape);
    ArrivalAware arrivals(job_, options_.job, 0);
    fft::Pauses idle(&arrivals.watch());
    comm::Farm farm(job_.comm(), shape.samples() * sizeof(Sample), shape.frames * bins_ * sizeof(T));
    using Clock = std::chrono::steady_clock;
    (void)farm.run(
        [&](std::span<std::byte> room) {
          const auto begin = Clock::now();
          const comm::Farm::Feed feed = tasks->fill(room);
          if (feed == comm::Farm::Feed::task) idle.interrupted("read", begin);
          return comm::Farm::Task{feed, room};
        },
        [&](std::span<const std::byte> task, std::span<std::byte> result, const comm::Farm::MoveOn&) {
          clocked(compute_s_, [&] {
            idle.end();
            arrivals.watch().compute_begins();
            spectrogram.process(std::span(reinterpret_cast<const Sample*>(task.data()), shape.samples()),
                                shape.frames, reinterpret_cast<T*>(result.data()));
            arrivals.watch().compute_ends();
            idle.begin();
          });
        },
        [&](std::span<const std::byte> result) {
          const auto begin = Clock::now();
          files->write(reinterpret_cast<const T*>(result.data()), tasks->done());
          idle.interrupted("write", begin);
        });
    idle.end();
    note_compute();
    job_.at_root([&] {
      end_input(*tasks);
      if (plan_.frames > 0) timed(report_, "write", [&] { files->finish(); });
    });
  }

  /// At the root, when no more frames will be done.
  template <typename Sample>
  void end_input(const FrameTasks<Sample>& tasks) {
    plan_.samples = tasks.samples_read();
    plan_.frames = tasks.frames_done();
    report_.non_finite = tasks.non_finite();
    say_non_finite(report_.non_finite, options_.io.name());
    const EarlyEnd::Done so_far{.count = plan_.frames, .noun = "frame"};
    early_.failed(tasks.failure());
    if (tasks.is_stopped()) {
      early_.say_stopped(*job_.stop(), so_far);
    } else if (early_.has_failed()) {
      early_.say_failed(so_far);
    }
    if (plan_.frames > 0 || early_.is_stopped()) return;
    if (early_.has_failed()) std::rethrow_exception(early_.failure());
    throw io::DataError(options_.io.name(),
                        fmt::format("{}; what would work: --nperseg {}", too_short(), plan_.samples));
  }

  void describe(double compute_s) {
    report_.begin("spectrogram", job_);
    report_.phases_s[compute_phase_].second = compute_s;
    report_.shared_work_s = compute_s;
    for (const auto& [name, seconds] : report_.phases_s) {
      if (name == "split") report_.shared_work_s += seconds;
    }
    report_.summary = fmt::format(
        "spectrogram of {} {} samples: {} frames of {} ({} overlapping), {} bins, {} precision, {}: scatter "
        "{}, gather "
        "{}",
        plan_.samples, plan_.is_complex != 0 ? "complex" : "real", plan_.frames, settings_.nperseg,
        settings_.noverlap, bins_, options_.io.precision, report_.who(), options_.job.scatter,
        options_.job.gather);
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
    if (plan_.is_dealt_out == 0) {
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
  std::shared_ptr<io::Source> source_;  // whose frames are dealt out
  EarlyEnd early_;
  std::optional<StopRequest::Orderly> orderly_;
};

}  // namespace

void add_spectrogram(cli::Command& app) {
  const auto options = std::make_shared<SpectrogramOptions>();
  cli::Command* command =
      app.add_subcommand("spectrogram", "short-time spectra of a recording, as numbers or as a picture");
  options->io.declare(*command, "a picture .png/.svg, or .npy (frames x bins), .raw/.bin, .csv");
  options->declare(*command, "nperseg/8");
  command->add_option("--mode", options->mode, "psd or magnitude")
      ->one_of({"psd", "magnitude"})
      ->capture_default_str();
  options->job.declare(*command);
  command->footer(
      "Examples:\n"
      "  papfft spectrogram bell.flac -o bell.png\n"
      "  mpirun -n 4 papfft spectrogram bell.flac --nperseg 1024 --noverlap 768 --window hann -o bell.npy -o "
      "bell.png\n"
      "  papfft spectrogram iq.sigmf-meta --nperseg 512 -o iq.svg\n"
      "  cat iq.cf32 | mpirun -n 4 papfft spectrogram - --format cf32_le --nperseg 1024 -o iq.npy\n"
      "Samples from a pipe may be endless: frames go to .npy and raw files as they come, in bounded memory.\n"
      "SIGUSR1, SIGINT or SIGTERM, sent to any rank, then ends the input: the job writes the frames that "
      "have\n"
      "come. Before the first frame, or if the input is a file, there is no output.\n" +
      std::string(kMpirunAndSignals) +
      "If a pipe cannot be read to its end, the output holds the frames before, and the exit code is 65.\n"
      "A file that does not fit into rank 0's memory goes the same way, to .npy and raw files; a signal then "
      "leaves no\noutput.\n"
      "The numbers are those of scipy.signal.spectrogram (transposed: one row per frame).\n" +
      kExitCodes);
  command->runs([options] {
    options->check();
    return run_sample_job<SpectrogramJob>(*options);
  });
}

}  // namespace papfft::app
