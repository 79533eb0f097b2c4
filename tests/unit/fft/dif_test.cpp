// SPDX-License-Identifier: MIT
#include "fft/split/dif.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fft/kernel/twiddle.hpp"
#include "tests/support/fft_pipeline.hpp"
#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

using test::distributed_fft;
using test::distributed_real_fft;
using test::distributed_real_inverse;
using test::error_gate;
using test::make_blocks;
using test::naive_dft;
using test::pointers;
using test::random_samples;
using test::relative_l2_error;

/// Lengths with every kind of block: one element, primes, odd, 3 * 2^k, one and several tiles, full and partial ones.
const std::vector<std::size_t> kLengths = {1,  2,  3,  4,  5,  6,  7,   8,   9,   12,  16,  18,  24,  30,
                                           32, 48, 63, 64, 96, 97, 120, 210, 256, 360, 384, 512, 720, 1008};
const std::vector<std::size_t> kParts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 22, 26, 63, 97};

template <typename T>
class DifTest : public testing::Test {
 protected:
  void TearDown() override { omp_set_num_threads(threads_before_); }

 private:
  int threads_before_ = omp_get_max_threads();
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DifTest, Precisions);

// The definition, term by term: blocks are y_r, not just something whose transform is right.
TYPED_TEST(DifTest, BlocksAreTheDocumentedSums) {
  using Wide = std::complex<long double>;
  const std::size_t length = 60;
  for (const std::size_t parts : {2U, 3U, 4U, 5U, 12U}) {
    const std::size_t m = length / parts;
    const auto x = random_samples<std::complex<TypeParam>>(length, parts);
    const Split<TypeParam> split(length, parts, Direction::forward);
    auto blocks = make_blocks<TypeParam>(parts, m);
    split.run(x.data(), pointers(blocks), 0, m);
    for (std::size_t r = 0; r < parts; ++r) {
      std::vector<Wide> expected(m);
      for (std::size_t n = 0; n < m; ++n) {
        for (std::size_t j = 0; j < parts; ++j) {
          expected[n] += Wide(x[n + j * m]) * twiddle<long double>(n * r + j * r * m, length);
        }
      }
      EXPECT_LT(relative_l2_error(blocks[r], expected), error_gate<TypeParam>()) << parts << " block " << r;
    }
  }
}

// For those who hold some columns alone: the bits are those of the whole, in place or not.
TYPED_TEST(DifTest, SomeColumnsAreThoseOfTheWhole) {
  using Complex = std::complex<TypeParam>;
  const std::size_t parts = 6;
  const std::size_t m = 200;
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    const auto x = random_samples<Complex>(parts * m, 5);
    const Split<TypeParam> split(x.size(), parts, direction);
    auto whole = make_blocks<TypeParam>(parts, m);
    split.run(x.data(), pointers(whole), 0, m);
    for (const Columns columns : {Columns{0, m}, Columns{33, 130}, Columns{64, 96}, Columns{70, 71}}) {
      const Split<TypeParam> some(x.size(), parts, direction, columns);
      auto rows = make_blocks<TypeParam>(parts, columns.count());
      for (std::size_t j = 0; j < parts; ++j) {
        std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(j * m + columns.begin), columns.count(),
                    rows[j].begin());
      }
      some.run(pointers(std::as_const(rows)), pointers(rows), columns);
      for (std::size_t r = 0; r < parts; ++r) {
        EXPECT_TRUE(std::equal(rows[r].begin(), rows[r].end(),
                               whole[r].begin() + static_cast<std::ptrdiff_t>(columns.begin)))
            << "columns from " << columns.begin << ", block " << r;
      }
    }
  }
  const Split<TypeParam> some(parts * m, parts, Direction::forward, Columns{32, 64});
  auto blocks = make_blocks<TypeParam>(parts, 64);
  EXPECT_THROW(some.run(pointers(std::as_const(blocks)), pointers(blocks), {0, 64}), std::invalid_argument);
}

TYPED_TEST(DifTest, ComplexMatchesTheNaiveTransform) {
  for (const std::size_t length : kLengths) {
    const auto x = random_samples<std::complex<TypeParam>>(length, length);
    const auto expected = naive_dft(x);
    auto expected_inverse = naive_dft(x, true);
    for (auto& value : expected_inverse) value /= static_cast<long double>(length);
    for (const std::size_t parts : kParts) {
      if (length % parts != 0) continue;
      SCOPED_TRACE(testing::Message() << "N=" << length << " P=" << parts);
      EXPECT_LT(relative_l2_error(distributed_fft(x, parts, Direction::forward), expected),
                error_gate<TypeParam>());
      EXPECT_LT(relative_l2_error(distributed_fft(x, parts, Direction::inverse), expected_inverse),
                error_gate<TypeParam>());
    }
  }
}

TYPED_TEST(DifTest, RealMatchesTheNaiveTransformAndComesBack) {
  for (const std::size_t length : kLengths) {
    const auto x = random_samples<TypeParam>(length, length);
    auto expected = naive_dft(x);
    expected.resize(length / 2 + 1);
    for (const std::size_t parts : kParts) {
      if (!can_split_real(length, parts)) continue;
      SCOPED_TRACE(testing::Message() << "N=" << length << " P=" << parts);
      const auto spectrum = distributed_real_fft(x, parts);
      EXPECT_LT(relative_l2_error(spectrum, expected), error_gate<TypeParam>());
      EXPECT_EQ(spectrum.front().imag(), 0);
      EXPECT_EQ(spectrum.back().imag(), 0);
      EXPECT_LT(relative_l2_error(distributed_real_inverse(spectrum, parts), x), 2 * error_gate<TypeParam>());
    }
  }
}

TYPED_TEST(DifTest, RealInverseIgnoresImaginaryPartsOfTheEndBins) {
  auto spectrum = distributed_real_fft(random_samples<TypeParam>(48, 1), 3);
  const auto expected = distributed_real_inverse(spectrum, 3);
  spectrum.front().imag(5);
  spectrum.back().imag(-7);
  EXPECT_EQ(distributed_real_inverse(spectrum, 3), expected);
}

TYPED_TEST(DifTest, RealBlocksTransformToTheDocumentedBins) {
  const std::size_t length = 2 * 3 * 20;
  const std::size_t parts = 3;
  const auto x = random_samples<TypeParam>(length, 9);
  const auto full = naive_dft(x);
  const RealSplit<TypeParam> split(length, parts);
  auto blocks = make_blocks<TypeParam>(parts, split.block_length());
  split.run(x.data(), pointers(blocks), 0, split.block_length());
  test::transform_real_blocks(blocks, Direction::forward);
  for (std::size_t r = 0; r < parts; ++r) {
    std::vector<std::complex<long double>> expected;
    for (std::size_t q = 0; q < split.block_length(); ++q) {
      expected.push_back(r == 0 ? full[parts * q] : full[2 * parts * q + r]);
    }
    if (r == 0) expected[0] = {full[0].real(), full[length / 2].real()};
    EXPECT_LT(relative_l2_error(blocks[r], expected), error_gate<TypeParam>()) << "block " << r;
  }
}

/// Any cut of [0, length), borders on and off the tiles' borders.
std::vector<std::size_t> cuts(std::size_t length) {
  std::vector<std::size_t> borders = {0};
  for (const std::size_t step : {1U, 31U, 32U, 64U, 5U, 100U}) {
    if (borders.back() + step < length) borders.push_back(borders.back() + step);
  }
  borders.push_back(length);
  return borders;
}

TYPED_TEST(DifTest, ChunksAndThreadsDoNotChangeABit) {
  using Complex = std::complex<TypeParam>;
  for (const std::size_t parts : {1U, 2U, 3U, 6U, 8U, 16U, 20U}) {
    const std::size_t m = 1501;
    const auto x = random_samples<Complex>(parts * m, parts);
    const auto real_x = random_samples<TypeParam>(2 * parts * m, parts);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const Split<TypeParam> split(parts * m, parts, direction);
      const RealSplit<TypeParam> real_split(2 * parts * m, parts);
      const RealMerge<TypeParam> real_merge(2 * parts * m, parts);
      omp_set_num_threads(1);
      auto whole = make_blocks<TypeParam>(parts, m);
      auto real_whole = make_blocks<TypeParam>(parts, m);
      std::vector<TypeParam> merged_whole(2 * parts * m);
      split.run(x.data(), pointers(whole), 0, m);
      real_split.run(real_x.data(), pointers(real_whole), 0, m);
      real_merge.run(pointers(std::as_const(whole)), merged_whole.data(), 0, m);
      for (const int threads : {1, 2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << "P=" << parts << " threads=" << threads);
        omp_set_num_threads(threads);
        auto chunked = make_blocks<TypeParam>(parts, m);
        auto real_chunked = make_blocks<TypeParam>(parts, m);
        std::vector<TypeParam> merged(2 * parts * m);
        const auto borders = cuts(m);
        for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
          split.run(x.data(), pointers(chunked, borders[i]), borders[i], borders[i + 1]);
          real_split.run(real_x.data(), pointers(real_chunked, borders[i]), borders[i], borders[i + 1]);
          real_merge.run(pointers(std::as_const(whole), borders[i]), merged.data(), borders[i],
                         borders[i + 1]);
        }
        EXPECT_EQ(chunked, whole);
        EXPECT_EQ(real_chunked, real_whole);
        EXPECT_EQ(merged, merged_whole);
      }
    }
  }
}

TYPED_TEST(DifTest, SplitsInPlace) {
  const std::size_t parts = 6;
  const std::size_t m = 333;
  auto x = random_samples<std::complex<TypeParam>>(parts * m, 4);
  const Split<TypeParam> split(parts * m, parts, Direction::forward);
  auto expected = make_blocks<TypeParam>(parts, m);
  split.run(x.data(), pointers(expected), 0, m);
  std::vector<std::complex<TypeParam>*> in_place;
  for (std::size_t r = 0; r < parts; ++r) in_place.push_back(x.data() + r * m);
  split.run(x.data(), in_place, 0, m);
  for (std::size_t r = 0; r < parts; ++r) {
    EXPECT_TRUE(
        std::equal(expected[r].begin(), expected[r].end(), x.begin() + static_cast<std::ptrdiff_t>(r * m)));
  }
}

TYPED_TEST(DifTest, InterleaveAndDeinterleaveArePermutationsOfEachOther) {
  for (const std::size_t parts : {1U, 2U, 3U, 8U, 13U, 700U}) {
    for (const std::size_t m : {1U, 5U, 64U, 1000U}) {
      const auto x = random_samples<std::complex<TypeParam>>(parts * m, parts + m);
      auto blocks = make_blocks<TypeParam>(parts, m);
      deinterleave<TypeParam>(x.data(), pointers(blocks), m);
      for (std::size_t k = 0; k < x.size(); ++k) ASSERT_EQ(blocks[k % parts][k / parts], x[k]);
      std::vector<std::complex<TypeParam>> back(x.size());
      interleave<TypeParam>(pointers(std::as_const(blocks)), m, back.data());
      EXPECT_EQ(back, x);
    }
  }
}

TYPED_TEST(DifTest, RejectsBadShapes) {
  using T = TypeParam;
  EXPECT_THROW(Split<T>(0, 1, Direction::forward), std::invalid_argument);
  EXPECT_THROW(Split<T>(8, 0, Direction::forward), std::invalid_argument);
  EXPECT_THROW(Split<T>(8, 3, Direction::forward), std::invalid_argument);
  EXPECT_THROW(RealSplit<T>(12, 4), std::invalid_argument);
  EXPECT_THROW(RealMerge<T>(12, 4), std::invalid_argument);
  EXPECT_THROW(ColumnDft<T>(0), std::invalid_argument);
  EXPECT_FALSE(can_split_real(12, 4));
  EXPECT_FALSE(can_split_real(7, 1));
  EXPECT_FALSE(can_split_real(0, 1));
  EXPECT_FALSE(can_split_real(8, 0));
  const std::vector<std::complex<T>> x(8);
  auto blocks = make_blocks<T>(2, 4);
  const Split<T> split(8, 2, Direction::forward);
  EXPECT_THROW(split.run(x.data(), pointers(blocks), 0, 5), std::invalid_argument);
  EXPECT_THROW(split.run(x.data(), pointers(blocks), 3, 2), std::invalid_argument);
  blocks.pop_back();
  EXPECT_THROW(split.run(x.data(), pointers(blocks), 0, 4), std::invalid_argument);
  std::complex<T> out;
  EXPECT_THROW(interleave<T>({}, 1, &out), std::invalid_argument);
  EXPECT_THROW(deinterleave<T>(&out, {}, 1), std::invalid_argument);
  EXPECT_THROW(assemble_half_spectrum<T>({}, 1, &out), std::invalid_argument);
  EXPECT_THROW(distribute_half_spectrum<T>(&out, {}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::fft
