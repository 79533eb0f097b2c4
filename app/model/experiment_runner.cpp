// SPDX-License-Identifier: MIT
#include "app/model/experiment_runner.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "app/cli/companion.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/subprocess.hpp"
#include "app/model/platform.hpp"

namespace papfft::app {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCluster = "papfft-experiment";
constexpr int kMachineCannot = 77;  // exit code of the cluster's script
constexpr std::chrono::seconds kQuickLimit{60};
constexpr std::chrono::seconds kFullLimit{1800};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

std::string this_machine() {
  utsname system{};
  (void)uname(&system);
  return fmt::format("{}, {} cores", system.machine, std::thread::hardware_concurrency());
}

struct Words {
  std::vector<std::string> papfft;  ///< arguments of this program
  std::vector<std::string> peers;   ///< then this; empty: nothing
};

/// A first word "ranks:4" asks for fewer ranks than there are hosts; "smpi:mpich,impi" for the collectives of these MPI
/// libraries on the same simulated platform.
Words understood(const Experiment& experiment, const Command& command, const std::string& data) {
  constexpr std::string_view kRanks = "ranks:";
  constexpr std::string_view kPeers = "smpi:";
  const std::string& first = command.front();
  const std::string file = fs::absolute(data).string();
  Words words;
  if (experiment.hosts > 0) {
    words.papfft = {
        "cluster", "run",
        "-n",      first.starts_with(kRanks) ? first.substr(kRanks.size()) : std::to_string(experiment.hosts),
        "--name",  kCluster,
        "--",      fs::read_symlink("/proc/self/exe").string()};
  }
  const bool has_prefix = first.starts_with(kRanks) || first.starts_with(kPeers);
  words.papfft.insert(words.papfft.end(), command.begin() + (has_prefix ? 1 : 0), command.end());
  words.papfft.insert(words.papfft.end(), {"--quiet", "--json", file});
  if (first.starts_with(kPeers)) {
    const auto platform = std::ranges::find(command, "--platform");
    if (platform >= command.end() - 1)
      throw UsageError(experiment.name + ": smpi: is for simulate --platform");
    const auto scripts = companion_places("smpi_selectors.py", "libexec");
    words.peers = {(fs::exists(scripts[0]) ? scripts[0] : scripts[1]).string(),
                   file,
                   "--platform",
                   find_platform(*(platform + 1)),
                   "--selectors",
                   first.substr(kPeers.size()),
                   "-o",
                   file};
  }
  return words;
}

}  // namespace

Outcome ExperimentRunner::run(const Experiment& experiment) {
  const auto begin = std::chrono::steady_clock::now();
  Outcome outcome = attempt(experiment);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  outcome.record = {.date = today(),
                    .machine = this_machine(),
                    .quick = quick_,
                    .seconds = std::round(taken.count() * 10) / 10};
  if (experiment.skipped.empty()) write_record(folder_, experiment, outcome);
  return outcome;
}

Outcome ExperimentRunner::attempt(const Experiment& experiment) {
  Outcome outcome;
  if (!experiment.skipped.empty()) {
    outcome.why = experiment.skipped;
    return outcome;
  }
  const std::string log = (folder_ / (experiment.name + ".log")).string();
  std::error_code ignored;
  fs::remove(log, ignored);
  const auto& commands = quick_ ? experiment.quick : experiment.commands;
  const bool measures = std::ranges::any_of(commands, [&](const Command& c) {
    return !measured_.contains({experiment.hosts, c});
  });
  const bool needs_cluster = experiment.hosts > 0 && measures;
  if (needs_cluster && !cluster_up(experiment, log, outcome)) return outcome;
  for (std::size_t i = 0; i < commands.size() && outcome.why.empty(); ++i) {
    const std::string data = (folder_ / fmt::format("{}-{}.json", experiment.name, i + 1)).string();
    measure(experiment, commands[i], data, log, outcome);
  }
  if (needs_cluster) (void)run_self({"cluster", "down", "--name", kCluster}, log, kQuickLimit);
  if (outcome.runs.empty() ||
      std::ranges::none_of(outcome.runs, [](const auto& r) { return r.has_value(); })) {
    outcome.verdict = Verdict::failed;
    return outcome;
  }
  judge(experiment, outcome);
  return outcome;
}

bool ExperimentRunner::cluster_up(const Experiment& experiment, const std::string& log,
                                  Outcome& outcome) const {
  if (geteuid() != 0) {
    outcome.why =
        fmt::format("needs {} hosts of the virtual cluster, which only root can build", experiment.hosts);
    return false;
  }
  const ChildResult up =
      run_self({"cluster", "up", std::to_string(experiment.hosts), "--name", kCluster}, log, kQuickLimit);
  if (up.code == kOk) return true;
  outcome.why = up.code == kMachineCannot
                    ? fmt::format("this machine cannot build a virtual cluster; {} says why", log)
                    : fmt::format("the cluster of {} hosts could not be built (code {}); {} says why",
                                  experiment.hosts, up.code, log);
  if (up.code != kMachineCannot) outcome.verdict = Verdict::failed;
  return false;
}

/// Two figures of the same measurement share it.
void ExperimentRunner::measure(const Experiment& experiment, const Command& command, const std::string& data,
                               const std::string& log, Outcome& outcome) {
  std::error_code ignored;
  fs::remove(data, ignored);  // or that of an earlier run would be taken for this one's
  const auto before = measured_.find({experiment.hosts, command});
  const std::chrono::seconds limit = quick_ ? kQuickLimit : kFullLimit;
  ChildResult result;
  if (before != measured_.end()) {
    fs::copy_file(before->second, data);
  } else {
    const Words words = understood(experiment, command, data);
    result = run_self(words.papfft, log, limit);
    if (result.code == kOk && !words.peers.empty()) result = run_program(words.peers, log, limit);
  }
  if (result.code == kOk) {
    outcome.runs.emplace_back(report::read_bench_run(data));
    measured_[{experiment.hosts, command}] = data;
    return;
  }
  outcome.runs.emplace_back();
  outcome.why = fmt::format("command {} {} (code {}); {} says why", outcome.runs.size(),
                            result.timed_out ? "took too long" : "failed", result.code, log);
}

}  // namespace papfft::app
