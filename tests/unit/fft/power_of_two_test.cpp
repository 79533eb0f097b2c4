// SPDX-License-Identifier: MIT
// The own kernels, by every instruction set that this processor has.
#include "fft/kernel/power_of_two.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/twiddle.hpp"
#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

using test::error_gate;
using test::halving_dft;
using test::naive_dft;
using test::random_samples;
using test::relative_l2_error;

template <typename T>
using Vector = std::vector<std::complex<T>>;

/// `shift` is the distance in values of T from a cache line's boundary.
template <typename T>
class Placed {
 public:
  Placed(std::size_t elements, std::size_t shift)
      : buffer_(2 * elements + shift), elements_(elements), shift_(shift) {}
  std::complex<T>* data() { return reinterpret_cast<std::complex<T>*>(buffer_.data() + shift_); }
  Vector<T> values() { return Vector<T>(data(), data() + elements_); }

 private:
  Buffer<T> buffer_;
  std::size_t elements_;
  std::size_t shift_;
};

template <typename T>
Vector<T> transformed(const Vector<T>& x, Direction direction, InstructionSet set) {
  const auto fft = PowerOfTwoFft<T>::get(x.size(), set);
  Buffer<std::complex<T>> work(fft->work_size());
  Vector<T> out(x.size());
  fft->execute(direction, x.data(), out.data(), work.data());
  return out;
}

template <typename T>
class PowerOfTwoTest : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(PowerOfTwoTest, Precisions);

TYPED_TEST(PowerOfTwoTest, MatchesTheDefinitionWhereverTheDataAre) {
  using Complex = std::complex<TypeParam>;
  for (unsigned log2_length = 4; log2_length <= 10; ++log2_length) {
    const std::size_t length = std::size_t{1} << log2_length;
    const auto x = random_samples<Complex>(length, length);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const auto expected = naive_dft(x, direction == Direction::inverse);
      for (const InstructionSet set : instruction_sets()) {
        SCOPED_TRACE(testing::Message() << "N=2^" << log2_length << ' ' << to_string(set));
        const auto out = transformed(x, direction, set);
        EXPECT_LT(relative_l2_error(out, expected), error_gate<TypeParam>());
        const auto fft = PowerOfTwoFft<TypeParam>::get(length, set);
        Buffer<Complex> work(fft->work_size());
        for (const std::size_t shift : {0U, 1U, 3U}) {
          Placed<TypeParam> from(length, shift);
          Placed<TypeParam> to(length, 2 * shift);
          std::copy(x.begin(), x.end(), from.data());
          fft->execute(direction, from.data(), to.data(), work.data());
          EXPECT_EQ(to.values(), out) << shift;
          EXPECT_EQ(from.values(), x) << shift;
          fft->execute(direction, from.data(), from.data(), work.data());
          EXPECT_EQ(from.values(), out) << shift;
        }
      }
    }
  }
}

TYPED_TEST(PowerOfTwoTest, LongOnesMatchAReferenceInAndOutOfPlace) {
  using Complex = std::complex<TypeParam>;
  for (unsigned log2_length = 11; log2_length <= 18; ++log2_length) {
    const std::size_t length = std::size_t{1} << log2_length;
    const auto x = random_samples<Complex>(length, length);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const auto expected = halving_dft(x, direction == Direction::inverse);
      for (const InstructionSet set : instruction_sets()) {
        SCOPED_TRACE(testing::Message() << "N=2^" << log2_length << ' ' << to_string(set));
        const auto out = transformed(x, direction, set);
        EXPECT_LT(relative_l2_error(out, expected), error_gate<TypeParam>());
        const auto fft = PowerOfTwoFft<TypeParam>::get(length, set);
        Buffer<Complex> work(fft->work_size());
        Placed<TypeParam> place(length, 1);
        std::copy(x.begin(), x.end(), place.data());
        fft->execute(direction, place.data(), place.data(), work.data());
        EXPECT_EQ(place.values(), out);
      }
    }
  }
}

// FFTW's own errors at 2^20 are 3.3e-16 and 1.9e-7.
TYPED_TEST(PowerOfTwoTest, IsAboutAsAccurateAsFftw) {
  using Complex = std::complex<TypeParam>;
  const double limit = 1.15 * (std::is_same_v<TypeParam, float> ? 1.9e-7 : 3.3e-16);
  const std::size_t length = std::size_t{1} << 20U;
  const auto x = random_samples<Complex>(length, 20);
  const auto expected = halving_dft(x);
  for (const InstructionSet set : instruction_sets()) {
    EXPECT_LT(relative_l2_error(transformed(x, Direction::forward, set), expected), limit) << to_string(set);
  }
}

TYPED_TEST(PowerOfTwoTest, MatchesFftw) {
  using Complex = std::complex<TypeParam>;
  for (const unsigned log2_length : {13U, 17U, 21U}) {
    const std::size_t length = std::size_t{1} << log2_length;
    const auto x = random_samples<Complex>(length, length);
    Buffer<Complex> in(length);
    Buffer<Complex> expected(length);
    std::copy(x.begin(), x.end(), in.begin());
    FftwPlan<TypeParam>::get(PlanKind::complex_forward, length, Rigor::estimate)
        ->execute(in.data(), expected.data());
    for (const InstructionSet set : instruction_sets()) {
      EXPECT_LT(relative_l2_error(transformed(x, Direction::forward, set), expected), error_gate<TypeParam>())
          << "N=2^" << log2_length << ' ' << to_string(set);
    }
  }
}

// The longest: an impulse becomes the circle, which has a reference of its own; and comes back.
TYPED_TEST(PowerOfTwoTest, ImpulsesBecomeRootsUpToTheLongest) {
  using Complex = std::complex<TypeParam>;
  for (const unsigned log2_length : {4U, 7U, 12U, 19U, 23U, 24U}) {
    const std::size_t length = std::size_t{1} << log2_length;
    const std::size_t at = length / 3;
    const auto fft = PowerOfTwoFft<TypeParam>::get(length);
    Buffer<Complex> work(fft->work_size());
    Vector<TypeParam> x(length);
    x[at] = 1;
    fft->execute(Direction::forward, x.data(), x.data(), work.data());
    const RootTable roots(length);
    double error = 0;
    for (std::size_t k = 0; k < length; ++k) {
      error += std::norm(std::complex<double>(x[k]) - roots.root<double>(at * k % length));
    }
    EXPECT_LT(std::sqrt(error / static_cast<double>(length)), error_gate<TypeParam>())
        << "N=2^" << log2_length;
    fft->execute(Direction::inverse, x.data(), x.data(), work.data());
    x[at] -= static_cast<TypeParam>(length);
    error = std::accumulate(x.begin(), x.end(), 0.0,
                            [](double sum, Complex z) { return sum + std::norm(std::complex<double>(z)); });
    EXPECT_LT(std::sqrt(error) / static_cast<double>(length), error_gate<TypeParam>())
        << "N=2^" << log2_length;
  }
}

TYPED_TEST(PowerOfTwoTest, IsLinearTurnsShiftsIntoRampsAndKeepsEnergy) {
  using T = TypeParam;
  using Complex = std::complex<T>;
  const Complex alpha(T(0.75), T(-1.25));
  for (const InstructionSet set : instruction_sets()) {
    for (const std::size_t length : {std::size_t{64}, std::size_t{2048}, std::size_t{1} << 15U}) {
      SCOPED_TRACE(testing::Message() << "N=" << length << ' ' << to_string(set));
      const std::size_t shift = length / 3 + 1;
      const auto x = random_samples<Complex>(length, 1);
      const auto y = random_samples<Complex>(length, 2);
      const auto spectrum = transformed(x, Direction::forward, set);
      auto combined_spectrum = transformed(y, Direction::forward, set);
      Vector<T> combined(length);
      Vector<T> later(length);
      Vector<T> ramped(length);
      long double energy = 0;
      long double spectral_energy = 0;
      for (std::size_t n = 0; n < length; ++n) {
        combined[n] = alpha * x[n] + y[n];
        combined_spectrum[n] += alpha * spectrum[n];
        later[(n + shift) % length] = x[n];
        ramped[n] = spectrum[n] * twiddle<T>(n * shift, length);
        energy += std::norm(std::complex<long double>(x[n]));
        spectral_energy += std::norm(std::complex<long double>(spectrum[n]));
      }
      EXPECT_LT(relative_l2_error(transformed(combined, Direction::forward, set), combined_spectrum),
                2 * error_gate<T>());
      EXPECT_LT(relative_l2_error(transformed(later, Direction::forward, set), ramped), 2 * error_gate<T>());
      EXPECT_NEAR(static_cast<double>(spectral_energy / (static_cast<long double>(length) * energy)), 1,
                  4 * error_gate<T>());
    }
  }
}

TYPED_TEST(PowerOfTwoTest, PartsInAnyOrderGiveTheSameNumbers) {
  using Complex = std::complex<TypeParam>;
  const std::size_t length = std::size_t{1} << 16U;
  const auto x = random_samples<Complex>(length, 5);
  for (const InstructionSet set : instruction_sets()) {
    const auto fft = PowerOfTwoFft<TypeParam>::get(length, set);
    Buffer<Complex> work(fft->work_size());
    Vector<TypeParam> out(length);
    for (const int step : {1, 2}) {
      ASSERT_GE(fft->tiles(step), 4U);
      for (std::size_t tile = fft->tiles(step); tile-- > 0;) {
        fft->run_tiles(step, tile, tile + 1, Direction::inverse, x.data(), out.data(), work.data(),
                       work.data() + fft->shared_size());
      }
    }
    EXPECT_EQ(out, transformed(x, Direction::inverse, set)) << to_string(set);
  }
}

TYPED_TEST(PowerOfTwoTest, RealOnesMatchAReferenceAndComeBack) {
  using T = TypeParam;
  using Complex = std::complex<T>;
  for (unsigned log2_length = 7; log2_length <= 17; ++log2_length) {
    const std::size_t length = std::size_t{1} << log2_length;
    const auto x = random_samples<T>(length, length);
    auto expected = halving_dft(x);
    expected.resize(length / 2 + 1);
    for (const InstructionSet set : instruction_sets()) {
      SCOPED_TRACE(testing::Message() << "N=2^" << log2_length << ' ' << to_string(set));
      const PowerOfTwoRealFft<T> fft(length, set);
      Buffer<Complex> work(fft.work_size());
      std::vector<T> in(length + 1);  // off every boundary
      std::copy(x.begin(), x.end(), in.begin() + 1);
      Vector<T> spectrum(length / 2 + 1);
      fft.forward(in.data() + 1, spectrum.data(), work.data());
      EXPECT_LT(relative_l2_error(spectrum, expected), error_gate<T>());
      EXPECT_EQ(spectrum.front().imag(), 0);
      EXPECT_EQ(spectrum.back().imag(), 0);
      spectrum.front().imag(3);  // to be ignored
      spectrum.back().imag(-5);
      fft.inverse(spectrum.data(), in.data() + 1, work.data());
      for (T& value : in) value /= static_cast<T>(length);
      EXPECT_LT(relative_l2_error(std::vector<T>(in.begin() + 1, in.end()), x), error_gate<T>());
    }
  }
}

TYPED_TEST(PowerOfTwoTest, TablesAreSharedAndOtherLengthsRefused) {
  using Fft = PowerOfTwoFft<TypeParam>;
  EXPECT_EQ(Fft::get(1024), Fft::get(1024, instruction_sets().back()));
  for (const std::size_t length : {std::size_t{0}, std::size_t{8}, std::size_t{48}, std::size_t{1} << 25U}) {
    EXPECT_FALSE(Fft::supports(length));
    EXPECT_THROW((void)Fft::get(length), std::invalid_argument);
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{64}, std::size_t{384}, std::size_t{129}}) {
    EXPECT_FALSE(PowerOfTwoRealFft<TypeParam>::supports(length));
    EXPECT_THROW(PowerOfTwoRealFft<TypeParam>{length}, std::invalid_argument);
  }
}

TEST(InstructionSetTest, ThePortableOneIsThereAndMissingOnesAreRefused) {
  const auto& sets = instruction_sets();
  EXPECT_EQ(sets.front(), InstructionSet::portable);
  for (const InstructionSet set : {InstructionSet::avx2, InstructionSet::avx512}) {
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) {
      EXPECT_THROW((void)PowerOfTwoFft<float>::get(64, set), std::invalid_argument);
    }
  }
}

}  // namespace
}  // namespace papfft::fft
