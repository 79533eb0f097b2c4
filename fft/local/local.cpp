// SPDX-License-Identifier: MIT
#include "fft/local/local.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace papfft::fft {
namespace {

constexpr std::size_t kMaxPieces = 16;
/// Shares of the three steps in a long vector's time, about as measured; only the reported progress depends on them.
constexpr std::size_t kSplitUnits = 2;
constexpr std::size_t kPieceUnits = 4;
constexpr std::size_t kInterleaveUnits = 1;

/// From this length on the threads share one vector's tiles, in this many parts per step.
constexpr std::size_t kShortestShared = std::size_t{1} << 16U;
constexpr std::size_t kTileParts = 16;

}  // namespace

template <typename T>
LocalFft<T>::LocalFft(std::size_t length, Direction direction, Rigor rigor)
    : LocalFft(length, direction, choose_kernel<T>(complex_kind(direction), length, rigor), rigor) {}

template <typename T>
LocalFft<T>::LocalFft(std::size_t length, Direction direction, LocalKernel kernel, Rigor rigor)
    : length_(length), direction_(direction), kernel_(kernel) {
  switch (kernel) {
    case LocalKernel::own:
      own_ = PowerOfTwoFft<T>::get(length);
      if (length >= kShortestShared) pieces_ = std::min({kTileParts, own_->tiles(1), own_->tiles(2)});
      return;
    case LocalKernel::pieces:
      pieces_ = pieces_of(length);
      if (pieces_ == 1) throw std::invalid_argument("LocalFft: this length is not cut into pieces");
      split_.emplace(length, pieces_, direction, 1.0);
      break;
    case LocalKernel::fftw:
      break;
  }
  const std::size_t vector_length = length / pieces_;
  plan_ = FftwPlan<T>::get(complex_kind(direction), vector_length, rigor);
  pitch_ = Buffer<Complex>::apart(vector_length);
}

template <typename T>
std::size_t LocalFft<T>::progress_steps() const noexcept {
  return pieces_ == 1 ? 1 : pieces_ * (own_ ? 2 : 3);
}

template <typename T>
void LocalFft<T>::execute(const Complex* in, Complex* out, std::size_t batch, const Progress& progress) {
  if (pieces_ == 1) return execute_whole_vectors(in, out, batch, progress);
  const std::size_t units = own_ ? 2 : kSplitUnits + kPieceUnits + kInterleaveUnits;
  ProgressCounter counter(progress, batch * pieces_ * units);
  for (std::size_t v = 0; v < batch; ++v) {
    const std::size_t first = v * length_;
    if (own_) {
      execute_in_tiles(in + first, out + first, counter);
    } else {
      execute_in_pieces(in + first, out + first, counter);
    }
  }
  counter.finish();
}

template <typename T>
void LocalFft<T>::execute_whole_vectors(const Complex* in, Complex* out, std::size_t batch,
                                        const Progress& progress) {
  if (!own_) return execute_batch(in, out, batch, progress);
  for_each_vector(batch, own_->work_size(), work_, progress, [&](std::size_t v, Complex* work) {
    own_->execute(direction_, in + v * length_, out + v * length_, work);
  });
}

template <typename T>
void LocalFft<T>::execute_in_tiles(const Complex* in, Complex* out, ProgressCounter& counter) {
  const bool one_thread = omp_in_parallel() != 0;
  const auto threads = static_cast<std::size_t>(one_thread ? 1 : omp_get_max_threads());
  const std::size_t tile_pitch = Buffer<Complex>::whole_lines(own_->tile_size());
  const std::size_t shared_pitch = Buffer<Complex>::whole_lines(own_->shared_size());
  const std::size_t work_size = shared_pitch + threads * tile_pitch;
  if (work_.size() < work_size) work_ = Buffer<Complex>(work_size);
#pragma omp parallel num_threads(static_cast <int>(threads)) if (!one_thread)
  {
    const auto thread = static_cast<std::size_t>(one_thread ? 0 : omp_get_thread_num());
    Complex* const tile = work_.data() + shared_pitch + thread * tile_pitch;
    for (const int step : {1, 2}) {
      const std::size_t tiles = own_->tiles(step);
#pragma omp for schedule(dynamic, 1)
      for (std::size_t part = 0; part < pieces_; ++part) {
        counter.run(1, [&] {
          own_->run_tiles(step, tiles * part / pieces_, tiles * (part + 1) / pieces_, direction_, in, out,
                          work_.data(), tile);
        });
      }
    }
  }
}

template <typename T>
void LocalFft<T>::execute_batch(const Complex* in, Complex* out, std::size_t batch,
                                const Progress& progress) {
  // FFTW rounds in another order when in place or unaligned: such vectors go through aligned work space instead.
  const bool aligned_vectors =
      batch <= 1 || FftwPlan<T>::is_aligned(in + length_) == FftwPlan<T>::is_aligned(in);
  const bool from_place = aligned_vectors && FftwPlan<T>::is_aligned(in);
  const bool direct = in != out && from_place && FftwPlan<T>::is_aligned(out);
  const std::size_t work_size = direct ? 0 : from_place ? pitch_ : 2 * pitch_;
  for_each_vector(batch, work_size, work_, progress, [&](std::size_t v, Complex* result) {
    const Complex* const from = in + v * length_;
    Complex* const to = out + v * length_;
    if (direct) return plan_->execute(from, to);
    if (from_place) {
      plan_->execute(from, result);
    } else {
      std::copy_n(from, length_, result + pitch_);
      plan_->execute(result + pitch_, result);
    }
    std::copy_n(result, length_, to);
  });
}

template <typename T>
void LocalFft<T>::execute_in_pieces(const Complex* in, Complex* out, ProgressCounter& counter) {
  const std::size_t count = pieces_;
  const std::size_t piece_length = split_->block_length();
  // The pieces are made where the result will be, which saves memory, unless FFTW would round otherwise there.
  const bool at_result = FftwPlan<T>::is_aligned(out) && FftwPlan<T>::is_aligned(out + piece_length);
  const std::size_t work_size = (at_result ? 1 : 2) * count * pitch_;
  if (work_.size() < work_size) work_ = Buffer<Complex>(work_size);
  Complex* const transformed = work_.data();
  Complex* const made = at_result ? out : work_.data() + count * pitch_;
  const std::size_t made_pitch = at_result ? piece_length : pitch_;
  // Slice s of a piece; borders at multiples of the pass's tile width.
  const auto border = [&](std::size_t s) {
    constexpr std::size_t kTile = ColumnDft<T>::kColumns;
    return std::min(piece_length, (piece_length * s / count + kTile - 1) / kTile * kTile);
  };
#pragma omp parallel if (omp_in_parallel() == 0)
  {
#pragma omp for schedule(dynamic, 1)
    for (std::size_t s = 0; s < count; ++s) {
      counter.run(kSplitUnits, [&] {
        std::array<Complex*, kMaxPieces> to{};
        for (std::size_t r = 0; r < count; ++r) to[r] = made + r * made_pitch + border(s);
        split_->run(in, std::span(to.data(), count), border(s), border(s + 1));
      });
    }
#pragma omp for schedule(dynamic, 1)
    for (std::size_t r = 0; r < count; ++r) {
      counter.run(kPieceUnits, [&] { plan_->execute(made + r * made_pitch, transformed + r * pitch_); });
    }
#pragma omp for schedule(dynamic, 1)
    for (std::size_t s = 0; s < count; ++s) {
      counter.run(kInterleaveUnits, [&] {
        std::array<const Complex*, kMaxPieces> from{};
        for (std::size_t r = 0; r < count; ++r) from[r] = transformed + r * pitch_ + border(s);
        interleave<T>(std::span(from.data(), count), border(s + 1) - border(s), out + count * border(s));
      });
    }
  }
}

template class LocalFft<float>;
template class LocalFft<double>;

}  // namespace papfft::fft
