// SPDX-License-Identifier: MIT
#include "fft/spectral/overlap_save.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <bit>
#include <complex>
#include <stdexcept>

#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

/// y[n] = sum_m h[m] x[n-m], n < x.size() + h.size() - 1, by definition.
template <typename Sample>
std::vector<std::complex<long double>> naive_convolution(const std::vector<Sample>& x,
                                                         const std::vector<Sample>& h) {
  std::vector<std::complex<long double>> y(x.size() + h.size() - 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t m = 0; m < h.size(); ++m) {
      y[i + m] += static_cast<std::complex<long double>>(x[i]) * static_cast<std::complex<long double>>(h[m]);
    }
  }
  return y;
}

template <typename Sample>
class OverlapSaveTest : public testing::Test {
 protected:
  using Filter = OverlapSave<Sample>;
  static constexpr double kTolerance = std::is_same_v<typename Filter::T, float> ? 1e-6 : 2e-15;

  static Filter make(const std::vector<Sample>& h, std::size_t length) {
    return Filter(length, h.size(), Filter::filter_spectrum(h, length));
  }
  /// M-1 zeros, x, zeros for so many blocks.
  static std::vector<Sample> padded(const std::vector<Sample>& x, const Filter& filter, std::size_t taps,
                                    std::size_t blocks) {
    std::vector<Sample> samples(taps - 1);
    samples.insert(samples.end(), x.begin(), x.end());
    samples.resize(filter.samples_spanned(blocks));
    return samples;
  }
};

using SampleTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(OverlapSaveTest, SampleTypes);

TYPED_TEST(OverlapSaveTest, EqualsTheDefinition) {
  for (const std::size_t taps : {1U, 2U, 7U, 16U, 33U}) {
    for (const std::size_t length : {std::size_t{33}, std::size_t{64}, std::size_t{45}}) {
      for (const std::size_t n : {1U, 5U, 130U}) {
        SCOPED_TRACE(testing::Message()
                     << taps << " taps, transforms of " << length << ", " << n << " samples");
        const auto x = test::random_samples<TypeParam>(n, 1);
        const auto h = test::random_samples<TypeParam>(taps, 2);
        auto filter = this->make(h, length);
        const auto expected = naive_convolution(x, h);
        const std::size_t blocks = (expected.size() + filter.step() - 1) / filter.step();
        std::vector<TypeParam> y(blocks * filter.step());
        filter.process(this->padded(x, filter, taps, blocks), blocks, y.data());
        EXPECT_LT(test::relative_l2_error(y, expected), this->kTolerance);
      }
    }
  }
}

TYPED_TEST(OverlapSaveTest, SlicesAndThreadsDoNotChangeABit) {
  const int threads_before = omp_get_max_threads();
  const auto x = test::random_samples<TypeParam>(500, 1);
  const auto h = test::random_samples<TypeParam>(9, 2);
  auto filter = this->make(h, 32);
  const std::size_t blocks = 22;
  const auto samples = this->padded(x, filter, 9, blocks);
  std::vector<TypeParam> whole(blocks * filter.step());
  omp_set_num_threads(1);
  filter.process(samples, blocks, whole.data());
  omp_set_num_threads(3);
  std::vector<TypeParam> sliced(whole.size());
  for (std::size_t j = 0; j < blocks; j += 5) {
    const std::size_t count = std::min<std::size_t>(5, blocks - j);
    filter.process(std::span(samples).subspan(j * filter.step()), count, sliced.data() + j * filter.step());
  }
  EXPECT_EQ(sliced, whole);
  omp_set_num_threads(threads_before);
}

TYPED_TEST(OverlapSaveTest, BestLengthFitsAndDoesNotGrowWithoutNeed) {
  using Kernel = OverlapSave<TypeParam>;
  EXPECT_EQ(Kernel::best_length(1, 1), 1U);
  EXPECT_EQ(Kernel::best_length(100, 1), 128U);
  for (const std::size_t taps : {1U, 2U, 100U, 4096U, 5000U}) {
    for (const std::uint64_t outputs : {1U, 100U, 10000U, 10000000U}) {
      const std::size_t length = Kernel::best_length(taps, outputs);
      EXPECT_TRUE(std::has_single_bit(length));
      EXPECT_GE(length, taps);
      EXPECT_LE(length, std::bit_ceil(outputs + taps - 1));
      // Short blocks stay in the cache.
      if (outputs > 100 * taps && taps > 1) {
        EXPECT_LE(length, 64 * taps) << taps;
      }
    }
  }
}

TYPED_TEST(OverlapSaveTest, MistakesAreRefused) {
  using Kernel = OverlapSave<TypeParam>;
  const auto h = test::random_samples<TypeParam>(9, 2);
  EXPECT_THROW((void)Kernel::filter_spectrum(h, 8), std::invalid_argument);
  EXPECT_THROW((void)Kernel::filter_spectrum({}, 8), std::invalid_argument);
  EXPECT_THROW(Kernel(16, 9, Kernel::filter_spectrum(h, 32)), std::invalid_argument);
  EXPECT_THROW(Kernel(16, 17, Kernel::filter_spectrum(h, 16)), std::invalid_argument);
  auto filter = this->make(h, 16);
  std::vector<TypeParam> out(2 * filter.step());
  const std::vector<TypeParam> samples(filter.samples_spanned(2) - 1);
  EXPECT_THROW(filter.process(samples, 2, out.data()), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::fft
