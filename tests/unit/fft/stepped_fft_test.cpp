// SPDX-License-Identifier: MIT
// Transforms whose vector comes in parts: bitwise against LocalFft, whatever the parts and their order.
#include "fft/local/stepped_fft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <vector>

#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

struct SteppedCase {
  std::size_t length;
  std::size_t parts;
  LocalKernel kernel;
  bool in_steps;  // whether columns are worked on as they come
};

/// The ranges of columns that a matrix comes in, the last first.
template <typename Matrix>
std::vector<Columns> ranges(const Matrix& matrix, std::size_t width) {
  std::vector<Columns> all;
  for (std::size_t begin = 0; begin < matrix.columns; begin += width) {
    all.insert(all.begin(), {begin, std::min(begin + width, matrix.columns)});
  }
  return all;
}

template <typename T>
std::vector<std::complex<T>> expected_of(const std::vector<std::complex<T>>& x, const SteppedCase& c,
                                         Direction direction) {
  std::vector<std::complex<T>> spectrum(x.size());
  LocalFft<T>(c.length, direction, c.kernel, Rigor::estimate).execute(x.data(), spectrum.data());
  return spectrum;
}

template <typename T>
void check(const SteppedCase& c, Direction direction) {
  using Complex = std::complex<T>;
  SteppedFft<T> fft(c.length, c.parts, direction, Rigor::estimate, c.kernel);
  EXPECT_EQ(fft.in().grain > 1, c.in_steps);
  EXPECT_EQ(fft.in().rows % c.parts, 0U);
  EXPECT_EQ(fft.out().rows % c.parts, 0U);
  for (const unsigned seed : {1U, 2U}) {  // an object serves several vectors
    const auto x = test::random_samples<Complex>(c.length, seed);
    const auto expected = expected_of(x, c, direction);
    for (const Columns some : ranges(fft.in(), 2 * fft.in().grain)) {
      std::vector<Complex> part(fft.in().rows * (some.count() + 3));  // rows farther apart than they are long
      for (std::size_t i = 0; i < fft.in().rows; ++i) {
        for (std::size_t j = some.begin; j < some.end; ++j) {
          const std::size_t n = i * fft.in().columns + j;
          if (n < c.length) part[i * (some.count() + 3) + j - some.begin] = x[n];
        }
      }
      fft.put(some, part.data(), some.count() + 3);
    }
    for (const bool finished : {false, true}) {  // by columns, then at once, then by columns of what is there
      std::vector<Complex> got(fft.out().rows * fft.out().columns);
      for (const Columns some : ranges(fft.out(), fft.out().grain)) {
        fft.get(some, got.data() + some.begin, fft.out().columns);
      }
      got.resize(c.length);
      EXPECT_EQ(got, expected) << "finished " << finished;
      const auto result = fft.result();
      EXPECT_TRUE(std::ranges::equal(result, expected));
    }
  }
}

class Stepped : public testing::TestWithParam<SteppedCase> {};

TEST_P(Stepped, GivesLocalFftsBits) {
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    check<float>(GetParam(), direction);
    check<double>(GetParam(), direction);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Stepped,
                         testing::Values(SteppedCase{1 << 12, 8, LocalKernel::own, true},
                                         SteppedCase{1 << 15, 4, LocalKernel::own, true},
                                         SteppedCase{1 << 13, 1, LocalKernel::own, true},
                                         SteppedCase{1 << 12, 3, LocalKernel::own, false},
                                         SteppedCase{1 << 8, 2, LocalKernel::own, false},
                                         SteppedCase{1000, 8, LocalKernel::fftw, false},
                                         SteppedCase{1001, 3, LocalKernel::fftw, false},
                                         SteppedCase{1 << 16, 8, LocalKernel::pieces, false}));

}  // namespace
}  // namespace papfft::fft
