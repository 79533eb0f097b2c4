// SPDX-License-Identifier: MIT
#include "app/bench/stock_algorithms.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace papfft::app {

namespace {
constexpr std::array<std::uint64_t, 4> kSegmentBytes = {0, 16384, 65536, 262144};

}  // namespace

std::unique_ptr<comm::Communicator> StockAlgorithms::communicator(MPI_Comm comm, const comm::Options& options,
                                                                  const StockAlgorithm& algorithm) const {
  variables_.set(algorithm);
  auto made = std::make_unique<comm::Communicator>(comm, options);
  variables_.set({});
  return made;
}

StockAlgorithms::Best StockAlgorithms::find_best(MPI_Comm comm, const comm::Options& options,
                                                 const Timer& time_of) const {
  struct Tried {
    Best best;
    double time = 0;
  };
  const auto least_of = [&](comm::Communicator& on, int calls) -> std::optional<double> {
    std::optional<double> least;
    for (int i = 0; i < calls; ++i) {
      const std::optional<double> time = time_of(on);
      if (!time) return std::nullopt;
      least = std::min(least.value_or(*time), *time);
    }
    return least;
  };
  const auto is_faster = [](const Tried& a, const Tried& b) { return a.time < b.time; };
  constexpr double kNear = 2;  // times the best: worth more calls
  constexpr double kFarOff =
      4;  // in the first call on a communicator, which takes longer: not worth a second
  double best_time = std::numeric_limits<double>::infinity();
  std::vector<Tried> tried;
  for (const auto& [number, name] : variables_.names()) {
    for (const std::uint64_t segment_bytes : kSegmentBytes) {
      const StockAlgorithm algorithm{number, segment_bytes};
      Tried one{{algorithm, communicator(comm, options, algorithm)}};
      auto time = least_of(*one.best.communicator, 1);
      if (time && *time <= kFarOff * best_time)
        time = std::min(*time, least_of(*one.best.communicator, 1).value_or(*time));
      if (!time) break;  // not for this number of ranks
      one.time = *time;
      best_time = std::min(best_time, one.time);
      tried.push_back(std::move(one));
    }
  }
  if (tried.empty())
    throw std::invalid_argument("mpi-best: no algorithm of stock MPI works for this " +
                                variables_.operation());
  for (Tried& one : tried) {
    if (one.time <= kNear * best_time)
      one.time = std::min(one.time, least_of(*one.best.communicator, 4).value_or(one.time));
  }
  return std::move(std::ranges::min_element(tried, is_faster)->best);
}

}  // namespace papfft::app
