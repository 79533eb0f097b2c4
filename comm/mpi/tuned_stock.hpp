// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <map>
#include <memory>
#include <string>

#include "comm/choose/stock_algorithm.hpp"
#include "comm/mpi/stock_variables.hpp"
#include "papfft/collectives.hpp"

namespace papfft::comm {

/// The MPI library's own calls, each by the algorithm that it asks for. Makes a communicator for each algorithm when it is first asked
/// for, so the ranks must ask alike.
class TunedStock {
 public:
  /// @param comm  for calls by the library's own choice; must outlive this object
  explicit TunedStock(MPI_Comm comm) : comm_(comm) {}
  ~TunedStock();
  TunedStock(const TunedStock&) = delete;
  TunedStock& operator=(const TunedStock&) = delete;

  /// Collective. @param arguments  `algorithm` is "mpi" or "mpi:3/64K" @throws as StockVariables and mpi_stock_call
  void call(const CallArguments& arguments);

 private:
  /// Of one operation.
  struct Tuned {
    std::unique_ptr<StockVariables> variables;
    std::map<std::string, MPI_Comm> comms = {};  // by the algorithm's text
  };

  [[nodiscard]] MPI_Comm comm_of(Operation operation, const StockAlgorithm& algorithm);

  MPI_Comm comm_;
  std::map<Operation, Tuned> tuned_;
};

}  // namespace papfft::comm
