// SPDX-License-Identifier: MIT
#include "app/model/simulate_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/version.hpp"
#include "app/model/simulated_call.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"

namespace papfft::app {

namespace {

/// What the links are like.
io::Json links_json(const SimulateOptions& options, const SimulateSettings& settings) {
  if (settings.platform) {
    const comm::LinkModel link = settings.platform->link();
    return {{"platform", std::filesystem::path(options.platform).filename().string()},
            {"network", options.network},
            {"alpha", fmt::format("{:g}us", link.alpha_ns * 1e-3)},
            {"beta_ns_per_byte", link.beta_ns_per_byte},
            {"gamma_ns_per_byte", options.gamma_ns}};
  }
  return {{"alpha", options.alpha},
          {"beta_ns_per_byte", options.beta_ns},
          {"gamma_ns_per_byte", options.gamma_ns},
          {"ports", options.ports},
          {"combining", options.combining}};
}

/// Which ranks share a host, and what messages inside one cost.
io::Json hosts_json(const SimulateOptions& options, const SimulateSettings& settings) {
  if (settings.hosts.empty()) return io::Json::object();
  const comm::InsideLink& inside = settings.machine.inside;
  io::Json json = {{"hosts", options.hosts},
                   {"inside_alpha", fmt::format("{:g}us", ns_of(inside.alpha) * 1e-3)},
                   {"inside_beta_ns_per_byte", ns_of(inside.beta)}};
  if (options.platform.empty()) json["card_ports"] = options.card_ports;
  return json;
}

io::Json row_json(const SimulateSettings& settings, const SimulatedRow& row) {
  const auto [least, most] = std::ranges::minmax(row.run_ns);
  io::Json json = {{"op", comm::to_string(settings.operation)},
                   {"algorithm", row.algorithm},
                   {"ranks", row.ranks},
                   {"bytes", row.bytes},
                   {"pattern", row.pattern},
                   {"segments", row.segments},
                   {"iterations", row.run_ns.size()},
                   {"run_ns", {{"mean", row.mean_run_ns()}, {"min", least}, {"max", most}}},
                   {"elapsed_ns", SimulatedRow::mean(row.elapsed_ns)},
                   {"over_best", row.over_best}};
  if (!row.after_last_ns.empty()) {
    const auto [soonest, latest] = std::ranges::minmax(row.after_last_ns);
    json["after_last_ns"] = {
        {"mean", SimulatedRow::mean(row.after_last_ns)}, {"min", soonest}, {"max", latest}};
  }
  if (row.bound_ns > 0) json["bound_ns"] = row.bound_ns;
  if (!row.messages.is_null()) json["messages"] = row.messages;
  return json;
}

}  // namespace

std::string simulation_table(const SimulateSettings& settings, const std::vector<SimulatedRow>& rows) {
  const bool has_bound = settings.wants_bound();
  std::vector<std::string> names = {"ranks",    "bytes",  "arrivals",   "algorithm",
                                    "segments", "run us", "elapsed us", "over best"};
  if (has_bound) names.emplace_back("over bound");
  report::TextTable table(names);
  for (const SimulatedRow& row : rows) {
    std::vector<std::string> cells = {std::to_string(row.ranks),
                                      report::byte_count_text(row.bytes),
                                      row.pattern,
                                      row.algorithm,
                                      std::to_string(row.segments),
                                      fmt::format("{:.3f}", row.mean_run_ns() / 1e3),
                                      fmt::format("{:.3f}", SimulatedRow::mean(row.elapsed_ns) / 1e3),
                                      fmt::format("{:.3f}", row.over_best)};
    if (has_bound) {
      cells.push_back(row.bound_ns > 0 ? fmt::format("{:.3f}", row.mean_run_ns() / row.bound_ns) : "-");
    }
    table.add(cells);
  }
  return table.text();
}

std::string simulation_csv(const SimulateSettings& settings, const std::vector<SimulatedRow>& rows) {
  const bool has_bound = settings.wants_bound();
  std::vector<std::string> names = {"op",         "algorithm",  "ranks",      "bytes",
                                    "pattern",    "segments",   "iterations", "run_ns",
                                    "run_ns_min", "run_ns_max", "elapsed_ns", "over_best"};
  if (has_bound) names.emplace_back("bound_ns");
  report::TextTable table(names);
  for (const SimulatedRow& row : rows) {
    const auto [least, most] = std::ranges::minmax(row.run_ns);
    std::vector<std::string> cells = {std::string(comm::to_string(settings.operation)),
                                      row.algorithm,
                                      std::to_string(row.ranks),
                                      std::to_string(row.bytes),
                                      row.pattern,
                                      std::to_string(row.segments),
                                      std::to_string(row.run_ns.size()),
                                      fmt::format("{}", row.mean_run_ns()),
                                      fmt::format("{}", least),
                                      fmt::format("{}", most),
                                      fmt::format("{}", SimulatedRow::mean(row.elapsed_ns)),
                                      fmt::format("{}", row.over_best)};
    if (has_bound) cells.push_back(fmt::format("{}", row.bound_ns));
    table.add(cells);
  }
  return table.csv();
}

io::Json simulation_document(const SimulateOptions& options, const SimulateSettings& settings,
                             const std::vector<SimulatedRow>& rows) {
  io::Json list = io::Json::array();
  for (const SimulatedRow& row : rows) list.push_back(row_json(settings, row));
  io::Json all = {{"op", options.operation},
                  {"root", options.root},
                  {"ordered", options.ordered},
                  {"seed", options.seed}};
  all.update(links_json(options, settings));
  all.update(hosts_json(options, settings));
  all["window"] = options.window;
  all["prediction_error"] = options.prediction_error;
  return {{"papfft", kVersion}, {"settings", all}, {"rows", list}};
}

}  // namespace papfft::app
