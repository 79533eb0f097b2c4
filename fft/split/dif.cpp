// SPDX-License-Identifier: MIT
#include "fft/split/dif.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "fft/kernel/twiddle.hpp"

namespace papfft::fft {
namespace {

constexpr std::size_t kColumns = ColumnDft<float>::kColumns;
/// Below this many tiles a pass is shorter than waking the threads.
constexpr std::size_t kParallelTiles = 16;

std::size_t checked_block_length(std::size_t length, std::size_t blocks, const char* message) {
  if (length == 0 || blocks == 0 || length % blocks != 0) throw std::invalid_argument(message);
  return length / blocks;
}

constexpr const char* kMustDivide = "Split: the number of parts must divide the length";

Columns checked_columns(Columns columns, Columns within) {
  if (columns.begin < within.begin || columns.begin > columns.end || columns.end > within.end)
    throw std::invalid_argument("fft split: range outside the block");
  return columns;
}

void check_range(std::size_t blocks, std::size_t parts, Columns columns, Columns within) {
  if (blocks != parts) throw std::invalid_argument("fft split: one pointer per block is needed");
  (void)checked_columns(columns, within);
}

double scale_of(Direction direction, std::size_t length) {
  return direction == Direction::forward ? 1.0 : 1.0 / static_cast<double>(length);
}

/// The columns [column, column + count) of tile number `index`, that is n = index * kColumns + column + 0 .. count-1.
struct TileRange {
  std::size_t index;
  std::size_t column;
  std::size_t count;
  [[nodiscard]] std::size_t n() const noexcept { return index * kColumns + column; }
};

/// Calls body(tile memory, range) for all tiles that meet [n_begin, n_end), in parallel. Tile borders are multiples of
/// kColumns whatever the range, so that a column always meets the same table entries.
template <typename T, typename Body>
void for_each_tile(std::size_t tile_size, std::size_t n_begin, std::size_t n_end, const Body& body) {
  if (n_begin == n_end) return;
  const std::size_t first = n_begin / kColumns;
  const std::size_t last = (n_end - 1) / kColumns + 1;
  const bool parallel = last - first >= kParallelTiles && omp_in_parallel() == 0;
  const auto run_tile = [&](std::size_t index, T* tile) {
    const std::size_t begin = std::max(n_begin, index * kColumns);
    const std::size_t end = std::min(n_end, (index + 1) * kColumns);
    // Columns outside the range are transformed too (and dropped): never let them be uninitialised.
    if (end - begin < kColumns) std::fill_n(tile, tile_size, T{0});
    body(tile, TileRange{index, begin - index * kColumns, end - begin});
  };
  const int threads = parallel ? omp_get_max_threads() : 1;
  // Short ranges come by the thousand: their few rows need no memory of their own.
  constexpr std::size_t kFewRows = 16;
  alignas(Buffer<T>::kAlignmentBytes) std::array<T, kFewRows * 2 * kColumns> small;
  Buffer<T> tiles(!parallel && tile_size <= small.size() ? 0 : static_cast<std::size_t>(threads) * tile_size);
  if (!parallel) {
    T* const tile = tiles.size() > 0 ? tiles.data() : small.data();
    for (std::size_t index = first; index < last; ++index) run_tile(index, tile);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t index = first; index < last; ++index) {
    run_tile(index, tiles.data() + static_cast<std::size_t>(omp_get_thread_num()) * tile_size);
  }
}

/// Runs body(count) with the full width as a compile-time constant, which is what the vectoriser likes.
template <typename Body>
[[gnu::always_inline]] inline void with_count(std::size_t count, const Body& body) {
  if (count == kColumns) {
    body(std::integral_constant<std::size_t, kColumns>{});
  } else {
    body(count);
  }
}

/// Interleaved complex numbers into a tile's row, real and imaginary parts apart.
template <typename T>
void load(const std::complex<T>* from, T* re, T* im, std::size_t count) {
  const T* const z = reinterpret_cast<const T*>(from);
  with_count(
      count, [&](auto n) __attribute__((always_inline)) {
#pragma omp simd
        for (std::size_t c = 0; c < n; ++c) {
          re[c] = z[2 * c];
          im[c] = z[2 * c + 1];
        }
      });
}

template <typename T>
void store(const T* re, const T* im, std::complex<T>* to, std::size_t count) {
  T* const z = reinterpret_cast<T*>(to);
  with_count(
      count, [&](auto n) __attribute__((always_inline)) {
#pragma omp simd
        for (std::size_t c = 0; c < n; ++c) {
          z[2 * c] = re[c];
          z[2 * c + 1] = im[c];
        }
      });
}

/// A row times tile_factor times column_factors, the product formed first: it is accurate whatever the row holds.
template <typename T>
void multiply(T* re, T* im, std::complex<T> tile_factor, const T* column_factors) {
  const T f_re = tile_factor.real();
  const T f_im = tile_factor.imag();
#pragma omp simd
  for (std::size_t c = 0; c < kColumns; ++c) {
    const T w_re = f_re * column_factors[c] - f_im * column_factors[kColumns + c];
    const T w_im = f_re * column_factors[kColumns + c] + f_im * column_factors[c];
    const T x_re = re[c];
    const T x_im = im[c];
    re[c] = x_re * w_re - x_im * w_im;
    im[c] = x_re * w_im + x_im * w_re;
  }
}

template <typename T>
void scale_row(T* re, T* im, T scale) {
#pragma omp simd
  for (std::size_t c = 0; c < kColumns; ++c) {
    re[c] *= scale;
    im[c] *= scale;
  }
}

template <typename T>
Buffer<std::complex<T>> real_roots(std::size_t parts) {
  Buffer<std::complex<T>> roots(parts + 1);
  for (std::size_t r = 0; r <= parts; ++r) roots[r] = twiddle<T>(r, 2 * parts);
  return roots;
}

/// Real and imaginary parts of a tile's row.
template <typename T>
struct Row {
  T* re;
  T* im;
  Row(T* tile, std::size_t row) : re(tile + row * 2 * kColumns), im(re + kColumns) {}
};

/// Cache-blocked transposition loop: body(r, q_begin, q_end) for tiles of q that keep the P-strided side in L1.
template <typename T, typename Body>
void for_each_transpose_tile(std::size_t parts, std::size_t count, const Body& body) {
  constexpr std::size_t kTileBytes = 8192;
  const std::size_t width = std::clamp<std::size_t>(kTileBytes / (parts * sizeof(std::complex<T>)), 4, 64);
  const std::size_t tiles = (count + width - 1) / width;
#pragma omp parallel for schedule(static) if (tiles >= kParallelTiles && omp_in_parallel() == 0)
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    const std::size_t end = std::min(count, (tile + 1) * width);
    for (std::size_t r = 0; r < parts; ++r) body(r, tile * width, end);
  }
}

}  // namespace

template <typename T>
TwiddleGrid<T>::TwiddleGrid(std::size_t length, std::size_t rows, Columns columns, double scale)
    : rows_(rows),
      first_tile_(columns.begin / kColumns),
      tile_factors_(((columns.end + kColumns - 1) / kColumns - first_tile_) * rows),
      column_factors_(rows * 2 * kColumns) {
  const std::size_t tiles = tile_factors_.size() / rows;
#pragma omp parallel for schedule(static) if (tiles * rows >= 1024)
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    for (std::size_t r = 0; r < rows; ++r) {
      const auto w =
          twiddle<long double>((first_tile_ + tile) * kColumns * r, length) * static_cast<long double>(scale);
      tile_factors_[tile * rows + r] = {static_cast<T>(w.real()), static_cast<T>(w.imag())};
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      const auto w = twiddle<T>(r * c, length);
      column_factors_[r * 2 * kColumns + c] = w.real();
      column_factors_[r * 2 * kColumns + kColumns + c] = w.imag();
    }
  }
}

template <typename T>
Split<T>::Split(std::size_t length, std::size_t parts, Direction direction)
    : Split(length, parts, direction, scale_of(direction, length)) {}

template <typename T>
Split<T>::Split(std::size_t length, std::size_t parts, Direction direction, double scale)
    : Split(length, parts, direction, scale, {0, checked_block_length(length, parts, kMustDivide)}) {}

template <typename T>
Split<T>::Split(std::size_t length, std::size_t parts, Direction direction, Columns columns)
    : Split(length, parts, direction, scale_of(direction, length), columns) {}

template <typename T>
Split<T>::Split(std::size_t length, std::size_t parts, Direction direction, double scale, Columns columns)
    : block_length_(checked_block_length(length, parts, kMustDivide)),
      columns_(checked_columns(columns, {0, block_length_})),
      direction_(direction),
      scale_(static_cast<T>(scale)),
      dft_(parts),
      twiddles_(length, parts, columns, scale) {}

template <typename T>
void Split<T>::run(const Complex* x, std::span<Complex* const> blocks, std::size_t n_begin,
                   std::size_t n_end) const {
  std::vector<const Complex*> rows(parts());
  for (std::size_t j = 0; j < rows.size(); ++j) rows[j] = x + j * block_length_ + n_begin;
  run(rows, blocks, {n_begin, n_end});
}

template <typename T>
void Split<T>::run(std::span<const Complex* const> rows, std::span<Complex* const> blocks,
                   Columns columns) const {
  check_range(rows.size(), parts(), columns, columns_);
  check_range(blocks.size(), parts(), columns, columns_);
  // The inverse transform is the forward one with real and imaginary parts exchanged on both sides.
  const bool swapped = direction_ == Direction::inverse;
  for_each_tile<T>(dft_.tile_size(), columns.begin, columns.end, [&](T* tile, TileRange range) {
    const std::size_t first = range.n() - columns.begin;
    for (std::size_t j = 0; j < parts(); ++j) {
      Row<T> row(tile, j);
      if (swapped) std::swap(row.re, row.im);
      load(rows[j] + first, row.re + range.column, row.im + range.column, range.count);
    }
    dft_.run(tile);
    for (std::size_t r = 0; r < parts(); ++r) {
      Row<T> row(tile, dft_.row_of(r));
      if (r == 0) {
        scale_row(row.re, row.im, scale_);
      } else {
        multiply(row.re, row.im, twiddles_.tile_factor(range.index, r), twiddles_.column_factors(r));
      }
      if (swapped) std::swap(row.re, row.im);
      store(row.re + range.column, row.im + range.column, blocks[r] + first, range.count);
    }
  });
}

bool can_split_real(std::size_t length, std::size_t parts) noexcept {
  return length != 0 && parts != 0 && length % 2 == 0 && (length / 2) % parts == 0;
}

template <typename T>
RealSplit<T>::RealSplit(std::size_t length, std::size_t parts)
    : block_length_(
          checked_block_length(length, 2 * parts, "RealSplit: twice the parts must divide the length")),
      dft_(parts),
      twiddles_(length, parts, {0, block_length_}, 1.0),
      roots_(real_roots<T>(parts)) {}

// The R real rows are taken as P complex ones, z_j = x[.. + 2jM] + i x[.. + (2j+1)M], and Z = DFT_P(z) taken apart:
// E_r = (Z_r + conj Z_(P-r))/2 and O_r = (Z_r - conj Z_(P-r))/2i are the transforms of the even and the odd rows, and
// t_r = E_r + w_R^r O_r that of all. t_(P-r) = conj(E_r - w_R^r O_r) comes from the same pair. Z_0 is block 0.
template <typename T>
void RealSplit<T>::run(const T* x, std::span<Complex* const> blocks, std::size_t n_begin,
                       std::size_t n_end) const {
  check_range(blocks.size(), parts(), {n_begin, n_end}, {0, block_length_});
  for_each_tile<T>(dft_.tile_size(), n_begin, n_end, [&](T* tile, TileRange range) {
    for (std::size_t j = 0; j < parts(); ++j) {
      const Row<T> row(tile, j);
      const T* const even = x + 2 * j * block_length_ + range.n();
      std::copy_n(even, range.count, row.re + range.column);
      std::copy_n(even + block_length_, range.count, row.im + range.column);
    }
    dft_.run(tile);
    for (std::size_t r = 1; r <= parts() / 2; ++r) {
      const Row<T> low(tile, dft_.row_of(r));
      const Row<T> high(tile, dft_.row_of(parts() - r));
      const T w_re = roots_[r].real() / 2;
      const T w_im = roots_[r].imag() / 2;
      // For r = P/2 both rows are one; low is then written last, and right: t_r == E_r + w O_r == conj(E_r - w O_r).
#pragma omp simd
      for (std::size_t c = 0; c < kColumns; ++c) {
        const T even_re = (low.re[c] + high.re[c]) / 2;
        const T even_im = (low.im[c] - high.im[c]) / 2;
        const T odd_re = low.im[c] + high.im[c];
        const T odd_im = high.re[c] - low.re[c];
        const T turned_re = w_re * odd_re - w_im * odd_im;
        const T turned_im = w_re * odd_im + w_im * odd_re;
        high.re[c] = even_re - turned_re;
        high.im[c] = turned_im - even_im;
        low.re[c] = even_re + turned_re;
        low.im[c] = even_im + turned_im;
      }
    }
    for (std::size_t r = 0; r < parts(); ++r) {
      const Row<T> row(tile, dft_.row_of(r));
      if (r > 0) multiply(row.re, row.im, twiddles_.tile_factor(range.index, r), twiddles_.column_factors(r));
      store(row.re + range.column, row.im + range.column, blocks[r] + (range.n() - n_begin), range.count);
    }
  });
}

template <typename T>
RealMerge<T>::RealMerge(std::size_t length, std::size_t parts)
    : block_length_(
          checked_block_length(length, 2 * parts, "RealMerge: twice the parts must divide the length")),
      scale_(static_cast<T>(2.0L / static_cast<long double>(length))),
      dft_(parts),
      twiddles_(length, parts, {0, block_length_}, 2.0 / static_cast<double>(length)),
      roots_(real_roots<T>(parts)) {}

// RealSplit backwards: t_r = conj(w_N^(n r)) y_r, E_r = (t_r + conj t_(P-r))/2, w_R^r O_r = (t_r - conj t_(P-r))/2,
// Z_r = E_r + i O_r, z = inverse DFT_P(Z). Rows hold real and imaginary parts exchanged, that is i conj(value): forward
// factors and the forward DFT then act as the inverse ones.
template <typename T>
void RealMerge<T>::run(std::span<const Complex* const> blocks, T* x, std::size_t n_begin,
                       std::size_t n_end) const {
  check_range(blocks.size(), parts(), {n_begin, n_end}, {0, block_length_});
  for_each_tile<T>(dft_.tile_size(), n_begin, n_end, [&](T* tile, TileRange range) {
    for (std::size_t r = 0; r < parts(); ++r) {
      const Row<T> row(tile, r);
      load(blocks[r] + (range.n() - n_begin), row.im + range.column, row.re + range.column, range.count);
      if (r == 0) {
        scale_row(row.re, row.im, scale_);
      } else {
        multiply(row.re, row.im, twiddles_.tile_factor(range.index, r), twiddles_.column_factors(r));
      }
    }
    for (std::size_t r = 1; r <= parts() / 2; ++r) {
      const Row<T> low(tile, r);
      const Row<T> high(tile, parts() - r);
      const T w_re = roots_[r].real();
      const T w_im = -roots_[r].imag();
#pragma omp simd
      for (std::size_t c = 0; c < kColumns; ++c) {
        // Exchanged: the real part of t_r is low.im.
        const T even_re = (low.im[c] + high.im[c]) / 2;
        const T even_im = (low.re[c] - high.re[c]) / 2;
        const T half_re = (low.im[c] - high.im[c]) / 2;
        const T half_im = (low.re[c] + high.re[c]) / 2;
        const T odd_re = w_re * half_re - w_im * half_im;
        const T odd_im = w_re * half_im + w_im * half_re;
        high.im[c] = even_re + odd_im;
        high.re[c] = odd_re - even_im;
        low.im[c] = even_re - odd_im;
        low.re[c] = even_im + odd_re;
      }
    }
    dft_.run(tile);
    for (std::size_t j = 0; j < parts(); ++j) {
      const Row<T> row(tile, dft_.row_of(j));
      T* const even = x + 2 * j * block_length_ + range.n();
      std::copy_n(row.im + range.column, range.count, even);
      std::copy_n(row.re + range.column, range.count, even + block_length_);
    }
  });
}

template <typename T>
void interleave(std::span<const std::complex<T>* const> blocks, std::size_t count, std::complex<T>* out) {
  const std::size_t parts = blocks.size();
  if (parts == 0) throw std::invalid_argument("interleave: no blocks");
  for_each_transpose_tile<T>(parts, count, [&](std::size_t r, std::size_t q_begin, std::size_t q_end) {
    for (std::size_t q = q_begin; q < q_end; ++q) out[parts * q + r] = blocks[r][q];
  });
}

template <typename T>
void deinterleave(const std::complex<T>* in, std::span<std::complex<T>* const> blocks, std::size_t count) {
  const std::size_t parts = blocks.size();
  if (parts == 0) throw std::invalid_argument("deinterleave: no blocks");
  for_each_transpose_tile<T>(parts, count, [&](std::size_t r, std::size_t q_begin, std::size_t q_end) {
    for (std::size_t q = q_begin; q < q_end; ++q) blocks[r][q] = in[parts * q + r];
  });
}

// Bins k = P h + s, h < M, s < P. For s > 0 and even h = 2q, k = Rq + s is block s's bin q; for odd h = 2q + 1,
// k = Rq + R - (P - s) is the conjugate of N - k = R(M - 1 - q) + (P - s), block P-s's bin M-1-q.
template <typename T>
void assemble_half_spectrum(std::span<const std::complex<T>* const> blocks, std::size_t block_length,
                            std::complex<T>* spectrum) {
  const std::size_t parts = blocks.size();
  if (parts == 0 || block_length == 0)
    throw std::invalid_argument("assemble_half_spectrum: no blocks or no bins");
  for_each_transpose_tile<T>(parts, block_length, [&](std::size_t s, std::size_t h_begin, std::size_t h_end) {
    for (std::size_t h = h_begin; h < h_end; ++h) {
      const bool mirrored = s > 0 && h % 2 == 1;
      spectrum[parts * h + s] = s == 0     ? blocks[0][h]
                                : mirrored ? std::conj(blocks[parts - s][block_length - 1 - h / 2])
                                           : blocks[s][h / 2];
    }
  });
  spectrum[0] = blocks[0][0].real();
  spectrum[parts * block_length] = blocks[0][0].imag();
}

template <typename T>
void distribute_half_spectrum(const std::complex<T>* spectrum, std::span<std::complex<T>* const> blocks,
                              std::size_t block_length) {
  const std::size_t parts = blocks.size();
  if (parts == 0 || block_length == 0)
    throw std::invalid_argument("distribute_half_spectrum: no blocks or no bins");
  for_each_transpose_tile<T>(parts, block_length, [&](std::size_t s, std::size_t h_begin, std::size_t h_end) {
    for (std::size_t h = h_begin; h < h_end; ++h) {
      const std::complex<T> bin = spectrum[parts * h + s];
      if (s == 0) {
        blocks[0][h] = bin;
      } else if (h % 2 == 0) {
        blocks[s][h / 2] = bin;
      } else {
        blocks[parts - s][block_length - 1 - h / 2] = std::conj(bin);
      }
    }
  });
  blocks[0][0] = {spectrum[0].real(), spectrum[parts * block_length].real()};
}

#define PAPFFT_INSTANTIATE(T)                                                                            \
  template class TwiddleGrid<T>;                                                                         \
  template class Split<T>;                                                                               \
  template class RealSplit<T>;                                                                           \
  template class RealMerge<T>;                                                                           \
  template void interleave<T>(std::span<const std::complex<T>* const>, std::size_t, std::complex<T>*);   \
  template void deinterleave<T>(const std::complex<T>*, std::span<std::complex<T>* const>, std::size_t); \
  template void assemble_half_spectrum<T>(std::span<const std::complex<T>* const>, std::size_t,          \
                                          std::complex<T>*);                                             \
  template void distribute_half_spectrum<T>(const std::complex<T>*, std::span<std::complex<T>* const>,   \
                                            std::size_t);
PAPFFT_INSTANTIATE(float)
PAPFFT_INSTANTIATE(double)
#undef PAPFFT_INSTANTIATE

}  // namespace papfft::fft
