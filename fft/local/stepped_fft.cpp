// SPDX-License-Identifier: MIT
#include "fft/local/stepped_fft.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

namespace papfft::fft {

template <typename T>
SteppedFft<T>::SteppedFft(std::size_t length, std::size_t parts, Direction direction, Rigor rigor,
                          std::optional<LocalKernel> kernel)
    : length_(length),
      direction_(direction),
      kernel_(kernel ? *kernel : choose_kernel<T>(complex_kind(direction), length, rigor)) {
  if (kernel_ == LocalKernel::own && PowerOfTwoFft<T>::supports(length)) {
    auto own = PowerOfTwoFft<T>::get(length);
    if (own->tiles(1) > 0 && own->rows(1) % parts == 0 && own->rows(2) % parts == 0) own_ = std::move(own);
  }
  if (own_) {
    in_ = {own_->rows(1), own_->rows(2), own_->tile_columns()};
    out_ = {own_->rows(2), own_->rows(1), own_->tile_columns()};
  } else {
    local_.emplace(length, direction, kernel_, rigor);
    in_ = {parts, (length + parts - 1) / parts, 1};
    out_ = in_;
  }
  vector_ = Buffer<Complex>(in_.rows * in_.columns);
}

template <typename T>
template <typename Body>
void SteppedFft<T>::for_each_tile(Columns columns, const Body& body) {
  const std::size_t first = columns.begin / own_->tile_columns();
  const std::size_t last = columns.end / own_->tile_columns();
  const auto threads = std::min(static_cast<std::size_t>(omp_in_parallel() != 0 ? 1 : omp_get_max_threads()),
                                std::max<std::size_t>(1, last - first));
  const std::size_t pitch = Buffer<Complex>::whole_lines(own_->tile_size());
  if (tile_space_.size() < threads * pitch) tile_space_ = Buffer<Complex>(threads * pitch);
  if (threads == 1) {
    for (std::size_t tile = first; tile < last; ++tile) body(tile, tile_space_.data());
    return;
  }
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(dynamic, 1)
  for (std::size_t tile = first; tile < last; ++tile) {
    body(tile, tile_space_.data() + static_cast<std::size_t>(omp_get_thread_num()) * pitch);
  }
}

template <typename T>
void SteppedFft<T>::put(Columns columns, const Complex* part, std::size_t pitch) {
  is_finished_ = false;
  if (own_) {
    for_each_tile(columns, [&](std::size_t tile, Complex* space) {
      own_->first_step(tile, direction_, part + (tile * own_->tile_columns() - columns.begin), pitch,
                       vector_.data(), space);
    });
    return;
  }
  for (std::size_t i = 0; i < in_.rows; ++i) {
    std::copy_n(part + i * pitch, columns.count(), vector_.data() + i * in_.columns + columns.begin);
  }
}

template <typename T>
std::span<std::complex<T>> SteppedFft<T>::vector() {
  is_finished_ = false;
  if (!own_) return {vector_.data(), length_};
  is_whole_ = true;
  if (whole_.size() == 0) whole_ = Buffer<Complex>(length_);
  return {whole_.data(), length_};
}

template <typename T>
void SteppedFft<T>::take_whole() {
  if (std::exchange(is_whole_, false)) put({0, in_.columns}, whole_.data(), in_.columns);
}

template <typename T>
void SteppedFft<T>::finish() {
  take_whole();
  if (std::exchange(is_finished_, true)) return;
  if (own_) {
    run_second_step({0, out_.columns}, vector_.data(), out_.columns);
  } else {
    local_->execute(vector_.data(), vector_.data());
    std::fill(vector_.data() + length_, vector_.end(), Complex{});  // padding goes, too
  }
}

template <typename T>
void SteppedFft<T>::run_second_step(Columns columns, Complex* part, std::size_t pitch) {
  for_each_tile(columns, [&](std::size_t tile, Complex* space) {
    own_->second_step(tile, direction_, vector_.data(), part + (tile * own_->tile_columns() - columns.begin),
                      pitch, space);
  });
}

template <typename T>
void SteppedFft<T>::get(Columns columns, Complex* part, std::size_t pitch) {
  take_whole();
  if (own_ && !is_finished_) return run_second_step(columns, part, pitch);
  finish();
  for (std::size_t i = 0; i < out_.rows; ++i) {
    std::copy_n(vector_.data() + i * out_.columns + columns.begin, columns.count(), part + i * pitch);
  }
}

template <typename T>
std::span<std::complex<T>> SteppedFft<T>::result() {
  finish();
  return {vector_.data(), length_};
}

template <typename T>
SteppedRealFft<T>::SteppedRealFft(std::size_t length, std::size_t parts, Direction direction, Rigor rigor,
                                  std::optional<LocalKernel> kernel)
    : fft_(length, parts, direction, rigor, kernel), roots_(length) {}

template <typename T>
void SteppedRealFft<T>::put(Columns columns, const Complex* part, std::size_t pitch) {
  is_turned_ = false;
  if (fft_.goes_in_steps()) return put_pairs(columns, part, pitch);
  // The pairs one after another are v itself: the real parts, followed by the imaginary ones.
  const std::span<Complex> pairs = fft_.vector();
  T* const v = reinterpret_cast<T*>(pairs.data());
  for (std::size_t i = 0; i < in().rows; ++i) {
    const std::size_t row = i * in().columns;
    for (std::size_t n = row + columns.begin; n < std::min(row + columns.end, pairs.size()); ++n) {
      const Complex z = part[i * pitch + (n - row - columns.begin)];
      v[n] = z.real();
      v[n + pairs.size()] = z.imag();
    }
  }
}

// A row of pairs is two rows of v. So columns [b, e) of the row i = 2p + h become, with C columns in all, columns h C/2 + [b/2, e/2) of
// the pairs' row p, as far as real parts go; the imaginary ones become those of the row in the other half of the matrix.
template <typename T>
void SteppedRealFft<T>::put_pairs(Columns columns, const Complex* part, std::size_t pitch) {
  const std::size_t rows = in().rows;
  const std::size_t width = columns.count();
  pairs_.resize(rows * width);
  T* const pairs = reinterpret_cast<T*>(pairs_.data());
  for (std::size_t i = 0; i < rows; ++i) {
    const Complex* const from = part + i * pitch;
    for (std::size_t j = 0; j < width; ++j) {
      pairs[i * width + j] = from[j].real();
      pairs[(rows + i) * width + j] = from[j].imag();
    }
  }
  for (const std::size_t half : {0U, 1U}) {
    const std::size_t begin = half * in().columns / 2 + columns.begin / 2;
    fft_.put({begin, begin + width / 2}, pairs_.data() + half * width / 2, width);
  }
}

template <typename T>
std::span<std::complex<T>> SteppedRealFft<T>::result() {
  const std::span<Complex> bins = fft_.result();
  if (!std::exchange(is_turned_, true)) unfold_packed_spectrum<T>(bins, roots_);
  return bins;
}

template <typename T>
std::span<std::complex<T>> SteppedRealFft<T>::vector() {
  is_turned_ = false;
  return fft_.vector();
}

template <typename T>
void SteppedRealFft<T>::get(Columns columns, Complex* part, std::size_t pitch) {
  if (!std::exchange(is_turned_, true)) {
    const std::span<Complex> bins = fft_.vector();
    fold_packed_spectrum<T>(bins, bins.data(), roots_);
  }
  if (fft_.goes_in_steps()) return get_pairs(columns, part, pitch);
  const std::span<const Complex> pairs = fft_.result();
  const T* const v = reinterpret_cast<const T*>(pairs.data());
  for (std::size_t i = 0; i < out().rows; ++i) {
    const std::size_t row = i * out().columns;
    for (std::size_t j = 0; j < columns.count(); ++j) {
      const std::size_t n = row + columns.begin + j;
      part[i * pitch + j] = n < pairs.size() ? Complex(v[n], v[n + pairs.size()]) : Complex{};
    }
  }
}

// put_pairs() backwards.
template <typename T>
void SteppedRealFft<T>::get_pairs(Columns columns, Complex* part, std::size_t pitch) {
  const std::size_t rows = out().rows;
  const std::size_t width = columns.count();
  pairs_.resize(rows * width);
  for (const std::size_t half : {0U, 1U}) {
    const std::size_t begin = half * out().columns / 2 + columns.begin / 2;
    fft_.get({begin, begin + width / 2}, pairs_.data() + half * width / 2, width);
  }
  const T* const pairs = reinterpret_cast<const T*>(pairs_.data());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      part[i * pitch + j] = {pairs[i * width + j], pairs[(rows + i) * width + j]};
    }
  }
}

template class SteppedFft<float>;
template class SteppedFft<double>;
template class SteppedRealFft<float>;
template class SteppedRealFft<double>;

}  // namespace papfft::fft
