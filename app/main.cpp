// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/tell.hpp"
#include "app/cli/version.hpp"
#include "app/comparison/comparison.hpp"
#include "app/io/atomic_file.hpp"
#include "app/io/errors.hpp"
#include "app/io/known_inputs.hpp"
#include "app/run/job.hpp"
#include "comm/record/arrival_trace.hpp"

namespace papfft::app {

namespace {

std::string& stored_command_line() {
  static std::string text;
  return text;
}

extern "C" void end_on_signal(int signal) {
  io::unlink_pending_temporaries();
  _exit(128 + signal);
}

/// The number of a closed standard stream would go to the next file that is opened, and what is meant for the user into it.
/// Opened the wrong way round, so that reading or writing stays an error.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is that of the stream.
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// What was printed is still in memory; only now shows whether it can be written.
int flush_standard_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kOk;
  return report_exception(std::make_exception_ptr(io::OutputError("standard output", io::errno_text(errno))));
}

void prepare_signals() {
  struct sigaction ending {};
  ending.sa_handler = end_on_signal;
  sigaction(SIGINT, &ending, nullptr);
  sigaction(SIGTERM, &ending, nullptr);
  // A closed pipe or a file size limit shall be an error of the write, not the end of the process.
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, nullptr);
  sigaction(SIGXFSZ, &ignored, nullptr);
}

/// Ends a command that makes no sense. Normally every rank finds that out by itself, and the root says it. A
/// rank that was started with other arguments would end the job without a word; so all compare what they were given first.
int refuse(const std::string& why, int why_code = kUsage) {
  const auto say = [&] {
    if (launched_rank() == 0) tell("papfft: {}\n", why);
  };
  if (job_has_started()) {  // and they have been compared
    say();
    return why_code;
  }
  comm::Options options;
  try {
    options = comm::Options::from_environment();
  } catch (const std::invalid_argument&) {
    // It is what we refuse, then.
  }
  // Said while the others still wait for the root: the first that exits has mpirun end all.
  const int code = run_job(options, "auto", [&](Job&) { say(); });
  return code != kOk ? code : why_code;
}

/// A command, under the heading of --help where a user looks for it.
struct Entry {
  const char* heading;
  void (*add)(cli::Command&);
};

const std::array kCommands = {Entry{"Jobs", add_transform},
                              Entry{"Jobs", add_spectrogram},
                              Entry{"Jobs", add_stft},
                              Entry{"Jobs", add_istft},
                              Entry{"Jobs", add_psd},
                              Entry{"Jobs", add_correlate},
                              Entry{"Jobs", add_convolve},
                              Entry{"Benchmarks", add_bench},
                              Entry{"Benchmarks", add_record},
                              Entry{"Benchmarks", add_report},
                              Entry{"Benchmarks", add_experiment},
                              Entry{"Models", add_algorithms},
                              Entry{"Models", add_schedule},
                              Entry{"Models", add_simulate},
                              Entry{"Models", add_rank},
                              Entry{"This machine", add_cluster},
                              Entry{"This machine", add_tune},
                              Entry{"This machine", add_preload},
                              Entry{"This machine", add_info}};

int parse_and_act(std::vector<std::string> words) {
  cli::Command app("papfft: Fourier transforms by many processes that need not arrive together", "papfft");
  app.version(kVersion);
  app.require_subcommand();
  app.footer(
      "Examples:\n"
      "  papfft spectrogram recording.flac -o picture.png\n"
      "  mpirun -n 4 papfft transform recording.flac -o spectrum.npy --stats\n"
      "  papfft COMMAND --help\n"
      "Every option with [env:...] can also be set in the environment; 'papfft info' shows what is in "
      "force.");
  for (const Entry& entry : kCommands) {
    app.group(entry.heading);
    entry.add(app);
  }
  try {
    // record -o FILE -- JOB: what follows the dashes is not for us.
    if (!words.empty() && words.front() == "record") {
      const auto dashes = std::ranges::find(words, "--");
      if (dashes != words.end()) words.erase(dashes);
    }
    if (const auto shown = app.parse(std::move(words))) {  // --help, --version
      if (launched_rank() == 0) fmt::print("{}", *shown);
      return kOk;
    }
    return app.run();
  } catch (const comm::TraceError& e) {  // of --delay, which every rank reads
    return refuse(e.what(), kBadData);
  } catch (const std::invalid_argument& e) {
    return refuse(e.what());
  } catch (const UsageError& e) {
    return refuse(e.what());
  }
}

int run(int argc, char** argv) {
  try {
    io::keep_inputs();
    comm::register_comparison_algorithms();  // for `papfft bench schedule` and `simulate`
    const std::vector<std::string> words(argv + 1, argv + argc);
    for (const std::string& word : words)
      stored_command_line() += (&word == &words.front() ? "" : " ") + word;
    const int code = parse_and_act(words);
    return code == kOk ? flush_standard_output() : code;
  } catch (...) {
    const int code = report_exception(std::current_exception());
    if (code != kOk) abort_job(code);
    return code;
  }
}

}  // namespace

const std::string& command_line() { return stored_command_line(); }

int run_words(const std::vector<std::string>& words) { return parse_and_act(words); }

}  // namespace papfft::app

int main(int argc, char** argv) {
  papfft::app::occupy_standard_streams();
  papfft::app::prepare_signals();
  return papfft::app::run(argc, argv);
}
