// SPDX-License-Identifier: MIT
#include "app/model/schedule_picture.hpp"

#include <fmt/format.h>

#include <vector>

#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"
#include "app/io/writer.hpp"
#include "app/model/simulated_call.hpp"
#include "app/report/messages_plot.hpp"
#include "app/run/output_files.hpp"
#include "comm/model/simulator.hpp"

namespace papfft::app {

namespace {

constexpr comm::Ticks kUnit = 4;  // of time: a slot between hosts
constexpr comm::Ticks kInside = 1;
constexpr std::size_t kMostMessages = 20000;

report::Messages drawn(const comm::Schedule& schedule, std::span<const int> host_of_rank) {
  const comm::Machine machine{
      .beta = kUnit, .host_of_rank = host_of_rank, .inside = {.beta = kInside, .gamma = 0}};
  const std::vector<std::int64_t> slot_bytes(static_cast<std::size_t>(schedule.shape.slots()), 1);
  const std::vector<comm::Ticks> together(schedule.programs.size());
  const comm::Simulation result = comm::simulate(schedule, slot_bytes, together, machine);
  const auto units = [](comm::Ticks at) { return static_cast<double>(at) / static_cast<double>(kUnit); };
  report::Messages call{.arrival_s = std::vector<double>(together.size()),
                        .host = {host_of_rank.begin(), host_of_rank.end()}};
  for (const comm::Ticks exit : result.exit) call.exit_s.push_back(units(exit));
  for (const SimulatedMessage& m : messages_of(schedule, result, slot_bytes)) {
    call.messages.push_back({.from = static_cast<std::size_t>(m.from),
                             .to = static_cast<std::size_t>(m.to),
                             .bytes = m.bytes,
                             .begin_s = units(m.begin),
                             .end_s = units(m.end),
                             .combined_s = units(m.combined),
                             .critical = m.critical});
  }
  return call;
}

report::Format picture_format(const std::string& path) {
  try {
    if (io::is_picture(path)) {
      return io::format_of(path) == io::OutputFormat::png ? report::Format::png : report::Format::svg;
    }
  } catch (const io::OutputError&) {
    // An unknown extension: told as any other that is none of a picture's.
  }
  throw UsageError(fmt::format("-o {}: no picture; what would work: a name that ends in .png or .svg", path));
}

}  // namespace

void draw_schedule(const std::string& path, const std::string& title, const comm::Schedule& schedule,
                   std::span<const int> host_of_rank) {
  const report::Format format = picture_format(path);
  const report::Messages call = drawn(schedule, host_of_rank);
  if (call.messages.size() > kMostMessages) {
    throw UsageError(fmt::format("-o: more than {} messages; what would work: fewer --ranks or --segments",
                                 kMostMessages));
  }
  const report::Gantt chart = report::messages_plot(call, {.label = "time, in slots sent between hosts"});
  write_text(path, report::draw(chart, {.title = title}, format).bytes);
}

}  // namespace papfft::app
