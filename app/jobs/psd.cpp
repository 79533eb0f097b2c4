// SPDX-License-Identifier: MIT
// papfft psd: the power spectrum of a recording, averaged over frames by Welch's method.
#include <fmt/format.h>

#include <cmath>

#include "app/cli/command.hpp"
#include "app/jobs/welch_run.hpp"

namespace papfft::app {

namespace {

template <typename T>
class PsdJob {
 public:
  PsdJob(Job& job, const WelchOptions& options) : options_(options), run_(job, options, false) {}

  void run() {
    run_.compute();
    run_.deliver([&] { run_.describe("psd", "power spectrum"); },
                 [&](const std::string& path) { write_as(path); });
    run_.end();
  }

 private:
  void write_as(const std::string& path) const {
    if (!io::is_picture(path)) {
      run_.write_numbers(path, run_.power());
      return;
    }
    std::vector<double> levels_db;
    for (const double power : run_.power()) levels_db.push_back(10 * std::log10(power));
    std::vector<std::string> names;
    for (std::size_t c = 0; c < run_.channels(); ++c) names.push_back(fmt::format("channel {}", c));
    const bool density = options_.scaling == "density";
    run_.draw(path, levels_db, names,
              {.label = density ? "Power density" : "Power",
               .unit = density && run_.knows_rate() ? "dB re 1/Hz" : "dB"});
  }

  const WelchOptions& options_;
  WelchRun<T> run_;
};

}  // namespace

void add_psd(cli::Command& app) {
  const auto options = std::make_shared<WelchOptions>();
  cli::Command* command =
      app.add_subcommand("psd", "power spectrum of a recording, averaged over frames (Welch)");
  options->io.declare(*command, ".npy, .raw/.bin, .csv, or a picture .png/.svg");
  InputOptions::declare_each_channel(*command, options->apart);
  options->declare(*command);
  command
      ->add_option(
          "--average", options->average,
          "how to average the frames' powers: mean, or median, which a few loud frames do not change "
          "(rank 0 then holds 8 bytes per frame, bin and channel)")
      ->one_of({"mean", "median"})
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  papfft psd bell.flac -o bell.csv -o bell.png\n"
      "  mpirun -n 4 papfft psd bell.flac --nperseg 4096 --window hann -o bell.npy --stats\n"
      "  mpirun -n 4 papfft psd bell.flac --average median -o bell.csv\n"
      "  mpirun -n 4 papfft psd long.sigmf-meta --read parallel --reduce bnom -o long.svg\n"
      "  cat iq.cf32 | papfft psd - --format cf32_le --rate 2400000 -o iq.png\n"
      "The numbers are those of scipy.signal.welch, one row per channel or row of a .npy file. For the same "
      "number of\n"
      "ranks they are the same to the last bit whatever the threads, the delays and the reduction's "
      "algorithm.\n"
      "papfft reads the input in pieces: it may be longer than memory, unless --average is median. --delay "
      "makes "
      "ranks late with each piece.\n"
      "SIGUSR1, SIGINT or SIGTERM, sent to any rank, ends the input if it is a pipe: the output is the "
      "average\n"
      "of the frames that came. Before the first frame, or if the input is a file, there is no output.\n" +
      std::string(kMpirunAndSignals) +
      "If a pipe cannot be read to its end, the output is the average of what came before, and the exit "
      "code\n"
      "is 65.\n" +
      kExitCodes);
  command->runs([options] {
    options->inputs = {options->io.in};
    options->check();
    return run_sample_job<PsdJob>(*options);
  });
}

}  // namespace papfft::app
