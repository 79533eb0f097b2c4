// SPDX-License-Identifier: MIT
// papfft cluster: hands over to the script beside the program (or in ../libexec/papfft of an installed one).
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <vector>

#include "app/cli/command.hpp"
#include "app/cli/companion.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"

namespace papfft::app {

namespace {

[[noreturn]] void run_cluster(char** arguments) {
  // What the program ignores would stay ignored in the script and in all that it runs.
  for (const int ignored : {SIGPIPE, SIGXFSZ}) (void)std::signal(ignored, SIG_DFL);
  std::string tried;
  for (const std::filesystem::path& script : companion_places("papfft-cluster", "libexec")) {
    std::string name = script.string();
    std::vector<char*> argv = {name.data()};
    for (char** a = arguments; *a != nullptr; ++a) argv.push_back(*a);
    argv.push_back(nullptr);
    execv(name.c_str(), argv.data());
    tried += (tried.empty() ? "" : ", ") + name + ": " + io::errno_text(errno);
  }
  throw UsageError("the script of the virtual cluster cannot be started (" + tried + ")");
}

}  // namespace

void add_cluster(cli::Command& app) {
  cli::Command* command = app.add_subcommand(
      "cluster",
      "a virtual cluster of N hosts at a given rate on this machine: up, run, exec, link, status, down");
  // The script has its own --help and options.
  command->without_help()->takes_rest()->runs([command]() -> int {
    std::vector<std::string> words = command->rest();
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    run_cluster(arguments.data());
  });
}

}  // namespace papfft::app
