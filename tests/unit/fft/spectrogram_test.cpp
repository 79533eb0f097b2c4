// SPDX-License-Identifier: MIT
#include "fft/spectral/spectrogram.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

struct GoldenWindow {
  std::string name;
  double alpha;
  std::vector<double> values;
};

struct GoldenSpectrogram {
  std::size_t samples;
  SpectrogramSettings settings;
  bool complex;
  std::vector<double> bins_hz;
  std::vector<double> times_s;
  std::vector<double> values;  // frames x bins
};

#include "tests/unit/fft/scipy_golden.inc"

/// The generator of scripts/make_scipy_golden.py.
std::vector<double> noise(std::size_t n, std::uint32_t seed) {
  std::vector<double> out(n);
  for (double& value : out) {
    seed = seed * 1664525U + 1013904223U;
    value = seed / 2147483648.0 - 1 + 0.5;
  }
  return out;
}

template <typename T>
std::vector<std::complex<T>> complex_noise(std::size_t n) {
  const auto re = noise(n, 1);
  const auto im = noise(n, 2);
  std::vector<std::complex<T>> out;
  for (std::size_t i = 0; i < n; ++i) out.emplace_back(static_cast<T>(re[i]), static_cast<T>(im[i]));
  return out;
}

template <typename T>
std::vector<T> real_noise(std::size_t n) {
  std::vector<T> out;
  for (const double value : noise(n, 1)) out.push_back(static_cast<T>(value));
  return out;
}

/// The spectrogram of a golden case, in precision T.
template <typename T>
std::vector<T> computed(const GoldenSpectrogram& golden) {
  Spectrogram<T> spectrogram(golden.settings);
  std::vector<T> out(golden.values.size());
  if (golden.complex) {
    spectrogram.process(complex_noise<T>(golden.samples), golden.times_s.size(), out.data());
  } else {
    spectrogram.process(real_noise<T>(golden.samples), golden.times_s.size(), out.data());
  }
  return out;
}

TEST(WindowTest, EqualsScipys) {
  ASSERT_FALSE(kGoldenWindows.empty());
  for (const auto& golden : kGoldenWindows) {
    const auto window = make_window(parse_window(golden.name), golden.values.size(), golden.alpha);
    ASSERT_EQ(window.size(), golden.values.size());
    for (std::size_t k = 0; k < window.size(); ++k) {
      EXPECT_NEAR(window[k], golden.values[k], 1e-15) << golden.name << ' ' << golden.alpha << " at " << k;
    }
  }
}

TEST(WindowTest, UnknownNamesAreRejectedByName) {
  EXPECT_THROW((void)parse_window("Hann"), std::invalid_argument);
  try {
    (void)parse_window("kaiser");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("kaiser"), std::string::npos);
  }
}

TEST(SpectrogramTest, EqualsScipys) {
  ASSERT_FALSE(kGoldenSpectrograms.empty());
  for (const auto& golden : kGoldenSpectrograms) {
    SCOPED_TRACE(testing::Message() << "nperseg " << golden.settings.nperseg << " complex "
                                    << golden.complex);
    const Framing framing(golden.samples, golden.settings.nperseg, golden.settings.noverlap);
    const Spectrogram<double> spectrogram(golden.settings);
    ASSERT_EQ(framing.frames(), golden.times_s.size());
    ASSERT_EQ(golden.complex ? spectrogram.complex_bins() : spectrogram.real_bins(), golden.bins_hz.size());
    for (std::size_t k = 0; k < golden.bins_hz.size(); ++k) {
      const double hz = golden.complex ? spectrogram.complex_bin_hz(k) : spectrogram.real_bin_hz(k);
      EXPECT_NEAR(hz, golden.bins_hz[k], 1e-12 * golden.settings.sample_rate_hz);
    }
    for (std::size_t f = 0; f < golden.times_s.size(); ++f) {
      EXPECT_NEAR(spectrogram.frame_time_s(f), golden.times_s[f], 1e-12 * golden.times_s.back());
    }
    EXPECT_LT(test::relative_l2_error(computed<double>(golden), golden.values), 1e-14);
    EXPECT_LT(test::relative_l2_error(computed<float>(golden), golden.values), 1e-6);
    const double largest = *std::max_element(golden.values.begin(), golden.values.end());
    const auto values = computed<double>(golden);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], golden.values[i], 1e-12 * largest) << i;
  }
}

// Ranks are given slices of frames, threads share them: the numbers must be the whole's, to the bit.
TEST(SpectrogramTest, SlicesAndThreadsDoNotChangeABit) {
  const int threads_before = omp_get_max_threads();
  SpectrogramSettings settings;
  settings.nperseg = 25;
  settings.noverlap = 7;
  const auto x = real_noise<float>(1000);
  const Framing framing(x.size(), settings.nperseg, settings.noverlap);
  Spectrogram<float> spectrogram(settings);
  const std::size_t bins = spectrogram.real_bins();
  std::vector<float> whole(framing.frames() * bins);
  omp_set_num_threads(1);
  spectrogram.process(x, framing.frames(), whole.data());
  for (const int threads : {1, 2, 3, 4}) {
    omp_set_num_threads(threads);
    std::vector<float> sliced(whole.size());
    for (std::size_t begin = 0; begin < framing.frames(); begin += 11) {
      const std::size_t end = std::min(begin + 11, framing.frames());
      const auto samples =
          std::span(x).subspan(framing.first_sample(begin), framing.samples_spanned(begin, end));
      spectrogram.process(samples, end - begin, sliced.data() + begin * bins);
    }
    EXPECT_EQ(sliced, whole) << threads;
  }
  omp_set_num_threads(threads_before);
}

TEST(FramingTest, CountsWholeFramesOnly) {
  EXPECT_EQ(Framing(0, 4, 0).frames(), 0U);
  EXPECT_EQ(Framing(3, 4, 0).frames(), 0U);
  EXPECT_EQ(Framing(4, 4, 3).frames(), 1U);
  EXPECT_EQ(Framing(5, 4, 3).frames(), 2U);
  EXPECT_EQ(Framing(11, 4, 0).frames(), 2U);
  EXPECT_EQ(Framing(12, 4, 0).frames(), 3U);
  for (std::size_t samples = 0; samples < 60; ++samples) {
    const Framing framing(samples, 7, 3);
    const std::size_t frames = framing.frames();
    EXPECT_LE(framing.samples_spanned(0, frames), samples);
    EXPECT_GT(framing.samples_spanned(0, frames + 1), samples);
  }
  EXPECT_EQ(Framing(60, 7, 3).samples_spanned(4, 4), 0U);
  EXPECT_EQ(Framing(60, 7, 3).samples_spanned(4, 6), 11U);
}

TEST(SpectrogramTest, RejectsBadSettingsAndShortInput) {
  const auto with = [](auto change) {
    SpectrogramSettings settings;
    change(settings);
    return settings;
  };
  using S = SpectrogramSettings;
  EXPECT_THROW(Spectrogram<double>(with([](S& s) { s.nperseg = 0; })), std::invalid_argument);
  EXPECT_THROW(Spectrogram<double>(with([](S& s) { s.noverlap = s.nperseg; })), std::invalid_argument);
  EXPECT_THROW(Spectrogram<double>(with([](S& s) { s.sample_rate_hz = 0; })), std::invalid_argument);
  EXPECT_THROW(Spectrogram<double>(with([](S& s) { s.sample_rate_hz = std::nan(""); })),
               std::invalid_argument);
  Spectrogram<double> spectrogram{SpectrogramSettings{}};
  const std::vector<double> x(300);
  std::vector<double> out(2 * spectrogram.real_bins());
  EXPECT_THROW(spectrogram.process(x, 2, out.data()), std::invalid_argument);
  EXPECT_NO_THROW(spectrogram.process(x, 1, out.data()));
}

}  // namespace
}  // namespace papfft::fft
