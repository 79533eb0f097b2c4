// SPDX-License-Identifier: MIT
// Stock MPI by an algorithm of one's choice (comm/mpi/stock_variables.hpp).
#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "comm/mpi/stock_variables.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

using comm::StockAlgorithm;

/// Communicators of stock MPI's algorithms for one operation, and which of them is the fastest.
class StockAlgorithms {
 public:
  /// After MPI_Init, before which StockVariables::enable() was called. @throws as StockVariables
  explicit StockAlgorithms(comm::Operation operation) : variables_(operation) {}

  /// Their names in Open MPI, by number.
  [[nodiscard]] const std::map<int, std::string>& names() const { return variables_.names(); }
  /// @throws std::invalid_argument  there is none with this number; lists all
  void require(const StockAlgorithm& algorithm) const { variables_.require(algorithm); }

  /// A duplicate of `comm`, of which stock MPI's call of the operation goes by this algorithm. Collective.
  /// @throws comm::TransportError
  [[nodiscard]] std::unique_ptr<comm::Communicator> communicator(MPI_Comm comm, const comm::Options& options,
                                                                 const StockAlgorithm& algorithm) const;

  /// Time of one call on the communicator, the same on all ranks; nothing if it failed or gave wrong data.
  using Timer = std::function<std::optional<double>(comm::Communicator&)>;
  struct Best {
    StockAlgorithm algorithm;
    std::unique_ptr<comm::Communicator> communicator;
  };
  /// The fastest of all algorithms with a few segment sizes: two calls of each, then four more of those that are within a factor
  /// of two of the best. Collective. @throws std::invalid_argument  none of them works
  [[nodiscard]] Best find_best(MPI_Comm comm, const comm::Options& options, const Timer& time_of) const;

 private:
  comm::StockVariables variables_;
};

}  // namespace papfft::app
