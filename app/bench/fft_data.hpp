// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "app/bench/fft_rows.hpp"
#include "app/bench/fftw_threads.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"

namespace papfft::app {

/// A vector of the benchmark, its transform and what that should be; and what one process needs for it. At the root.
/// @tparam Sample  T or complex<T>
template <typename T, typename Sample>
struct FftData {
  using Complex = std::complex<T>;
  using Clock = std::chrono::steady_clock;
  static constexpr bool kReal = !std::is_same_v<Sample, Complex>;

  std::size_t length = 0;
  fft::Buffer<Sample> in = {};
  fft::Buffer<Complex> out = {};
  std::vector<std::complex<double>> expected = {};

  [[nodiscard]] std::size_t bins() const { return kReal ? length / 2 + 1 : length; }

  void allocate() {
    in = fft::Buffer<Sample>(length);
    out = fft::Buffer<Complex>(bins());
  }

  void fill(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<T> value(-1, 1);
    const auto sample = [&] {
      if constexpr (kReal) {
        return value(random);
      } else {
        const T re = value(random);
        return Complex{re, value(random)};
      }
    };
    for (Sample& x : in) x = sample();
    std::vector<std::complex<double>> wide(in.begin(), in.end());
    fft::LocalFft<double>(length, fft::Direction::forward).execute(wide.data(), wide.data());
    wide.resize(bins());
    expected = std::move(wide);
  }

  /// The relative L2 distance of the last result from one process's transform in double precision.
  [[nodiscard]] double error_l2() const {
    double difference = 0;
    double norm = 0;
    for (std::size_t k = 0; k < bins(); ++k) {
      difference += std::norm(std::complex<double>(out[k]) - expected[k]);
      norm += std::norm(expected[k]);
    }
    return std::sqrt(difference / norm);
  }

  [[nodiscard]] FftAlone measure_alone() {
    FftAlone alone;
    std::function<void()> transform;
    if constexpr (kReal) {
      const auto fft = std::make_shared<fft::RealFft<T>>(length, fft::Rigor::tuned);
      alone.kernel = fft->kernel();
      transform = [this, fft] { fft->forward(in.data(), out.data()); };
    } else {
      const auto fft = std::make_shared<fft::LocalFft<T>>(length, fft::Direction::forward, fft::Rigor::tuned);
      alone.kernel = fft->kernel();
      transform = [this, fft] { fft->execute(in.data(), out.data()); };
    }
    const auto begin = Clock::now();
    do {
      const auto start = Clock::now();
      transform();
      alone.ms.push_back(since_ms(start));
    } while (Clock::now() - begin < std::chrono::milliseconds(300));
    alone.error_l2 = error_l2();
    return alone;
  }

  /// What one would do without us on this machine alone.
  [[nodiscard]] FftAlone measure_fftw() {
    FftwThreads<T> fftw(length, kReal);
    std::copy_n(in.data(), length, static_cast<Sample*>(fftw.in()));
    fftw.execute();
    std::copy_n(fftw.out(), bins(), out.data());
    FftAlone f;
    f.threads = fftw.threads();
    f.error_l2 = error_l2();
    const auto begin = Clock::now();
    do {
      const auto start = Clock::now();
      fftw.execute();
      f.ms.push_back(since_ms(start));
    } while (Clock::now() - begin < std::chrono::seconds(1));
    return f;
  }

 private:
  static double since_ms(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
};

}  // namespace papfft::app
