// SPDX-License-Identifier: MIT
#include "app/bench/guidelines_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/bench/mock_ups.hpp"
#include "app/cli/exit_code.hpp"
#include "app/report/byte_count.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

namespace {

std::string footer() {
  return "Examples:\n"
         "  mpirun -n 8 papfft bench guidelines --json guidelines.json && papfft report guidelines.json -o "
         "guidelines.html\n"
         "  mpirun -n 8 papfft bench guidelines --op bcast,allreduce --bytes 64K,1M,16M --fail-over 5%\n"
         "  mpirun -n 8 papfft bench guidelines --op reduce --delay uniform:5ms --compute 20ms --predict\n"
         "  mpirun -n 8 papfft bench guidelines --op reduce --bytes 1M --guidelines ours\n"
         "  papfft cluster run -n 8 -- papfft bench guidelines --bytes 4K,64K,1M --budget 5\n"
         "Guidelines:\n"
         "  stock     auto is not slower than stock MPI's default (mpi)\n"
         "  best      nor than the best algorithm and segment size of stock MPI (mpi-best); needs Open MPI\n"
         "  ours      nor than any algorithm of ours; takes long\n"
         "  mockups   nor than the same result by other calls, all of them auto: bcast by scatter and "
         "allgather, allreduce by reduce and bcast, gather by allgather, reduce_scatter by reduce and "
         "scatter\n"
         "  monotone  nor than auto itself with the next larger size of the grid\n"
         "Calls of auto and its peers take turns in each iteration. A guideline is violated in a cell (an "
         "operation, a size, a pattern) if the ratio of the median times exceeds 1 by more than the "
         "tolerance, "
         "and a one-sided rank-sum test (Mann and Whitney) gives p < 0.01. It is unproven if only the ratio "
         "says so. The time of a call goes from the first arrival to the last exit.\n"
         "Patterns:\n" +
         known_arrival_patterns() +
         "\nExit codes: 0 ok, 64 usage, 70 wrong data, 73 cannot write, 74 communication, 76 a guideline is "
         "violated by more than "
         "--fail-over.";
}

}  // namespace

GuidelinesOptions::GuidelinesOptions()
    : operations(comm::kOperationNames.begin(), comm::kOperationNames.end()) {
  call.bytes = {"1K", "4K", "16K", "64K", "256K", "1M", "4M", "16M"};
  call.iterations = 20;
  call.compute = "0ms";
  call.predicts = false;
}

void GuidelinesOptions::declare(cli::Command& command) {
  command.add_option("--op", operations, "operations")
      ->delimiter(',')
      ->one_of(comm::kOperationNames)
      ->capture_default_str();
  command.add_option("--guidelines", guidelines, "what to check, see below")
      ->delimiter(',')
      ->one_of(kGuidelineNames)
      ->capture_default_str();
  call.declare_cases(command);
  call.declare_measurement(command);
  command.add_flag("--predict", call.predicts,
                   "announce the compute phase to a session, which predicts when ranks arrive; auto may then "
                   "plan by that. Without it calls are plain ones");
  command
      .add_option("--budget", budget_s,
                  "seconds for the calls of a cell; it ends early after them, but not before 5 iterations. "
                  "The search for mpi-best comes on top. 0: no limit")
      ->in_range(0.0, 1e6)
      ->capture_default_str();
  command.add_option("--tolerance", tolerance, "how much slower than a peer auto may be by the medians")
      ->capture_default_str();
  command.add_option("--fail-over", fail_over,
                     "end with exit code 76 if a guideline is violated by more than this, such as 3%");
  command.add_option("--csv", call.csv, "write the rows as CSV to this file");
  call.job.declare_common(command);
  command.footer(footer());
}

double parse_percent(const std::string& option, const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const bool is_percent = error == std::errc() && end - after == 1 && *after == '%';
  if (!is_percent || !(value >= 0 && value <= 1000))
    throw UsageError(fmt::format("{} {} is no percentage; what would work: {} 3%", option, text, option));
  return value / 100;
}

GuidelinesSettings::GuidelinesSettings(const GuidelinesOptions& o)
    : tolerance(parse_percent("--tolerance", o.tolerance)) {
  const auto add = [](auto& to, const auto& value) {
    if (std::ranges::find(to, value) == to.end()) to.push_back(value);
  };
  for (const std::string& name : o.operations) add(operations, comm::parse_operation(name));
  for (const std::string& name : o.guidelines) add(guidelines, parse_guideline(name));
  for (const std::string& text : o.call.bytes) add(bytes, report::parse_byte_count(text));
  std::ranges::sort(bytes);
  if (o.call.iterations < kFewestCalls) {
    throw UsageError(fmt::format(
        "bench guidelines: {} iterations cannot show a difference with p < {}; what would work: {} or more",
        o.call.iterations, kSignificance, kFewestCalls));
  }
  if (o.fail_over.empty()) return;
  fail_over = parse_percent("--fail-over", o.fail_over);
  if (*fail_over < tolerance) {
    throw UsageError(fmt::format(
        "--fail-over {} is below --tolerance {}, up to which nothing is a violation; what would work: "
        "--tolerance {}",
        o.fail_over, o.tolerance, o.fail_over));
  }
}

bool GuidelinesSettings::checks(Guideline guideline) const {
  return std::ranges::find(guidelines, guideline) != guidelines.end();
}

std::vector<GuidelinePeer> GuidelinesSettings::peers(comm::Operation operation, bool has_best) const {
  std::vector<GuidelinePeer> peers;
  if (checks(Guideline::stock)) peers.push_back({Guideline::stock, {.name = "mpi"}});
  if (checks(Guideline::best) && has_best)
    peers.push_back({Guideline::best, {.name = "mpi-best", .kind = Contender::Kind::stock_best}});
  if (checks(Guideline::ours)) {
    for (const comm::Algorithm* a : comm::algorithms()) {
      if (a->operation == operation) peers.push_back({Guideline::ours, {.name = std::string(a->name)}});
    }
  }
  const std::string_view mock_up = mock_up_name(operation);
  if (checks(Guideline::mockups) && !mock_up.empty())
    peers.push_back({Guideline::mockups, {.name = std::string(mock_up), .kind = Contender::Kind::mock_up}});
  return peers;
}

}  // namespace papfft::app
