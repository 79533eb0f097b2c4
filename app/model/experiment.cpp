// SPDX-License-Identifier: MIT
// papfft experiment: the tables and figures of the papers, measured anew. What each one runs and expects is a file in
// app/experiments; this runs the program itself, compares and writes the pages.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/bench/bench_common.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"
#include "app/model/experiment_pages.hpp"
#include "app/model/experiment_runner.hpp"
#include "app/report/text_table.hpp"

namespace papfft::app {

namespace {

namespace fs = std::filesystem;

struct ExperimentOptions {
  std::vector<std::string> names;
  std::string out = "papfft-experiments";
  std::string where = "all";
  std::string from;
  std::string markdown;
  bool writes_pages = false;  ///< -o is given
  bool lists = false;
  bool all = false;
  bool quick = false;
};

std::vector<Experiment> chosen(const ExperimentOptions& options) {
  const auto is_file = [](const std::string& name) { return name.ends_with(".json"); };
  if (!options.all && std::ranges::all_of(options.names, is_file)) {
    std::vector<Experiment> result;
    for (const std::string& file : options.names) result.push_back(parse_experiment(file));
    return result;
  }
  std::vector<Experiment> known = known_experiments();
  if (options.all) return known;
  std::vector<Experiment> result;
  for (const std::string& name : options.names) {
    if (is_file(name)) {
      result.push_back(parse_experiment(name));
      continue;
    }
    const auto found = std::ranges::find(known, name, &Experiment::name);
    if (found == known.end())
      throw UsageError("no experiment '" + name + "'; papfft experiment --list shows all");
    result.push_back(*found);
  }
  return result;
}

int list_experiments() {
  report::TextTable table({"name", "source", "needs", "title"});
  for (const Experiment& e : known_experiments()) {
    const std::string needs = !e.skipped.empty() ? "not run"
                              : e.hosts > 0      ? fmt::format("{} hosts", e.hosts)
                                                 : "nothing";
    table.add({e.name, e.source, needs, e.title});
  }
  fmt::print("{}", table.text());
  return kOk;
}

bool is_run_there(const Experiment& experiment, const std::string& where) {
  if (where == "all") return true;
  return experiment.skipped.empty() && (experiment.hosts > 0) == (where == "cluster");
}

int run_experiments(const ExperimentOptions& options) {
  if (options.lists) return list_experiments();
  if (options.names.empty() != options.all) {
    throw UsageError("experiment: takes names, --all or --list; papfft experiment --help shows how");
  }
  if (is_launched()) throw UsageError("experiment: starts jobs itself; what would work: without mpirun");
  const bool measures = options.from.empty();
  const std::vector<Experiment> experiments = chosen(options);
  check_outputs({options.markdown});
  if (measures || options.writes_pages) {
    std::error_code error;
    fs::create_directories(options.out, error);
    if (error) throw io::OutputError(options.out, error.message());
  }
  const auto records = read_records(measures ? options.out : options.from);
  if (!measures && records.empty()) {
    throw io::DataError(options.from,
                        "has no experiments.json; what would work: the folder of an earlier -o");
  }
  ExperimentRunner runner(options.quick, options.out);
  ExperimentOutcomes outcomes;
  bool failed = false;
  for (const Experiment& experiment : experiments) {
    if (!is_run_there(experiment, options.where)) continue;
    outcomes.emplace_back(&experiment,
                          measures ? runner.run(experiment) : recall(experiment, options.from, records));
    const Outcome& outcome = outcomes.back().second;
    failed = failed || outcome.verdict == Verdict::failed;
    fmt::print("{}: {}{}{}\n", experiment.name, to_string(outcome.verdict),
               outcome.measured == 0
                   ? ""
                   : fmt::format(", {} statements, first: {}", outcome.held_text(), outcome.first_ratio),
               outcome.why.empty() ? "" : "; " + outcome.why);
    (void)std::fflush(stdout);
  }
  if (measures || options.writes_pages) write_pages(outcomes, options.out);
  if (!options.markdown.empty()) {
    write_text(options.markdown, markdown_page(outcomes, measures ? options.out : options.from));
  }
  return failed ? kInternal : kOk;
}

}  // namespace

void add_experiment(cli::Command& app) {
  const auto options = std::make_shared<ExperimentOptions>();
  cli::Command* command =
      app.add_subcommand("experiment", "measure the tables and figures of the papers anew");
  command->add_option("names", options->names,
                      "what to run: names from --list, or files of your own that end in .json");
  command->add_flag("--list", options->lists, "show what there is");
  command->add_flag("--all", options->all, "run all");
  command->add_flag("--quick", options->quick, "smaller and fewer measurements: all take some minutes");
  cli::Option* out =
      command->add_option("-o,--output", options->out, "folder for pages and data")->capture_default_str();
  command
      ->add_option("--where", options->where,
                   "which of them: simulator, those that need no cluster; cluster; all")
      ->one_of({"simulator", "cluster", "all"})
      ->capture_default_str();
  command
      ->add_option("--from", options->from,
                   "measure nothing: judge what an earlier run has left in this folder")
      ->type_name("FOLDER");
  command->add_option("--markdown", options->markdown, "also write paper versus ours as one page of text")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  papfft experiment --list\n"
      "  papfft experiment clv-table-1 -o results\n"
      "  papfft experiment --all --quick -o results\n"
      "  papfft experiment --all --quick --where simulator -o results\n"
      "  papfft experiment --all --from results --markdown paper-versus-ours.md\n"
      "Writes index.html (paper versus ours), a page and the data of each experiment, a log of its commands, "
      "and "
      "experiments.json: when, where and how long each was run. A "
      "statement of a paper is reproduced if the measured ratio is within the bounds that its page shows: "
      "the order of "
      "algorithms and about how far they are apart. Experiments on the virtual cluster need root and are "
      "skipped "
      "without. The files say which commands are run: app/experiments in the sources, "
      "share/papfft/experiments when "
      "installed.\n"
      "Exit codes: 0 ok (also if a statement is not reproduced), 64 usage, 65 bad data, 70 a measurement "
      "failed, 73 "
      "cannot write.");
  command->runs([options, out] {
    options->writes_pages = out->count() > 0;
    return run_experiments(*options);
  });
}

}  // namespace papfft::app
