// SPDX-License-Identifier: MIT
// papfft simulate: schedules in virtual time (Hockney's model), under any arrival pattern. No communication.
#include <fmt/format.h>

#include <memory>

#include "app/bench/bench_common.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/known_inputs.hpp"
#include "app/model/simulate_output.hpp"

namespace papfft::app {

namespace {

int run_simulate(const SimulateOptions& options) {
  const SimulateSettings settings(options);
  if (!options.platform.empty()) io::know_input(find_platform(options.platform));
  check_outputs({options.json, options.csv});
  const std::vector<SimulatedRow> rows = run_simulation(options, settings);
  if (!options.quiet) fmt::print("{}", simulation_table(settings, rows));
  if (!options.json.empty())
    write_text(options.json, simulation_document(options, settings, rows).dump(2) + "\n");
  write_text(options.csv, options.csv.empty() ? "" : simulation_csv(settings, rows));
  return kOk;
}

}  // namespace

void add_simulate(cli::Command& app) {
  const auto options = std::make_shared<SimulateOptions>();
  cli::Command* command =
      app.add_subcommand("simulate", "run schedules in virtual time, under any arrival pattern");
  options->declare(*command);
  command->runs([options] { return run_simulate(*options); });
}

}  // namespace papfft::app
