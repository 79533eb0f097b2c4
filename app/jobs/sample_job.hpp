// SPDX-License-Identifier: MIT
// What the jobs on samples have in common: transform, spectrogram, psd, correlate, convolve.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/tell.hpp"
#include "app/io/atomic_file.hpp"
#include "app/io/known_inputs.hpp"
#include "app/io/writer.hpp"
#include "app/jobs/help_text.hpp"
#include "app/jobs/input_options.hpp"
#include "app/report/plot.hpp"
#include "app/run/job.hpp"
#include "app/run/job_options.hpp"
#include "app/run/recording.hpp"
#include "app/run/run_report.hpp"
#include "app/run/stop_request.hpp"
#include "fft/spectral/window.hpp"

namespace papfft::app {

/// Samples of either kind; one of the two is empty.
template <typename T>
struct Samples {
  std::vector<T> real;
  std::vector<std::complex<T>> complex;
};

[[nodiscard]] inline std::vector<std::string> outputs_of(const InputOptions& input, const JobOptions& job) {
  std::vector<std::string> outputs = input.out;
  outputs.insert(outputs.end(), job.record.begin(), job.record.end());
  for (const std::string& path : {job.json, job.timeline}) {
    if (!path.empty()) outputs.push_back(path);
  }
  return outputs;
}

/// At the root, before long work: can the outputs be written, does none replace an input, and do the delays name ranks that there
/// are? @throws io::OutputError, std::invalid_argument
inline void check_before_work(const InputOptions& input, const JobOptions& job, int ranks) {
  const std::vector<std::string> outputs = outputs_of(input, job);
  std::ranges::for_each(outputs, io::check_writable);
  input.check_formats();
  io::require_distinct(outputs);
  (void)job.arrivals.pattern().delay_ns(0, 0, ranks, 0);
}

/// Checks these, and then opens the input. @throws also io::DataError, UsageError
[[nodiscard]] inline std::unique_ptr<io::Source> open_checked(const InputOptions& input,
                                                              const JobOptions& job, int ranks) {
  check_before_work(input, job, ranks);
  auto source = input.open();
  std::ranges::for_each(outputs_of(input, job), io::require_no_input);  // which may be several files
  return source;
}

/// Collective: the root's window for all, so that hosts whose cosines differ in a bit have the same one.
/// @param settings  fft::WelchSettings or SpectrogramSettings
template <typename Settings>
[[nodiscard]] std::vector<double> shared_window(Job& job, const Settings& settings,
                                                const std::string& bcast) {
  std::vector<double> window(settings.nperseg);
  job.at_root([&] { window = fft::make_window(settings.window, settings.nperseg, settings.tukey_alpha); });
  job.comm().bcast<double>(window, 0, bcast);
  return window;
}

inline void say_non_finite(std::uint64_t count, const std::string& name) {
  if (count > 0) tell("papfft: note: {} of the samples in {} are not finite\n", count, name);
}

/// Reads everything, timed as "read"; says on stderr how many samples are not finite.
template <typename Sample>
[[nodiscard]] std::vector<Sample> read_samples(io::Source& source, RunReport& report) {
  std::vector<Sample> samples;
  timed(report, "read", [&] {
    samples = io::read_all<Sample>(source);
    report.non_finite = io::count_non_finite<Sample>(samples);
  });
  say_non_finite(report.non_finite, source.name());
  return samples;
}

/// The same into one of the two kinds.
template <typename T>
[[nodiscard]] Samples<T> read_samples(io::Source& source, bool as_complex, RunReport& report) {
  Samples<T> samples;
  if (as_complex) {
    samples.complex = read_samples<std::complex<T>>(source, report);
  } else {
    samples.real = read_samples<T>(source, report);
  }
  return samples;
}

/// @param plot  a report::LinePlot or HeatMap; its title is the input's name. @throws io::OutputError
template <typename Plot>
void write_picture(const std::string& path, const Plot& plot, const InputOptions& input) {
  const report::Format format =
      io::format_of(path) == io::OutputFormat::png ? report::Format::png : report::Format::svg;
  io::AtomicFile file(path);
  file.write(
      report::draw(plot, {.title = std::filesystem::path(input.in).filename().string()}, format).bytes);
  file.commit();
}

/// What the root's user has tuned and FFTW's wisdom, on every rank, by the job's own broadcast: on other hosts there may be
/// no such file, or another one. Collective.
void share_tuning(Job& job);

/// Runs JobOf<float or double>(job, options).run() on every rank, which signals end at once unless it says otherwise
/// (StopRequest). @return the exit code
template <template <typename> class JobOf, typename Options>
[[nodiscard]] int run_sample_job(const Options& options) {
  StopRequest stop;
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    options.job.apply_threads(job.comm().ranks_on_host());
    io::set_force(options.io.force);
    StopRequest::Line line(stop, job);
    job.set_stop(&stop);
    try {
      share_tuning(job);
      run_recorded(job, options.job, [&] {
        if (options.io.precision == "float") {
          JobOf<float>(job, options).run();
        } else {
          JobOf<double>(job, options).run();
        }
      });
    } catch (const Quit&) {
      throw;
    } catch (...) {
      line.abandon();
      throw;
    }
  });
}

}  // namespace papfft::app
