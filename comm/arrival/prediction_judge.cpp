// SPDX-License-Identifier: MIT
#include "comm/arrival/prediction_judge.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

namespace papfft::comm {

std::int64_t group_error_ns(std::span<const std::int64_t> predicted_ns,
                            std::span<const std::int64_t> arrived_ns) {
  if (predicted_ns.empty() || predicted_ns.size() != arrived_ns.size()) {
    throw std::invalid_argument("prediction error: needs as many predicted as true arrivals, at least one");
  }
  std::vector<std::int64_t> late_ns(predicted_ns.size());
  std::ranges::transform(arrived_ns, predicted_ns, late_ns.begin(), std::minus<>());
  const auto middle = late_ns.begin() + static_cast<std::ptrdiff_t>(late_ns.size() / 2);
  std::ranges::nth_element(late_ns, middle);
  const std::int64_t shift_ns = *middle;
  double sum_ns = 0;  // of 64 bits, many absurd predictions would overflow
  for (const std::int64_t late : late_ns) sum_ns += static_cast<double>(std::abs(late - shift_ns));
  return static_cast<std::int64_t>(sum_ns / static_cast<double>(late_ns.size()));
}

void PredictionJudge::compare(std::span<const std::int64_t> predicted_ns,
                              std::span<const std::int64_t> arrived_ns) {
  predicted_.add(group_error_ns(predicted_ns, arrived_ns));
  together_.add(group_error_ns(std::vector<std::int64_t>(arrived_ns.size()), arrived_ns));
}

PredictionError PredictionJudge::error() const {
  if (predicted_.count() < kWarmUp) return {};
  return {.error_ns = *predicted_.value(), .together_ns = *together_.value()};
}

}  // namespace papfft::comm
