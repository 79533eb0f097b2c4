// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <vector>

namespace papfft::fft {

/// Discrete Fourier transforms down the columns of a small tile that stays in the first-level cache.
///
/// A tile has `rows()` rows of kColumns columns, real and imaginary parts apart so that one instruction works on
/// several columns; row i occupies tile[2 i kColumns, 2 (i+1) kColumns), real parts first. Every column is
/// transformed on its own by the same operations, so a column's result does not depend on its neighbours.
///
/// The rows are factored into radices 8, 4, 2 (each three, two, one fused radix-2 stages in registers) and odd primes
/// (the O(p^2) sum, halved by symmetry). Decimation in frequency in place: output r ends in row `row_of(r)`.
///
/// @note Cost    per column about 5 R log2 R operations for R = 2^k; 4p for each prime p and row more.
template <typename T>
class ColumnDft {
 public:
  static constexpr std::size_t kColumns = 32;

  /// @throws std::invalid_argument  rows == 0
  explicit ColumnDft(std::size_t rows);

  [[nodiscard]] std::size_t rows() const noexcept { return row_of_.size(); }
  /// Elements of T that `run` needs: the tile first, then scratch.
  [[nodiscard]] std::size_t tile_size() const noexcept { return (rows() + scratch_rows_) * 2 * kColumns; }
  /// The row in which output r stands after `run`. A permutation of 0..rows()-1.
  [[nodiscard]] std::size_t row_of(std::size_t r) const noexcept { return row_of_[r]; }
  /// Transforms forward, in place. For the inverse (unscaled) exchange the roles of real and imaginary parts.
  void run(T* tile) const;

 private:
  struct Stage {
    std::size_t radix;
    std::size_t stride;       // rows between a butterfly's inputs; the sub-transform has radix * stride rows
    std::vector<T> twiddles;  // [k][i] -> re, im of w_(radix*stride)^(k i), at 2 (k radix + i)
    std::vector<T> odd_matrix;  // odd radix: [i][j] -> cos, sin of 2 pi (i+1)(j+1)/radix, i, j < radix/2
  };

  void run_odd(const Stage& stage, T* first_row, const T* twiddles, T* scratch) const;

  std::vector<Stage> stages_;
  std::vector<std::size_t> row_of_;
  std::size_t scratch_rows_ = 0;
};

}  // namespace papfft::fft
