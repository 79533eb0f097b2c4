// SPDX-License-Identifier: MIT
// Properties that determine a Fourier transform, after F. Ergun, "Testing multivariate linear functions: overcoming the
// generator bottleneck" (STOC 1995), as FFTW's own verifier does; and FFTW itself at sizes the naive sum cannot reach.
#include <gtest/gtest.h>

#include <numbers>
#include <numeric>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/twiddle.hpp"
#include "tests/support/fft_pipeline.hpp"
#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

using test::distributed_fft;
using test::distributed_real_fft;
using test::distributed_real_inverse;
using test::error_gate;
using test::random_samples;
using test::relative_l2_error;

struct Shape {
  std::size_t length;
  std::size_t parts;
};
// One rank, powers of two, other ranks, one element per rank, blocks of prime length, blocks long enough for pieces.
const std::vector<Shape> kShapes = {{1 << 12, 1},       {1 << 12, 8},       {1 << 17, 2},  {3 << 14, 6},
                                    {5 * 7 * 9 * 8, 9}, {2 * 997, 2 * 997}, {8 * 1009, 8}, {16 * 625, 16}};

template <typename T>
class FftProperties : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(FftProperties, Precisions);

template <typename T>
using PropertyVector = std::vector<std::complex<T>>;

template <typename T>
PropertyVector<T> forward(const PropertyVector<T>& x, std::size_t parts) {
  return distributed_fft(x, parts, Direction::forward);
}

TYPED_TEST(FftProperties, ImpulseWholeOrInTwoRandomPartsBecomesConstant) {
  for (const auto& [length, parts] : kShapes) {
    SCOPED_TRACE(testing::Message() << "N=" << length << " P=" << parts);
    PropertyVector<TypeParam> impulse(length);
    impulse[0] = 1;
    const PropertyVector<TypeParam> ones(length, 1);
    EXPECT_LT(relative_l2_error(forward(impulse, parts), ones), error_gate<TypeParam>());
    const auto a = random_samples<std::complex<TypeParam>>(length, length);
    auto rest = a;
    for (auto& value : rest) value = -value;
    rest[0] += TypeParam{1};
    const auto transformed_a = forward(a, parts);
    auto sum = forward(rest, parts);
    for (std::size_t k = 0; k < length; ++k) sum[k] += transformed_a[k];
    // The parts' rounding is relative to them, and their norm is sqrt(2/3) sqrt(N) times the sum's.
    EXPECT_LT(relative_l2_error(sum, ones),
              4 * error_gate<TypeParam>() * std::sqrt(static_cast<double>(length)));
  }
}

TYPED_TEST(FftProperties, IsLinear) {
  using Complex = std::complex<TypeParam>;
  const Complex alpha(TypeParam(0.75), TypeParam(-1.25));
  for (const auto& [length, parts] : kShapes) {
    const auto x = random_samples<Complex>(length, 1);
    const auto y = random_samples<Complex>(length, 2);
    PropertyVector<TypeParam> combined(length);
    for (std::size_t n = 0; n < length; ++n) combined[n] = alpha * x[n] + y[n];
    auto expected = forward(x, parts);
    const auto transformed_y = forward(y, parts);
    for (std::size_t k = 0; k < length; ++k) expected[k] = alpha * expected[k] + transformed_y[k];
    EXPECT_LT(relative_l2_error(forward(combined, parts), expected), 2 * error_gate<TypeParam>())
        << "N=" << length << " P=" << parts;
  }
}

TYPED_TEST(FftProperties, ShiftInTimeIsARampOfPhaseAndViceVersa) {
  for (const auto& [length, parts] : kShapes) {
    SCOPED_TRACE(testing::Message() << "N=" << length << " P=" << parts);
    const std::size_t shift = length / 3 + 1;
    const auto x = random_samples<std::complex<TypeParam>>(length, 3);
    const auto spectrum = forward(x, parts);
    PropertyVector<TypeParam> later(length);
    PropertyVector<TypeParam> ramped(length);
    PropertyVector<TypeParam> expected_later(length);
    PropertyVector<TypeParam> expected_ramped(length);
    for (std::size_t n = 0; n < length; ++n) {
      const auto phase = twiddle<TypeParam>(n * shift, length);
      later[(n + shift) % length] = x[n];
      ramped[n] = x[n] * phase;
      expected_later[n] = spectrum[n] * phase;
      expected_ramped[n] = spectrum[(n + shift) % length];
    }
    EXPECT_LT(relative_l2_error(forward(later, parts), expected_later), 2 * error_gate<TypeParam>());
    EXPECT_LT(relative_l2_error(forward(ramped, parts), expected_ramped), 2 * error_gate<TypeParam>());
  }
}

TYPED_TEST(FftProperties, KeepsEnergyAndComesBack) {
  for (const auto& [length, parts] : kShapes) {
    SCOPED_TRACE(testing::Message() << "N=" << length << " P=" << parts);
    const auto x = random_samples<std::complex<TypeParam>>(length, 4);
    const auto spectrum = forward(x, parts);
    const auto energy = [](const PropertyVector<TypeParam>& v) {
      return std::accumulate(v.begin(), v.end(), 0.0L,
                             [](long double sum, std::complex<long double> z) { return sum + std::norm(z); });
    };
    const auto ratio = static_cast<double>(energy(spectrum) / (static_cast<long double>(length) * energy(x)));
    EXPECT_NEAR(ratio, 1, 4 * error_gate<TypeParam>());
    EXPECT_LT(relative_l2_error(distributed_fft(spectrum, parts, Direction::inverse), x),
              2 * error_gate<TypeParam>());
  }
}

TYPED_TEST(FftProperties, RealTransformIsHalfOfTheComplexOne) {
  for (const auto& [length, parts] : kShapes) {
    if (!can_split_real(length, parts)) continue;
    SCOPED_TRACE(testing::Message() << "N=" << length << " P=" << parts);
    const auto x = random_samples<TypeParam>(length, 5);
    auto expected = forward(PropertyVector<TypeParam>(x.begin(), x.end()), parts);
    expected.resize(length / 2 + 1);
    const auto spectrum = distributed_real_fft(x, parts);
    EXPECT_LT(relative_l2_error(spectrum, expected), 2 * error_gate<TypeParam>());
    EXPECT_LT(relative_l2_error(distributed_real_inverse(spectrum, parts), x), 2 * error_gate<TypeParam>());
  }
}

// A real tone of k0 cycles has exactly two bins: the scale is right, and the bins are where they should be.
TYPED_TEST(FftProperties, ToneFillsItsBin) {
  const std::size_t length = 1 << 12;
  const std::size_t k0 = 300;
  std::vector<TypeParam> x(length);
  for (std::size_t n = 0; n < length; ++n) x[n] = 3 * twiddle<TypeParam>(n * k0, length).real();
  PropertyVector<TypeParam> expected(length / 2 + 1);
  expected[k0] = TypeParam(3 * length / 2);
  EXPECT_LT(relative_l2_error(distributed_real_fft(x, 4), expected), error_gate<TypeParam>());
}

TEST(FftAccuracy, UpTo2To20WithinTheGatesAgainstFftwInDouble) {
  for (const unsigned log2_length : {12U, 15U, 18U, 20U}) {
    const std::size_t length = std::size_t{1} << log2_length;
    const auto x = random_samples<std::complex<float>>(length, 6);
    const PropertyVector<double> wide(x.begin(), x.end());
    Buffer<std::complex<double>> in(length);
    Buffer<std::complex<double>> expected(length);
    std::copy(wide.begin(), wide.end(), in.begin());
    FftwPlan<double>::get(PlanKind::complex_forward, length, Rigor::estimate)
        ->execute(in.data(), expected.data());
    std::vector<double> real(length);
    std::vector<float> real_float(length);
    for (std::size_t n = 0; n < length; ++n) {
      real[n] = wide[n].real();
      real_float[n] = x[n].real();
    }
    Buffer<std::complex<double>> half(length / 2 + 1);
    Buffer<double> real_in(length);
    std::copy(real.begin(), real.end(), real_in.begin());
    FftwPlan<double>::get(PlanKind::real_forward, length, Rigor::estimate)
        ->execute(real_in.data(), half.data());
    for (const std::size_t parts : {1U, 2U, 8U, 16U}) {
      SCOPED_TRACE(testing::Message() << "N=2^" << log2_length << " P=" << parts);
      EXPECT_LT(relative_l2_error(forward(wide, parts), expected), error_gate<double>());
      EXPECT_LT(relative_l2_error(forward(x, parts), expected), error_gate<float>());
      EXPECT_LT(relative_l2_error(distributed_real_fft(real, parts), half), error_gate<double>());
      EXPECT_LT(relative_l2_error(distributed_real_fft(real_float, parts), half), error_gate<float>());
    }
  }
}

}  // namespace
}  // namespace papfft::fft
