// SPDX-License-Identifier: MIT
// papfft report: one page from the JSON files of benchmarks and jobs.
#include <fmt/format.h>

#include <filesystem>
#include <variant>

#include "app/bench/bench_common.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/version.hpp"
#include "app/io/errors.hpp"
#include "app/io/known_inputs.hpp"
#include "app/report/bench_figures.hpp"
#include "app/report/bench_run.hpp"
#include "app/report/compare.hpp"
#include "app/report/input.hpp"
#include "app/report/page.hpp"
#include "app/report/text_table.hpp"
#include "app/report/trace_figures.hpp"

namespace papfft::app {

namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string out;
  std::string figures;
  std::string title = "papfft report";
  bool compares = false;
  bool despite_settings = false;
  bool quiet = false;
};

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw io::OutputError(path, error.message());
}

void add_figures(report::Page& page, const std::vector<report::Figure>& figures,
                 const std::string& figures_folder) {
  for (const report::Figure& figure : figures) {
    page.figure(figure.name, caption_of(figure),
                draw(figure, report::Format::svg, report::Heading::beside).bytes);
    if (figures_folder.empty()) continue;
    write_text(figures_folder + "/" + figure.name + ".svg", draw(figure, report::Format::svg).bytes);
    write_text(figures_folder + "/" + figure.name + ".png", draw(figure, report::Format::png).bytes);
  }
}

void add_group(report::Page& page, const report::RunGroup& group, const std::string& prefix,
               const std::string& figures_folder) {
  page.heading(group.title(), prefix);
  std::string files;
  for (const report::BenchRun* run : group.runs) files += (files.empty() ? "" : ", ") + run->file;
  page.paragraph(fmt::format("{} From {}.", group.conditions(), files));
  add_figures(page, make_figures(group, prefix), figures_folder);
  page.table(make_table(group), "All figures of this section as a table");
}

void add_trace(report::Page& page, const report::Trace& trace, const std::string& prefix,
               const std::string& figures_folder) {
  page.heading(title_of(trace), prefix);
  page.paragraph(fmt::format("{} From {}.", conditions_of(trace), trace.file));
  add_figures(page, make_figures(trace, prefix), figures_folder);
  page.table(make_table(trace), "For how long each rank did what, as a table");
}

void add_decisions(report::Page& page, const std::vector<report::Decisions>& all, const std::string& prefix,
                   const std::string& figures_folder) {
  page.heading("What auto does", prefix);
  page.paragraph(answer_of(all));
  std::string files;
  for (const report::Decisions& one : all)
    files += fmt::format("{}{} ({})", files.empty() ? "" : ", ", one.file, one.table.group().text());
  page.paragraph(
      fmt::format("Measured by papfft tune --collectives. Where a program cannot tell the MPI library which "
                  "algorithm to take, auto takes the next way. "
                  "From {}.",
                  files));
  add_figures(page, make_figures(all, prefix), figures_folder);
  page.table(make_table(all), "All decisions as a table");
}

/// What there is to show: the decisions first, the timelines last, else in the order of the files.
struct Inputs {
  std::vector<report::BenchRun> runs;
  std::vector<report::Trace> traces;
  std::vector<report::Decisions> decisions;

  explicit Inputs(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      report::Input input = report::read_input(file);
      if (std::holds_alternative<report::Trace>(input))
        traces.push_back(std::get<report::Trace>(std::move(input)));
      else if (std::holds_alternative<report::Decisions>(input))
        decisions.push_back(std::get<report::Decisions>(std::move(input)));
      else
        runs.push_back(std::get<report::BenchRun>(std::move(input)));
    }
  }
};

void embed(report::Page& page, const std::string& file, const std::string& json) {
  constexpr std::size_t kMost = std::size_t{1} << 24;
  if (json.size() <= kMost) return page.data(file, json);
  page.paragraph(
      fmt::format("The data of {} are not in this page: it is too long ({} MiB).", file, json.size() >> 20U));
}

void add_comparison(report::Page& page, const ReportOptions& options,
                    const std::vector<report::BenchRun>& runs) {
  const report::BenchRun& a = runs[0];
  const report::BenchRun& b = runs[1];
  if (a.kind != b.kind || a.operation != b.operation) {
    throw UsageError(fmt::format("{} is of {} ({}), {} of {} ({}); --compare takes two of one kind", a.file,
                                 to_string(a.kind), a.operation, b.file, to_string(b.kind), b.operation));
  }
  const std::vector<report::RowComparison> rows = compare(a, b);
  if (rows.empty()) throw UsageError(fmt::format("{} and {} have no situation in common", a.file, b.file));
  const std::vector<std::vector<std::string>> table = comparison_table(rows);
  std::string differences;
  for (const std::string& difference : setting_differences(a, b)) {
    differences += (differences.empty() ? "" : "; ") + difference;
  }
  if (!differences.empty() && !options.despite_settings) {
    throw UsageError(
        fmt::format("{} and {} were measured with other settings ({}); what would work: --despite-settings, "
                    "if that is what you want to compare",
                    a.file, b.file, differences));
  }
  std::string settings = differences.empty() ? "measured with the same settings"
                                             : "measured with other settings: " + differences;
  for (const std::string& doubt : link_doubts(a, b)) settings += "; but " + doubt;
  constexpr std::string_view kMethod =
      "B / A: ratio of the median times. Interval: bootstrap of both medians, calls taken as independent. "
      "Runs at "
      "different times also differ by what else the machine did then; algorithms are compared best within "
      "one run.";
  if (!options.quiet) {
    report::TextTable text(table.front());
    for (std::size_t i = 1; i < table.size(); ++i) text.add(table[i]);
    fmt::print("A: {}\nB: {}\n{}\n\n{}\n{}\n", a.file, b.file, settings, text.text(), kMethod);
  }
  page.heading("Comparison", "comparison");
  page.paragraph(fmt::format("A: {}. B: {}. They were {}.", a.file, b.file, settings));
  page.table(table);
  page.paragraph(kMethod);
}

int run_report(const ReportOptions& options) {
  if (options.out.empty() && options.figures.empty() && !options.compares) {
    throw UsageError(
        "report: nothing to write; what would work: -o report.html, --figures FOLDER, or --compare A B");
  }
  if (options.compares && options.files.size() != 2)
    throw UsageError("report --compare: takes exactly two files");
  std::error_code unknown;  // files that are not there are told of by whoever reads them
  if (options.compares && std::filesystem::equivalent(options.files[0], options.files[1], unknown)) {
    throw UsageError(fmt::format("{} and {} are the same file; what would work: two measurements",
                                 options.files[0], options.files[1]));
  }
  for (const std::string& file : options.files) io::know_input(file);
  check_outputs({options.out});
  const Inputs inputs(options.files);
  if (options.compares && inputs.runs.size() != 2) {
    const bool is_trace = !inputs.traces.empty();
    throw UsageError((is_trace ? inputs.traces.front().file : inputs.decisions.front().file) +
                     (is_trace ? " is a timeline" : " is a table of decisions") +
                     "; what would work: --compare of two files of 'papfft bench ... --json'");
  }
  report::Page page(options.title);
  if (options.compares) add_comparison(page, options, inputs.runs);
  if (options.out.empty() && options.figures.empty()) return kOk;
  if (!options.figures.empty()) make_folder(options.figures);
  std::size_t number = 0;
  if (!inputs.decisions.empty())
    add_decisions(page, inputs.decisions, fmt::format("{:02}-decisions", ++number), options.figures);
  for (const report::RunGroup& group : report::group_runs(inputs.runs)) {
    add_group(page, group, fmt::format("{:02}-{}", ++number, to_string(group.kind)), options.figures);
  }
  for (const report::Trace& trace : inputs.traces)
    add_trace(page, trace, fmt::format("{:02}-timeline", ++number), options.figures);
  page.paragraph(fmt::format("Made by papfft {}.", kVersion));
  for (const report::BenchRun& run : inputs.runs) embed(page, run.file, run.json);
  for (const report::Trace& trace : inputs.traces) embed(page, trace.file, trace.json);
  write_text(options.out, options.out.empty() ? "" : page.finish());
  return kOk;
}

}  // namespace

void add_report(cli::Command& app) {
  const auto options = std::make_shared<ReportOptions>();
  cli::Command* command = app.add_subcommand(
      "report", "make one page of figures from the JSON files of measurements and timelines");
  command
      ->add_option("FILES", options->files,
                   "what 'papfft bench ... --json', 'papfft simulate --json', 'papfft record -o FILE.json', "
                   "--timeline and 'papfft tune --collectives' wrote")
      ->required();
  command->add_option("-o,--output", options->out, "the page, one .html file that needs nothing else");
  command->add_option("--figures", options->figures,
                      "also write each figure as .svg and .png to this folder");
  command->add_option("--title", options->title, "of the page")->capture_default_str();
  command->add_flag("--compare", options->compares,
                    "of two files: the times of both, their ratio and how sure it is");
  command->add_flag("--despite-settings", options->despite_settings,
                    "compare runs of different settings too (or machines, or MPI libraries)");
  command->add_flag("--quiet", options->quiet, "print no comparison");
  command->footer(
      "Examples:\n"
      "  papfft report gather.json scatter.json -o report.html\n"
      "  papfft report sweep-4.json sweep-8.json sweep-16.json -o report.html --figures pictures\n"
      "  mpirun -n 4 papfft transform x.npy -o y.npy --timeline t.json && papfft report t.json -o t.html\n"
      "  papfft simulate --algorithms papbi --bytes 2M --arrivals uniform:20ms --messages --json s.json && "
      "papfft "
      "report s.json -o s.html\n"
      "  papfft report ~/.config/papfft/decisions-*.txt -o auto.html\n"
      "  papfft report --compare before.json after.json\n"
      "  papfft report --compare openmpi.json mpich.json --despite-settings\n"
      "Measurements with different settings, on different machines or links, or of the same situation twice, "
      "get "
      "figures of their own, whose titles say in what they differ. Sizes, ranks, delays and algorithms may "
      "differ: "
      "files that vary sizes and ranks together give a map of the best algorithm. What a file is, its "
      "content tells. "
      "Of a timeline there is a picture of the whole job and one of its first calls, with their messages; "
      "ui.perfetto.dev shows any part of it.\n"
      "Exit codes: 0 ok, 64 usage, 65 bad data, 73 cannot write.");
  command->runs([options] { return run_report(*options); });
}

}  // namespace papfft::app
