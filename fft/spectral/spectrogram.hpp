// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fft/kernel/types.hpp"
#include "fft/local/parallel.hpp"
#include "fft/local/vector_fft.hpp"
#include "fft/spectral/detrend.hpp"
#include "fft/spectral/window.hpp"

namespace papfft::fft {

/// How a recording is cut into overlapping frames: frame f is the samples [f hop, f hop + nperseg), only whole frames.
class Framing {
 public:
  /// @throws std::invalid_argument  nperseg == 0 or noverlap >= nperseg
  Framing(std::size_t samples, std::size_t nperseg, std::size_t noverlap);

  [[nodiscard]] std::size_t hop() const noexcept { return nperseg_ - noverlap_; }
  /// 0 if the recording is shorter than a frame (scipy shortens the frame then; whoever wants that passes nperseg so).
  [[nodiscard]] std::size_t frames() const noexcept;
  [[nodiscard]] std::size_t first_sample(std::size_t frame) const noexcept { return frame * hop(); }
  /// How many samples the frames [begin, end) span, from first_sample(begin) on; 0 for none.
  [[nodiscard]] std::size_t samples_spanned(std::size_t begin, std::size_t end) const noexcept;

 private:
  std::size_t samples_;
  std::size_t nperseg_;
  std::size_t noverlap_;
};

enum class SpectrogramMode { psd, magnitude };

/// The defaults are those of scipy.signal.spectrogram.
struct SpectrogramSettings {
  double sample_rate_hz = 1.0;
  Window window = Window::tukey;
  double tukey_alpha = 0.25;
  std::size_t nperseg = 256;
  std::size_t noverlap = 32;
  Scaling scaling = Scaling::density;
  Detrend detrend = Detrend::constant;
  SpectrogramMode mode = SpectrogramMode::psd;
  /// nperseg of them, instead of making the window; empty: it is made. Only the constructor looks at them.
  std::span<const double> window_samples = {};
};

/// Short-time spectra with the numbers of scipy.signal.spectrogram. Per frame: subtract the mean or the line
/// (Detrend), multiply by the window w, transform, and
///
///   psd        |X[k]|^2 s; for real input the bins other than 0 and (nperseg even) nperseg/2 doubled
///   magnitude  |X[k]| sqrt(s), never doubled
///
/// with s = 1/(rate sum w^2) for density (units^2/Hz) and 1/(sum w)^2 for spectrum (units^2). Real input gives the
/// nperseg/2+1 bins from 0 to half the rate, complex input all nperseg in the transform's order (negative frequencies
/// last). A frame's numbers do not depend on its neighbours, so any rank may do any frames, with any number of threads.
///
/// Owns work space: one `process` at a time per object. Move-only.
template <typename T>
class Spectrogram {
 public:
  using Complex = std::complex<T>;

  /// @throws std::invalid_argument  bad framing, a rate that is not positive, or a window whose sum is 0
  explicit Spectrogram(const SpectrogramSettings& settings, Rigor rigor = Rigor::estimate);

  [[nodiscard]] std::size_t real_bins() const noexcept { return window_.size() / 2 + 1; }
  [[nodiscard]] std::size_t complex_bins() const noexcept { return window_.size(); }
  [[nodiscard]] double real_bin_hz(std::size_t bin) const noexcept;
  /// In [-rate/2, rate/2).
  [[nodiscard]] double complex_bin_hz(std::size_t bin) const noexcept;
  /// The middle of a frame, from the recording's first sample.
  [[nodiscard]] double frame_time_s(std::size_t frame) const noexcept;

  /// @param samples  from the first sample of the first frame on; at least samples_spanned(0, frames)
  /// @param out      Shape: frames x bins, rows contiguous (scipy's result transposed)
  /// @param progress Optional; called once per frame. What it throws is thrown on.
  /// @throws std::invalid_argument  too few samples
  void process(std::span<const T> samples, std::size_t frames, T* out, const Progress& progress = {});
  void process(std::span<const Complex> samples, std::size_t frames, T* out, const Progress& progress = {});

 private:
  template <typename Sample>
  void process_frames(std::span<const Sample> samples, std::size_t frames, std::size_t bins, T* out,
                      const Progress& progress);

  SpectrogramSettings settings_;
  std::vector<T> window_;
  double scale_ = 1.0;
  RealVectorFft<T> real_fft_;
  ComplexVectorFft<T> complex_fft_;
  Buffer<Complex> work_;
};

}  // namespace papfft::fft
