// SPDX-License-Identifier: MIT
#include "app/model/experiment_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/bench/bench_common.hpp"
#include "app/cli/version.hpp"
#include "app/report/bench_figures.hpp"
#include "app/report/page.hpp"

namespace papfft::app {

namespace {

namespace fs = std::filesystem;

std::string write_page(const Experiment& experiment, const Outcome& outcome, const fs::path& folder) {
  report::Page page(fmt::format("{}: {}", experiment.source, experiment.title));
  page.heading(fmt::format("Verdict: {}", to_string(outcome.verdict)), "verdict");
  if (!outcome.why.empty()) page.paragraph(outcome.why);
  if (const std::string run = outcome.run_text(); !run.empty())
    page.paragraph(fmt::format("Measured: {}.", run));
  if (!experiment.paper.empty()) page.paragraph("The paper: " + experiment.paper);
  if (!experiment.method.empty()) page.paragraph("Here: " + experiment.method);
  if (outcome.table.size() > 1) page.table(outcome.table);
  std::vector<report::BenchRun> runs;
  for (const auto& run : outcome.runs) {
    if (run) runs.push_back(*run);
  }
  std::size_t number = 0;
  for (const report::RunGroup& group : report::group_runs(runs)) {
    const std::string prefix = fmt::format("{}-{}", experiment.name, ++number);
    page.heading(group.title(), prefix);
    page.paragraph(group.conditions());
    for (const report::Figure& figure : make_figures(group, prefix)) {
      page.figure(figure.name, caption_of(figure),
                  draw(figure, report::Format::svg, report::Heading::beside).bytes);
    }
    page.table(make_table(group), "All figures of this section as a table");
  }
  for (const report::BenchRun& run : runs) page.data(run.file, run.json);
  const std::string name = experiment.name + ".html";
  write_text((folder / name).string(), page.finish());
  return name;
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string markdown_page(const ExperimentOutcomes& outcomes, const std::string& from) {
  const bool quick = std::ranges::any_of(outcomes, [](const auto& o) { return o.second.record.quick; });
  double seconds = 0;
  for (const auto& [experiment, outcome] : outcomes) seconds += outcome.record.seconds;
  std::string text = fmt::format(
      "# The papers' tables and figures, and ours\n\n"
      "Ratios within one run, not times: other machines, other networks. A statement is reproduced if our "
      "figure is "
      "within the\nbounds of its line. This page is written by the second of these commands, from the "
      "measurements in "
      "the repository; the\nfirst one measures, in about {:.0f} min{}.\n\n"
      "    papfft experiment --all {}-o {}\n    papfft experiment --all --from {} --markdown "
      "docs/paper-versus-ours.md\n\n",
      std::max(1.0, std::ceil(seconds / 60)), quick ? "" : " (--quick: smaller and fewer measurements)",
      quick ? "--quick " : "", from, from);
  text += "| experiment | verdict | statements held | run |\n|---|---|---|---|\n";
  for (const auto& [experiment, outcome] : outcomes) {
    const bool has_section = outcome.measured > 0;
    const std::string source =
        has_section ? fmt::format("[{}](#{})", experiment->source, experiment->name) : experiment->source;
    text += fmt::format("| {}: {} | {} | {} | {} |\n", source, markdown_cell(experiment->title),
                        to_string(outcome.verdict), outcome.held_text(),
                        has_section ? outcome.run_text() : markdown_cell(outcome.why));
  }
  for (const auto& [experiment, outcome] : outcomes) {
    if (outcome.measured == 0) continue;
    text += fmt::format("\n## {}\n\n{}: {}. Verdict: {} ({}).\n", experiment->name, experiment->source,
                        experiment->title, to_string(outcome.verdict), outcome.run_text());
    if (!experiment->paper.empty()) text += fmt::format("\nThe paper: {}.\n", experiment->paper);
    if (!experiment->method.empty()) text += fmt::format("\nHere: {}.\n", experiment->method);
    text += "\n";
    for (std::size_t i = 0; i < outcome.table.size(); ++i) {
      text += "|";
      for (const std::string& cell : outcome.table[i]) text += fmt::format(" {} |", markdown_cell(cell));
      text += i == 0 ? "\n|---|---|---|---|---|\n" : "\n";
    }
  }
  return text;
}

void write_pages(const ExperimentOutcomes& outcomes, const fs::path& folder) {
  report::Page index("The papers' tables and figures, and ours");
  std::vector<std::vector<std::string>> table = {
      {"experiment", "source", "verdict", "held", "first ratio", "remark", "run"}};
  for (const auto& [experiment, outcome] : outcomes) {
    table.push_back({experiment->title, experiment->source, to_string(outcome.verdict), outcome.held_text(),
                     outcome.first_ratio.empty() ? "-" : outcome.first_ratio, outcome.why,
                     outcome.run_text()});
  }
  index.paragraph(fmt::format("By papfft {}. Ratios, not times: other machines, other networks.", kVersion));
  index.table(table);
  for (const auto& [experiment, outcome] : outcomes) {
    index.link(fmt::format("{}: {}", experiment->source, experiment->title),
               write_page(*experiment, outcome, folder));
  }
  write_text((folder / "index.html").string(), index.finish());
}

}  // namespace papfft::app
