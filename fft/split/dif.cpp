// SPDX-License-Identifier: MIT
#include "fft/split/dif.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "fft/kernel/instruction_set.hpp"
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
constexpr const char* kMustDivideTwice = "Split: twice the number of parts must divide the length";

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

/// Where the rows of one vector begin, a pitch apart.
template <typename T>
std::vector<T*> rows_of(T* first, std::size_t count, std::size_t pitch) {
  std::vector<T*> rows(count);
  for (std::size_t j = 0; j < count; ++j) rows[j] = first + j * pitch;
  return rows;
}

/// Pointers to rows, as the kernels take them.
template <typename T, typename Row>
std::vector<T*> pointers_to(std::span<Row* const> rows) {
  std::vector<T*> pointers;
  pointers.reserve(rows.size());
  for (Row* const row : rows) pointers.push_back(reinterpret_cast<T*>(row));
  return pointers;
}

/// Rows from which, or to which, a tile's columns go.
template <typename T>
struct Rows {
  std::vector<T*> pointers;
  std::size_t values;  // per element
};

/// Calls run(rows of `from`, rows of `to`, first), where the pointers and their first element are those of all columns of a tile. If only
/// some were asked for, that is a tile of copies: the kernels know whole tiles alone, and whatever the range, a column's bits are the
/// same. @param first  the element of all rows that is the range's first
template <typename T, typename Run>
void on_whole_tile(const Rows<const T>& from, const Rows<T>& to, std::size_t first, const TileRange& range,
                   const Run& run) {
  if (range.count == kColumns) return run(from.pointers.data(), to.pointers.data(), first);
  std::vector<T> in(from.pointers.size() * from.values * kColumns);
  std::vector<T> out(to.pointers.size() * to.values * kColumns);
  std::vector<const T*> in_rows;
  std::vector<T*> out_rows;
  for (const T* const row : from.pointers) {
    T* const copy = in.data() + in_rows.size() * from.values * kColumns;
    std::copy_n(row + from.values * first, from.values * range.count, copy + from.values * range.column);
    in_rows.push_back(copy);
  }
  for (std::size_t r = 0; r < to.pointers.size(); ++r)
    out_rows.push_back(out.data() + r * to.values * kColumns);
  run(in_rows.data(), out_rows.data(), 0);
  for (std::size_t r = 0; r < to.pointers.size(); ++r) {
    std::copy_n(out_rows[r] + to.values * range.column, to.values * range.count,
                to.pointers[r] + to.values * first);
  }
}

template <typename T>
Buffer<std::complex<T>> real_roots(std::size_t parts) {
  Buffer<std::complex<T>> roots(parts + 1);
  for (std::size_t r = 0; r <= parts; ++r) roots[r] = twiddle<T>(r, 2 * parts);
  return roots;
}

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
ColumnPass<T>::ColumnPass(std::size_t length, std::size_t parts, bool real, std::optional<Columns> columns,
                          double scale)
    : block_length_(real ? checked_block_length(length, 2 * parts, kMustDivideTwice)
                         : checked_block_length(length, parts, kMustDivide)),
      columns_(checked_columns(columns.value_or(Columns{0, block_length_}), {0, block_length_})),
      scale_(static_cast<T>(scale)),
      dft_(parts),
      twiddles_(length, parts, columns_, scale),
      roots_(real ? real_roots<T>(parts) : Buffer<Complex>()) {}

template <typename T>
template <typename In, typename Out, typename Work>
void ColumnPass<T>::run(std::span<const In* const> in, std::span<Out* const> out, Columns columns,
                        const Work& work) const {
  const Rows<const T> from{pointers_to<const T>(in), std::is_same_v<In, T> ? 1 : 2};
  const Rows<T> to{pointers_to<T>(out), std::is_same_v<Out, T> ? 1 : 2};
  check_range(in.size(), 2 * parts() / from.values, columns, columns_);
  check_range(out.size(), 2 * parts() / to.values, columns, columns_);
  const kernel::Kernels<T>& kernels = kernel::kernels_for<T>(instruction_sets().back());
  for_each_tile<T>(dft_.tile_size(), columns.begin, columns.end, [&](T* tile, TileRange range) {
    const kernel::SplitTile<T> rows{.columns = dft_.plan(),
                                    .tile_factors = twiddles_.tile_factors(range.index),
                                    .column_factors = twiddles_.column_factors(),
                                    .scale = scale_,
                                    .roots = reinterpret_cast<const T*>(roots_.data()),
                                    .tile = tile};
    on_whole_tile(from, to, range.n() - columns.begin, range,
                  [&](auto* a, auto* b, std::size_t first) { work(kernels, rows, a, b, first); });
  });
}

template <typename T>
Split<T>::Split(std::size_t length, std::size_t parts, Direction direction, std::optional<Columns> columns)
    : pass_(length, parts, false, columns, scale_of(direction, length)), direction_(direction) {}

template <typename T>
Split<T>::Split(std::size_t length, std::size_t parts, Direction direction, double scale)
    : pass_(length, parts, false, std::nullopt, scale), direction_(direction) {}

template <typename T>
void Split<T>::run(const Complex* x, std::span<Complex* const> blocks, std::size_t n_begin,
                   std::size_t n_end) const {
  run(rows_of(x + n_begin, parts(), block_length()), blocks, {n_begin, n_end});
}

template <typename T>
void Split<T>::run(std::span<const Complex* const> rows, std::span<Complex* const> blocks,
                   Columns columns) const {
  // The inverse transform is the forward one with real and imaginary parts exchanged on both sides.
  const bool swapped = direction_ == Direction::inverse;
  pass_.run(rows, blocks, columns,
            [&](const auto& kernels, const auto& tile, auto* in, auto* out, std::size_t first) {
              kernels.split(tile, swapped, in, out, first);
            });
}

bool can_split_real(std::size_t length, std::size_t parts) noexcept {
  return length != 0 && parts != 0 && length % 2 == 0 && (length / 2) % parts == 0;
}

template <typename T>
RealSplit<T>::RealSplit(std::size_t length, std::size_t parts, std::optional<Columns> columns)
    : pass_(length, parts, true, columns, 1) {}

template <typename T>
void RealSplit<T>::run(const T* x, std::span<Complex* const> blocks, std::size_t n_begin,
                       std::size_t n_end) const {
  run(rows_of(x + n_begin, 2 * parts(), block_length()), blocks, {n_begin, n_end});
}

template <typename T>
void RealSplit<T>::run(std::span<const T* const> rows, std::span<Complex* const> blocks,
                       Columns columns) const {
  pass_.run(rows, blocks, columns,
            [](const auto& kernels, const auto& tile, auto* in, auto* out, std::size_t first) {
              kernels.split_real(tile, in, out, first);
            });
}

template <typename T>
RealMerge<T>::RealMerge(std::size_t length, std::size_t parts, std::optional<Columns> columns)
    : pass_(length, parts, true, columns, 2.0 / static_cast<double>(length)) {}

template <typename T>
void RealMerge<T>::run(std::span<const Complex* const> blocks, T* x, std::size_t n_begin,
                       std::size_t n_end) const {
  run(blocks, rows_of(x + n_begin, 2 * parts(), block_length()), {n_begin, n_end});
}

template <typename T>
void RealMerge<T>::run(std::span<const Complex* const> blocks, std::span<T* const> rows,
                       Columns columns) const {
  pass_.run(blocks, rows, columns,
            [](const auto& kernels, const auto& tile, auto* in, auto* out, std::size_t first) {
              kernels.merge_real(tile, in, out, first);
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
  template class ColumnPass<T>;                                                                          \
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
