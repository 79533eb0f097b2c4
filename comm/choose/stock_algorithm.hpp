// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace papfft::comm {

/// One of the MPI library's own algorithms, by its number there, and how it cuts the data: "3", or "3/64K".
struct StockAlgorithm {
  int number = 0;                   ///< 0: the library chooses
  std::uint64_t segment_bytes = 0;  ///< 0: as the algorithm likes best, mostly not at all

  /// @throws std::invalid_argument  the text is no algorithm
  [[nodiscard]] static StockAlgorithm parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  friend bool operator==(const StockAlgorithm&, const StockAlgorithm&) = default;
};

/// What stands before the number in the name of an algorithm of ours: "mpi:3/64K".
inline constexpr std::string_view kStockPrefix = "mpi:";

}  // namespace papfft::comm
