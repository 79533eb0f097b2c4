// SPDX-License-Identifier: MIT
// papfft stft and istft: short-time Fourier transforms of a recording, and back; each rank takes some of the frames.
#include "fft/spectral/stft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/run/memory.hpp"
#include "app/run/run_report.hpp"

namespace papfft::app {

namespace {

struct StftOptions {
  JobOptions job;
  InputOptions io;
  std::size_t nperseg = 0;              ///< 0: 256, or what the bins say
  std::optional<std::size_t> noverlap;  ///< nothing: half of nperseg
  std::string window = "hann";
  double alpha = 0.25;
  bool no_boundary = false;
  bool two_sided = false;
  bool inverse = false;
  std::uint64_t length = 0;

  [[nodiscard]] std::size_t overlap(std::size_t of) const { return noverlap.value_or(of / 2); }
};

/// What the root finds out and every rank must know. Without padding: it is sent as bytes.
struct StftPlan {
  std::uint64_t nperseg = 256;
  std::uint64_t frames = 0;
  std::uint64_t is_complex = 0;
};

/// The part of the frames that each rank does: as many for each; the last may have fewer, or none.
struct FrameShares {
  std::size_t frames = 0;
  std::size_t ranks = 1;
  [[nodiscard]] std::size_t most() const { return (frames + ranks - 1) / ranks; }
  [[nodiscard]] std::size_t first(std::size_t rank) const { return std::min(frames, rank * most()); }
  [[nodiscard]] std::size_t count(std::size_t rank) const { return first(rank + 1) - first(rank); }
};

template <typename T>
class StftJob {
 public:
  using Complex = std::complex<T>;

  StftJob(Job& job, const StftOptions& options) : job_(job), options_(options) {
    report_.recorder = job.recorder();
  }

  /// Collective.
  void run() {
    job_.at_root([&] {
      input_ = open_checked(options_.io, options_.job, job_.size());
      options_.inverse ? prepare_inverse() : prepare_forward();
    });
    plan_ = job_.from_root(plan_);
    window_ = window();
    plan_.is_complex != 0 ? transform<Complex>() : transform<T>();
  }

 private:
  void prepare_forward() {
    const io::SignalInfo& info = input_->info();
    if (info.rows != 1) {
      throw UsageError(
          fmt::format("{}: one vector is transformed, and there are {}", input_->name(), info.rows));
    }
    plan_.is_complex = info.is_complex ? 1 : 0;
    if (options_.nperseg > 0) plan_.nperseg = options_.nperseg;
    check_overlap();
    if (info.length) {
      const std::uint64_t sample_bytes = info.is_complex ? sizeof(Complex) : sizeof(T);
      const std::uint64_t bins = info.is_complex ? plan_.nperseg : plan_.nperseg / 2 + 1;
      const fft::Framing cut(*info.length + 2 * plan_.nperseg, plan_.nperseg,
                             options_.overlap(plan_.nperseg));
      check_memory(cut, *info.length * sample_bytes, sample_bytes, bins * sizeof(Complex));
    }
    in_ = read_samples<T>(*input_, info.is_complex, report_);
    info.is_complex ? extend(in_.complex) : extend(in_.real);
  }

  /// Half a frame of zeros at both ends, and as many at the end as fill the last frame; or neither.
  template <typename Sample>
  void extend(std::vector<Sample>& samples) {
    const std::size_t nperseg = plan_.nperseg;
    if (samples.size() < nperseg) {
      throw UsageError(fmt::format("{}: {} are shorter than a frame; what would work: --nperseg {}",
                                   input_->name(), counted(samples.size(), "sample"), samples.size()));
    }
    const fft::Framing hop(0, nperseg, options_.overlap(nperseg));
    if (!options_.no_boundary) {
      samples.insert(samples.begin(), nperseg / 2, Sample{});
      samples.resize(samples.size() + nperseg / 2);
      const std::size_t rest = (samples.size() - nperseg) % hop.hop();
      if (rest > 0) samples.resize(samples.size() + hop.hop() - rest);
    }
    plan_.frames = fft::Framing(samples.size(), nperseg, options_.overlap(nperseg)).frames();
  }

  void prepare_inverse() {
    const io::SignalInfo& info = input_->info();
    if (!info.two_dimensional || !info.length) {
      throw UsageError(
          fmt::format("{}: frames are the rows of a two-dimensional .npy file, as papfft stft writes it",
                      input_->name()));
    }
    plan_.is_complex = options_.two_sided ? 1 : 0;
    plan_.frames = info.rows;
    const std::uint64_t bins = *info.length;
    plan_.nperseg = options_.nperseg > 0 ? options_.nperseg : options_.two_sided ? bins : 2 * (bins - 1);
    if (bins != (options_.two_sided ? plan_.nperseg : plan_.nperseg / 2 + 1) || plan_.nperseg == 0) {
      throw UsageError(
          fmt::format("{}: frames of {} samples have not {} bins; what would work: --nperseg {}, or "
                      "--two-sided",
                      input_->name(), plan_.nperseg, bins, std::max<std::uint64_t>(1, 2 * (bins - 1))));
    }
    check_overlap();
    const std::uint64_t sample_bytes = options_.two_sided ? sizeof(Complex) : sizeof(T);
    const std::uint64_t hop = plan_.nperseg - options_.overlap(plan_.nperseg);
    check_memory({plan_.nperseg + (plan_.frames - 1) * hop, plan_.nperseg, options_.overlap(plan_.nperseg)},
                 plan_.frames * bins * sizeof(Complex), sample_bytes, bins * sizeof(Complex));
    in_.complex = read_samples<Complex>(*input_, report_);
  }

  /// What the root needs, about: the input, every rank's part of the samples and of the frames, and its own of both.
  /// @throws MemoryError
  void check_memory(const fft::Framing& cut, std::uint64_t input_bytes, std::uint64_t sample_bytes,
                    std::uint64_t frame_bytes) const {
    const auto p = static_cast<std::uint64_t>(job_.size());
    const std::uint64_t frames = (cut.frames() + p - 1) / p;
    require_memory(
        input_->name(),
        input_bytes + (p + 1) * (cut.samples_spanned(0, frames) * sample_bytes + frames * frame_bytes),
        available_memory_bytes(job_.comm().ranks_on_host()),
        sizeof(T) == sizeof(double) ? "--precision float, or more memory" : "more memory");
  }

  void check_overlap() const {
    if (options_.overlap(plan_.nperseg) < plan_.nperseg) return;
    throw UsageError(
        fmt::format("--noverlap {} must be below --nperseg {}", *options_.noverlap, plan_.nperseg));
  }

  /// Collective: the root's for all, so that hosts whose cosines differ in a bit have the same one.
  [[nodiscard]] std::vector<double> window() {
    struct Settings {
      fft::Window window;
      std::size_t nperseg;
      double tukey_alpha;
    };
    return shared_window(
        job_,
        Settings{fft::parse_window(options_.window), static_cast<std::size_t>(plan_.nperseg), options_.alpha},
        options_.job.bcast);
  }

  template <typename Sample>
  void transform() {
    fft::Stft<T, Sample> stft(window_, options_.overlap(plan_.nperseg), fft::Rigor::tuned);
    const FrameShares shares{static_cast<std::size_t>(plan_.frames), static_cast<std::size_t>(job_.size())};
    if (options_.inverse) {
      put_together(
          stft, shares,
          go<Complex, Sample>(
              shares, stft.bins(), shares.most() * stft.bins(), stft.samples(shares.most()), in_.complex,
              [&](const Complex* in, std::size_t frames, Sample* out) { stft.inverse(in, frames, out); }));
      return;
    }
    const std::vector<Complex> frames = go<Sample, Complex>(
        shares, stft.hop(), stft.samples(shares.most()), shares.most() * stft.bins(), samples<Sample>(),
        [&](const Sample* in, std::size_t count, Complex* out) { stft.forward(in, count, out); });
    job_.at_root([&] {
      const std::span<const Complex> result(frames.data(), shares.frames * stft.bins());
      finish(result, static_cast<std::size_t>(plan_.frames), stft.bins());
    });
  }

  /// Collective: each rank gets its frames, transforms them, and returns what it has made.
  /// @param step  elements of `whole` from one frame to the next. @param most_in  of them that a rank needs
  /// @return at the root: a block of `most_out` elements for each rank
  template <typename In, typename Out, typename Work>
  [[nodiscard]] std::vector<Out> go(const FrameShares& shares, std::size_t step, std::size_t most_in,
                                    std::size_t most_out, const std::vector<In>& whole, const Work& work) {
    std::vector<In> blocks;
    if (job_.is_root()) {
      blocks.resize(shares.ranks * most_in);
      for (std::size_t r = 0; r < shares.ranks; ++r) {
        const std::size_t first = std::min(whole.size(), shares.first(r) * step);
        std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(first),
                    std::min(most_in, whole.size() - first),
                    blocks.begin() + static_cast<std::ptrdiff_t>(r * most_in));
      }
    }
    std::vector<In> mine(most_in);
    std::vector<Out> made(most_out);
    timed(report_, "scatter",
          [&] { job_.comm().template scatter<In>(blocks, mine, 0, options_.job.scatter); });
    timed(report_, "compute",
          [&] { work(mine.data(), shares.count(static_cast<std::size_t>(job_.rank())), made.data()); });
    std::vector<Out> all(job_.is_root() ? shares.ranks * most_out : 0);
    timed(report_, "gather", [&] { job_.comm().template gather<Out>(made, all, 0, options_.job.gather); });
    return all;
  }

  /// @param stretches  at the root: each rank's, which overlap by less than a frame
  template <typename Sample>
  void put_together(fft::Stft<T, Sample>& stft, const FrameShares& shares,
                    const std::vector<Sample>& stretches) {
    job_.at_root([&] {
      std::vector<Sample> whole(stft.samples(shares.frames));
      for (std::size_t r = 0; r < shares.ranks; ++r) {
        const Sample* from = stretches.data() + r * stft.samples(shares.most());
        Sample* to = whole.data() + shares.first(r) * stft.hop();
        for (std::size_t i = 0; i < stft.samples(shares.count(r)); ++i) to[i] += from[i];
      }
      const std::vector<T> weights = stft.weights(shares.frames);
      for (std::size_t i = 0; i < whole.size(); ++i) whole[i] /= weights[i];
      const std::size_t border = options_.no_boundary ? 0 : stft.nperseg() / 2;
      std::span<const Sample> result(whole.data() + border, whole.size() - 2 * border);
      if (options_.length > result.size()) {
        throw UsageError(
            fmt::format("--length {}: there are {}", options_.length, counted(result.size(), "sample")));
      }
      if (options_.length > 0) result = result.first(options_.length);
      finish(result, std::nullopt, result.size());
    });
  }

  template <typename Sample>
  [[nodiscard]] const std::vector<Sample>& samples() const {
    if constexpr (std::is_same_v<Sample, T>) {
      return in_.real;
    } else {
      return in_.complex;
    }
  }

  /// At the root.
  template <typename Sample>
  void finish(std::span<const Sample> result, std::optional<std::size_t> rows, std::size_t length) {
    const char* const command = options_.inverse ? "istft" : "stft";
    report_.begin(command, job_);
    report_.summary =
        fmt::format("{} of {} of {} {} samples, {} precision, {}: scatter {}, gather {}", command,
                    counted(plan_.frames, "frame"), plan_.nperseg, plan_.is_complex != 0 ? "complex" : "real",
                    options_.io.precision, report_.who(), options_.job.scatter, options_.job.gather);
    report_.settings = {{"frames", plan_.frames},
                        {"nperseg", plan_.nperseg},
                        {"noverlap", options_.overlap(plan_.nperseg)},
                        {"window", options_.window},
                        {"boundary", !options_.no_boundary},
                        {"precision", options_.io.precision}};
    timed(report_, "write", [&] {
      for (const std::string& path : options_.io.out) {
        if (io::is_picture(path)) {
          throw io::UnsuitableOutput(path,
                                     "is no picture of this; what would work: papfft spectrogram, or .npy");
        }
        io::write_numbers(path, result, rows, options_.inverse ? "sample" : "bin", [&] {
          std::vector<double> index(length);
          for (std::size_t i = 0; i < length; ++i) index[i] = static_cast<double>(i);
          return index;
        });
      }
    });
    report_.deliver(options_.job, options_.io.out);
  }

  Job& job_;
  const StftOptions& options_;
  std::unique_ptr<io::Source> input_;  // at the root
  StftPlan plan_;
  std::vector<double> window_;
  RunReport report_;
  Samples<T> in_;
};

void declare(cli::Command& command, StftOptions& options, const std::string& formats) {
  options.io.declare(command, formats);
  command
      .add_option("--nperseg", options.nperseg,
                  options.inverse ? "samples per frame (default: as the bins say)"
                                  : "samples per frame (default: 256)")
      ->positive();
  command
      .add_option("--noverlap,--overlap", options.noverlap,
                  "samples that two neighbouring frames share (default: nperseg/2)")
      ->count_from_0();
  command.add_option("--window", options.window, "each frame is multiplied by it")
      ->one_of(fft::kWindowNames)
      ->capture_default_str();
  command.add_option("--alpha", options.alpha, "the share of the tukey window that is tapered")
      ->finite()
      ->capture_default_str();
  command.add_flag(
      "--no-boundary", options.no_boundary,
      "without zeros around the samples: half a frame before and after, and what fills the last frame");
}

}  // namespace

void add_stft(cli::Command& app) {
  const auto options = std::make_shared<StftOptions>();
  cli::Command* command = app.add_subcommand("stft", "complex short-time Fourier transform of a recording");
  declare(*command, *options, ".npy (frames x bins), .raw/.bin, .csv");
  options->job.declare(*command);
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 papfft stft bell.flac --nperseg 1024 -o bell.npy\n"
      "The numbers are those of scipy.signal.stft (transposed: one row per frame).\n" +
      std::string(kExitCodes));
  command->runs([options] { return run_sample_job<StftJob>(*options); });
}

void add_istft(cli::Command& app) {
  const auto options = std::make_shared<StftOptions>();
  options->inverse = true;
  cli::Command* command =
      app.add_subcommand("istft", "the recording again, from its short-time Fourier transform");
  declare(*command, *options, ".npy, .raw/.bin, .csv");
  command->add_flag("--two-sided", options->two_sided, "the frames have all bins: those of complex samples");
  command
      ->add_option("--length", options->length, "the samples after these, which stft has added, are left out")
      ->positive();
  options->job.declare(*command);
  command->footer(
      "Examples:\n"
      "  papfft istft bell.npy -o samples.npy\n"
      "IN is what papfft stft writes: a row per frame. The numbers are those of scipy.signal.istft.\n" +
      std::string(kExitCodes));
  command->runs([options] { return run_sample_job<StftJob>(*options); });
}

}  // namespace papfft::app
