// SPDX-License-Identifier: MIT
#include "fft/local/axis_fft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace papfft::fft {
namespace {

/// Of all lines of a tile: enough for all threads, and still in the caches.
constexpr std::size_t kTileBytes = std::size_t{1} << 21U;
/// Elements of a line that are moved before the next line's, so that lines which lie side by side share what was loaded.
constexpr std::size_t kRun = 64;

bool is_cosine(LineKind kind) { return kind == LineKind::dct2 || kind == LineKind::dct3; }

/// The samples of even places in order, then the others backwards: sample n of the line is this one of the real transform.
std::size_t folded(std::size_t n, std::size_t length) { return n % 2 == 0 ? n / 2 : length - 1 - n / 2; }

}  // namespace

template <typename T>
AxisFft<T>::AxisFft(const LinePlan& plan) : plan_(plan), pitch_(std::max(plan.in(), plan.out())) {
  if (plan.length == 0) throw std::invalid_argument("AxisFft: lines without samples");
  if (plan.kind == LineKind::complex) {
    complex_.emplace(plan.length, plan.direction, plan.rigor);
  } else {
    real_.emplace(plan.length, plan.rigor);
  }
  if (!is_cosine(plan.kind)) return;
  for (std::size_t k = 0; k <= plan.length / 2; ++k) {
    const long double angle = std::numbers::pi_v<long double> * static_cast<long double>(k) /
                              static_cast<long double>(2 * plan.length);
    quarter_turns_.emplace_back(static_cast<T>(std::cos(angle)), static_cast<T>(-std::sin(angle)));
  }
}

template <typename T>
void AxisFft<T>::execute(const Complex* in, Complex* out, std::size_t outer, std::size_t have,
                         std::size_t inner) {
  const std::size_t lines = outer * inner;
  const std::size_t most =
      std::clamp<std::size_t>(kTileBytes / (pitch_ * sizeof(Complex)), 1, std::max<std::size_t>(lines, 1));
  if (lines_.size() < most * pitch_) {
    lines_ = Buffer<Complex>(most * pitch_);
    if (real_) half_ = Buffer<Complex>(most * real_->bins());
    if (real_) samples_ = Buffer<T>(most * plan_.length);
  }
  for (std::size_t first = 0; first < lines; first += most) {
    const Tile tile{first, std::min(most, lines - first), inner};
    take(in, tile, have);
    transform(tile.count);
    put(out, tile);
  }
}

/// Into lines_, one line after another.
template <typename T>
void AxisFft<T>::take(const Complex* in, const Tile& tile, std::size_t have) {
  const std::size_t there = std::min(have, plan_.in());
#pragma omp parallel for schedule(static)
  for (std::size_t begin = 0; begin < plan_.in(); begin += kRun) {
    const std::size_t end = std::min(begin + kRun, plan_.in());
    for (std::size_t line = 0; line < tile.count; ++line) {
      const std::size_t l = tile.first + line;
      const Complex* from = in + l / tile.inner * have * tile.inner + l % tile.inner;
      Complex* to = lines_.data() + line * pitch_;
      for (std::size_t i = begin; i < end; ++i) to[i] = i < there ? from[i * tile.inner] : Complex{};
    }
  }
}

template <typename T>
void AxisFft<T>::put(Complex* out, const Tile& tile) const {
  const auto factor = static_cast<T>(plan_.factor);
#pragma omp parallel for schedule(static)
  for (std::size_t begin = 0; begin < plan_.out(); begin += kRun) {
    const std::size_t end = std::min(begin + kRun, plan_.out());
    for (std::size_t line = 0; line < tile.count; ++line) {
      const std::size_t l = tile.first + line;
      const Complex* from = lines_.data() + line * pitch_;
      Complex* to = out + l / tile.inner * plan_.out() * tile.inner + l % tile.inner;
      for (std::size_t i = begin; i < end; ++i) to[i * tile.inner] = from[i] * factor;
    }
  }
}

template <typename T>
void AxisFft<T>::transform(std::size_t lines) {
  if (complex_) return complex_->execute(lines_.data(), lines_.data(), lines);
  const bool from_bins = plan_.kind == LineKind::from_half || plan_.kind == LineKind::dct3;
#pragma omp parallel for schedule(static)
  for (std::size_t line = 0; line < lines; ++line) prepare_line(line);
  if (from_bins) {
    real_->inverse(half_.data(), samples_.data(), lines);
  } else {
    real_->forward(samples_.data(), half_.data(), lines);
  }
#pragma omp parallel for schedule(static)
  for (std::size_t line = 0; line < lines; ++line) finish_line(line);
}

/// What the real transform wants, from lines_.
template <typename T>
void AxisFft<T>::prepare_line(std::size_t line) {
  const std::size_t n = plan_.length;
  const Complex* x = lines_.data() + line * pitch_;
  Complex* bins = half_.data() + line * real_->bins();
  T* samples = samples_.data() + line * n;
  switch (plan_.kind) {
    case LineKind::from_half:
      std::copy_n(x, plan_.in(), bins);
      break;
    case LineKind::dct2:
      for (std::size_t i = 0; i < n; ++i) samples[folded(i, n)] = x[i].real();
      break;
    case LineKind::dct3: {
      const T first = plan_.orthogonal ? x[0].real() * std::numbers::sqrt2_v<T> : x[0].real();
      bins[0] = first;
      for (std::size_t k = 1; k <= n / 2; ++k) {
        bins[k] = Complex(x[k].real(), -x[n - k].real()) * std::conj(quarter_turns_[k]);
      }
      break;
    }
    default:
      for (std::size_t i = 0; i < n; ++i) samples[i] = x[i].real();
  }
}

/// What it has made, into lines_.
template <typename T>
void AxisFft<T>::finish_line(std::size_t line) {
  const std::size_t n = plan_.length;
  Complex* y = lines_.data() + line * pitch_;
  const Complex* bins = half_.data() + line * real_->bins();
  const T* samples = samples_.data() + line * n;
  switch (plan_.kind) {
    case LineKind::half_spectrum:
      std::copy_n(bins, plan_.out(), y);
      break;
    case LineKind::dct2:
      for (std::size_t k = 0; k <= n / 2; ++k) {
        const Complex turned = bins[k] * quarter_turns_[k];
        if (k > 0) y[n - k] = -2 * turned.imag();
        y[k] = 2 * turned.real();
      }
      if (plan_.orthogonal) y[0] /= std::numbers::sqrt2_v<T>;
      break;
    case LineKind::dct3:
      for (std::size_t i = 0; i < n; ++i) y[i] = samples[folded(i, n)];
      break;
    default:
      std::copy_n(samples, n, y);
  }
}

template class AxisFft<float>;
template class AxisFft<double>;

}  // namespace papfft::fft
