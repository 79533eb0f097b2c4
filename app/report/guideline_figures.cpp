// SPDX-License-Identifier: MIT
// Maps of the cells of `papfft bench guidelines`: where `auto` is slower than it promises.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "app/report/figure_maker.hpp"

namespace papfft::app::report {
namespace {

constexpr Range kShownRatios{0.5, 1.5};

bool is_worse(const BenchRow* a, const BenchRow* b) {
  if (a->promise->violated != b->promise->violated) return b->promise->violated;
  return a->promise->ratio < b->promise->ratio;
}

/// "1.23\nbest\nviolated"; the guideline's name where the cells are about several.
std::string caption(const BenchRow& row, bool names_guideline) {
  std::string text = fmt::format("{:.2f}", row.promise->ratio);
  if (names_guideline) text += "\n" + row.promise->guideline;
  if (row.promise->violated) text += "\nviolated";
  return text;
}

/// Operations upwards, sizes to the right. Of several guidelines each cell shows the worst.
RegionMap map_of(const Rows& rows, bool names_guideline) {
  RegionMap map{.column_label = "size of the whole vector",
                .value_axis = {.label = "run time of auto / of its peer", .range = kShownRatios}};
  const auto by_bytes = split_by(rows, &BenchRow::bytes);
  for (const auto& [bytes, unused] : by_bytes) map.columns.push_back(size_text(bytes));
  std::vector<std::string> operations;
  for (const BenchRow* row : rows) {
    if (std::ranges::find(operations, row->promise->operation) == operations.end())
      operations.push_back(row->promise->operation);
  }
  std::ranges::reverse(operations);  // the first of the file on top
  map.rows = operations;
  for (const std::string& operation : operations) {
    for (const auto& [bytes, of_bytes] : by_bytes) {
      Rows here;
      std::ranges::copy_if(of_bytes, std::back_inserter(here),
                           [&](const BenchRow* row) { return row->promise->operation == operation; });
      if (here.empty()) {
        map.values.push_back(std::numeric_limits<double>::quiet_NaN());
        map.captions.emplace_back("not checked");
        continue;
      }
      const BenchRow& worst = **std::ranges::max_element(here, is_worse);
      if (worst.promise->violated) map.framed.push_back(map.values.size());
      map.values.push_back(worst.promise->ratio);
      map.captions.push_back(caption(worst, names_guideline));
    }
  }
  return map;
}

/// What the promise of a guideline is, as a title.
std::string promise_text(const std::string& guideline) {
  if (guideline == "stock") return "auto against stock MPI's default";
  if (guideline == "best") return "auto against the best algorithm of stock MPI";
  if (guideline == "ours") return "auto against the worst peer among our algorithms";
  if (guideline == "mockups") return "auto against the same by other calls";
  if (guideline == "monotone") return "auto against itself with the next larger size";
  return "auto, guideline " + guideline;
}

}  // namespace

void add_guideline_figures(FigureMaker& figures) {
  for (const auto& [ranks, of_ranks] : split_by(figures.rows(), &BenchRow::ranks)) {
    for (const auto& [pattern, rows] : split_by(of_ranks, &BenchRow::pattern)) {
      const std::string on = fmt::format("{}, arrivals {}", figures.group().ranks_text(ranks), pattern);
      const std::string note =
          "Ratios of medians; below 1 auto is faster. Framed: the guideline is violated.";
      std::vector<std::string> guidelines;
      for (const BenchRow* row : rows) {
        if (std::ranges::find(guidelines, row->promise->guideline) == guidelines.end())
          guidelines.push_back(row->promise->guideline);
      }
      if (guidelines.size() > 1)
        figures.add("guidelines", "The worst guideline of each cell: " + on, map_of(rows, true), note);
      for (const std::string& guideline : guidelines) {
        Rows of_one;
        std::ranges::copy_if(rows, std::back_inserter(of_one),
                             [&](const BenchRow* row) { return row->promise->guideline == guideline; });
        figures.add("guideline", fmt::format("{}: {}", promise_text(guideline), on), map_of(of_one, false),
                    note);
      }
    }
  }
}

}  // namespace papfft::app::report
