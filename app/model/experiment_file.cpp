// SPDX-License-Identifier: MIT
#include "app/model/experiment_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/companion.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"
#include "app/io/json.hpp"
#include "app/report/json_file.hpp"

namespace papfft::app {

namespace {

namespace fs = std::filesystem;
using Json = io::Json;

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

/// Beside the program, or in ../share/papfft of an installed one.
fs::path experiments_folder() {
  const auto places = companion_places("experiments", "share");
  for (const fs::path& candidate : places) {
    if (fs::is_directory(candidate)) return candidate;
  }
  throw UsageError(fmt::format("the experiments' files are neither in {} nor in {}", places[0].string(),
                               places[1].string()));
}

}  // namespace

std::optional<double> Selection::time_s(const std::vector<std::optional<report::BenchRun>>& runs) const {
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

bool Selection::takes(const report::BenchRow& row) const {
  return std::ranges::find(algorithms, row.algorithm) != algorithms.end() &&
         (!ranks || row.ranks == *ranks) && (!bytes || row.bytes == *bytes) &&
         (pattern.empty() || row.pattern == pattern);
}

Experiment parse_experiment(const fs::path& path) {
  const std::string text = report::read_text(path.string());
  try {
    const Json json = Json::parse(text);
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
  } catch (const io::JsonError& error) {
    throw io::DataError(path.string(), std::string("is no experiment: ") + error.what());
  }
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

}  // namespace papfft::app
