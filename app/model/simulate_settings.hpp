// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/model/platform.hpp"
#include "app/model/simulate_options.hpp"
#include "app/run/arrival_pattern.hpp"
#include "comm/model/simulator.hpp"
#include "papfft/operation.hpp"

namespace papfft::app {

constexpr comm::Ticks kTicksPerNs = 1000;  ///< a byte may take less than a nanosecond
constexpr int kBestSegments = 0;
constexpr int kChosenSegments = -1;          ///< as a call would choose them
constexpr const char* kBoundName = "bound";  ///< in place of an algorithm: the least time that any could need

/// The words of the command line, with a meaning.
struct SimulateSettings {
  /// @throws std::invalid_argument, UsageError, io::DataError
  explicit SimulateSettings(const SimulateOptions& options);

  /// The bound was asked for, or there are hosts of several ranks.
  [[nodiscard]] bool wants_bound() const;

  comm::Operation operation = comm::Operation::reduce;
  std::vector<std::string> algorithms;
  std::vector<int> hosts;  ///< of each rank; empty: each rank has its own
  std::vector<int> ranks;
  std::vector<std::uint64_t> bytes;
  std::vector<int> segments;  ///< or kBestSegments, kChosenSegments
  std::vector<ArrivalPattern> patterns;
  comm::Machine machine;               ///< looks at `hosts`, so that these settings are not copied
  std::optional<comm::Window> window;  ///< nothing: as a call would have it
  std::int64_t prediction_error_ns = 0;
  std::unique_ptr<comm::Platform> platform;  ///< nullptr: one-port links, which `machine` describes

 private:
  void add_algorithm(const std::string& name, const SimulateOptions& options);
};

}  // namespace papfft::app
