// SPDX-License-Identifier: MIT
// What each instruction set does with a tile of a split: complex columns against the definition, real ones against the complex ones.
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "fft/kernel/instruction_set.hpp"
#include "fft/kernel/twiddle.hpp"
#include "fft/split/dif.hpp"
#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

using test::error_gate;
using test::random_samples;
using test::relative_l2_error;

constexpr std::size_t kColumns = kernel::kTileColumns;
/// Of the rows of the tiles: more than a tile, so that the first column matters.
constexpr std::size_t kRow = 3 * kColumns;
constexpr std::size_t kFirst = kColumns;
const std::vector<std::size_t> kParts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 22, 32, 49, 64, 97};

/// Everything that a tile of a split of so many rows takes.
template <typename T>
struct Tables {
  Tables(std::size_t parts, std::size_t length, double scale)
      : dft(parts), grid(length, parts, {0, kRow}, scale), roots(parts + 1), tile(dft.tile_size()) {
    for (std::size_t r = 0; r <= parts; ++r) roots[r] = twiddle<T>(r, 2 * parts);
  }
  [[nodiscard]] kernel::SplitTile<T> plan(T scale) {
    return {.columns = dft.plan(),
            .tile_factors = grid.tile_factors(kFirst / kColumns),
            .column_factors = grid.column_factors(),
            .scale = scale,
            .roots = reinterpret_cast<const T*>(roots.data()),
            .tile = tile.data()};
  }

  ColumnDft<T> dft;
  TwiddleGrid<T> grid;
  std::vector<std::complex<T>> roots;
  Buffer<T> tile;
};

template <typename Pointer, typename Element>
std::vector<Pointer> rows_of(std::vector<Element>& all, std::size_t row) {
  std::vector<Pointer> rows;
  for (std::size_t begin = 0; begin < all.size(); begin += row) {
    rows.push_back(reinterpret_cast<Pointer>(all.data() + begin));
  }
  return rows;
}

template <typename T>
class SplitKernels : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SplitKernels, Precisions);

TYPED_TEST(SplitKernels, TransformColumnsByDefinition) {
  using T = TypeParam;
  using Wide = std::complex<long double>;
  for (const InstructionSet set : instruction_sets()) {
    for (const std::size_t parts : kParts) {
      for (const bool inverse : {false, true}) {
        SCOPED_TRACE(testing::Message() << to_string(set) << " P=" << parts << " inverse=" << inverse);
        const std::size_t length = parts * kRow;
        Tables<T> tables(parts, length, 0.5);
        auto x = random_samples<std::complex<T>>(length, parts);
        std::vector<std::complex<T>> y(length);
        kernel::kernels_for<T>(set).split(tables.plan(0.5), inverse, rows_of<const T*>(x, kRow).data(),
                                          rows_of<T*>(y, kRow).data(), kFirst);
        std::vector<Wide> expected(length);  // other columns are let alone
        for (std::size_t n = kFirst; n < kFirst + kColumns; ++n) {
          std::vector<std::complex<T>> column;
          for (std::size_t j = 0; j < parts; ++j) column.push_back(x[j * kRow + n]);
          const auto sums = test::naive_dft(column, inverse);
          for (std::size_t r = 0; r < parts; ++r) {
            const auto w = twiddle<long double>(n * r, length);
            expected[r * kRow + n] = 0.5L * sums[r] * (inverse ? std::conj(w) : w);
          }
        }
        EXPECT_LT(relative_l2_error(y, expected), error_gate<T>());
        kernel::kernels_for<T>(set).split(tables.plan(0.5), inverse, rows_of<const T*>(x, kRow).data(),
                                          rows_of<T*>(x, kRow).data(), kFirst);
        for (std::size_t i = 0; i < length; ++i) {
          if (i % kRow / kColumns == 1) {
            ASSERT_EQ(x[i], y[i]) << "in place";
          }
        }
      }
    }
  }
}

// Block r > 0 is what the complex split of 2P rows makes, and block 0 the folded vector.
TYPED_TEST(SplitKernels, SplitRealColumnsAsDocumentedAndMergeThem) {
  using T = TypeParam;
  using Wide = std::complex<long double>;
  for (const InstructionSet set : instruction_sets()) {
    for (const std::size_t parts : kParts) {
      SCOPED_TRACE(testing::Message() << to_string(set) << " P=" << parts);
      const std::size_t length = 2 * parts * kRow;
      auto x = random_samples<T>(length, parts);
      Tables<T> tables(parts, length, 1);
      std::vector<std::complex<T>> y(parts * kRow);
      const auto& kernels = kernel::kernels_for<T>(set);
      kernels.split_real(tables.plan(1), rows_of<const T*>(x, kRow).data(), rows_of<T*>(y, kRow).data(),
                         kFirst);
      std::vector<Wide> expected(parts * kRow);
      for (std::size_t n = kFirst; n < kFirst + kColumns; ++n) {
        std::vector<T> column;
        for (std::size_t j = 0; j < 2 * parts; ++j) column.push_back(x[j * kRow + n]);
        const auto sums = test::naive_dft(column);
        for (std::size_t r = 1; r < parts; ++r) {
          expected[r * kRow + n] = sums[r] * twiddle<long double>(n * r, length);
        }
        for (std::size_t j = 0; j < parts; ++j) expected[n] += Wide(column[2 * j], column[2 * j + 1]);
      }
      EXPECT_LT(relative_l2_error(y, expected), error_gate<T>());
      Tables<T> back(parts, length, 1.0 / static_cast<double>(parts));
      std::vector<T> z(length);
      kernels.merge_real(back.plan(T{1} / static_cast<T>(parts)), rows_of<const T*>(y, kRow).data(),
                         rows_of<T*>(z, kRow).data(), kFirst);
      for (std::size_t i = 0; i < length; ++i) {
        if (i % kRow / kColumns != 1) x[i] = 0;
      }
      EXPECT_LT(relative_l2_error(z, x), 2 * error_gate<T>());
    }
  }
}

}  // namespace
}  // namespace papfft::fft
