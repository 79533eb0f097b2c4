// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/tell.hpp"
#include "app/cli/version.hpp"
#include "app/io/atomic_file.hpp"
#include "app/io/errors.hpp"
#include "app/run/job.hpp"
#include "comm/comparison/comparison.hpp"
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

/// Letters to be replaced, added or left out to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = corner + (a[i] == b[j] ? 0 : 1);
      corner = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

/// " (did you mean X?)", if there is a word that looks like this one.
std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto nearest = std::ranges::min_element(known, {}, [&](const auto& k) { return distance(word, k); });
  constexpr std::size_t kLettersPerMistake = 3;
  if (nearest == known.end() || distance(word, *nearest) > word.size() / kLettersPerMistake) return "";
  return fmt::format(" (did you mean {}?)", *nearest);
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string explain(const CLI::ParseError& error, const CLI::App& whole) {
  const CLI::App* app = &whole;
  std::string command = app->get_name();
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  const auto unknown = app->remaining();
  const auto is = [&](CLI::ExitCodes code) { return error.get_exit_code() == static_cast<int>(code); };
  if (is(CLI::ExitCodes::RequiredError) && !unknown.empty() && !commands_of(*app).empty()) {
    const auto known = commands_of(*app);
    return fmt::format("no command '{}'{}; known: {}", unknown.front(), suggestion(unknown.front(), known),
                       fmt::join(known, ", "));
  }
  if (is(CLI::ExitCodes::ExtrasError) && !unknown.empty()) {
    const auto option = std::ranges::find_if(unknown, [](const auto& word) { return word.starts_with("-"); });
    if (option == unknown.end())
      return fmt::format("'{}' is one argument too many ({} --help shows how)", unknown.front(), command);
    const std::string word = option->substr(0, option->find('='));
    return fmt::format("no option {}{}; {} --help shows all", word, suggestion(word, options_of(*app)),
                       command);
  }
  return fmt::format("{} ({} --help shows how)", error.what(), command);
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
  papfft::comm::register_comparison_algorithms();  // for `papfft bench schedule` and `simulate`
  return papfft::app::run(argc, argv);
}
