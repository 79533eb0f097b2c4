// SPDX-License-Identifier: MIT
// What a guideline promises, and whether measurements break the promise. Pure: samples in, verdicts out.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace papfft::app {

/// A performance guideline: `auto` is not slower than something that a user could do instead (after Hunold's PGChecker).
enum class Guideline : std::uint8_t {
  stock,    ///< than stock MPI's default
  best,     ///< than the best algorithm of stock MPI
  ours,     ///< than any algorithm of ours
  mockups,  ///< than the same result by other operations
  monotone  ///< than `auto` itself with more bytes
};

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 5> kGuidelineNames = {"stock", "best", "ours", "mockups",
                                                                    "monotone"};

[[nodiscard]] constexpr std::string_view to_string(Guideline guideline) {
  return kGuidelineNames.at(static_cast<std::size_t>(guideline));
}
/// @throws std::invalid_argument  unless it is one of kGuidelineNames
[[nodiscard]] Guideline parse_guideline(std::string_view name);

enum class Finding : std::uint8_t {
  kept,      ///< the ratio of the medians is within the tolerance
  unproven,  ///< it is beyond the tolerance, but that may be chance
  violated   ///< it is beyond the tolerance, and that is hardly chance
};
[[nodiscard]] std::string_view to_string(Finding finding);

/// From this p-value on a difference counts as chance.
inline constexpr double kSignificance = 0.01;
/// With fewer calls of each, not even samples that do not overlap have a p-value below kSignificance: 4 and 4 values have
/// 70 orders, 5 and 5 have 252.
inline constexpr int kFewestCalls = 5;

struct Verdict {
  std::size_t peer = 0;  ///< which of the peers the figures are about
  double ratio = 1;      ///< median of `auto` / median of the peer
  double p = 1;          ///< of the one-sided rank-sum test: is `auto` slower?
  Finding finding = Finding::kept;
};

/// Of one cell and one guideline. With several peers the p-value of each is multiplied by their number (Bonferroni), because one
/// of many peers is more often faster by chance than one alone. The verdict is about the worst peer: one that violates the
/// guideline before others, then the one with the largest ratio.
/// @param tolerance  0.03: up to 3 % slower is within the promise
/// @throws std::invalid_argument  no peers, or a sample has no values
[[nodiscard]] Verdict judge(std::span<const double> automatic, std::span<const std::vector<double>> peers,
                            double tolerance);

/// Some guideline is violated by a ratio above 1 + limit.
[[nodiscard]] bool is_violated_beyond(std::span<const Verdict> verdicts, double limit);

}  // namespace papfft::app
