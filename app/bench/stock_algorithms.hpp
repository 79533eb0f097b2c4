// SPDX-License-Identifier: MIT
// Stock MPI by an algorithm of one's choice. Open MPI chooses an algorithm for each call by fixed rules; its component `tuned`
// can be told another one, by a number and a segment size, and a communicator keeps what was told when it was made. So one
// process can have stock's default and any of its algorithms side by side.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "papfft/mpi.hpp"

namespace papfft::app {

/// One of stock MPI's algorithms, by its number there, and how it cuts the data: "3", or "3/64K".
struct StockAlgorithm {
  int number = 0;
  std::uint64_t segment_bytes = 0;  ///< 0: as the algorithm likes best, mostly not at all

  /// @throws std::invalid_argument  the text is no algorithm
  [[nodiscard]] static StockAlgorithm parse(std::string_view text);
  [[nodiscard]] std::string text() const;
};

/// The algorithms that the MPI library has for one operation.
class StockAlgorithms {
 public:
  /// Makes Open MPI listen to the choice. Must come before MPI_Init; the default algorithms stay what they are.
  static void enable();

  /// After MPI_Init. @throws std::invalid_argument  the library is not Open MPI, or it does not let a program choose the
  ///                                                algorithm of this operation
  explicit StockAlgorithms(comm::Operation operation);
  ~StockAlgorithms();
  StockAlgorithms(const StockAlgorithms&) = delete;
  StockAlgorithms& operator=(const StockAlgorithms&) = delete;

  /// Their names in Open MPI, by number.
  [[nodiscard]] const std::map<int, std::string>& names() const { return names_; }
  /// @throws std::invalid_argument  there is none with this number; lists all
  void require(const StockAlgorithm& algorithm) const;

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
  void set(const StockAlgorithm& algorithm) const;

  std::string operation_;
  std::map<int, std::string> names_;
  int algorithm_variable_ = -1;
  int segment_variable_ = -1;
};

}  // namespace papfft::app
