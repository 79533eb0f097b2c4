// SPDX-License-Identifier: MIT
#include "app/run/recording.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "app/cli/command.hpp"
#include "app/cli/tell.hpp"
#include "app/cli/version.hpp"
#include "app/io/recording_file.hpp"
#include "app/run/machine.hpp"
#include "app/run/output_files.hpp"
#include "app/run/stop_request.hpp"
#include "app/run/timeline.hpp"
#include "comm/record/arrival_trace.hpp"
#include "papfft/recorder.hpp"

namespace papfft::app {

namespace {

/// Of a timeline, of all ranks together.
constexpr std::size_t kMostEvents = std::size_t{1} << 20;

using comm::ArrivalRecording;

constexpr const char* kUnits =
    "times in ns; arrival_ns, predicted_ns (empty: not predicted) and exit_ns since the first arrival, on "
    "rank 0's clock; "
    "compute_ns: what the rank computed since its call before; bytes: of one rank's block, or of the vector";

std::string csv(const ArrivalRecording& recording, const io::Json& machine) {
  std::string where;
  for (const auto& [name, value] : machine.items()) {
    where += fmt::format("{}{} {}", where.empty() ? "" : ", ", name,
                         value.is_string() ? value.get<std::string>() : value.dump());
  }
  std::ostringstream out;
  write_recording(out, recording,
                  {fmt::format("papfft {}: {}", kVersion, command_line()), "machine: " + where, kUnits});
  return out.str();
}

io::Json json(const ArrivalRecording& recording, const io::Json& machine) {
  io::Json document = {
      {"papfft", kVersion}, {"command", command_line()}, {"machine", machine}, {"units", kUnits}};
  document.update(io::to_json(recording));
  return document;
}

void write(const std::string& path, const ArrivalRecording& recording, Job& job) {
  if (recording.dropped > 0) {
    tell("papfft: note: {} calls are not in {}: it holds at most {}\n", recording.dropped, path,
         comm::Recorder::kMostCalls);
  }
  const io::Json machine = machine_json(job);
  const bool as_json = path.ends_with(".json");
  write_text(path, as_json ? json(recording, machine).dump(1) + "\n" : csv(recording, machine));
}

/// Each rank's, at the root.
std::vector<std::string> hosts(Job& job) {
  std::array<char, 64> mine{};
  (void)gethostname(mine.data(), mine.size() - 1);
  std::vector<std::array<char, 64>> all(job.is_root() ? static_cast<std::size_t>(job.size()) : 0);
  job.comm().gather<std::array<char, 64>>(std::span(&mine, 1), all, 0, "lin");
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& name : all) names.emplace_back(name.data());
  return names;
}

void write_timeline_of(Job& job, const comm::Recorder& recorder, const std::string& path) {
  const comm::Timeline timeline = recorder.collect_timeline(job.comm());
  const std::vector<std::string> names = hosts(job);
  job.at_root([&] {
    const std::uint64_t dropped = timeline.calls.dropped + timeline.dropped_events;
    if (dropped > 0) {
      tell("papfft: note: {} events are not in {}: it holds at most {}\n", dropped, path, kMostEvents);
    }
    write_timeline(path, timeline, names,
                   {{"papfft", kVersion},
                    {"command", command_line()},
                    {"machine", machine_json(job)},
                    {"dropped_calls", timeline.calls.dropped},
                    {"dropped_events", timeline.dropped_events}});
  });
}

void check(const JobOptions& options, const Job& job) {
  check_outputs({options.timeline});
  for (const std::string& path : options.record) check_outputs({path});
  if (job.size() < 2 && !options.record.empty()) {
    throw UsageError(
        "--record: one process alone has nobody to arrive with; what would work: mpirun -n 4 papfft ...");
  }
}

}  // namespace

void run_recorded(Job& job, const JobOptions& options, const std::function<void()>& work) {
  if (options.record.empty() && options.timeline.empty()) {
    work();
    return;
  }
  job.at_root([&] { check(options, job); });
  const auto ranks = static_cast<std::size_t>(job.size());
  comm::Recorder recorder(comm::Recorder::kMostCalls / ranks,
                          options.timeline.empty() ? 0 : std::max<std::size_t>(1, kMostEvents / ranks));
  job.set_recorder(&recorder);
  int code = kOk;
  try {
    work();
  } catch (const Quit& quit) {
    if (!is_stopped(quit.code)) throw;
    code = quit.code;  // on request, in good order
  }
  if (!options.record.empty()) {
    const ArrivalRecording recording = recorder.collect(job.comm());
    job.at_root([&] {
      for (const std::string& path : options.record) write(path, recording, job);
    });
  }
  if (!options.timeline.empty()) write_timeline_of(job, recorder, options.timeline);
  if (code != kOk) throw Quit{code};
}

}  // namespace papfft::app
