// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <map>
#include <string>

#include "comm/choose/stock_algorithm.hpp"
#include "papfft/operation.hpp"

namespace papfft::comm {

/// The algorithms that the MPI library has for one operation. Open MPI chooses one for each call by fixed rules; its component `tuned`
/// can be told another one, by a number and a segment size, and a communicator keeps what was told when it was made. So one process
/// can have the default and any algorithm side by side.
class StockVariables {
 public:
  /// Makes Open MPI listen to the choice, unless the environment says that it shall not. Must come before MPI_Init; the default
  /// algorithms stay what they are.
  static void enable();
  /// The library is Open MPI, and enable() was called or its variable is in the environment.
  [[nodiscard]] static bool are_enabled();

  /// After MPI_Init. @throws std::invalid_argument  the library is not Open MPI, or it does not let a program choose the algorithm
  /// of this operation
  explicit StockVariables(Operation operation);
  ~StockVariables();
  StockVariables(const StockVariables&) = delete;
  StockVariables& operator=(const StockVariables&) = delete;

  [[nodiscard]] const std::string& operation() const { return operation_; }
  /// Their names in Open MPI, by number.
  [[nodiscard]] const std::map<int, std::string>& names() const { return names_; }
  /// @throws std::invalid_argument  there is none with this number; lists all
  void require(const StockAlgorithm& algorithm) const;
  /// For communicators that are made from now on. @throws TransportError
  void set(const StockAlgorithm& algorithm) const;

 private:
  std::string operation_;
  std::map<int, std::string> names_;
  int algorithm_variable_ = -1;
  int segment_variable_ = -1;
};

}  // namespace papfft::comm
