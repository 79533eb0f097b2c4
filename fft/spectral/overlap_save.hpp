// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/parallel.hpp"

namespace papfft::fft {

/// Convolution with a filter h of M taps by transforms of length F >= M (overlap-save). With x preceded by M-1 zeros,
///
///     block j      F samples from j S on, S = F - M + 1           (neighbours share M - 1)
///     result       the last S of IFFT(FFT(block) FFT(h)), which are y[j S .. (j+1) S),   y[n] = sum_m h[m] x[n-m]
///
/// the first M-1 being spoilt by the transform's wrapping around. A block's numbers do not depend on its neighbours, so any
/// rank may do any blocks, with any number of threads.
///
/// @tparam Sample  float, double or std::complex of either. Owns work space: one call at a time per object. Move-only.
template <typename Sample>
class OverlapSave {
 public:
  static constexpr bool kReal = std::is_floating_point_v<Sample>;
  using T = decltype(std::abs(Sample{}));
  using Complex = std::complex<T>;

  /// The power of two F that makes `outputs` results with the least work. At least M, and no longer than one block needs.
  [[nodiscard]] static std::size_t best_length(std::size_t taps, std::uint64_t outputs);
  [[nodiscard]] static std::size_t bins_of(std::size_t length) noexcept {
    return kReal ? length / 2 + 1 : length;
  }
  /// The filter as the constructor wants it: FFT(h)/F, bins_of(F) of them; made once and sent to whoever works.
  /// @throws std::invalid_argument  no taps, or more than F
  [[nodiscard]] static std::vector<Complex> filter_spectrum(std::span<const Sample> taps, std::size_t length);

  /// @param length  F. @param taps  M. @param spectrum  filter_spectrum(h, F)
  /// @throws std::invalid_argument  sizes that do not fit together
  OverlapSave(std::size_t length, std::size_t taps, std::vector<Complex> spectrum);

  /// S: results per block
  [[nodiscard]] std::size_t step() const noexcept { return length_ - taps_ + 1; }
  /// Samples that so many blocks need, from the first one's first on.
  [[nodiscard]] std::size_t samples_spanned(std::size_t blocks) const noexcept {
    return blocks == 0 ? 0 : blocks * step() + taps_ - 1;
  }

  /// @param samples   at least samples_spanned(blocks)
  /// @param out       Shape: blocks x S
  /// @param progress  Optional; called once per block. What it throws is thrown on.
  /// @throws std::invalid_argument  too few samples
  void process(std::span<const Sample> samples, std::size_t blocks, Sample* out,
               const Progress& progress = {});

 private:
  std::size_t length_;
  std::size_t taps_;
  std::vector<Complex> spectrum_;
  std::shared_ptr<const FftwPlan<T>> forward_;
  std::shared_ptr<const FftwPlan<T>> inverse_;
  Buffer<Complex> work_;
};

}  // namespace papfft::fft
