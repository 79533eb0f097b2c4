// SPDX-License-Identifier: MIT
#include "fft/local/axis_fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

namespace papfft::fft {
namespace {

using Value = std::complex<double>;

std::vector<Value> axis_noise(std::size_t count, bool real) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  std::vector<Value> samples(count);
  for (Value& z : samples) z = real ? Value(normal(generator)) : Value(normal(generator), normal(generator));
  return samples;
}

/// By the definitions in axis_fft.hpp, in long double.
std::vector<Value> by_definition(LineKind kind, const std::vector<Value>& x, std::size_t length) {
  constexpr long double kPi = std::numbers::pi_v<long double>;
  const auto n = static_cast<long double>(length);
  const LinePlan plan{.kind = kind, .length = length};
  std::vector<Value> y;
  for (std::size_t k = 0; k < plan.out(); ++k) {
    std::complex<long double> sum = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const bool mirrored = kind == LineKind::from_half && i > length / 2;
      const Value z = mirrored ? std::conj(x[length - i]) : x[i];
      const std::complex<long double> sample(z.real(), z.imag());
      const auto a = static_cast<long double>(k);
      const auto b = static_cast<long double>(i);
      switch (kind) {
        case LineKind::dct2:
          sum += 2.0L * sample * std::cos(kPi * a * (2 * b + 1) / (2 * n));
          break;
        case LineKind::dct3:
          sum += (i == 0 ? 1.0L : 2.0L) * sample * std::cos(kPi * b * (2 * a + 1) / (2 * n));
          break;
        default:
          sum += sample * std::polar(1.0L, (kind == LineKind::from_half ? 2 : -2) * kPi *
                                               static_cast<long double>(k * i % length) / n);
      }
    }
    y.emplace_back(static_cast<double>(sum.real()), static_cast<double>(sum.imag()));
  }
  return y;
}

TEST(AxisFft, EveryKindAlongEveryAxisByItsDefinition) {
  for (const LineKind kind :
       {LineKind::complex, LineKind::half_spectrum, LineKind::from_half, LineKind::dct2, LineKind::dct3}) {
    for (const std::size_t length : {1U, 2U, 7U, 12U}) {
      const LinePlan plan{.kind = kind, .length = length, .factor = 0.5};
      AxisFft<double> fft(plan);
      constexpr std::size_t kOuter = 3;
      constexpr std::size_t kInner = 5;
      std::vector<Value> in =
          axis_noise(kOuter * plan.in() * kInner, kind != LineKind::complex && kind != LineKind::from_half);
      std::vector<Value> out(kOuter * plan.out() * kInner);
      for (std::size_t line = 0; line < kOuter * kInner && kind == LineKind::from_half; ++line) {
        Value* first = &in[line / kInner * plan.in() * kInner + line % kInner];
        *first = first->real();  // bins that are their own mirror images
        if (length % 2 == 0) first[(plan.in() - 1) * kInner] = first[(plan.in() - 1) * kInner].real();
      }
      fft.execute(in.data(), out.data(), kOuter, plan.in(), kInner);
      for (std::size_t line = 0; line < kOuter * kInner; ++line) {
        std::vector<Value> x;
        for (std::size_t i = 0; i < plan.in(); ++i) {
          x.push_back(in[(line / kInner * plan.in() + i) * kInner + line % kInner]);
        }
        const std::vector<Value> expected = by_definition(kind, x, length);
        for (std::size_t k = 0; k < plan.out(); ++k) {
          const Value actual = out[(line / kInner * plan.out() + k) * kInner + line % kInner];
          EXPECT_LT(std::abs(actual - 0.5 * expected[k]), 1e-13)
              << "kind " << static_cast<int>(kind) << " length " << length << " line " << line << " element "
              << k;
        }
      }
    }
  }
}

TEST(AxisFft, LinesAreCutAndPadded) {
  const std::vector<Value> in = axis_noise(6, false);
  for (const std::size_t length : {4U, 9U}) {
    AxisFft<double> fft({.length = length});
    std::vector<Value> out(length);
    fft.execute(in.data(), out.data(), 1, in.size(), 1);
    std::vector<Value> x = in;
    x.resize(length);
    const std::vector<Value> expected = by_definition(LineKind::complex, x, length);
    for (std::size_t k = 0; k < length; ++k) EXPECT_LT(std::abs(out[k] - expected[k]), 1e-13) << k;
  }
}

TEST(AxisFft, LinesWithoutSamplesAreRefused) {
  EXPECT_THROW(AxisFft<float>({.length = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::fft
