// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "app/command.hpp"
#include "app/exit_code.hpp"
#include "app/io/atomic_file.hpp"
#include "app/job.hpp"
#include "app/version.hpp"

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

int run(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) stored_command_line() += std::string(i == 1 ? "" : " ") + argv[i];
  CLI::App app("papfft: Fourier transforms by many processes that need not arrive together", "papfft");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  papfft spectrogram recording.flac -o picture.png\n"
      "  mpirun -n 4 papfft transform recording.flac -o spectrum.npy --stats\n"
      "  papfft COMMAND --help\n"
      "Every option with [env:...] can also be set in the environment; 'papfft info' shows what is in "
      "force.");
  Action action;
  add_transform(app, action);
  add_spectrogram(app, action);
  add_algorithms(app, action);
  add_schedule(app, action);
  add_cluster(app, action);
  add_info(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    if (launched_rank() == 0) app.exit(e);
    return kOk;
  } catch (const CLI::ParseError& e) {
    if (launched_rank() == 0) fmt::print(stderr, "papfft: {} (papfft --help shows how)\n", e.what());
    return kUsage;
  }
  try {
    return action();
  } catch (const std::invalid_argument&) {
    // Options that make no sense; every rank finds that out by itself, before any message.
    const int code = launched_rank() == 0 ? report_exception(std::current_exception()) : kUsage;
    return code;
  } catch (const UsageError&) {
    return launched_rank() == 0 ? report_exception(std::current_exception()) : kUsage;
  } catch (...) {
    const int code = report_exception(std::current_exception());
    if (code != kOk) abort_job(code);
    return code;
  }
}

}  // namespace

const std::string& command_line() { return stored_command_line(); }

}  // namespace papfft::app

int main(int argc, char** argv) {
  papfft::app::prepare_signals();
  return papfft::app::run(argc, argv);
}
