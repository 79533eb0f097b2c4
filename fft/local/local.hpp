// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/power_of_two.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/local_kernel.hpp"
#include "fft/local/parallel.hpp"
#include "fft/split/dif.hpp"

namespace papfft::fft {

/// Complex transforms of one length on this process's OpenMP threads, by our own kernels or FFTW (local_kernel.hpp). Unscaled in
/// both directions.
///
/// Short vectors of a batch are shared among the threads. A long one is cut into parts for them: tiles of the own kernels, or
/// pieces made by Split. Whether and how a vector is cut depends on its length and kernel alone, and every part is one
/// thread's: with Rigor::estimate the numbers depend on length, direction, T and the processor type only, not on the number
/// of threads, the batch, the buffers' alignment, or timing. Rigor says which others give this up.
///
/// Owns work space: one `execute` at a time per object. Move-only.
template <typename T>
class LocalFft {
 public:
  using Complex = std::complex<T>;

  /// @throws std::invalid_argument  length is 0, or too long for FFTW
  LocalFft(std::size_t length, Direction direction, Rigor rigor = Rigor::estimate);
  /// By a given kernel; `rigor` is then for FFTW's plans alone.
  /// @throws std::invalid_argument  also: the kernel cannot do this length
  LocalFft(std::size_t length, Direction direction, LocalKernel kernel, Rigor rigor);

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] LocalKernel kernel() const noexcept { return kernel_; }
  /// How many parts of one vector threads can work on at a time.
  [[nodiscard]] std::size_t pieces() const noexcept { return pieces_; }
  /// How often progress is reported per vector.
  [[nodiscard]] std::size_t progress_steps() const noexcept;

  /// out[v*length + q] = sum_n in[v*length + n] exp(-+ 2 pi i nq/length), v < batch.
  /// @param in, out   Shape: batch x length. The same buffer, or disjoint ones.
  /// @param progress  Optional. Called progress_steps() times per vector.
  /// @throws whatever progress throws, after the threads have stopped; `out` is then undefined
  void execute(const Complex* in, Complex* out, std::size_t batch = 1, const Progress& progress = {});

 private:
  void execute_whole_vectors(const Complex* in, Complex* out, std::size_t batch, const Progress& progress);
  void execute_batch(const Complex* in, Complex* out, std::size_t batch, const Progress& progress);
  void execute_in_pieces(const Complex* in, Complex* out, ProgressCounter& counter);
  void execute_in_tiles(const Complex* in, Complex* out, ProgressCounter& counter);

  std::size_t length_;
  Direction direction_;
  LocalKernel kernel_;
  std::size_t pieces_ = 1;
  std::shared_ptr<const PowerOfTwoFft<T>> own_;
  std::optional<Split<T>> split_;
  std::shared_ptr<const FftwPlan<T>> plan_;  // of the whole length, or of a piece
  std::size_t pitch_ = 0;                    // elements between two vectors in work_, aligned for FFTW
  Buffer<Complex> work_;
};

}  // namespace papfft::fft
