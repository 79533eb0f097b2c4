// SPDX-License-Identifier: MIT
// papfft experiment: the tables and figures of the papers, measured anew. What each one runs and expects is a file in
// app/experiments; this runs the program itself, compares and writes the pages.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "app/bench/bench_common.hpp"
#include "app/cli/command.hpp"
#include "app/cli/companion.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/subprocess.hpp"
#include "app/cli/version.hpp"
#include "app/io/errors.hpp"
#include "app/model/platform.hpp"
#include "app/report/bench_figures.hpp"
#include "app/report/bench_run.hpp"
#include "app/report/page.hpp"
#include "app/report/text_table.hpp"

namespace papfft::app {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kCluster = "papfft-experiment";
constexpr int kMachineCannot = 77;  // exit code of the cluster's script
constexpr std::chrono::seconds kQuickLimit{60};
constexpr std::chrono::seconds kFullLimit{1800};

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

/// Rows of the measurements, and the least of their times.
struct Selection {
  std::optional<std::size_t> command;   ///< counted from 1; nothing: all
  std::vector<std::string> algorithms;  ///< any of these
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> bytes;
  std::string pattern;  ///< empty: any
  bool elapsed = false;

  /// In s; nothing if no row is of this kind.
  [[nodiscard]] std::optional<double> time_s(const std::vector<std::optional<report::BenchRun>>& runs) const {
    std::optional<double> least;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i] || (command && *command != i + 1)) continue;
      for (const report::BenchRow& row : runs[i]->rows) {
        if (!takes(row)) continue;
        const double time = elapsed && row.elapsed ? row.elapsed->center : row.run.center;
        least = std::min(least.value_or(std::numeric_limits<double>::infinity()), time);
      }
    }
    return least;
  }

 private:
  [[nodiscard]] bool takes(const report::BenchRow& row) const {
    return std::ranges::find(algorithms, row.algorithm) != algorithms.end() &&
           (!ranks || row.ranks == *ranks) && (!bytes || row.bytes == *bytes) &&
           (pattern.empty() || row.pattern == pattern);
  }
};

/// One statement of a paper: time(of) / time(to), or the time itself.
struct Expectation {
  std::string what = {};
  Selection of = {};
  std::optional<Selection> to = {};  ///< nothing: the time of `of`, in ns
  std::optional<double> paper = {};
  double least = 0;  ///< reproduced if within these
  double most = std::numeric_limits<double>::infinity();
};

/// Words, the first of which may say how the others are run.
using Command = std::vector<std::string>;

struct Experiment {
  std::string name = {};
  std::string title = {};
  std::string source = {};
  std::string paper = {};    ///< what it says, in words
  std::string method = {};   ///< in what our measurement differs
  int hosts = 0;             ///< of the virtual cluster; 0: needs none
  std::string skipped = {};  ///< why there is nothing to run; empty: there is
  std::vector<Command> commands = {};
  std::vector<Command> quick = {};
  std::vector<Expectation> expectations = {};
};

Selection parse_selection(const Json& json) {
  Selection s;
  if (json.contains("command")) s.command = json.at("command").get<std::size_t>();
  const Json& names = json.at("algorithm");
  s.algorithms =
      names.is_string() ? std::vector{names.get<std::string>()} : names.get<std::vector<std::string>>();
  if (json.contains("ranks")) s.ranks = json.at("ranks").get<std::int64_t>();
  if (json.contains("bytes")) s.bytes = json.at("bytes").get<std::int64_t>();
  s.pattern = json.value("pattern", "");
  s.elapsed = json.value("elapsed", false);
  return s;
}

Experiment parse_experiment(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw io::DataError(path.string(), io::errno_text(errno));
  try {
    const Json json = Json::parse(in);
    Experiment e{.name = path.stem().string(),
                 .title = json.at("title").get<std::string>(),
                 .source = json.at("source").get<std::string>(),
                 .paper = json.value("paper", ""),
                 .method = json.value("method", ""),
                 .hosts = json.value("hosts", 0),
                 .skipped = json.value("skipped", "")};
    e.commands = json.value("commands", e.commands);
    e.quick = json.value("quick", e.commands);
    for (const Json& item : json.value("expect", Json::array())) {
      Expectation x{.what = item.at("what").get<std::string>(), .of = parse_selection(item.at("of"))};
      if (item.contains("to")) x.to = parse_selection(item.at("to"));
      if (item.contains("paper")) x.paper = item.at("paper").get<double>();
      x.least = item.value("least", x.least);
      x.most = item.value("most", x.most);
      e.expectations.push_back(std::move(x));
    }
    if (e.commands.empty() == e.skipped.empty())
      throw io::DataError(path.string(), "needs either commands or skipped");
    return e;
  } catch (const Json::exception& error) {
    const std::string what = error.what();
    throw io::DataError(path.string(), "is no experiment: " + what.substr(what.find("] ") + 2));
  }
}

/// Beside the program, or in ../share/papfft of an installed one.
fs::path experiments_folder() {
  const auto places = companion_places("experiments", "share");
  for (const fs::path& candidate : places) {
    if (fs::is_directory(candidate)) return candidate;
  }
  throw UsageError(fmt::format("the experiments' files are neither in {} nor in {}", places[0].string(),
                               places[1].string()));
}

std::vector<Experiment> known_experiments() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(experiments_folder())) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Experiment> experiments;
  for (const fs::path& file : files) experiments.push_back(parse_experiment(file));
  return experiments;
}

enum class Verdict { reproduced, in_part, not_reproduced, skipped, failed };

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::in_part:
      return "in part";
    case Verdict::not_reproduced:
      return "not reproduced";
    case Verdict::skipped:
      return "skipped";
    case Verdict::failed:
      return "failed";
  }
  return "?";
}

/// Where and when an experiment was run, as the folder of results keeps it.
struct Record {
  std::string date = {};
  std::string machine = {};
  bool quick = false;
  double seconds = 0;
};

struct Outcome {
  Verdict verdict = Verdict::skipped;
  Record record = {};
  std::string why = {};  ///< it was skipped or failed
  std::size_t held = 0;
  std::size_t measured = 0;
  std::string first_ratio = {};  ///< "2.10 (paper 2.00)" of the first statement that was measured
  std::vector<std::vector<std::string>> table = {};
  std::vector<std::optional<report::BenchRun>> runs = {};
};

std::string decimal(double value) { return fmt::format("{:.{}f}", value, std::abs(value) >= 100 ? 1 : 3); }

void judge(const Experiment& experiment, Outcome& outcome) {
  outcome.table = {{"statement", "paper", "ours", "holds if", "verdict"}};
  for (const Expectation& x : experiment.expectations) {
    const std::optional<double> of = x.of.time_s(outcome.runs);
    const std::optional<double> to = x.to ? x.to->time_s(outcome.runs) : 1e-9;
    const std::string bounds = std::isinf(x.most) ? fmt::format("at least {:g}", x.least)
                               : x.least <= 0     ? fmt::format("at most {:g}", x.most)
                                                  : fmt::format("{:g} to {:g}", x.least, x.most);
    const std::string paper = x.paper ? decimal(*x.paper) : "-";
    if (!of || !to || !(*to > 0)) {
      outcome.table.push_back({x.what, paper, "-", bounds, "not measured"});
      continue;
    }
    constexpr double kRounding = 1e-9;
    const double value = *of / *to;
    const bool holds = value >= x.least * (1 - kRounding) && value <= x.most * (1 + kRounding);
    ++outcome.measured;
    outcome.held += holds ? 1 : 0;
    if (outcome.first_ratio.empty())
      outcome.first_ratio = fmt::format("{} (paper {})", decimal(value), paper);
    outcome.table.push_back({x.what, paper, decimal(value), bounds, holds ? "reproduced" : "not reproduced"});
  }
  if (outcome.measured == 0)
    outcome.verdict = Verdict::failed;
  else if (outcome.held == outcome.measured)
    outcome.verdict = Verdict::reproduced;
  else
    outcome.verdict = outcome.held == 0 ? Verdict::not_reproduced : Verdict::in_part;
  if (outcome.measured == 0 && outcome.why.empty()) outcome.why = "nothing that it expects was measured";
}

constexpr const char* kRecords = "experiments.json";

/// What a folder of results says about itself. @throws io::DataError
Json read_records(const fs::path& folder) {
  const std::string path = (folder / kRecords).string();
  std::ifstream in(path);
  if (!in) return Json::object();
  try {
    const Json records = Json::parse(in);
    if (!records.is_object()) throw io::DataError(path, "is no list of experiments");
    return records;
  } catch (const Json::exception&) {
    throw io::DataError(path, "is no JSON");
  }
}

void write_record(const fs::path& folder, const Experiment& experiment, const Outcome& outcome) {
  Json records = read_records(folder);
  Json record = {{"date", outcome.record.date},
                 {"machine", outcome.record.machine},
                 {"papfft", kVersion},
                 {"quick", outcome.record.quick},
                 {"seconds", outcome.record.seconds},
                 {"verdict", to_string(outcome.verdict)}};
  if (!outcome.why.empty()) record["why"] = outcome.why;
  records[experiment.name] = record;
  write_text((folder / kRecords).string(), records.dump(2) + "\n");
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

std::string this_machine() {
  utsname system{};
  (void)uname(&system);
  return fmt::format("{}, {} cores", system.machine, std::thread::hardware_concurrency());
}

/// From a folder that an earlier run has written, without measuring. @throws io::DataError
Outcome recall(const Experiment& experiment, const fs::path& folder, const Json& records) {
  Outcome outcome;
  if (!experiment.skipped.empty()) {
    outcome.why = experiment.skipped;
    return outcome;
  }
  if (!records.contains(experiment.name)) {
    outcome.why = "not run";
    return outcome;
  }
  const Json& record = records.at(experiment.name);
  outcome.record = {.date = record.value("date", ""),
                    .machine = record.value("machine", ""),
                    .quick = record.value("quick", false),
                    .seconds = record.value("seconds", 0.0)};
  outcome.why = record.value("why", "");
  const auto& commands = outcome.record.quick ? experiment.quick : experiment.commands;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string data = (folder / fmt::format("{}-{}.json", experiment.name, i + 1)).string();
    outcome.runs.emplace_back();
    if (fs::exists(data)) outcome.runs.back() = report::read_bench_run(data);
  }
  if (std::ranges::any_of(outcome.runs, [](const auto& run) { return run.has_value(); })) {
    judge(experiment, outcome);
  } else if (record.value("verdict", "") == to_string(Verdict::failed)) {
    outcome.verdict = Verdict::failed;
  }
  return outcome;
}

class Runner {
 public:
  Runner(const ExperimentOptions& options, fs::path folder) : options_(options), folder_(std::move(folder)) {}

  [[nodiscard]] Outcome run(const Experiment& experiment) {
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome = attempt(experiment);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    outcome.record = {.date = today(),
                      .machine = this_machine(),
                      .quick = options_.quick,
                      .seconds = std::round(taken.count() * 10) / 10};
    if (experiment.skipped.empty()) write_record(folder_, experiment, outcome);
    return outcome;
  }

 private:
  [[nodiscard]] Outcome attempt(const Experiment& experiment) {
    Outcome outcome;
    if (!experiment.skipped.empty()) {
      outcome.why = experiment.skipped;
      return outcome;
    }
    const std::string log = (folder_ / (experiment.name + ".log")).string();
    std::error_code ignored;
    fs::remove(log, ignored);
    const auto& commands = options_.quick ? experiment.quick : experiment.commands;
    const bool measures = std::ranges::any_of(commands, [&](const Command& c) {
      return !measured_.contains({experiment.hosts, c});
    });
    const bool needs_cluster = experiment.hosts > 0 && measures;
    if (needs_cluster && !cluster_up(experiment, log, outcome)) return outcome;
    for (std::size_t i = 0; i < commands.size() && outcome.why.empty(); ++i) {
      const std::string data = (folder_ / fmt::format("{}-{}.json", experiment.name, i + 1)).string();
      measure(experiment, commands[i], data, log, outcome);
    }
    if (needs_cluster) (void)run_self({"cluster", "down", "--name", kCluster}, log, kQuickLimit);
    if (outcome.runs.empty() ||
        std::ranges::none_of(outcome.runs, [](const auto& r) { return r.has_value(); })) {
      outcome.verdict = Verdict::failed;
      return outcome;
    }
    judge(experiment, outcome);
    return outcome;
  }

  bool cluster_up(const Experiment& experiment, const std::string& log, Outcome& outcome) const {
    if (geteuid() != 0) {
      outcome.why =
          fmt::format("needs {} hosts of the virtual cluster, which only root can build", experiment.hosts);
      return false;
    }
    const ChildResult up =
        run_self({"cluster", "up", std::to_string(experiment.hosts), "--name", kCluster}, log, kQuickLimit);
    if (up.code == kOk) return true;
    outcome.why = up.code == kMachineCannot
                      ? fmt::format("this machine cannot build a virtual cluster; {} says why", log)
                      : fmt::format("the cluster of {} hosts could not be built (code {}); {} says why",
                                    experiment.hosts, up.code, log);
    if (up.code != kMachineCannot) outcome.verdict = Verdict::failed;
    return false;
  }

  /// Two figures of the same measurement share it.
  void measure(const Experiment& experiment, const Command& command, const std::string& data,
               const std::string& log, Outcome& outcome) {
    std::error_code ignored;
    fs::remove(data, ignored);  // or that of an earlier run would be taken for this one's
    const auto before = measured_.find({experiment.hosts, command});
    const std::chrono::seconds limit = options_.quick ? kQuickLimit : kFullLimit;
    ChildResult result;
    if (before != measured_.end()) {
      fs::copy_file(before->second, data);
    } else {
      const Words words = understood(experiment, command, data);
      result = run_self(words.papfft, log, limit);
      if (result.code == kOk && !words.peers.empty()) result = run_program(words.peers, log, limit);
    }
    if (result.code == kOk) {
      outcome.runs.emplace_back(report::read_bench_run(data));
      measured_[{experiment.hosts, command}] = data;
      return;
    }
    outcome.runs.emplace_back();
    outcome.why = fmt::format("command {} {} (code {}); {} says why", outcome.runs.size(),
                              result.timed_out ? "took too long" : "failed", result.code, log);
  }

  struct Words {
    std::vector<std::string> papfft;  ///< arguments of this program
    std::vector<std::string> peers;   ///< then this; empty: nothing
  };

  /// A first word "ranks:4" asks for fewer ranks than there are hosts; "smpi:mpich,impi" for the collectives of these MPI
  /// libraries on the same simulated platform.
  static Words understood(const Experiment& experiment, const Command& command, const std::string& data) {
    constexpr std::string_view kRanks = "ranks:";
    constexpr std::string_view kPeers = "smpi:";
    const std::string& first = command.front();
    const std::string file = fs::absolute(data).string();
    Words words;
    if (experiment.hosts > 0) {
      words.papfft = {
          "cluster",
          "run",
          "-n",
          first.starts_with(kRanks) ? first.substr(kRanks.size()) : std::to_string(experiment.hosts),
          "--name",
          kCluster,
          "--",
          fs::read_symlink("/proc/self/exe").string()};
    }
    const bool has_prefix = first.starts_with(kRanks) || first.starts_with(kPeers);
    words.papfft.insert(words.papfft.end(), command.begin() + (has_prefix ? 1 : 0), command.end());
    words.papfft.insert(words.papfft.end(), {"--quiet", "--json", file});
    if (first.starts_with(kPeers)) {
      const auto platform = std::ranges::find(command, "--platform");
      if (platform >= command.end() - 1)
        throw UsageError(experiment.name + ": smpi: is for simulate --platform");
      const auto scripts = companion_places("smpi_selectors.py", "libexec");
      words.peers = {(fs::exists(scripts[0]) ? scripts[0] : scripts[1]).string(),
                     file,
                     "--platform",
                     find_platform(*(platform + 1)),
                     "--selectors",
                     first.substr(kPeers.size()),
                     "-o",
                     file};
    }
    return words;
  }

  const ExperimentOptions& options_;
  fs::path folder_;
  std::map<std::pair<int, Command>, std::string> measured_;  ///< hosts and command, to the file of results
};

/// "full, 2026-11-21, x86_64, 2 cores"
std::string run_text(const Outcome& outcome) {
  if (outcome.record.date.empty()) return "";
  return fmt::format("{}, {}, {}", outcome.record.quick ? "short form" : "full", outcome.record.date,
                     outcome.record.machine);
}

std::string write_page(const Experiment& experiment, const Outcome& outcome, const fs::path& folder) {
  report::Page page(fmt::format("{}: {}", experiment.source, experiment.title));
  page.heading(fmt::format("Verdict: {}", to_string(outcome.verdict)), "verdict");
  if (!outcome.why.empty()) page.paragraph(outcome.why);
  if (const std::string run = run_text(outcome); !run.empty())
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

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

/// Paper versus ours as a page of text: a line for each experiment, then its statements.
std::string markdown_page(const std::vector<std::pair<const Experiment*, Outcome>>& outcomes,
                          const std::string& from) {
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
    text += fmt::format("| [{}](#{}): {} | {} | {} | {} |\n", experiment->source, experiment->name,
                        markdown_cell(experiment->title), to_string(outcome.verdict),
                        outcome.measured == 0 ? "-" : fmt::format("{} of {}", outcome.held, outcome.measured),
                        outcome.measured == 0 ? markdown_cell(outcome.why) : run_text(outcome));
  }
  for (const auto& [experiment, outcome] : outcomes) {
    if (outcome.measured == 0) continue;
    text += fmt::format("\n## {}\n\n{}: {}. Verdict: {} ({}).\n", experiment->name, experiment->source,
                        experiment->title, to_string(outcome.verdict), run_text(outcome));
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

void write_index(const ExperimentOptions& options,
                 const std::vector<std::pair<const Experiment*, Outcome>>& outcomes) {
  report::Page index("The papers' tables and figures, and ours");
  std::vector<std::vector<std::string>> table = {
      {"experiment", "source", "verdict", "held", "first ratio", "remark", "run"}};
  for (const auto& [experiment, outcome] : outcomes) {
    table.push_back({experiment->title, experiment->source, to_string(outcome.verdict),
                     outcome.measured == 0 ? "-" : fmt::format("{} of {}", outcome.held, outcome.measured),
                     outcome.first_ratio.empty() ? "-" : outcome.first_ratio, outcome.why,
                     run_text(outcome)});
  }
  index.paragraph(fmt::format("By papfft {}. Ratios, not times: other machines, other networks.", kVersion));
  index.table(table);
  for (const auto& [experiment, outcome] : outcomes) {
    index.link(fmt::format("{}: {}", experiment->source, experiment->title),
               write_page(*experiment, outcome, options.out));
  }
  write_text((fs::path(options.out) / "index.html").string(), index.finish());
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
  const Json records = measures ? Json::object() : read_records(options.from);
  if (!measures && records.empty()) {
    throw io::DataError(options.from,
                        "has no experiments.json; what would work: the folder of an earlier -o");
  }
  Runner runner(options, options.out);
  std::vector<std::pair<const Experiment*, Outcome>> outcomes;
  bool failed = false;
  for (const Experiment& experiment : experiments) {
    if (!is_run_there(experiment, options.where)) continue;
    outcomes.emplace_back(&experiment,
                          measures ? runner.run(experiment) : recall(experiment, options.from, records));
    const Outcome& outcome = outcomes.back().second;
    failed = failed || outcome.verdict == Verdict::failed;
    const std::string held =
        outcome.measured == 0 ? "-" : fmt::format("{} of {}", outcome.held, outcome.measured);
    fmt::print(
        "{}: {}{}{}\n", experiment.name, to_string(outcome.verdict),
        outcome.measured == 0 ? "" : fmt::format(", {} statements, first: {}", held, outcome.first_ratio),
        outcome.why.empty() ? "" : "; " + outcome.why);
    (void)std::fflush(stdout);
  }
  if (measures || options.writes_pages) write_index(options, outcomes);
  if (!options.markdown.empty()) {
    write_text(options.markdown, markdown_page(outcomes, measures ? options.out : options.from));
  }
  return failed ? kInternal : kOk;
}

}  // namespace

void add_experiment(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ExperimentOptions>();
  CLI::App* command = app.add_subcommand("experiment", "measure the tables and figures of the papers anew");
  command->add_option("names", options->names,
                      "what to run: names from --list, or files of your own that end in .json");
  command->add_flag("--list", options->lists, "show what there is");
  command->add_flag("--all", options->all, "run all");
  command->add_flag("--quick", options->quick, "smaller and fewer measurements: all take some minutes");
  CLI::Option* out =
      command->add_option("-o,--output", options->out, "folder for pages and data")->capture_default_str();
  command
      ->add_option("--where", options->where,
                   "which of them: simulator, those that need no cluster; cluster; all")
      ->check(CLI::IsMember({"simulator", "cluster", "all"}))
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
  command->callback([&action, options, out] {
    options->writes_pages = out->count() > 0;
    action = [options] { return run_experiments(*options); };
  });
}

}  // namespace papfft::app
