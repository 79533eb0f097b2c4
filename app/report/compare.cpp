// SPDX-License-Identifier: MIT
#include "app/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "app/report/bench_figures.hpp"
#include "app/report/statistics.hpp"

namespace papfft::app::report {
namespace {

constexpr int kResamples = 2000;
constexpr std::size_t kFewest = 5;

double resampled_median(std::span<const double> values, std::mt19937_64& random, std::vector<double>& drawn) {
  drawn.resize(values.size());
  // Not std::uniform_int_distribution: its results differ between libraries.
  for (double& value : drawn) value = values[random() % values.size()];
  return median(drawn);
}

std::string statement(const RowComparison& row) {
  if (!row.a->correct || !row.b->correct) return "wrong data: no comparison";
  if (!row.interval)
    return "raw data are needed for a confidence interval (the rows have too few samples or none)";
  if (row.interval->hi < 1) return "B is faster (95 % confidence)";
  if (row.interval->lo > 1) return "B is slower (95 % confidence)";
  return "no difference shown (the 95 % interval has 1 in it)";
}

}  // namespace

std::optional<Range> median_ratio_interval(std::span<const double> a, std::span<const double> b) {
  const auto positive = [](double value) { return value > 0; };
  if (a.size() < kFewest || b.size() < kFewest || !std::ranges::all_of(a, positive) ||
      !std::ranges::all_of(b, positive)) {
    return std::nullopt;
  }
  std::mt19937_64 random(1);
  std::vector<double> drawn;
  std::vector<double> ratios;
  ratios.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    const double of_a = resampled_median(a, random, drawn);
    ratios.push_back(resampled_median(b, random, drawn) / of_a);
  }
  return Range{percentile(ratios, 0.025), percentile(ratios, 0.975)};
}

std::vector<RowComparison> compare(const BenchRun& a, const BenchRun& b) {
  std::vector<RowComparison> result;
  for (const BenchRow& row : a.rows) {
    const auto found = std::ranges::find_if(b.rows, [&](const BenchRow& other) {
      return other.algorithm == row.algorithm && other.ranks == row.ranks && other.bytes == row.bytes &&
             other.pattern == row.pattern &&
             (other.segments == row.segments || a.kind == BenchKind::simulate);
    });
    if (found == b.rows.end() || !(row.run.center > 0)) continue;
    RowComparison comparison{.a = &row, .b = &*found, .ratio = found->run.center / row.run.center};
    comparison.interval = median_ratio_interval(row.samples_s, found->samples_s);
    comparison.statement =
        a.kind == BenchKind::simulate ? "virtual time: exact for these arrivals" : statement(comparison);
    result.push_back(std::move(comparison));
  }
  return result;
}

std::vector<std::string> setting_differences(const BenchRun& a, const BenchRun& b) {
  std::vector<std::string> differences;
  std::set<std::string> names;
  for (const auto& [name, unused] : a.settings) names.insert(name);
  for (const auto& [name, unused] : b.settings) names.insert(name);
  const auto value = [](const BenchRun& run, const std::string& name) {
    const auto found = run.settings.find(name);
    return found == run.settings.end() ? std::string("not told") : found->second;
  };
  for (const std::string& name : names) {
    if (value(a, name) != value(b, name))
      differences.push_back(fmt::format("{}: {} and {}", name, value(a, name), value(b, name)));
  }
  return differences;
}

std::vector<std::string> link_doubts(const BenchRun& a, const BenchRun& b) {
  std::vector<std::string> doubts;
  if (a.beta_ns_per_byte && b.beta_ns_per_byte) {
    const auto [least, most] = std::minmax(*a.beta_ns_per_byte, *b.beta_ns_per_byte);
    if (most > 1.05 * least)
      doubts.push_back(fmt::format("the links differ, beta, ns/B: {:.3g} and {:.3g}", *a.beta_ns_per_byte,
                                   *b.beta_ns_per_byte));
  }
  for (const BenchRun* run : {&a, &b}) {
    if (!run->link_was_steady()) doubts.push_back(fmt::format("{}: {}", run->file, run->link_drift_text()));
  }
  return doubts;
}

std::vector<std::vector<std::string>> comparison_table(const std::vector<RowComparison>& rows) {
  std::vector<std::vector<std::string>> table = {
      {"algorithm", "ranks", "size", "arrivals", "A", "B", "B / A", "95 % interval", "statement"}};
  for (const RowComparison& row : rows) {
    table.push_back({row.a->algorithm, std::to_string(row.a->ranks), size_text(row.a->bytes), row.a->pattern,
                     time_text(row.a->run.center), time_text(row.b->run.center),
                     fmt::format("{:.3f}", row.ratio),
                     row.interval ? fmt::format("{:.3f} .. {:.3f}", row.interval->lo, row.interval->hi) : "-",
                     row.statement});
  }
  return table;
}

}  // namespace papfft::app::report
