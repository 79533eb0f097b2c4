// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/exit_code.hpp"
#include "app/io/atomic_file.hpp"
#include "app/job.hpp"
#include "app/version.hpp"
#include "comm/predict/pure/arrival_trace.hpp"

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

/// Ends a command that makes no sense. Normally every rank finds that out by itself, and the root says it. A
/// rank that was started with other arguments would end the job without a word; so all compare what they were given first.
int refuse(const std::string& why, int why_code = kUsage) {
  const auto say = [&] {
    if (launched_rank() == 0) fmt::print(stderr, "papfft: {}\n", why);
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

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  const auto unparsed = app.remaining();
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::RequiredError) || unparsed.empty() ||
      !app.get_subcommands().empty()) {
    return fmt::format("{} (papfft --help shows how)", error.what());
  }
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  return fmt::format("no command '{}'; known: {}", unparsed.front(), known);
}

int parse_and_act(std::vector<std::string> words) {
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
  add_psd(app, action);
  add_correlate(app, action);
  add_convolve(app, action);
  add_algorithms(app, action);
  add_schedule(app, action);
  add_simulate(app, action);
  add_bench(app, action);
  add_cluster(app, action);
  add_tune(app, action);
  add_report(app, action);
  add_experiment(app, action);
  add_info(app, action);
  add_record(app, action);
  try {
    // record -o FILE -- JOB: CLI11 would take what follows the dashes for arguments of ours.
    if (!words.empty() && words.front() == "record") {
      const auto dashes = std::ranges::find(words, "--");
      if (dashes != words.end()) words.erase(dashes);
    }
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    return action();
  } catch (const CLI::Success& e) {  // --help, --version
    if (launched_rank() == 0) app.exit(e);
    return kOk;
  } catch (const CLI::ParseError& e) {
    return refuse(explain(e, app));
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
    const std::vector<std::string> words(argv + 1, argv + argc);
    for (const std::string& word : words)
      stored_command_line() += (&word == &words.front() ? "" : " ") + word;
    return parse_and_act(words);
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
  papfft::app::prepare_signals();
  return papfft::app::run(argc, argv);
}
