// SPDX-License-Identifier: MIT
#include "fft/local.hpp"

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

/// Into how many pieces a vector is cut: see README.md for the measurements.
std::size_t pieces_for(std::size_t length) {
  constexpr std::size_t kLong = std::size_t{1} << 16U;
  constexpr std::size_t kVeryLong = std::size_t{1} << 20U;
  if (length >= kVeryLong && length % kMaxPieces == 0) return kMaxPieces;
  return length >= kLong && length % 8 == 0 ? 8 : 1;
}

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

template <typename T>
LocalFft<T>::LocalFft(std::size_t length, Direction direction, Rigor rigor) : length_(length) {
  const PlanKind kind =
      direction == Direction::forward ? PlanKind::complex_forward : PlanKind::complex_inverse;
  const std::size_t pieces = pieces_for(length);
  if (pieces > 1) split_.emplace(length, pieces, direction, 1.0);
  const std::size_t vector_length = length / pieces;
  plan_ = FftwPlan<T>::get(kind, vector_length, rigor);
  // A cache line more than needed: pieces a power of two apart would compete for the same cache sets.
  constexpr std::size_t kLine = Buffer<Complex>::kAlignmentBytes / sizeof(Complex);
  pitch_ = round_up(vector_length, kLine) + kLine;
  if (pieces > 1) work_ = Buffer<Complex>(2 * pieces * pitch_);
}

template <typename T>
void LocalFft<T>::execute(const Complex* in, Complex* out, std::size_t batch, const Progress& progress) {
  if (!split_) return execute_batch(in, out, batch, progress);
  ProgressCounter counter(progress, batch * pieces() * (kSplitUnits + kPieceUnits + kInterleaveUnits));
  for (std::size_t v = 0; v < batch; ++v) execute_in_pieces(in + v * length_, out + v * length_, counter);
  counter.finish();
}

template <typename T>
void LocalFft<T>::execute_batch(const Complex* in, Complex* out, std::size_t batch,
                                const Progress& progress) {
  const bool one_thread = batch == 1 || omp_in_parallel() != 0;
  const int threads = one_thread ? 1 : omp_get_max_threads();
  // FFTW rounds in another order when in place or unaligned: such vectors go through aligned work space instead.
  const bool aligned_vectors =
      batch <= 1 || FftwPlan<T>::is_aligned(in + length_) == FftwPlan<T>::is_aligned(in);
  const bool direct =
      in != out && aligned_vectors && FftwPlan<T>::is_aligned(in) && FftwPlan<T>::is_aligned(out);
  const std::size_t work_size = direct ? 0 : static_cast<std::size_t>(threads) * 2 * pitch_;
  if (work_.size() < work_size) work_ = Buffer<Complex>(work_size);
  ProgressCounter counter(progress, batch);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (!one_thread)
  for (std::size_t v = 0; v < batch; ++v) {
    counter.run(1, [&] {
      const Complex* const from = in + v * length_;
      Complex* const to = out + v * length_;
      if (direct) {
        plan_->execute(from, to);
        return;
      }
      Complex* const work =
          work_.data() + static_cast<std::size_t>(one_thread ? 0 : omp_get_thread_num()) * 2 * pitch_;
      std::copy_n(from, length_, work);
      plan_->execute(work, work + pitch_);
      std::copy_n(work + pitch_, length_, to);
    });
  }
  counter.finish();
}

template <typename T>
void LocalFft<T>::execute_in_pieces(const Complex* in, Complex* out, ProgressCounter& counter) {
  const std::size_t count = pieces();
  const std::size_t piece_length = split_->block_length();
  Complex* const transformed = work_.data() + count * pitch_;
  // Slice s of a piece; borders at multiples of the pass's tile width.
  const auto border = [&](std::size_t s) {
    return std::min(piece_length, round_up(piece_length * s / count, ColumnDft<T>::kColumns));
  };
#pragma omp parallel if (omp_in_parallel() == 0)
  {
#pragma omp for schedule(dynamic, 1)
    for (std::size_t s = 0; s < count; ++s) {
      counter.run(kSplitUnits, [&] {
        std::array<Complex*, kMaxPieces> to{};
        for (std::size_t r = 0; r < count; ++r) to[r] = work_.data() + r * pitch_ + border(s);
        split_->run(in, std::span(to.data(), count), border(s), border(s + 1));
      });
    }
#pragma omp for schedule(dynamic, 1)
    for (std::size_t r = 0; r < count; ++r) {
      counter.run(kPieceUnits, [&] { plan_->execute(work_.data() + r * pitch_, transformed + r * pitch_); });
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
