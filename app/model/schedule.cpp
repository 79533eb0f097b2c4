// SPDX-License-Identifier: MIT
// papfft schedule: one algorithm's schedule, made, verified and printed, without any communication.
#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/tell.hpp"
#include "app/model/host_layout.hpp"
#include "app/model/schedule_picture.hpp"
#include "comm/choose/select.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/verify/verify.hpp"

namespace papfft::app {

namespace {

struct ScheduleOptions {
  std::string operation;
  std::string algorithm;
  int ranks = 0;
  int root = 0;
  int segments = 1;
  bool ordered = false;
  std::vector<std::int64_t> arrival_ns;
  std::int64_t round_ns = 0;
  std::string hosts;
  std::string picture;
  bool verify = false;
  bool json = false;
  bool text = false;
};

int run_schedule(const ScheduleOptions& options) {
  const comm::Operation operation = comm::parse_operation(options.operation);
  const std::size_t slash = options.algorithm.find('/');  // as in circulant/64
  const comm::Algorithm& algorithm = comm::find_algorithm(operation, options.algorithm.substr(0, slash));
  const int segments =
      slash == std::string::npos
          ? options.segments
          : comm::choose(operation, options.algorithm, options.ranks, 0, options.ordered).segments;
  const std::vector<int> hosts = parse_hosts(options.hosts);
  if (!hosts.empty() && std::ssize(hosts) != options.ranks) {
    throw UsageError(fmt::format("--hosts {} is for {} ranks, and --ranks says {}", options.hosts,
                                 hosts.size(), options.ranks));
  }
  const comm::Schedule schedule = comm::make_schedule(algorithm, {.operation = operation,
                                                                  .ranks = options.ranks,
                                                                  .root = options.root,
                                                                  .segments = segments,
                                                                  .ordered = options.ordered,
                                                                  .arrival_ns = options.arrival_ns,
                                                                  .round_ns = options.round_ns,
                                                                  .host = hosts});
  if (!options.picture.empty()) {
    draw_schedule(options.picture,
                  fmt::format("{} {}: {} ranks, {} {}", options.operation, options.algorithm, options.ranks,
                              schedule.shape.segments, schedule.shape.segments == 1 ? "segment" : "segments"),
                  schedule, hosts);
  }
  if (options.json) fmt::print("{}", comm::to_json(schedule));
  const bool shows = options.json || options.verify || !options.picture.empty();
  if (options.text || !shows) fmt::print("{}", comm::to_text(schedule));
  if (!options.verify) return kOk;
  if (const auto violation = comm::find_violation(schedule)) {
    tell("papfft: {} {}: {}\n", options.operation, options.algorithm, *violation);
    return kInternal;
  }
  std::size_t ops = 0;
  for (const comm::Program& program : schedule.programs) ops += static_cast<std::size_t>(program.size());
  if (!options.json) {
    fmt::print(
        "{} {}, {} ranks: verified ({} ops; complete, each contribution once, no deadlock without buffering, "
        "no race)\n",
        options.operation, options.algorithm, options.ranks, ops);
  }
  return kOk;
}

}  // namespace

void add_schedule(cli::Command& app) {
  const auto options = std::make_shared<ScheduleOptions>();
  cli::Command* command =
      app.add_subcommand("schedule", "make, verify and print the schedule of an algorithm");
  command->add_option("--op", options->operation, "operation")->one_of(comm::kOperationNames)->required();
  command->add_option("--algorithm", options->algorithm, "its algorithm (see: papfft algorithms)")
      ->required();
  command->add_option("--ranks", options->ranks, "number of ranks")->required()->in_range(1, 1 << 20);
  command->add_option("--root", options->root, "root of a rooted operation")->capture_default_str();
  command->add_option("--segments", options->segments, "segments per block (or of the vector)")
      ->in_range(1, 1 << 20)
      ->capture_default_str();
  command->add_flag("--ordered", options->ordered, "for an operation that is not commutative");
  command->add_option("--arrivals", options->arrival_ns, "expected arrival of each rank, in ns")
      ->delimiter(',');
  command
      ->add_option("--round", options->round_ns,
                   "duration of a round in ns, for algorithms that plan in rounds")
      ->capture_default_str();
  command->add_option("--hosts", options->hosts,
                      std::string(kHostsHelp) + "; for algorithms such as circulant@hosts");
  command
      ->add_option(
          "-o,--output", options->picture,
          "draw it into this .png or .svg file: a row per rank, a box per host; a slot takes a unit of time "
          "between hosts, a quarter inside one")
      ->type_name("FILE");
  command->add_flag("--verify", options->verify, "run it symbolically and say whether it is correct");
  cli::Option* json = command->add_flag("--json", options->json, "print as JSON");
  command->add_flag("--text", options->text, "print as text (the default without --verify, --json and -o)")
      ->excludes(json);
  command->footer(
      "Examples:\n"
      "  papfft schedule --op scatter --algorithm bnom --ranks 6\n"
      "  papfft schedule --op reduce --algorithm bnom --ranks 48 --root 5 --segments 8 --verify\n"
      "  papfft schedule --op gather --algorithm ls --ranks 4 --json\n"
      "  papfft schedule --op bcast --algorithm chain@hosts --ranks 4 --hosts 0,0,1,1 --segments 2\n"
      "  papfft schedule --op bcast --algorithm circulant@hosts --ranks 16 --hosts 4x4 --segments 8 -o "
      "bcast.svg\n"
      "Exit codes: 0 ok, 64 usage, 70 the schedule is wrong, 73 cannot write.");
  command->runs([options] { return run_schedule(*options); });
}

}  // namespace papfft::app
