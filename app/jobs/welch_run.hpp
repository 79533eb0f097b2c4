// SPDX-License-Identifier: MIT
// What psd and correlate have in common: frames of some channels, averaged by all ranks.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/jobs/channels.hpp"
#include "app/jobs/early_end.hpp"
#include "app/jobs/frame_options.hpp"
#include "app/jobs/sample_job.hpp"
#include "app/run/arrivals.hpp"
#include "fft/spectral/welch.hpp"

namespace papfft::app {

struct WelchOptions : FrameOptions {
  JobOptions job;
  InputOptions io;
  std::vector<std::string> inputs;  ///< all of them; io.in is the first
  bool apart = false;               ///< each channel of a sound by itself
  std::optional<std::size_t> nfft;
  std::string average = "mean";
  bool two_sided = false;
  std::string read = "root";
  std::size_t frames_at_once = 0;  ///< per rank; 0: as many as hold about 2^18 samples

  WelchOptions() { window = "hann"; }
  /// Declares all but the inputs on a command.
  void declare(cli::Command& app);
  /// @throws UsageError, std::invalid_argument  options that do not fit together
  void check() const;
  [[nodiscard]] fft::WelchSettings settings(double sample_rate_hz) const;
};

/// Averages over the frames of all channels. Each rank accumulates the spectra of its frames and a reduction adds them up, as
/// OrderFreeSum: the numbers depend on the number of ranks, on --frames-at-once and on nothing else, so not on threads,
/// arrivals, the reduction's algorithm or who reads the file.
///
/// The input is worked on in batches of some frames per rank, so that memory does not grow with its length.
template <typename T>
class WelchRun {
 public:
  /// @param pairs  also the cross power of each pair of channels
  WelchRun(Job& job, const WelchOptions& options, bool pairs)
      : job_(job), options_(options), with_pairs_(pairs) {
    report_.recorder = job.recorder();
  }

  /// Collective. @throws Quit, and what the collectives throw; Quit also if a signal came before the first frame
  void compute();

  // At the root, after compute(); all lists have bins() entries per channel or pair.
  [[nodiscard]] const std::vector<double>& power() const { return power_; }
  [[nodiscard]] const std::vector<std::complex<double>>& cross() const { return cross_; }
  [[nodiscard]] const std::vector<double>& coherence() const { return coherence_; }
  [[nodiscard]] const std::vector<double>& bins_hz() const { return bins_hz_; }
  [[nodiscard]] std::size_t bins() const { return bins_hz_.size(); }
  [[nodiscard]] std::size_t channels() const { return static_cast<std::size_t>(plan_.channels); }
  [[nodiscard]] const std::vector<fft::ChannelPair>& pairs() const { return pairs_; }
  [[nodiscard]] bool knows_rate() const { return knows_rate_; }
  [[nodiscard]] RunReport& report() { return report_; }
  /// Collective, when the result is written. @throws Quit on every rank, if it is only of what came of a pipe, which a signal
  /// has ended or which could not be read to its end
  void end() { early_.rethrow(job_); }
  /// The input had rows or several channels, and so has the result.
  [[nodiscard]] bool has_rows() const { return has_rows_; }

  /// Values in the wanted precision as .npy, raw or .csv. @throws io::OutputError
  template <typename Value>
  void write_numbers(const std::string& path, const std::vector<Value>& values) const;
  /// A line per row of `levels` (bins() each) over the frequencies, in rising order. @throws io::OutputError
  void draw(const std::string& path, const std::vector<double>& levels, const std::vector<std::string>& names,
            const report::Axis& y) const;
  /// After compute(); at the root: describes, writes each output, and delivers the report. Collective. @throws Quit
  void deliver(const std::function<void()>& describe,
               const std::function<void(const std::string& path)>& write);
  /// What it was that was averaged, for the report: settings and the summary's end.
  void describe(const std::string& command, const std::string& what);

 private:
  /// What the root finds out and every rank must know. Without padding: it is sent as bytes.
  struct Plan {
    std::uint64_t channels = 0;
    std::uint64_t length = 0;  ///< samples per channel; 0: not known
    std::uint64_t frames = 0;  ///< 0: not known
    std::uint64_t frames_at_once = 1;
    double rate_hz = 1;
    std::int64_t is_complex = 0;
  };
  /// A rank's part of a batch of frames.
  struct Part {
    std::uint64_t first = 0;
    std::uint64_t frames = 0;
  };

  [[nodiscard]] bool reads_itself() const { return options_.read == "parallel"; }
  [[nodiscard]] fft::Framing framing(std::uint64_t samples = 0) const {
    return {samples, options_.nperseg, settings_.noverlap};
  }
  [[nodiscard]] std::uint64_t batch_frames() const {
    return plan_.frames_at_once * static_cast<std::uint64_t>(job_.size());
  }
  [[nodiscard]] std::uint64_t share(std::uint64_t batch) const {
    return (batch + static_cast<std::uint64_t>(job_.size()) - 1) / static_cast<std::uint64_t>(job_.size());
  }
  [[nodiscard]] Part part(std::uint64_t batch, int rank) const;

  void prepare();
  void check_readable();
  [[noreturn]] void refuse_short(std::uint64_t samples) const;
  template <typename Sample>
  void run();
  template <typename Sample>
  void through_root(fft::Welch<Sample>& welch, ArrivalAware& arrivals, Progress& progress);
  template <typename Sample>
  void each_its_own(fft::Welch<Sample>& welch, ComputeWatch& watch, Progress& progress);
  template <typename Sample>
  std::uint64_t read_batch(std::vector<Sample>& window);
  void say_if_cut_short();
  template <typename Sample>
  void cut(const std::vector<Sample>& window, std::uint64_t batch, std::vector<Sample>& blocks) const;
  template <typename Sample>
  void collect(const fft::Welch<Sample>& welch, ArrivalAware& arrivals);
  template <typename Sample>
  [[nodiscard]] std::vector<double> gather_powers(const fft::Welch<Sample>& welch, ArrivalAware& arrivals);

  Job& job_;
  const WelchOptions& options_;
  bool with_pairs_;
  Plan plan_;
  fft::WelchSettings settings_;
  std::vector<double> window_;
  std::vector<fft::ChannelPair> pairs_;
  Channels channels_;
  RunReport report_;
  bool knows_rate_ = false;
  bool has_rows_ = false;
  EarlyEnd early_;  // a failure is kept until the ranks talk anyway, or, of a pipe, to the end
  std::optional<StopRequest::Orderly> orderly_;

  std::uint64_t frames_done_ = 0;
  // Of the samples side by side that read_batch() fills at the root:
  std::uint64_t window_samples_ = 0;    // there, per channel
  std::uint64_t consumed_samples_ = 0;  // of which no frame needs these any more
  std::uint64_t next_sample_ = 0;       // to be read

  double read_s_ = 0;
  double scatter_s_ = 0;
  double compute_s_ = 0;
  double reduce_s_ = 0;

  std::vector<double> bins_hz_;
  std::vector<double> power_;
  std::vector<std::complex<double>> cross_;
  std::vector<double> coherence_;
};

template <typename T>
template <typename Value>
void WelchRun<T>::write_numbers(const std::string& path, const std::vector<Value>& values) const {
  using Out = std::conditional_t<io::is_complex_v<Value>, std::complex<T>, T>;
  std::vector<Out> out;
  out.reserve(values.size());
  for (const Value& value : values) out.push_back(static_cast<Out>(value));
  io::write_numbers(path, std::span<const Out>(out),
                    has_rows_ ? std::optional<std::size_t>(values.size() / bins()) : std::nullopt,
                    knows_rate_ ? "frequency_hz" : "cycles_per_sample", [&] { return bins_hz_; });
}

}  // namespace papfft::app
