// SPDX-License-Identifier: MIT
#include "app/report/bench_figures.hpp"

#include <utility>

#include "app/report/figure_maker.hpp"

namespace papfft::app::report {

std::vector<Figure> make_figures(const RunGroup& group, const std::string& prefix) {
  FigureMaker figures(group, prefix);
  switch (group.kind) {
    case BenchKind::collective:
    case BenchKind::simulate:
      add_collective_figures(figures);
      break;
    case BenchKind::schedule:
      add_planning_figures(figures);
      break;
    case BenchKind::fft:
      add_transform_figures(figures);
      break;
    case BenchKind::predictor:
      add_predictor_figures(figures);
      break;
    case BenchKind::record:
      add_recorded_figures(figures);
      break;
    case BenchKind::guidelines:
      add_guideline_figures(figures);
      break;
  }
  return figures.take();
}

}  // namespace papfft::app::report
