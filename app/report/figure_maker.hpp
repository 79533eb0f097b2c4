// SPDX-License-Identifier: MIT
// What all kinds of figures are made with.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/report/bench_rows.hpp"
#include "app/report/figure.hpp"
#include "app/report/run_groups.hpp"

namespace papfft::app::report {

/// Collects the figures of one group.
class FigureMaker {
 public:
  /// @param prefix  of the figures' names
  FigureMaker(const RunGroup& group, std::string prefix);

  [[nodiscard]] const RunGroup& group() const { return group_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] std::vector<Figure> take() { return std::move(figures_); }

  void add(const std::string& name, const std::string& what, decltype(Figure::plot) plot,
           const std::string& small_print);
  /// What the whiskers are.
  [[nodiscard]] std::string whiskers() const;
  /// "gather of 8 MiB on 8 ranks"
  [[nodiscard]] std::string case_text(std::int64_t bytes, std::int64_t ranks) const;

 private:
  [[nodiscard]] std::string short_conditions() const;

  const RunGroup& group_;
  std::string prefix_;
  Rows rows_;
  std::vector<Figure> figures_;
};

// One for each kind of measurement; each adds what the group has to show.
void add_collective_figures(FigureMaker& figures);
void add_planning_figures(FigureMaker& figures);
void add_transform_figures(FigureMaker& figures);
void add_predictor_figures(FigureMaker& figures);
void add_recorded_figures(FigureMaker& figures);
void add_guideline_figures(FigureMaker& figures);

/// Arrivals and prediction errors of all calls, and what each rank did in one of them.
void add_call_figures(FigureMaker& figures, const Rows& rows, std::int64_t ranks, std::int64_t bytes);
/// The messages of a call in virtual time.
void add_message_figures(FigureMaker& figures, const Rows& rows);

[[nodiscard]] Axis time_axis(const char* label, Scale scale);
/// Marked where there are measurements.
[[nodiscard]] Axis ranks_axis(const Rows& rows);
/// A line for each algorithm.
[[nodiscard]] LinePlot lines(const Rows& rows, const Value& x, const Value& y, bool with_whiskers);
[[nodiscard]] BarChart run_bars(const Rows& rows);
/// The share of the values up to x, over x.
[[nodiscard]] Series distribution(const std::string& name, std::vector<double> values);
[[nodiscard]] double greatest_x(const LinePlot& plot);
/// From 0 on, so that what ends last does not end at the frame.
[[nodiscard]] Range with_room(double last);

}  // namespace papfft::app::report
