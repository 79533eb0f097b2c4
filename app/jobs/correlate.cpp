// SPDX-License-Identifier: MIT
// papfft correlate: cross spectra of signals (an FX correlator: transform, multiply, accumulate, reduce).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/cli/command.hpp"
#include "app/jobs/welch_run.hpp"

namespace papfft::app {

namespace {

struct CorrelateOptions : WelchOptions {
  std::string second;
  bool coherence = false;
  std::string picture = "magnitude";
};

template <typename T>
class CorrelateJob {
 public:
  CorrelateJob(Job& job, const CorrelateOptions& options) : options_(options), run_(job, options, true) {}

  void run() {
    run_.compute();
    run_.deliver([&] { describe(); }, [&](const std::string& path) { write_as(path); });
    run_.end();
  }

 private:
  void describe() {
    run_.describe("correlate", options_.coherence ? "coherence" : "cross spectrum");
    io::Json pairs = io::Json::array();
    for (const fft::ChannelPair& pair : run_.pairs()) pairs.push_back({pair.first, pair.second});
    run_.report().settings["pairs"] = pairs;
    run_.report().settings["coherence"] = options_.coherence;
  }

  void write_as(const std::string& path) const {
    if (io::is_picture(path)) {
      draw(path);
    } else if (options_.coherence) {
      run_.write_numbers(path, run_.coherence());
    } else {
      run_.write_numbers(path, run_.cross());
    }
  }

  void draw(const std::string& path) const {
    std::vector<std::string> names;
    for (const fft::ChannelPair& pair : run_.pairs())
      names.push_back(fmt::format("{} and {}", pair.first, pair.second));
    if (options_.coherence) {
      run_.draw(path, run_.coherence(), names,
                {.label = "Coherence", .unit = "", .range = report::Range{0, 1}});
      return;
    }
    const bool phase = options_.picture == "phase";
    std::vector<double> levels;
    for (const std::complex<double>& z : run_.cross()) {
      levels.push_back(phase ? std::arg(z) * 180 / std::numbers::pi : 10 * std::log10(std::abs(z)));
    }
    const bool density = options_.scaling == "density";
    const report::Axis magnitude{.label = density ? "Cross power density" : "Cross power",
                                 .unit = density && run_.knows_rate() ? "dB re 1/Hz" : "dB"};
    run_.draw(path, levels, names, phase ? report::Axis{.label = "Phase", .unit = "degrees"} : magnitude);
  }

  const CorrelateOptions& options_;
  WelchRun<T> run_;
};

}  // namespace

void add_correlate(cli::Command& app) {
  const auto options = std::make_shared<CorrelateOptions>();
  cli::Command* command =
      app.add_subcommand("correlate", "cross spectra of two recordings, or of all channels of one");
  options->io.declare(*command, ".npy, .raw/.bin, .csv, or a picture .png/.svg");
  command->add_option("B", options->second,
                      "the second input, as IN; without it: all pairs of IN's channels or rows");
  command->add_flag("--coherence", options->coherence, "the coherence of each pair, 0 to 1, instead");
  command
      ->add_option("--picture", options->picture,
                   "what pictures show of a cross spectrum: magnitude or phase")
      ->one_of({"magnitude", "phase"})
      ->capture_default_str();
  options->declare(*command);
  command->footer(
      "Examples:\n"
      "  papfft correlate left.wav right.wav -o cross.npy -o cross.png\n"
      "  mpirun -n 4 papfft correlate stereo.flac --nperseg 1024 -o cross.csv --stats\n"
      "  mpirun -n 4 papfft correlate antennas.npy --read parallel --detrend none --coherence -o "
      "coherence.npy\n"
      "The numbers are those of scipy.signal.csd (mean of conj(FFT of the first) * FFT of the second) and\n"
      "scipy.signal.coherence, one row per pair: 0 and 1, 0 and 2, ..., 1 and 2, ... Of two inputs the "
      "shorter is padded\n"
      "with zeros. The input is read in pieces: it may be longer than memory. Signals as with psd.\n" +
      std::string(kExitCodes));
  command->runs([options] {
    options->inputs = {options->io.in};
    if (!options->second.empty()) options->inputs.push_back(options->second);
    options->apart = options->second.empty();
    options->check();
    return run_sample_job<CorrelateJob>(*options);
  });
}

}  // namespace papfft::app
