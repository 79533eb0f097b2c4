// SPDX-License-Identifier: MIT
// papfft record: runs a job, keeps when its ranks came to its collective calls, and says how uneven that was.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string_view>

#include "app/bench/bench_common.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/recording_file.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "comm/record/arrival_trace.hpp"

namespace papfft::app {

namespace {

// Those that make collective calls.
constexpr std::array<std::string_view, 6> kJobs = {"transform", "spectrogram", "psd",
                                                   "correlate", "convolve",    "bench fft"};

struct RecordOptions {
  std::vector<std::string> out;
  bool quiet = false;
};

/// Calls that differ in nothing but their times.
struct Group {
  std::vector<double> compute_ms;   // per rank and call
  std::vector<double> spread_ms;    // last arrival - first arrival
  std::vector<double> elapsed_ms;   // per rank and call: exit - arrival
  std::vector<double> error_ms;     // |predicted - true arrival|
  std::map<std::size_t, int> last;  // how often each rank came last
};

double median_or_nan(const std::vector<double>& v) {
  return v.empty() ? std::numeric_limits<double>::quiet_NaN() : report::median(v);
}

std::string summary(const comm::ArrivalRecording& recording) {
  using Key = std::tuple<comm::Operation, std::string, std::uint64_t>;
  std::map<Key, Group> groups;
  for (const comm::RecordedCall& call : recording.calls) {
    Group& group = groups[{call.operation, call.algorithm, call.bytes}];
    const auto [first, last] =
        std::ranges::minmax_element(call.ranks, {}, &comm::RecordedArrival::arrival_ns);
    group.spread_ms.push_back(milliseconds(last->arrival_ns - first->arrival_ns));
    ++group.last[static_cast<std::size_t>(last - call.ranks.begin())];
    for (const comm::RecordedArrival& a : call.ranks) {
      group.compute_ms.push_back(milliseconds(a.compute_ns));
      group.elapsed_ms.push_back(milliseconds(a.exit_ns - a.arrival_ns));
      if (a.predicted_ns) group.error_ms.push_back(milliseconds(std::abs(*a.predicted_ns - a.arrival_ns)));
    }
  }
  report::TextTable table({"operation", "algorithm", "bytes", "calls", "computed ms", "spread ms", "at most",
                           "in call ms", "predicted off by ms", "last most often"});
  for (const auto& [key, group] : groups) {
    const auto& [operation, algorithm, bytes] = key;
    const auto latest =
        std::ranges::max_element(group.last, {}, [](const auto& entry) { return entry.second; });
    table.add({std::string(comm::to_string(operation)), algorithm, report::byte_count_text(bytes),
               std::to_string(group.spread_ms.size()), figure(median_or_nan(group.compute_ms)),
               figure(median_or_nan(group.spread_ms)), figure(std::ranges::max(group.spread_ms)),
               figure(median_or_nan(group.elapsed_ms)), figure(median_or_nan(group.error_ms)),
               fmt::format("rank {} ({} of {})", latest->first, latest->second, group.spread_ms.size())});
  }
  return table.text();
}

void show(const std::string& file) {
  std::ifstream in(file);
  const comm::ArrivalRecording recording = io::read_recording(in);
  if (recording.calls.empty()) {
    fmt::print("the job made no collective call\n");
    return;
  }
  fmt::print("{} calls of {} ranks; medians; spread: last arrival - first\n\n{}", recording.calls.size(),
             recording.ranks, summary(recording));
}

int run_record(const RecordOptions& options, std::vector<std::string> job) {
  if (job.empty()) throw UsageError(fmt::format("record: which job? known: {}", fmt::join(kJobs, ", ")));
  const std::ptrdiff_t words = job.front() == "bench" && job.size() > 1 ? 2 : 1;
  const std::string named = fmt::format("{}", fmt::join(job.begin(), job.begin() + words, " "));
  if (std::ranges::find(kJobs, named) == kJobs.end()) {
    throw UsageError(
        fmt::format("record: '{}' is no job that it can run; known: {}", named, fmt::join(kJobs, ", ")));
  }
  // Before what is the job's own, so that nothing of ours can be the value of its last option.
  auto at = job.begin() + words;
  for (const std::string& file : options.out) at = job.insert(at, {"--record", file});
  const int code = run_words(job);
  if (launched_rank() != 0 || options.quiet || (code != kOk && code != kStopped)) return code;
  const auto file = std::ranges::find_if(options.out, [](const auto& name) { return name != "-"; });
  if (file != options.out.end()) show(*file);
  return code;
}

}  // namespace

void add_record(cli::Command& app) {
  const auto options = std::make_shared<RecordOptions>();
  cli::Command* command =
      app.add_subcommand("record", "run a job and record when its ranks come to collective calls");
  command
      ->add_option(
          "-o,--output", options->out,
          "the file to write: .csv or .json; may be given for each; --delay trace:FILE replays either")
      ->required()
      ->one_value_each();
  command->add_flag("-q,--quiet", options->quiet, "print no summary");
  command->takes_rest();
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 papfft record -o bell.csv spectrogram bell.flac -o bell.png --gather bsls\n"
      "  mpirun -n 8 papfft record -o psd.csv -o psd.json -- psd long.sigmf-meta --frames-at-once 100 -o "
      "long.svg\n"
      "  mpirun -n 8 papfft bench collective --op gather --algorithms mpi,ls,bsls --delay trace:psd.csv\n"
      "After the options of record comes the job as you would type it alone: transform, spectrogram, psd,\n"
      "correlate, convolve or bench fft. All of them also take --record FILE and --timeline FILE "
      "themselves.\n"
      "Recording makes a session: clocks are synchronised, and arrivals are predicted. It costs a "
      "microsecond\n"
      "per call.\n"
      "The file has a row per call and rank: operation, algorithm, root, bytes, ns of computation before "
      "the\n"
      "call, and ns of arrival, predicted arrival and exit on rank 0's clock.\n"
      "A replay (--delay trace:FILE, papfft simulate --arrivals trace:FILE) has one iteration for each call\n"
      "before which at least half of the ranks, the root not counted, computed. A rank's delay is its "
      "arrival minus the\n"
      "earliest. After the last iteration the first comes again. Fewer ranks than in the file may replay "
      "it;\n"
      "more may not.\n"
      "Exit codes: those of the job.");
  command->runs([options, command] { return run_record(*options, command->rest()); });
}

}  // namespace papfft::app
