// SPDX-License-Identifier: MIT
#include "app/bench/guideline_verdict.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "app/bench/mann_whitney.hpp"
#include "app/report/statistics.hpp"

namespace papfft::app {

Guideline parse_guideline(std::string_view name) {
  const auto found = std::ranges::find(kGuidelineNames, name);
  if (found == kGuidelineNames.end()) {
    std::string known;
    for (const std::string_view one : kGuidelineNames)
      known += (known.empty() ? "" : ", ") + std::string(one);
    throw std::invalid_argument("no guideline '" + std::string(name) + "'; known: " + known);
  }
  return static_cast<Guideline>(found - kGuidelineNames.begin());
}

std::string_view to_string(Finding finding) {
  switch (finding) {
    case Finding::kept:
      return "kept";
    case Finding::unproven:
      return "unproven";
    case Finding::violated:
      return "VIOLATED";
  }
  return "?";
}

Verdict judge(std::span<const double> automatic, std::span<const std::vector<double>> peers,
              double tolerance) {
  if (peers.empty()) throw std::invalid_argument("a guideline without a peer");
  const auto number = static_cast<double>(peers.size());
  std::vector<Verdict> verdicts;
  for (const std::vector<double>& peer : peers) {
    Verdict verdict{.peer = verdicts.size(),
                    .ratio = report::median(automatic) / report::median(peer),
                    .p = std::min(1.0, number * mann_whitney_p(automatic, peer))};
    if (verdict.ratio > 1 + tolerance)
      verdict.finding = verdict.p < kSignificance ? Finding::violated : Finding::unproven;
    verdicts.push_back(verdict);
  }
  return std::ranges::max(
      verdicts, {}, [](const Verdict& v) { return std::pair(v.finding == Finding::violated, v.ratio); });
}

bool is_violated_beyond(std::span<const Verdict> verdicts, double limit) {
  return std::ranges::any_of(
      verdicts, [&](const Verdict& v) { return v.finding == Finding::violated && v.ratio > 1 + limit; });
}

}  // namespace papfft::app
