// SPDX-License-Identifier: MIT
#include "fft/local/local.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>

#include "fft/local/local_kernel.hpp"
#include "fft/local/real.hpp"
#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

using test::error_gate;
using test::naive_dft;
using test::random_samples;
using test::relative_l2_error;

constexpr std::size_t kLong = std::size_t{1} << 16U;

template <typename T>
class LocalFftTest : public testing::Test {
 protected:
  void TearDown() override { omp_set_num_threads(threads_before_); }

 private:
  int threads_before_ = omp_get_max_threads();
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LocalFftTest, Precisions);

TYPED_TEST(LocalFftTest, BatchesMatchTheNaiveTransformInAndOutOfPlace) {
  using Complex = std::complex<TypeParam>;
  for (const std::size_t length : {1U, 2U, 3U, 8U, 17U, 60U, 127U, 256U}) {
    const std::size_t batch = 5;
    const auto x = random_samples<Complex>(batch * length, length);
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      LocalFft<TypeParam> local(length, direction);
      std::vector<Complex> out(x.size());
      local.execute(x.data(), out.data(), batch);
      std::vector<std::complex<long double>> expected;
      for (std::size_t v = 0; v < batch; ++v) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(v * length);
        const auto one = naive_dft(std::vector<Complex>(first, first + static_cast<std::ptrdiff_t>(length)),
                                   direction == Direction::inverse);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      EXPECT_LT(relative_l2_error(out, expected), error_gate<TypeParam>()) << length;
      auto in_place = x;
      local.execute(in_place.data(), in_place.data(), batch);
      EXPECT_EQ(in_place, out) << length;
    }
  }
}

// Threads, batches, place and alignment must not show in the bits; short vectors, long ones cut into tiles or pieces, and
// long ones of a length that cannot be cut.
TYPED_TEST(LocalFftTest, TheBitsDependOnLengthAlone) {
  using Complex = std::complex<TypeParam>;
  for (const std::size_t length : {std::size_t{15}, std::size_t{1024}, kLong / 8, kLong, 4 * kLong,
                                   kLong + std::size_t{8} * 7, kLong + 1}) {
    const std::size_t batch = 3;
    Buffer<Complex> x(batch * length + 1);
    const auto samples = random_samples<Complex>(x.size(), length);
    std::copy(samples.begin(), samples.end(), x.begin());
    omp_set_num_threads(1);
    Buffer<Complex> expected(batch * length);
    for (std::size_t v = 0; v < batch; ++v) {
      LocalFft<TypeParam>(length, Direction::forward)
          .execute(x.data() + v * length, expected.data() + v * length);
    }
    for (const int threads : {1, 2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << "N=" << length << " threads=" << threads);
      omp_set_num_threads(threads);
      LocalFft<TypeParam> local(length, Direction::forward);
      Buffer<Complex> out(batch * length + 1);
      local.execute(x.data(), out.data(), batch);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
      std::copy_n(x.begin(), batch * length, out.begin());
      local.execute(out.data(), out.data(), batch);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
      std::copy_n(x.begin(), batch * length, out.begin() + 1);  // float: off FFTW's alignment
      local.execute(out.data() + 1, out.data() + 1, batch);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + 1));
    }
  }
}

TYPED_TEST(LocalFftTest, EnginesAgree) {
  using Complex = std::complex<TypeParam>;
  for (const std::size_t length : {std::size_t{16}, kLong, 3 * kLong, std::size_t{1} << 20U}) {
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      const PlanKind kind = complex_kind(direction);
      Buffer<Complex> x(length);
      Buffer<Complex> expected(length);
      const auto samples = random_samples<Complex>(length, 7);
      std::copy(samples.begin(), samples.end(), x.begin());
      FftwPlan<TypeParam>::get(kind, length, Rigor::estimate)->execute(x.data(), expected.data());
      for (const LocalKernel kernel : possible_kernels(kind, length)) {
        LocalFft<TypeParam> local(length, direction, kernel, Rigor::estimate);
        EXPECT_EQ(local.kernel(), kernel);
        EXPECT_EQ(local.pieces() > 1, kernel != LocalKernel::fftw && length >= kLong);
        std::vector<Complex> out(length);
        local.execute(x.data(), out.data());
        EXPECT_LT(relative_l2_error(out, expected), error_gate<TypeParam>())
            << length << ' ' << to_string(kernel);
      }
    }
  }
}

TYPED_TEST(LocalFftTest, EnginesRefuseWhatTheyCannotDo) {
  const auto make = [](std::size_t length, LocalKernel kernel) {
    return LocalFft<TypeParam>(length, Direction::forward, kernel, Rigor::estimate);
  };
  EXPECT_EQ(possible_kernels(PlanKind::complex_forward, 17), std::vector{LocalKernel::fftw});
  EXPECT_THROW(make(17, LocalKernel::own), std::invalid_argument);
  EXPECT_THROW(make(8, LocalKernel::own), std::invalid_argument);
  EXPECT_THROW(make(1024, LocalKernel::pieces), std::invalid_argument);
  EXPECT_EQ(possible_kernels(PlanKind::real_forward, 64), std::vector{LocalKernel::fftw});
  EXPECT_THROW(RealFft<TypeParam>(64, LocalKernel::own, Rigor::estimate), std::invalid_argument);
  EXPECT_THROW(RealFft<TypeParam>(1024, LocalKernel::pieces, Rigor::estimate), std::invalid_argument);
}

// Rigor::measure may choose any kernel, but once: the same in one process, so that its numbers are the same, too.
TYPED_TEST(LocalFftTest, MeasuringChoosesOneOfThePossibleEnginesAndSticksToIt) {
  for (const PlanKind kind : {PlanKind::complex_inverse, PlanKind::real_forward}) {
    const auto kernels = possible_kernels(kind, 256);
    const LocalKernel kernel = choose_kernel<TypeParam>(kind, 256, Rigor::measure);
    EXPECT_NE(std::find(kernels.begin(), kernels.end(), kernel), kernels.end());
    EXPECT_EQ(choose_kernel<TypeParam>(kind, 256, Rigor::measure), kernel);
    const auto times = time_kernels<TypeParam>(kind, 256, 1e-3);
    ASSERT_EQ(times.size(), kernels.size());
    for (const KernelTime& time : times) {
      EXPECT_GT(time.seconds, 0);
      EXPECT_LE(
          std::min_element(times.begin(), times.end(), [](auto& a, auto& b) { return a.seconds < b.seconds; })
              ->seconds,
          time.seconds);
    }
  }
  EXPECT_EQ(fastest({{LocalKernel::fftw, 2.0}, {LocalKernel::own, 1.0}, {LocalKernel::pieces, 3.0}}),
            LocalKernel::own);
}

TYPED_TEST(LocalFftTest, ProgressCountsEveryPieceOnceUpToOne) {
  using Complex = std::complex<TypeParam>;
  for (const auto& [length, kernel, batch, calls] :
       {std::tuple(std::size_t{16}, LocalKernel::fftw, std::size_t{10}, std::size_t{10}),
        std::tuple(std::size_t{16}, LocalKernel::own, std::size_t{10}, std::size_t{10}),
        std::tuple(kLong, LocalKernel::pieces, std::size_t{2}, std::size_t{2} * 8 * 3),
        std::tuple(4 * kLong, LocalKernel::own, std::size_t{2}, std::size_t{2} * 16 * 2)}) {
    SCOPED_TRACE(testing::Message() << "N=" << length << " by " << to_string(kernel));
    omp_set_num_threads(3);
    std::vector<Complex> x(length * batch);
    std::vector<double> fractions;
    std::mutex mutex;
    LocalFft<TypeParam> local(length, Direction::forward, kernel, Rigor::estimate);
    local.execute(x.data(), x.data(), batch, [&](double fraction) {
      const std::lock_guard lock(mutex);
      fractions.push_back(fraction);
    });
    EXPECT_EQ(fractions.size(), calls);
    EXPECT_EQ(local.progress_steps() * batch, calls);
    std::sort(fractions.begin(), fractions.end());
    EXPECT_EQ(std::adjacent_find(fractions.begin(), fractions.end()), fractions.end());
    EXPECT_GT(fractions.front(), 0);
    EXPECT_EQ(fractions.back(), 1);
  }
}

TYPED_TEST(LocalFftTest, AnExceptionOfTheCallbackComesOut) {
  omp_set_num_threads(2);
  for (const std::size_t length : {std::size_t{16}, kLong}) {
    std::vector<std::complex<TypeParam>> x(length * 4);
    LocalFft<TypeParam> local(length, Direction::forward);
    EXPECT_THROW(local.execute(x.data(), x.data(), 4, [](double) { throw std::range_error("stop"); }),
                 std::range_error);
    EXPECT_NO_THROW(local.execute(x.data(), x.data(), 4));
  }
}

TYPED_TEST(LocalFftTest, RealTransformsOfAnyLengthMatchTheNaiveOneAndComeBack) {
  using T = TypeParam;
  for (const std::size_t length : {1U, 2U, 3U, 7U, 16U, 101U, 128U, 256U, 300U}) {
    const std::size_t batch = 7;
    const auto x = random_samples<T>(batch * length, length);
    std::vector<std::complex<long double>> expected;
    std::vector<T> expected_back;
    for (std::size_t v = 0; v < batch; ++v) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(v * length);
      const auto one = naive_dft(std::vector<T>(first, first + static_cast<std::ptrdiff_t>(length)));
      expected.insert(expected.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(length / 2 + 1));
    }
    for (const T sample : x) expected_back.push_back(sample * static_cast<T>(length));
    RealFft<T> real(length);
    std::vector<std::complex<T>> spectrum(batch * real.bins());
    std::vector<T> back(x.size());
    std::vector<std::vector<std::complex<T>>> by_threads;
    for (const int threads : {1, 2, 3, 4}) {
      omp_set_num_threads(threads);
      std::fill(spectrum.begin(), spectrum.end(), std::complex<T>{});
      real.forward(x.data(), spectrum.data(), batch);
      by_threads.push_back(spectrum);
      EXPECT_EQ(by_threads.front(), by_threads.back()) << length;
    }
    EXPECT_LT(relative_l2_error(spectrum, expected), error_gate<T>()) << length;
    for (std::size_t v = 0; v < batch; ++v) spectrum[v * real.bins()].imag(3);  // to be ignored
    real.inverse(spectrum.data(), back.data(), batch);
    EXPECT_LT(relative_l2_error(back, expected_back), error_gate<T>()) << length;
  }
}

TYPED_TEST(LocalFftTest, PlansAreSharedAndBadLengthsRejected) {
  using Plan = FftwPlan<TypeParam>;
  EXPECT_EQ(Plan::get(PlanKind::complex_forward, 24, Rigor::estimate),
            Plan::get(PlanKind::complex_forward, 24, Rigor::estimate));
  EXPECT_NE(Plan::get(PlanKind::complex_forward, 24, Rigor::estimate),
            Plan::get(PlanKind::complex_inverse, 24, Rigor::estimate));
  const auto too_long = static_cast<std::size_t>(std::numeric_limits<int>::max());
  EXPECT_THROW((void)Plan::get(PlanKind::real_forward, too_long, Rigor::estimate), std::invalid_argument);
  EXPECT_THROW(LocalFft<TypeParam>(0, Direction::forward), std::invalid_argument);
  EXPECT_THROW(RealFft<TypeParam>(0), std::invalid_argument);
  EXPECT_THROW(PackedRealFft<TypeParam>(0, Direction::forward), std::invalid_argument);
}

/// FFTW writes its wisdom in no particular order.
std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TYPED_TEST(LocalFftTest, WisdomTravelsAsTextAndSurvivesEstimatedPlans) {
  using Complex = std::complex<TypeParam>;
  const std::size_t length = 840;
  (void)FftwPlan<TypeParam>::get(PlanKind::complex_forward, length, Rigor::measure);
  const std::string wisdom = export_wisdom<TypeParam>();
  EXPECT_NE(wisdom.find("fftw"), std::string::npos);
  EXPECT_NO_THROW(import_wisdom<TypeParam>(wisdom));
  EXPECT_THROW(import_wisdom<TypeParam>("(not wisdom"), std::invalid_argument);
  (void)FftwPlan<TypeParam>::get(PlanKind::complex_forward, length, Rigor::estimate);
  EXPECT_EQ(sorted_lines(export_wisdom<TypeParam>()), sorted_lines(wisdom));
  const auto x = random_samples<Complex>(length, 2);
  std::vector<Complex> out(length);
  LocalFft<TypeParam>(length, Direction::forward, Rigor::measure).execute(x.data(), out.data());
  EXPECT_LT(relative_l2_error(out, naive_dft(x)), error_gate<TypeParam>());
}

TEST(BufferTest, RefusesSizesThatOverflow) {
  EXPECT_THROW(Buffer<double>(std::numeric_limits<std::size_t>::max() / 4), std::bad_array_new_length);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Buffer<float>(3).data()) % Buffer<float>::kAlignmentBytes, 0U);
}

}  // namespace
}  // namespace papfft::fft
