// SPDX-License-Identifier: MIT
// papfft algorithms: the registry as a table.
#include <fmt/format.h>

#include <array>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/json.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

namespace {

std::string needs(const comm::Algorithm& a) {
  std::string text = a.uses_arrival ? "arrival times" : "";
  if (comm::is_reduction(a.operation) && !a.can_be_ordered)
    text += text.empty() ? "commutative" : ", commutative";
  return text.empty() ? "-" : text;
}

int print_json() {
  io::Json list = io::Json::array();
  for (const comm::Algorithm* a : comm::algorithms()) {
    list.push_back({{"op", comm::to_string(a->operation)},
                    {"algorithm", a->name},
                    {"summary", a->summary},
                    {"rounds", a->rounds},
                    {"bytes", a->bytes},
                    {"uses_arrival", a->uses_arrival},
                    {"can_be_ordered", a->can_be_ordered},
                    {"source", a->source}});
  }
  fmt::print("{}\n", list.dump(2));
  return kOk;
}

using Row = std::array<std::string, 6>;

std::vector<Row> table() {
  std::vector<Row> rows = {{"operation", "algorithm", "rounds", "bytes", "needs", "what it does (source)"}};
  for (const comm::Algorithm* a : comm::algorithms()) {
    rows.push_back({std::string(comm::to_string(a->operation)), std::string(a->name), std::string(a->rounds),
                    std::string(a->bytes), needs(*a), fmt::format("{} ({})", a->summary, a->source)});
  }
  return rows;
}

int print_text() {
  const std::vector<Row> rows = table();
  std::array<std::size_t, 6> width{};
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t c = 0; c + 1 < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], width[c]);
    fmt::print("{}{}\n", line, row.back());
  }
  fmt::print(
      "\nP ranks, q = ceil(log2 P), S segments, m bytes per rank (scatter, gather, ...), from one rank to "
      "another (alltoall) or in the vector (bcast, reduce).\n'bytes' go through the busiest port. 'auto' "
      "chooses by size, 'mpi' is the MPI library's "
      "own, and b before "
      "a name\n(bsls, bsbn, ...) means in the background: what does not need the caller runs before it "
      "comes.\n\nWith several ranks per host, put behind a name:\n");
  for (const comm::Composition* c : comm::compositions()) fmt::print("  @{:<8} {}\n", c->name, c->summary);
  fmt::print("as in circulant@hosts, bpapbi@hosts, ring@byhost/4.\n");
  return kOk;
}

int print_markdown() {
  const std::vector<Row> rows = table();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    fmt::print("| {} |\n", fmt::join(rows[r], " | "));
    if (r == 0) fmt::print("|---|---|---|---|---|---|\n");
  }
  return kOk;
}

}  // namespace

void add_algorithms(cli::Command& app) {
  const auto json = std::make_shared<bool>(false);
  const auto markdown = std::make_shared<bool>(false);
  cli::Command* command = app.add_subcommand("algorithms", "list the collective algorithms");
  cli::Option* as_json = command->add_flag("--json", *json, "as JSON");
  command->add_flag("--markdown", *markdown, "as a Markdown table (that of comm/README.md)")
      ->excludes(as_json);
  command->footer("Examples:\n  papfft algorithms\n  papfft algorithms --json");
  command->runs([json, markdown] {
    return *json ? print_json() : *markdown ? print_markdown() : print_text();
  });
}

}  // namespace papfft::app
