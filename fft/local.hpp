// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>

#include "fft/dif.hpp"
#include "fft/fftw_plan.hpp"
#include "fft/parallel.hpp"
#include "fft/types.hpp"

namespace papfft::fft {

/// Complex transforms of one length on this process's OpenMP threads, by FFTW. Unscaled in both directions.
///
/// Short vectors of a batch are shared among the threads. A long one is cut into `pieces()` by Split, the pieces are
/// transformed by the threads and interleaved. Whether and how a vector is cut depends on its length alone, and every
/// piece is planned for one thread: with Rigor::estimate the numbers depend on length, direction and T only, not on the
/// number of threads, the batch, the buffers' alignment, or timing.
///
/// Owns work space: one `execute` at a time per object. Move-only.
template <typename T>
class LocalFft {
 public:
  using Complex = std::complex<T>;

  /// @throws std::invalid_argument  length is 0, or too long for FFTW
  LocalFft(std::size_t length, Direction direction, Rigor rigor = Rigor::estimate);

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] std::size_t pieces() const noexcept { return split_ ? split_->parts() : 1; }

  /// out[v*length + q] = sum_n in[v*length + n] exp(-+ 2 pi i nq/length), v < batch.
  /// @param in, out   Shape: batch x length. The same buffer, or disjoint ones.
  /// @param progress  Optional. Called about pieces() * 3 times per vector.
  /// @throws whatever progress throws, after the threads have stopped; `out` is then undefined
  void execute(const Complex* in, Complex* out, std::size_t batch = 1, const Progress& progress = {});

 private:
  void execute_batch(const Complex* in, Complex* out, std::size_t batch, const Progress& progress);
  void execute_in_pieces(const Complex* in, Complex* out, ProgressCounter& counter);

  std::size_t length_;
  std::optional<Split<T>> split_;
  std::shared_ptr<const FftwPlan<T>> plan_;  // of the whole length, or of a piece
  std::size_t pitch_;                        // elements between two vectors in work_, aligned for FFTW
  Buffer<Complex> work_;
};

}  // namespace papfft::fft
