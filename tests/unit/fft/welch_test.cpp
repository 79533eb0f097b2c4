// SPDX-License-Identifier: MIT
// Against the definition, by a slow transform in long double. That the definition is scipy's is shown by the program's tests.
#include "fft/spectral/welch.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <complex>
#include <stdexcept>
#include <string>

#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

using Wide = std::complex<long double>;

/// The line through x that has the least squared distance (or the mean), by the normal equations.
std::vector<Wide> without_trend(std::vector<Wide> x, Detrend detrend) {
  if (detrend == Detrend::none) return x;
  const auto n = static_cast<long double>(x.size());
  long double s1 = 0;
  long double s2 = 0;
  Wide y0 = 0;
  Wide y1 = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const auto t = static_cast<long double>(k);
    s1 += t;
    s2 += t * t;
    y0 += x[k];
    y1 += x[k] * t;
  }
  const bool line = detrend == Detrend::linear && x.size() > 1;
  const Wide slope = line ? (n * y1 - s1 * y0) / (n * s2 - s1 * s1) : Wide(0);
  const Wide start = (y0 - slope * s1) / n;
  for (std::size_t k = 0; k < x.size(); ++k) x[k] -= start + slope * static_cast<long double>(k);
  return x;
}

/// All nfft bins of each frame of one channel.
template <typename Sample>
std::vector<std::vector<Wide>> naive_frames(const std::vector<Sample>& x, const WelchSettings& s) {
  const std::vector<double> window = make_window(s.window, s.nperseg, s.tukey_alpha);
  const std::size_t hop = s.nperseg - s.noverlap;
  std::vector<std::vector<Wide>> spectra;
  for (std::size_t first = 0; first + s.nperseg <= x.size(); first += hop) {
    std::vector<Wide> frame;
    for (std::size_t k = 0; k < s.nperseg; ++k) frame.push_back(static_cast<Wide>(x[first + k]));
    frame = without_trend(frame, s.detrend);
    for (std::size_t k = 0; k < s.nperseg; ++k) frame[k] *= static_cast<long double>(window[k]);
    frame.resize(s.nfft == 0 ? s.nperseg : s.nfft);
    spectra.push_back(test::naive_dft(frame));
  }
  return spectra;
}

/// mean conj(A) B scaled, all bins; doubled and cut to half as real samples want it.
std::vector<Wide> naive_cross(const std::vector<std::vector<Wide>>& a,
                              const std::vector<std::vector<Wide>>& b, const WelchSettings& s, bool half) {
  long double sum = 0;
  long double squares = 0;
  for (const double w : make_window(s.window, s.nperseg, s.tukey_alpha)) {
    sum += w;
    squares += static_cast<long double>(w) * w;
  }
  const long double scale =
      s.scaling == Scaling::density ? 1 / (s.sample_rate_hz * squares) : 1 / (sum * sum);
  const std::size_t n = a.front().size();
  std::vector<Wide> mean(half ? n / 2 + 1 : n);
  for (std::size_t k = 0; k < mean.size(); ++k) {
    for (std::size_t f = 0; f < a.size(); ++f) mean[k] += std::conj(a[f][k]) * b[f][k];
    mean[k] *= scale / static_cast<long double>(a.size()) * (half && k > 0 && 2 * k != n ? 2.0L : 1.0L);
  }
  return mean;
}

std::vector<WelchSettings> all_kinds() {
  std::vector<WelchSettings> kinds;
  for (const std::size_t nperseg : {std::size_t{1}, std::size_t{16}, std::size_t{25}}) {
    for (const std::size_t nfft : {std::size_t{0}, std::size_t{31}, std::size_t{40}}) {
      for (const Detrend detrend : {Detrend::constant, Detrend::linear, Detrend::none}) {
        for (const bool two_sided : {false, true}) {
          kinds.push_back({.sample_rate_hz = 360,
                           .window = nperseg == 25 ? Window::hamming : Window::boxcar,
                           .nperseg = nperseg,
                           .noverlap = nperseg / 3,
                           .nfft = nfft,
                           .scaling = two_sided ? Scaling::spectrum : Scaling::density,
                           .detrend = detrend,
                           .two_sided = two_sided});
        }
      }
    }
  }
  return kinds;
}

std::string told(const WelchSettings& s) {
  return "nperseg " + std::to_string(s.nperseg) + " nfft " + std::to_string(s.nfft) + " detrend " +
         std::to_string(static_cast<int>(s.detrend)) + (s.two_sided ? " two-sided" : "");
}

template <typename Sample>
class WelchTest : public testing::Test {
 protected:
  static constexpr std::size_t kLength = 140;
  static constexpr std::size_t kChannels = 3;
  using T = typename Welch<Sample>::T;
  static constexpr double kTolerance = std::is_same_v<T, float> ? 2e-6 : 1e-14;

  WelchTest() {
    for (std::size_t c = 0; c < kChannels; ++c) {
      std::vector<Sample> x = test::random_samples<Sample>(kLength, 40 + c);
      for (std::size_t k = 0; k < kLength; ++k) x[k] += static_cast<T>(0.7 + 0.01 * static_cast<double>(k));
      side_by_side_.insert(side_by_side_.end(), x.begin(), x.end());
      channels_.push_back(std::move(x));
    }
  }

  std::vector<std::vector<Sample>> channels_;
  std::vector<Sample> side_by_side_;
};

using SampleTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(WelchTest, SampleTypes);

TYPED_TEST(WelchTest, EqualsTheDefinition) {
  const std::vector<ChannelPair> pairs = {{0, 1}, {0, 2}, {2, 1}};
  for (const WelchSettings& settings : all_kinds()) {
    if (settings.nperseg == 1 && settings.detrend != Detrend::none) continue;  // nothing is left
    SCOPED_TRACE(told(settings));
    const std::size_t frames = Framing(this->kLength, settings.nperseg, settings.noverlap).frames();
    Welch<TypeParam> welch(settings, this->kChannels, pairs);
    welch.accumulate(this->side_by_side_, frames);
    std::vector<std::vector<std::vector<Wide>>> spectra;
    for (const auto& channel : this->channels_) spectra.push_back(naive_frames(channel, settings));
    ASSERT_EQ(spectra[0].size(), frames);
    const bool half = Welch<TypeParam>::kReal && !settings.two_sided;

    const std::vector<double> power = welch.power(welch.sums(), frames);
    std::vector<Wide> expected_power;
    for (const auto& x : spectra) {
      const auto one = naive_cross(x, x, settings, half);
      expected_power.insert(expected_power.end(), one.begin(), one.end());
    }
    ASSERT_EQ(power.size(), expected_power.size());
    EXPECT_LT(test::relative_l2_error(power, expected_power), this->kTolerance);

    const auto cross = welch.cross(welch.sums(), frames);
    std::vector<Wide> expected_cross;
    for (const ChannelPair& p : pairs) {
      const auto one = naive_cross(spectra[p.first], spectra[p.second], settings, half);
      expected_cross.insert(expected_cross.end(), one.begin(), one.end());
    }
    ASSERT_EQ(cross.size(), expected_cross.size());
    EXPECT_LT(test::relative_l2_error(cross, expected_cross), this->kTolerance);

    const std::vector<double> coherence = welch.coherence(welch.sums());
    const std::size_t bins = welch.bins();
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      for (std::size_t k = 0; k < bins; ++k) {
        const long double expected = std::norm(expected_cross[p * bins + k]) /
                                     std::abs(expected_power[pairs[p].first * bins + k]) /
                                     std::abs(expected_power[pairs[p].second * bins + k]);
        if (k == 0) continue;  // what the trend left is rounding
        EXPECT_NEAR(coherence[p * bins + k], static_cast<double>(expected), 1e3 * this->kTolerance);
      }
    }
  }
}

TYPED_TEST(WelchTest, ThreadsAndBatchesDoNotChangeABit) {
  const int threads_before = omp_get_max_threads();
  const WelchSettings settings{.nperseg = 12, .noverlap = 5};
  const Framing framing(this->kLength, 12, 5);
  const std::size_t frames = framing.frames();
  omp_set_num_threads(1);
  Welch<TypeParam> whole(settings, this->kChannels, {{0, 1}});
  whole.accumulate(this->side_by_side_, frames);
  const std::vector<double> expected(whole.sums().begin(), whole.sums().end());
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    Welch<TypeParam> parts(settings, this->kChannels, {{0, 1}});
    for (std::size_t begin = 0; begin < frames; begin += 4) {
      const std::size_t end = std::min(begin + 4, frames);
      std::vector<TypeParam> samples;
      for (const auto& channel : this->channels_) {
        const auto first = channel.begin() + static_cast<std::ptrdiff_t>(framing.first_sample(begin));
        samples.insert(samples.end(), first,
                       first + static_cast<std::ptrdiff_t>(framing.samples_spanned(begin, end)));
      }
      parts.accumulate(samples, end - begin);
    }
    EXPECT_EQ(std::vector<double>(parts.sums().begin(), parts.sums().end()), expected) << threads;
  }
  omp_set_num_threads(threads_before);
}

TEST(WelchBinsTest, FrequenciesOfHalfAndOfAllBins) {
  const Welch<double> half({.sample_rate_hz = 100, .nperseg = 10, .noverlap = 0}, 1);
  ASSERT_EQ(half.bins(), 6U);
  EXPECT_EQ(half.bin_hz(5), 50);
  const Welch<double> all({.sample_rate_hz = 100, .nperseg = 10, .noverlap = 0, .two_sided = true}, 1);
  ASSERT_EQ(all.bins(), 10U);
  EXPECT_EQ(all.bin_hz(4), 40);
  EXPECT_EQ(all.bin_hz(5), -50);  // as numpy.fft.fftfreq
  const Welch<std::complex<double>> odd({.sample_rate_hz = 50, .nperseg = 3, .noverlap = 0, .nfft = 5}, 1);
  EXPECT_EQ(odd.bin_hz(2), 20);
  EXPECT_EQ(odd.bin_hz(3), -20);
}

// As scipy.signal's _median_bias: 1 - 1/2 + 1/3 - 1/4 + ..., to the largest odd number.
TEST(WelchMedianTest, BiasOfEvenNumbersOfFramesIsThatOfTheOddOneBefore) {
  EXPECT_DOUBLE_EQ(median_bias(1), 1);
  EXPECT_DOUBLE_EQ(median_bias(2), 1);
  EXPECT_DOUBLE_EQ(median_bias(3), 5.0 / 6);
  EXPECT_DOUBLE_EQ(median_bias(4), 5.0 / 6);
}

TEST(WelchMedianTest, OfTwoFramesIsTheirMean) {
  Welch<double> welch({.sample_rate_hz = 1,
                       .window = Window::boxcar,
                       .nperseg = 2,
                       .noverlap = 0,
                       .scaling = Scaling::spectrum,
                       .detrend = Detrend::none,
                       .average = Average::median},
                      1);
  welch.accumulate(std::vector<double>{1, 1, 2, 2}, 2);
  EXPECT_DOUBLE_EQ(welch.median_power(welch.powers()).front(), (1.0 + 4.0) / 2);
}

TEST(WelchProgressTest, ReachesTheEndOverAllPieces) {
  const WelchSettings settings{.nperseg = 65536, .noverlap = 0};
  const std::vector<double> samples(2 * 6 * 65536, 1.0);
  Welch<double> welch(settings, 2);
  double furthest = 0;
  const int threads_before = omp_get_max_threads();
  omp_set_num_threads(1);  // so that fractions come in order
  welch.accumulate(samples, 6, [&](double fraction) {
    EXPECT_GT(fraction, furthest);
    furthest = fraction;
  });
  EXPECT_EQ(furthest, 1);
  omp_set_num_threads(threads_before);
}

TEST(WelchArgumentsTest, AWindowThatSomebodyElseMadeIsUsed) {
  std::vector<double> samples(64);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i * i % 7);
  const auto power = [&](const WelchSettings& settings) {
    Welch<double> welch(settings, 1);
    welch.accumulate(samples, 7);
    return std::vector<double>(welch.sums().begin(), welch.sums().end());
  };
  const std::vector<double> window = make_window(Window::blackman, 16);
  const auto named = power({.window = Window::blackman, .nperseg = 16, .noverlap = 8});
  EXPECT_NE(power({.nperseg = 16, .noverlap = 8}), named);
  EXPECT_EQ(power({.nperseg = 16, .noverlap = 8, .window_samples = window}), named);
}

TEST(WelchArgumentsTest, MistakesAreRefused) {
  using Settings = WelchSettings;
  const auto make = [](const Settings& s) { return Welch<double>(s, 2); };
  EXPECT_THROW(make({.nperseg = 8, .noverlap = 8}), std::invalid_argument);
  EXPECT_THROW(make({.nperseg = 8, .noverlap = 0, .nfft = 7}), std::invalid_argument);
  EXPECT_THROW(make({.sample_rate_hz = 0}), std::invalid_argument);
  EXPECT_THROW(Welch<double>({}, 2, {{0, 2}}), std::invalid_argument);
  const std::vector<double> three(3, 1);
  EXPECT_THROW(make({.nperseg = 8, .noverlap = 4, .window_samples = three}), std::invalid_argument);
  EXPECT_THROW((void)parse_detrend("cubic"), std::invalid_argument);
  Welch<double> welch({.nperseg = 8, .noverlap = 4}, 2);
  const std::vector<double> samples(23);
  EXPECT_THROW(welch.accumulate(samples, 2), std::invalid_argument);
  EXPECT_NO_THROW(welch.accumulate(std::span(samples).first(16), 1));
}

}  // namespace
}  // namespace papfft::fft
