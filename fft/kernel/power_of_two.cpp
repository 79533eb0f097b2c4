// SPDX-License-Identifier: MIT
#include "fft/kernel/power_of_two.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "fft/kernel/twiddle.hpp"

namespace papfft::fft {
namespace {

/// Transforms of up to this many bytes run whole: input, output and work space stay in a first-level cache of 48 KB.
constexpr std::size_t kWholeBytes = std::size_t{16} << 10U;
/// Vectors of so many bytes or more do not stay in a second-level cache with their work space.
constexpr std::size_t kFarBytes = std::size_t{4} << 20U;
/// Bytes of a tile's row: four cache lines. Shorter rows read memory less well, longer ones make tiles too large.
constexpr std::size_t kTileRowBytes = 256;

template <typename T>
void put(std::complex<T> z, T* re, T* im) {
  *re = z.real();
  *im = z.imag();
}

/// Eights and fours whose product is n >= 16. The fours stand in the middle: the first radix decides how soon a Stockham
/// transform has whole vectors of neighbours, and the last one needs no twiddles.
std::vector<std::size_t> radices_of(std::size_t n) {
  const auto log = static_cast<std::size_t>(std::bit_width(n) - 1);
  const std::size_t fours = log % 3 == 0 ? 0 : log % 3 == 1 ? 2 : 1;
  const std::size_t eights = (log - 2 * fours) / 3;
  std::vector<std::size_t> radices;
  if (eights > 0) radices.push_back(8);
  radices.insert(radices.end(), fours, 4);
  if (eights > 1) radices.insert(radices.end(), eights - 1, 8);
  return radices;
}

/// N = n1 n2. Next to a square the tiles are smallest, which counts for long vectors; for others, so does the number of
/// stages: n1 = 8^i needs fewest.
std::size_t first_factor(std::size_t n, bool far) {
  const auto log = static_cast<std::size_t>(std::bit_width(n) - 1);
  const auto stages = [](std::size_t log_factor) { return (log_factor + 2) / 3; };  // see radices_of
  std::size_t log1 = log / 2;
  if (!far && stages(log1 - 1) + stages(log - log1 + 1) < stages(log1) + stages(log - log1)) --log1;
  return std::size_t{1} << log1;
}

}  // namespace

template <typename T>
bool PowerOfTwoFft<T>::supports(std::size_t length) noexcept {
  return std::has_single_bit(length) && kShortest <= length && length <= kLongest;
}

template <typename T>
std::shared_ptr<const PowerOfTwoFft<T>> PowerOfTwoFft<T>::get(std::size_t length, InstructionSet set) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, InstructionSet>, std::weak_ptr<const PowerOfTwoFft>> known;
  const std::lock_guard lock(mutex);
  auto& entry = known[{length, set}];
  auto fft = entry.lock();
  if (!fft) {
    fft.reset(new PowerOfTwoFft(length, set));
    entry = fft;
  }
  return fft;
}

template <typename T>
PowerOfTwoFft<T>::PowerOfTwoFft(std::size_t length, InstructionSet set)
    : length_(length),
      kernels_(kernel::kernels_for<T>(set)),
      whole_(length * sizeof(Complex) <= kWholeBytes) {
  if (!supports(length)) {
    throw std::invalid_argument("PowerOfTwoFft: no length " + std::to_string(length) + ", but 2^4 to 2^24");
  }
  if (whole_) {
    plan_passes();
  } else {
    plan_four_step();
  }
}

template <typename T>
void PowerOfTwoFft<T>::plan_passes() {
  const auto radices = radices_of(length_);
  const std::size_t largest = *std::max_element(radices.begin(), radices.end());
  passes_.length = length_;
  passes_.lanes = std::min(kernels_.lanes, length_ / largest);
  passes_.count = radices.size();
  const RootTable roots(length_);
  std::size_t stride = 1;
  for (std::size_t number = 0; number < radices.size(); ++number) {
    const std::size_t radix = radices[number];
    auto& pass = passes_.pass[number];
    pass = {radix, stride, nullptr};
    if (number + 1 < radices.size()) {
      // w_(length/stride)^(p k) = w_length^(stride p k)
      const bool wide = stride % passes_.lanes == 0;
      const std::size_t lanes = wide ? 1 : passes_.lanes;
      const std::size_t positions = length_ / radix / (wide ? stride : 1);
      Buffer<T>& table = tables_.emplace_back(positions * (radix - 1) * 2);
      T* to = table.data();
      for (std::size_t first = 0; first < positions; first += lanes) {
        for (std::size_t k = 1; k < radix; ++k, to += 2 * lanes) {
          for (std::size_t l = 0; l < lanes; ++l) {
            const std::size_t p = wide ? first : (first + l) / stride;
            put(roots.root<T>(stride * p * k), to + l, to + lanes + l);
          }
        }
      }
      pass.twiddles = table.data();
    }
    stride *= radix;
  }
}

template <typename T>
kernel::Columns<T> PowerOfTwoFft<T>::plan_columns(std::size_t rows) {
  kernel::Columns<T> plan{};
  const auto radices = radices_of(rows);
  plan.rows = rows;
  plan.count = radices.size();
  const RootTable roots(rows);
  std::vector<std::uint32_t> output_in_row(rows, 0);
  std::size_t weight = 1;  // of the stage's digit in the output's number
  for (std::size_t number = 0; number < radices.size(); ++number) {
    const std::size_t radix = radices[number];
    const std::size_t height = rows / weight / radix;
    auto& stage = plan.stage[number];
    stage = {radix, nullptr};
    if (height > 1) {
      Buffer<T>& table = tables_.emplace_back(height * (radix - 1) * 2);
      T* to = table.data();
      for (std::size_t p = 0; p < height; ++p) {
        for (std::size_t k = 1; k < radix; ++k, to += 2) put(roots.root<T>(weight * p * k), to, to + 1);
      }
      stage.twiddles = table.data();
    }
    for (std::size_t row = 0; row < rows; ++row) {
      output_in_row[row] += static_cast<std::uint32_t>(row / height % radix * weight);
    }
    weight *= radix;
  }
  std::vector<std::uint32_t> row_of_output(rows);
  for (std::size_t row = 0; row < rows; ++row)
    row_of_output[output_in_row[row]] = static_cast<std::uint32_t>(row);
  std::vector<std::uint32_t> first_output;
  for (std::size_t row = 0; row < rows; row += radices.back()) first_output.push_back(output_in_row[row]);
  plan.row_of_output = orders_.emplace_back(std::move(row_of_output)).data();
  plan.first_output = orders_.emplace_back(std::move(first_output)).data();
  return plan;
}

template <typename T>
void PowerOfTwoFft<T>::plan_four_step() {
  four_step_.far = length_ * sizeof(Complex) >= kFarBytes;
  const std::size_t n1 = first_factor(length_, four_step_.far);
  const std::size_t n2 = length_ / n1;
  const std::size_t columns = std::max(kTileRowBytes / sizeof(Complex), kernels_.lanes);
  four_step_.columns = columns;
  // Rows a power of two apart would compete for the same sets of a cache.
  pitch_ = n1 + kTileRowBytes / sizeof(Complex);
  four_step_.first = plan_columns(n1);
  four_step_.second = plan_columns(n2);
  const RootTable roots(length_);
  const auto& row_of_output = four_step_.first.row_of_output;
  T* const lane_twiddles = tables_.emplace_back(n1 * columns * 2).data();
  T* const tile_twiddles = tables_.emplace_back(n2 / columns * n1 * 2).data();
  const std::size_t lanes = kernels_.lanes;
  for (std::size_t k = 0; k < n1; ++k) {
    const std::size_t row = row_of_output[k];
    for (std::size_t c = 0; c < columns; ++c) {
      T* const to = lane_twiddles + 2 * (row * columns + c / lanes * lanes) + c % lanes;
      put(roots.root<T>(k * c), to, to + lanes);
    }
    for (std::size_t tile = 0; tile < n2 / columns; ++tile) {
      T* const to = tile_twiddles + 2 * (tile * n1 + row);
      put(roots.root<T>(k * tile * columns), to, to + 1);
    }
  }
  four_step_.lane_twiddles = lane_twiddles;
  four_step_.tile_twiddles = tile_twiddles;
}

template <typename T>
std::size_t PowerOfTwoFft<T>::tiles(int step) const noexcept {
  if (whole_) return 0;
  return (step == 1 ? four_step_.second.rows : four_step_.first.rows) / four_step_.columns;
}

template <typename T>
std::size_t PowerOfTwoFft<T>::shared_size() const noexcept {
  return whole_ ? 2 * length_ : four_step_.second.rows * pitch_;
}

template <typename T>
std::size_t PowerOfTwoFft<T>::tile_size() const noexcept {
  return whole_ ? 0
                : four_step_.second.rows * four_step_.columns;  // the second step's are the longer columns
}

template <typename T>
void PowerOfTwoFft<T>::run_tiles(int step, std::size_t begin, std::size_t end, Direction direction,
                                 const Complex* in, Complex* out, Complex* shared,
                                 Complex* tile) const noexcept {
  const bool swapped = direction == Direction::inverse;
  auto* const space = reinterpret_cast<T*>(tile);
  // The result's place will do for what is between the steps: one buffer less in the caches.
  const bool in_result = in != out;
  auto* const w = reinterpret_cast<T*>(in_result ? out : shared);
  const std::size_t pitch = in_result ? rows(1) : pitch_;
  for (std::size_t t = begin; t < end; ++t) {
    const std::size_t column = t * tile_columns();
    if (step == 1) {
      kernels_.first_step(four_step_, swapped, t, reinterpret_cast<const T*>(in + column), rows(2), space, w,
                          pitch);
    } else {
      kernels_.second_step(four_step_, swapped, t, w, pitch, space, reinterpret_cast<T*>(out + column),
                           rows(1));
    }
  }
}

template <typename T>
void PowerOfTwoFft<T>::first_step(std::size_t tile, Direction direction, const Complex* in, std::size_t pitch,
                                  Complex* between, Complex* tile_space) const noexcept {
  kernels_.first_step(four_step_, direction == Direction::inverse, tile, reinterpret_cast<const T*>(in),
                      pitch, reinterpret_cast<T*>(tile_space), reinterpret_cast<T*>(between), rows(1));
}

template <typename T>
void PowerOfTwoFft<T>::second_step(std::size_t tile, Direction direction, const Complex* between,
                                   Complex* out, std::size_t pitch, Complex* tile_space) const noexcept {
  kernels_.second_step(four_step_, direction == Direction::inverse, tile, reinterpret_cast<const T*>(between),
                       rows(1), reinterpret_cast<T*>(tile_space), reinterpret_cast<T*>(out), pitch);
}

template <typename T>
void PowerOfTwoFft<T>::execute(Direction direction, const Complex* in, Complex* out,
                               Complex* work) const noexcept {
  if (whole_) {
    kernels_.transform(passes_, direction == Direction::inverse, reinterpret_cast<const T*>(in),
                       reinterpret_cast<T*>(out), reinterpret_cast<T*>(work));
    return;
  }
  run_tiles(1, 0, tiles(1), direction, in, out, work, work + shared_size());
  run_tiles(2, 0, tiles(2), direction, in, out, work, work + shared_size());
}

template <typename T>
bool PowerOfTwoRealFft<T>::supports(std::size_t length) noexcept {
  return length >= kShortest && length % 2 == 0 && PowerOfTwoFft<T>::supports(length / 2);
}

template <typename T>
PowerOfTwoRealFft<T>::PowerOfTwoRealFft(std::size_t length, InstructionSet set)
    : half_(PowerOfTwoFft<T>::get(supports(length) ? length / 2 : 0, set)),
      kernels_(kernel::kernels_for<T>(set)),
      roots_(length / 4 + 1) {
  const RootTable roots(length);
  for (std::size_t q = 0; q < roots_.size(); ++q) roots_[q] = roots.root<T>(q);
}

template <typename T>
void PowerOfTwoRealFft<T>::forward(const T* in, Complex* out, Complex* work) const noexcept {
  const std::size_t m = half_->length();
  half_->execute(Direction::forward, reinterpret_cast<const Complex*>(in), work, work + m);
  kernels_.unfold_real(m, reinterpret_cast<const T*>(roots_.data()), reinterpret_cast<const T*>(work),
                       reinterpret_cast<T*>(out));
}

template <typename T>
void PowerOfTwoRealFft<T>::inverse(const Complex* in, T* out, Complex* work) const noexcept {
  const std::size_t m = half_->length();
  kernels_.fold_real(m, reinterpret_cast<const T*>(roots_.data()), reinterpret_cast<const T*>(in),
                     reinterpret_cast<T*>(work));
  half_->execute(Direction::inverse, work, reinterpret_cast<Complex*>(out), work + m);
}

template class PowerOfTwoFft<float>;
template class PowerOfTwoFft<double>;
template class PowerOfTwoRealFft<float>;
template class PowerOfTwoRealFft<double>;

}  // namespace papfft::fft
