// SPDX-License-Identifier: MIT
#include "app/cli/subprocess.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "app/io/errors.hpp"

namespace papfft::app {

namespace {

constexpr std::chrono::milliseconds kPoll{20};
constexpr std::chrono::seconds kGrace{10};

/// @return true when the child has ended within the time; `status` is then set
bool wait_for(pid_t child, std::chrono::seconds limit, int& status) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + limit;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

}  // namespace

ChildResult run_self(const std::vector<std::string>& arguments, const std::string& log,
                     std::chrono::seconds limit) {
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe").string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(std::move(words), log, limit);
}

ChildResult run_program(std::vector<std::string> words, const std::string& log, std::chrono::seconds limit) {
  const std::string program = words.at(0);
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) throw io::OutputError(log, io::errno_text(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
  // What this program ignores would stay ignored in the other.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, ignored);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(fd);
  if (error != 0) throw std::runtime_error("cannot start " + program + ": " + io::errno_text(error));

  ChildResult result;
  int status = 0;
  if (!wait_for(child, limit, status)) {
    result.timed_out = true;
    kill(child, SIGTERM);
    if (!wait_for(child, kGrace, status)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace papfft::app
