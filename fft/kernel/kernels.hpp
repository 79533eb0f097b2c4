// SPDX-License-Identifier: MIT
// What the transforms of 2^k elements are made of: plain tables, and functions that are compiled once per instruction set.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace papfft::fft::kernel {

/// In which order a complex vector's parts stand in memory.
///   interleaved  re0 im0 re1 im1 ...: what users have
///   swapped      the same with the roles of re and im exchanged: a forward transform between swapped ends is the inverse
///   split        blocks of V real parts followed by their V imaginary parts, V = the vector's lanes: what the kernels work on
enum class Format { interleaved, swapped, split };

constexpr std::size_t kMaxStages = 8;

/// A transform whose data stay in the caches, by Stockham's autosort: pass t with radix R and stride s (the product of the
/// radices before it) makes, with n = length/s and m = n/R, for q < s, p < m, k < R,
///
///   y[q + s(R p + k)] = w_n^(p k) sum_j x[q + s(p + m j)] w_R^(j k).
template <typename T>
struct Passes {
  struct Pass {
    std::size_t radix;
    std::size_t stride;
    /// w_n^(p k), 0 < k < R. Stride a multiple of the lanes: [p][k-1][re, im]. Else vectors for the lanes i = q + s p:
    /// [i / lanes][k-1][re..., im...]. None for the last pass, where p = 0 alone.
    const T* twiddles;
  };
  std::size_t length;
  std::size_t lanes;  // of the vectors to be used; at most length/R for each radix R
  std::size_t count;  // at least 2
  std::array<Pass, kMaxStages> pass;
};

/// Transforms down the columns of a tile, in place, by decimation in frequency: stage t with radix R splits each block of n
/// rows (n = rows/product of the radices before it) into R blocks of h = n/R, row p + h k of which gets
///
///   w_n^(p k) sum_j row[p + h j] w_R^(j k).
///
/// At the end outputs stand in rows of reversed digits.
template <typename T>
struct Columns {
  struct Stage {
    std::size_t radix;
    const T* twiddles;  // [p][k-1][re, im], 0 < k < R; none for the last stage
  };
  std::size_t rows;
  std::size_t count;  // of stages, at least 2
  std::array<Stage, kMaxStages> stage;
  /// Per group of the last stage's radix R: the output in its first row; row i of the group holds this plus i rows/R.
  const std::uint32_t* first_output;
  /// The row in which each output stands.
  const std::uint32_t* row_of_output;
};

/// A transform of N = n1 n2 elements in two steps over memory. With n = i1 n2 + i2, k = k1 + n1 k2:
///
///   first step    W[i2][k1] = w_N^(i2 k1) sum_i1 x[i1 n2 + i2] w_n1^(i1 k1)     n2/C tiles of n1 rows and C columns
///   second step   X[k1 + n1 k2] = sum_i2 W[i2][k1] w_n2^(i2 k2)                 n1/C tiles of n2 rows and C columns
///
/// Both read and write rows of C elements at a stride, but W, of which the first step writes whole rows: the tile is
/// transposed in registers on its way.
template <typename T>
struct FourStep {
  std::size_t columns;  // C, a multiple of the lanes
  bool far;             // too long for a second-level cache: rows are to be fetched ahead
  Columns<T> first;
  Columns<T> second;
  /// w_N^(i2 k1) = tile_twiddles[i2 / C][row] * lane_twiddles[row][i2 % C], for the row that holds k1 at the end:
  const T* lane_twiddles;  // split, C elements per row
  const T* tile_twiddles;  // [tile][row][re, im]
};

/// Columns of a tile of a split, see ColumnDft and SplitTile.
constexpr std::size_t kTileColumns = 32;

/// A transform down the columns of a tile of few rows, in place, by decimation in frequency. Unlike Columns, for any number of rows, and
/// without a limit to the number of stages. A row takes 2 kTileColumns values, in Format::split.
template <typename T>
struct FewRows {
  struct Stage {
    std::size_t radix;  // 8, 4, 2 or an odd prime
    std::size_t
        stride;  // rows between a butterfly's inputs; the stage transforms blocks of radix * stride rows
    std::size_t twiddles;  // in the table: [k][i][re, im] of w_(radix*stride)^(k i), k < stride, i < radix
    std::size_t
        odd_matrix;  // in the table, odd radix: [i][j][cos, sin] of 2 pi (i+1)(j+1)/radix, i, j < radix/2
  };
  std::size_t rows;
  std::size_t count;  // of stages
  const Stage* stage;
  const T* table;
  const std::size_t* row_of;  // where each output stands at the end
};

/// kTileColumns neighbouring columns of a split of P rows (dif.hpp): output r times tile_factors[r] times column_factors[r].
template <typename T>
struct SplitTile {
  FewRows<T> columns;
  const T* tile_factors;    // [r][re, im]
  const T* column_factors;  // [r][re..., im...]
  T scale;                  // instead of both, for r = 0
  const T* roots;           // of real samples: w_2P^r, r = 0..P, interleaved
  T* tile;                  // P rows, and as many for scratch as the largest odd radix has
};

/// The functions for one instruction set. Data are given as T*, two per element. `swapped`: the inverse transform.
template <typename T>
struct Kernels {
  std::size_t lanes;  // of the widest vectors

  /// @param in, out       interleaved, any alignment; the same, or disjoint
  /// @param work          2 * length elements
  void (*transform)(const Passes<T>&, bool swapped, const T* in, T* out, T* work);
  /// A pitch is the number of elements from one row to the next; W's is a multiple of the lanes.
  /// @param in            the tile's first column
  /// @param tile_space    n1 * C elements; the calling thread's own
  void (*first_step)(const FourStep<T>&, bool swapped, std::size_t tile, const T* in, std::size_t in_pitch,
                     T* tile_space, T* w, std::size_t w_pitch);
  /// @param tile_space    n2 * C elements
  /// @param out           the tile's first column; may be that of W, if the pitches are equal: a tile is written where it was read
  void (*second_step)(const FourStep<T>&, bool swapped, std::size_t tile, const T* w, std::size_t w_pitch,
                      T* tile_space, T* out, std::size_t out_pitch);
  /// Half of the spectrum of 2m real samples from z, the transform of the m pairs of samples as complex numbers:
  /// x[q] = (z[q] + conj z[m-q])/2 - i w_2m^q (z[q] - conj z[m-q])/2, 0 <= q <= m, with z[m] = z[0].
  /// @param m             2^k, at least four times the lanes
  /// @param roots         w_2m^q, 0 <= q <= m/2, interleaved
  /// @param z, x          interleaved, disjoint; m and m+1 elements
  void (*unfold_real)(std::size_t m, const T* roots, const T* z, T* x);
  /// The way back, twice as large: z[q] = (x[q] + conj x[m-q]) + i conj(w_2m^q) (x[q] - conj x[m-q]).
  void (*fold_real)(std::size_t m, const T* roots, const T* x, T* z);
  /// What Split, RealSplit and RealMerge do with a whole tile.
  /// @param rows    P pointers to complex elements, or 2P to real ones
  /// @param blocks  P pointers to complex elements; of split() perhaps those of the rows
  /// @param first   the tile's first column, of all pointers
  void (*split)(const SplitTile<T>&, bool swapped, const T* const* rows, T* const* blocks, std::size_t first);
  void (*split_real)(const SplitTile<T>&, const T* const* rows, T* const* blocks, std::size_t first);
  void (*merge_real)(const SplitTile<T>&, const T* const* blocks, T* const* rows, std::size_t first);
};

}  // namespace papfft::fft::kernel
