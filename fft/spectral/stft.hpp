// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "fft/kernel/types.hpp"
#include "fft/local/vector_fft.hpp"
#include "fft/spectral/spectrogram.hpp"

namespace papfft::fft {

/// Short-time Fourier transforms and their inverse, with the numbers of scipy.signal.stft and istft (scaling "spectrum", no detrending).
/// Frame f is the samples [f hop, f hop + nperseg) times the window w, transformed and divided by the sum of w. Real samples have
/// the bins 0..nperseg/2, complex ones all. Borders and padding are the caller's. Owns work space: one call at a time. Move-only.
/// @tparam Sample  T or std::complex<T>
template <typename T, typename Sample>
class Stft {
 public:
  using Complex = std::complex<T>;

  /// @param window  nperseg samples. @throws std::invalid_argument  bad framing, or a window whose sum is 0
  Stft(std::span<const double> window, std::size_t noverlap, Rigor rigor = Rigor::estimate);

  [[nodiscard]] std::size_t nperseg() const noexcept { return window_.size(); }
  [[nodiscard]] std::size_t hop() const noexcept { return hop_; }
  [[nodiscard]] std::size_t bins() const noexcept;
  /// That so many frames span.
  [[nodiscard]] std::size_t samples(std::size_t frames) const noexcept {
    return frames == 0 ? 0 : (frames - 1) * hop_ + nperseg();
  }

  /// @param in   samples(frames) of them. @param out  Shape: frames x bins
  void forward(const Sample* in, std::size_t frames, Complex* out);
  /// The frames' samples times the window, added where frames overlap: to be divided by weights().
  /// @param in   Shape: frames x bins. @param out  samples(frames) of them; what is there is overwritten
  void inverse(const Complex* in, std::size_t frames, Sample* out);
  /// The sum of the squared windows over each of samples(frames), 1 where that is next to nothing.
  [[nodiscard]] std::vector<T> weights(std::size_t frames) const;

 private:
  static constexpr bool kReal = std::is_same_v<Sample, T>;
  using VectorFft = std::conditional_t<kReal, RealVectorFft<T>, ComplexVectorFft<T>>;

  std::vector<T> window_;
  double sum_ = 0;
  std::size_t hop_;
  VectorFft forward_;
  VectorFft inverse_;
  Buffer<Complex> work_;
  Buffer<Sample> frames_;  // of the inverse, before they are added
};

}  // namespace papfft::fft
