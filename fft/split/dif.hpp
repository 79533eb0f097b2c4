// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <optional>
#include <span>

#include "fft/kernel/column_dft.hpp"
#include "fft/kernel/types.hpp"

namespace papfft::fft {

/// The elements [begin, end) of every block of a split.
struct Columns {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t count() const noexcept { return end - begin; }
};

/// The twiddle factors scale * w_N^(n r) of a split, as a product of two small tables that stay in the caches:
/// w_N^(r t K) for tile t (with the scale), and w_N^(r c) for column c < K = ColumnDft<T>::kColumns.
template <typename T>
class TwiddleGrid {
 public:
  /// @param length  N
  /// @param rows    r = 0 .. rows-1
  /// @param columns n; no others may be asked for
  TwiddleGrid(std::size_t length, std::size_t rows, Columns columns, double scale);

  /// Of all rows, as the kernels take them. @param tile  of all tiles, counted from column 0
  [[nodiscard]] const T* tile_factors(std::size_t tile) const noexcept {
    return reinterpret_cast<const T*>(tile_factors_.data() + (tile - first_tile_) * rows_);
  }
  /// For each row, real parts of the kColumns column factors, then the imaginary parts.
  [[nodiscard]] const T* column_factors() const noexcept { return column_factors_.data(); }

 private:
  std::size_t rows_;
  std::size_t first_tile_;
  Buffer<std::complex<T>> tile_factors_;
  Buffer<T> column_factors_;
};

/// What the classes below have in common: a pass over columns, with its tables.
template <typename T>
class ColumnPass {
 public:
  using Complex = std::complex<T>;

  /// @param real     of N real samples, in 2P rows; else of N complex ones, in P rows
  /// @param columns  no others may be asked for; nothing: all
  ColumnPass(std::size_t length, std::size_t parts, bool real, std::optional<Columns> columns, double scale);

  [[nodiscard]] std::size_t parts() const noexcept { return dft_.rows(); }
  [[nodiscard]] std::size_t block_length() const noexcept { return block_length_; }

  /// Calls work(kernels, tile, in, out, first) for each tile, where `in` and `out` are the rows' values, and `first` is a row's element.
  /// @param in, out  Shape: P pointers for complex elements, 2P for real ones, to the first of these columns
  /// @throws std::invalid_argument  wrong number of pointers, or columns that this object is not for
  template <typename In, typename Out, typename Work>
  void run(std::span<const In* const> in, std::span<Out* const> out, Columns columns, const Work& work) const;

 private:
  std::size_t block_length_;
  Columns columns_;
  T scale_;
  ColumnDft<T> dft_;
  TwiddleGrid<T> twiddles_;
  Buffer<Complex> roots_;  // of real samples: w_R^r, r = 0..P
};

/// Splits one complex transform of length N into P independent ones of length M = N/P, by decimation in frequency:
///
///   y_r[n] = scale * w_N^(n r) * sum_j x[n + j M] w_P^(j r)       FFT_M(y_r)[q] = scale * X[P q + r]
///
/// with w_N = exp(-+ 2 pi i/N). Block r (0 <= r < P) is the M elements y_r[0..M): whoever transforms it (LocalFft, same
/// direction) gets every P-th bin from bin r on; `interleave` puts the bins of all blocks in order. P = 1 is a scaled
/// copy. One pass over memory whatever P; safe to call from several threads at once.
///
/// The result depends on N, P, T and x alone: not on the number of threads, nor on how the range is cut into chunks.
template <typename T>
class Split {
 public:
  using Complex = std::complex<T>;

  /// Forward: scale 1. Inverse: scale 1/N, the only place where the distributed inverse transform is scaled.
  /// @param columns  of these alone: its tables are as short as they are
  /// @throws std::invalid_argument  parts does not divide length, or one of them is 0; columns outside [0, M)
  Split(std::size_t length, std::size_t parts, Direction direction,
        std::optional<Columns> columns = std::nullopt);
  /// The same with any scale; for transforms nested in others.
  Split(std::size_t length, std::size_t parts, Direction direction, double scale);

  [[nodiscard]] std::size_t parts() const noexcept { return pass_.parts(); }
  [[nodiscard]] std::size_t block_length() const noexcept { return pass_.block_length(); }

  /// Computes y_r[n] for n in [n_begin, n_end), all r; parallel over n.
  /// @param x       Shape: N, the whole vector.
  /// @param blocks  Shape: P pointers; y_r[n] goes to blocks[r][n - n_begin]. In place is allowed: exactly
  ///                blocks[r] == x + r M + n_begin for all r.
  /// @throws std::invalid_argument  wrong number of blocks, or a range outside [0, M)
  void run(const Complex* x, std::span<Complex* const> blocks, std::size_t n_begin, std::size_t n_end) const;
  /// The same for one who does not hold the whole vector. @param rows  Shape: P pointers; rows[j][n - n_begin] is x[n + j M].
  /// In place is allowed: the same pointers as `blocks`. @throws also: columns that this object is not for
  void run(std::span<const Complex* const> rows, std::span<Complex* const> blocks, Columns columns) const;

 private:
  ColumnPass<T> pass_;
  Direction direction_;
};

/// Whether `parts` ranks can share a real transform of `length` by RealSplit: 2 * parts divides length.
[[nodiscard]] bool can_split_real(std::size_t length, std::size_t parts) noexcept;

/// Splits one real transform of length N over P ranks at half the traffic and work of the complex one. R = 2P, M = N/R:
///
///   block 0     v[n] + i v[n+M],  where v[n] = sum_(j<P) x[n + 2jM], n < 2M: the real vector x folded to 2M samples
///   block r>0   y_r[n] = w_N^(n r) * sum_(j<R) x[n + j M] w_R^(j r)
///
/// Each block is M complex numbers. Rank 0 transforms its own with PackedRealFft and gets the bins X[P q], the others
/// with LocalFft and get X[R q + r], M complex numbers each; the bins that nobody computes are conjugates of these.
/// `assemble_half_spectrum` puts the N/2+1 bins in order. Unscaled. P = 1 is allowed.
/// The result does not depend on the number of threads, nor on the chunks.
template <typename T>
class RealSplit {
 public:
  using Complex = std::complex<T>;

  /// @param columns  as Split's
  /// @throws std::invalid_argument  2 * parts does not divide length, or one of them is 0; columns outside [0, M)
  RealSplit(std::size_t length, std::size_t parts, std::optional<Columns> columns = std::nullopt);

  [[nodiscard]] std::size_t parts() const noexcept { return pass_.parts(); }
  [[nodiscard]] std::size_t block_length() const noexcept { return pass_.block_length(); }

  /// Computes the elements n in [n_begin, n_end) of every block; parallel over n.
  /// @param x       Shape: N, the whole vector.
  /// @param blocks  Shape: P pointers; element n of block r goes to blocks[r][n - n_begin]. Must not overlap x.
  /// @throws std::invalid_argument  wrong number of blocks, or a range outside [0, M)
  void run(const T* x, std::span<Complex* const> blocks, std::size_t n_begin, std::size_t n_end) const;
  /// The same for one who does not hold the whole vector. @param rows  Shape: 2P pointers; rows[j][n - n_begin] is x[n + j M]. Must
  /// not overlap the blocks. @throws also: columns that this object is not for
  void run(std::span<const T* const> rows, std::span<Complex* const> blocks, Columns columns) const;

 private:
  ColumnPass<T> pass_;
};

/// The inverse of RealSplit, and the last step of the distributed inverse real transform: from the blocks that the
/// ranks made out of their bins (`distribute_half_spectrum`, then PackedRealFft inverse on rank 0, LocalFft inverse on the
/// others, both unscaled) to x. Multiplies by 2/N = 1/(M P), the only place where the distributed inverse is scaled
/// (the factor 1/2 lies in the symmetry). A part of every block is enough to make the samples that depend on it.
template <typename T>
class RealMerge {
 public:
  using Complex = std::complex<T>;

  /// As RealSplit.
  RealMerge(std::size_t length, std::size_t parts, std::optional<Columns> columns = std::nullopt);

  [[nodiscard]] std::size_t parts() const noexcept { return pass_.parts(); }
  [[nodiscard]] std::size_t block_length() const noexcept { return pass_.block_length(); }

  /// Computes x[n + j M] for n in [n_begin, n_end), all j < 2P; parallel over n.
  /// @param blocks  Shape: P pointers; blocks[r][n - n_begin] is element n of block r.
  /// @param x       Shape: N, the whole vector. Must not overlap the blocks.
  /// @throws std::invalid_argument  wrong number of blocks, or a range outside [0, M)
  void run(std::span<const Complex* const> blocks, T* x, std::size_t n_begin, std::size_t n_end) const;
  /// The same for one who does not hold the whole vector. @param rows  Shape: 2P pointers; x[n + j M] goes to rows[j][n - n_begin].
  /// @throws also: columns that this object is not for
  void run(std::span<const Complex* const> blocks, std::span<T* const> rows, Columns columns) const;

 private:
  ColumnPass<T> pass_;
};

/// out[P q + r] = blocks[r][q] for q < count: P = blocks.size() contiguous blocks into the natural order of bins.
/// For a chunk of q pass pointers into the blocks, and out + P q. Parallel. @throws std::invalid_argument  no blocks
template <typename T>
void interleave(std::span<const std::complex<T>* const> blocks, std::size_t count, std::complex<T>* out);

/// blocks[r][q] = in[P q + r], the inverse of `interleave`. @throws std::invalid_argument  no blocks
template <typename T>
void deinterleave(const std::complex<T>* in, std::span<std::complex<T>* const> blocks, std::size_t count);

/// X[0..N/2] of a real vector from what the P ranks computed of RealSplit's blocks.
/// @param blocks       Shape: P pointers to M bins. Block 0 is PackedRealFft's: {X[0], X[N/2]} (both real) in element 0,
///                     X[P q] in element q. Block r is X[2P q + r].
/// @param block_length M; N = 2 P M
/// @param spectrum     Shape: P M + 1 = N/2 + 1. Must not overlap the blocks.
/// @throws std::invalid_argument  no blocks, or block_length == 0
template <typename T>
void assemble_half_spectrum(std::span<const std::complex<T>* const> blocks, std::size_t block_length,
                            std::complex<T>* spectrum);

/// The inverse of `assemble_half_spectrum`; the imaginary parts of X[0] and X[N/2] are ignored, as numpy.fft.irfft does.
/// @throws std::invalid_argument  no blocks, or block_length == 0
template <typename T>
void distribute_half_spectrum(const std::complex<T>* spectrum, std::span<std::complex<T>* const> blocks,
                              std::size_t block_length);

}  // namespace papfft::fft
