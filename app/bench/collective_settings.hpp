// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/bench/bench_common.hpp"
#include "app/bench/collective_options.hpp"
#include "app/bench/stock_algorithms.hpp"
#include "app/run/arrival_pattern.hpp"

namespace papfft::app {

/// What takes its turn in each iteration.
struct Contender {
  enum class Kind {
    session,  ///< a call of the session: an algorithm of ours, or stock MPI by default
    posted_early,  ///< a non-blocking call of stock MPI, posted as soon as the rank's part does not need its own arrival
    stock_chosen,  ///< stock MPI by an algorithm of our choice
    stock_best,    ///< stock MPI by the best of its algorithms
    stock_han,     ///< stock MPI by Open MPI's coll/han
    stock_lanes,   ///< stock MPI's calls put together host by host
    mock_up        ///< other calls of the session that together give the same result
  };
  std::string name;
  Kind kind = Kind::session;
  StockAlgorithm stock = {};  ///< of stock_chosen
};

/// A vector of one size under one pattern. The data are 32-bit words.
struct Case {
  std::size_t block_bytes = 0;  ///< of one rank (the mean); the whole vector for bcast, reduce and allreduce
  std::size_t total_bytes = 0;  ///< where the whole vector is
  const ArrivalPattern* pattern = nullptr;
  std::vector<std::size_t> counts = {};  ///< words of each rank's block, where the operation has blocks

  /// Of each rank's block; of operations on one vector the vector's size alone.
  [[nodiscard]] std::vector<std::size_t> bytes_of_blocks() const;
};

/// The words of the command line, with a meaning.
struct CollectiveSettings {
  /// @throws std::invalid_argument, UsageError
  explicit CollectiveSettings(const CollectiveOptions& options);

  [[nodiscard]] Case make_case(std::uint64_t bytes, const ArrivalPattern& pattern, int ranks) const;
  /// Some contender is stock MPI by an algorithm of our choice.
  [[nodiscard]] bool chooses_stock() const;
  [[nodiscard]] std::vector<std::string> names() const;

  comm::Operation operation = comm::Operation::gather;
  std::vector<Contender> contenders;  ///< the first is stock MPI, with which all others are compared
  std::vector<std::uint64_t> bytes;
  std::vector<ArrivalPattern> patterns;
  std::chrono::nanoseconds compute{0};
  Work work;
  std::string counts;

 private:
  void add(const Contender& contender);
  [[nodiscard]] Contender contender(const std::string& name) const;
};

/// Are there as many ranks as the benchmark needs, the root and the patterns name? @throws std::invalid_argument, UsageError
void require_ranks(const std::string& command, int ranks, const CollectiveOptions& options,
                   const CollectiveSettings& settings);

}  // namespace papfft::app
