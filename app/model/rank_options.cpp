// SPDX-License-Identifier: MIT
#include "app/model/rank_options.hpp"

#include <fmt/format.h>

#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"
#include "app/model/host_layout.hpp"
#include "app/report/json_file.hpp"
#include "app/run/arrival_pattern.hpp"
#include "comm/choose/decision_table.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  papfft rank --op reduce --bytes 1M --hosts 8x4\n"
    "  papfft rank --op bcast,allreduce --hosts 64x32 --alpha 4us --beta 0.8 --latency 20us\n"
    "  papfft rank --profile ~/.config/papfft/decisions-32-on-8.txt --hosts 8x4\n"
    "  papfft rank --check-auto --hosts 64x32 --bytes 1K,16K,256K,4M,16M\n"
    "  papfft rank --check-auto --unknown-arrivals --hosts 8x1\n"
    "  papfft rank --profile site.txt --hosts 64x4 --bytes 64K,256K,1M,4M --table decisions-256-on-64.txt\n"
    "Ways: an algorithm of 'papfft algorithms', flat or as a composition for hosts (@hosts), in as many "
    "segments as a call would "
    "cut it; the best three also in other numbers of segments (/N). Algorithms that plan by arrivals are "
    "left "
    "out, unless --algorithms "
    "names them: they plan as if all came together. 'auto' stands for what it takes where arrivals are not "
    "known, nothing was "
    "measured and there is no MPI library. With --profile it stands for what a program takes that goes on "
    "long enough to simulate its calls.\n"
    "Links: as in 'papfft simulate'. In addition a receiver has a message --latency later than it has left "
    "the link, beside other messages. The defaults are those of 1 Gb/s Ethernet.\n"
    "--unknown-arrivals: each way is simulated with all ranks together, and with all ranks late at random, "
    "one rank late, or half of the "
    "ranks late, by 0.3, 1 and 3 times what one message with the whole vector takes. The worst slow-down is "
    "the largest of: run time / that of the "
    "best way in this case. The ways are sorted by it.\n"
    "Exit codes: 0 ok, 64 usage, 73 cannot write.";

comm::MachineLinks links_of(const comm::MachineProfile& machine, const std::string& file) {
  if (!machine.between && !machine.inside)
    throw UsageError(file + ": says nothing about links; what would work: papfft tune --collectives");
  return comm::MachineLinks::of(machine);
}

}  // namespace

void RankOptions::declare(cli::Command& command) {
  command.add_option("--op", operations, "operations; all, if none is named")->delimiter(',');
  command
      .add_option("--algorithms", ways,
                  "ways to compare, as a call names them; all that do not plan by arrivals, if none is named")
      ->delimiter(',');
  command.add_option("--hosts", hosts, kHostsHelp)->capture_default_str();
  command.add_option("--bytes", bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--root", root, "root of the operation, a rank")->count_from_0()->capture_default_str();
  declare_links(command);
  command.add_flag("--unknown-arrivals", are_arrivals_unknown,
                   "rank by the worst slow-down where nobody knows when the ranks come, see below");
  command.add_flag("--check-auto", checks_auto,
                   "one line per operation and size: what 'auto' takes without a table, and the best");
  command.add_option("--most", most_shown, "ways to show per operation and size")
      ->in_range(1, 1000)
      ->capture_default_str();
  command
      .add_option("--most-steps", most_steps,
                  "leave out ways that take more steps to plan and to simulate (a step takes some "
                  "microseconds, with --unknown-arrivals ten times that)")
      ->in_range(1, 1 << 30)
      ->capture_default_str();
  command
      .add_option("--budget", budget_s, "seconds per operation and size, after which no other way is begun")
      ->in_range(0.001, 1e6)
      ->capture_default_str();
  command.add_option("--json", json, "write all ways as JSON to this file");
  cli::Option* const table_option = command.add_option("--table", table,
                                                       "write the ways as a table by which 'auto' chooses, "
                                                       "see PAPFFT_DECISIONS and 'papfft tune'; it names no "
                                                       "calls of the MPI library");
  command.add_flag("--crowded", is_crowded, "the table is for hosts with more ranks than cores")
      ->needs(table_option);
  command.add_flag("-q,--quiet", quiet, "print no table");
  command.footer(kFooter);
}

void RankOptions::declare_links(cli::Command& command) {
  cli::Option* const file = command.add_option(
      "--profile", profile, "take the links from this file, which 'papfft tune --collectives' has written");
  const auto link = [&](const char* name, auto& value, const char* what) {
    command.add_option(name, value, what)->capture_default_str()->excludes(file);
  };
  link("--alpha", alpha, "time that a message adds while others are under way");
  link("--beta", beta_ns, "time to move a byte, in ns");
  link("--gamma", gamma_ns, "time to combine a byte, in ns");
  link("--latency", latency, "how much later a message is there, while others move");
  link("--inside-alpha", inside_alpha, "time that a message adds inside a host");
  link("--inside-beta", inside_beta_ns, "time to move a byte inside a host, in ns");
  link("--inside-latency", inside_latency, "how much later a message inside a host is there");
}

std::vector<comm::Operation> RankOptions::parsed_operations() const {
  std::vector<comm::Operation> parsed;
  for (const std::string& name : operations) parsed.push_back(comm::parse_operation(name));
  if (parsed.empty()) {
    for (const comm::OperationTraits& row : comm::kOperations) parsed.push_back(row.operation);
  }
  return parsed;
}

comm::MachineLinks RankOptions::links() const {
  if (!profile.empty()) {
    try {
      return links_of(comm::DecisionTable::parse(report::read_text(profile)).machine(), profile);
    } catch (const std::invalid_argument& e) {
      throw io::DataError(profile, e.what());
    }
  }
  for (const double ns : {beta_ns, gamma_ns, inside_beta_ns}) {
    if (!(ns >= 0 && ns <= 1e6)) throw UsageError("a byte takes from 0 to 1e6 ns");
  }
  const auto ns = [](const std::string& text) { return static_cast<double>(parse_duration_ns(text)); };
  comm::MachineLinks links;
  links.between.link = {.alpha_ns = ns(alpha),
                        .beta_ns_per_byte = beta_ns,
                        .gamma_ns_per_byte = gamma_ns,
                        .latency_ns = ns(latency)};
  links.inside.link = {.alpha_ns = ns(inside_alpha),
                       .beta_ns_per_byte = inside_beta_ns,
                       .gamma_ns_per_byte = gamma_ns,
                       .latency_ns = ns(inside_latency)};
  return links;
}

}  // namespace papfft::app
