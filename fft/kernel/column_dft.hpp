// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <vector>

#include "fft/kernel/kernels.hpp"

namespace papfft::fft {

/// Tables for discrete Fourier transforms down the columns of a small tile that stays in the first-level cache. The kernels run them, as
/// part of what they do with a tile of a split.
///
/// A tile has `rows()` rows of kColumns columns, real and imaginary parts apart so that one instruction works on
/// several columns. Every column is transformed on its own by the same operations, so a column's result does not depend on its
/// neighbours.
///
/// The rows are factored into radices 8, 4, 2 and odd primes (the O(p^2) sum, halved by symmetry). Decimation in frequency in
/// place: output r ends in row plan().row_of[r].
///
/// @note Cost    per column about 5 R log2 R operations for R = 2^k; 4p for each prime p and row more.
template <typename T>
class ColumnDft {
 public:
  static constexpr std::size_t kColumns = kernel::kTileColumns;

  /// @throws std::invalid_argument  rows == 0
  explicit ColumnDft(std::size_t rows);

  [[nodiscard]] std::size_t rows() const noexcept { return row_of_.size(); }
  /// Elements of T that the kernels need: the tile first, then scratch.
  [[nodiscard]] std::size_t tile_size() const noexcept { return (rows() + scratch_rows_) * 2 * kColumns; }
  /// Valid as long as this object is.
  [[nodiscard]] kernel::FewRows<T> plan() const noexcept {
    return {rows(), stages_.size(), stages_.data(), table_.data(), row_of_.data()};
  }

 private:
  std::vector<typename kernel::FewRows<T>::Stage> stages_;
  std::vector<T> table_;
  std::vector<std::size_t> row_of_;
  std::size_t scratch_rows_ = 0;
};

}  // namespace papfft::fft
