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
#include "fft/spectral/detrend.hpp"
#include "fft/spectral/spectrogram.hpp"
#include "fft/spectral/window.hpp"

namespace papfft::fft {

/// What becomes of a bin's values in all frames.
enum class Average : std::uint8_t {
  mean,
  median  ///< of the powers; a few loud frames do not matter, but all frames' values must come together
};

/// By how much the median of `frames` values, exponentially distributed as a noise's power is, exceeds their mean's place: 1 -
/// 1/2 + 1/3 - ..., an odd number of terms (B. Allen et al., "FINDCHIRP", Phys. Rev. D 85, 122006, appendix B; scipy).
[[nodiscard]] double median_bias(std::uint64_t frames);

/// The defaults are those of scipy.signal.welch and csd.
struct WelchSettings {
  double sample_rate_hz = 1.0;
  Window window = Window::hann;
  double tukey_alpha = 0.25;
  std::size_t nperseg = 256;
  std::size_t noverlap = 128;
  std::size_t nfft = 0;  ///< frames are padded with zeros to this length; 0: nperseg
  Scaling scaling = Scaling::density;
  Detrend detrend = Detrend::constant;
  bool two_sided = false;           ///< all nfft bins of real samples too; complex samples always have all
  Average average = Average::mean;  ///< median: without pairs
  /// nperseg of them, instead of making the window; empty: it is made. Only the constructor looks at them.
  std::span<const double> window_samples = {};
};

struct ChannelPair {
  std::size_t first = 0;
  std::size_t second = 0;
};

/// Spectra averaged over frames (Welch 1967) of several channels, with the numbers of scipy.signal.welch, csd and coherence.
/// With X_c the transform of a frame of channel c, its trend removed, windowed by w and padded to nfft:
///
///   power       s mean |X_c|^2
///   cross       s mean conj(X_a) X_b                          for the pairs (a, b) asked for
///   coherence   |sum conj(X_a) X_b|^2 / (sum |X_a|^2 sum |X_b|^2)
///
/// with s = 1/(rate sum w^2) for density and 1/(sum w)^2 for spectrum; of real samples the bins other than 0 and (nfft even)
/// nfft/2 are doubled, unless two_sided.
///
/// Frames are accumulated: each rank makes sums over its own, somebody adds those, and power() etc. make means of them.
/// A sum is made in the order of the frames whatever the number of threads and however they are divided among calls.
///
/// @tparam Sample  float, double or std::complex of either. Owns work space: one call at a time per object. Move-only.
template <typename Sample>
class Welch {
 public:
  static constexpr bool kReal = std::is_floating_point_v<Sample>;
  using T = decltype(std::abs(Sample{}));
  using Complex = std::complex<T>;

  /// Plans are functions of the settings alone; so is the window, but for the last bits of a host's cosine, for which the
  /// settings may bring it along.
  /// @throws std::invalid_argument  bad framing, nfft below nperseg, a rate that is not positive, a window whose sum is 0,
  ///                                a pair of a channel that is not there
  Welch(const WelchSettings& settings, std::size_t channels, std::vector<ChannelPair> pairs = {});

  /// Bins of a result.
  [[nodiscard]] std::size_t bins() const noexcept { return has_half() ? nfft_ / 2 + 1 : nfft_; }
  /// In [0, rate/2] where only half of the bins are given, else in [-rate/2, rate/2), the negative frequencies last.
  [[nodiscard]] double bin_hz(std::size_t bin) const noexcept;

  /// Adds frames to the sums.
  /// @param samples   Shape: channels x length; from the first frame's first sample on, length >= samples_spanned(0, frames)
  /// @param progress  Optional; called per frame and channel, from any thread. What it throws is thrown on.
  /// @throws std::invalid_argument  too few samples
  void accumulate(std::span<const Sample> samples, std::size_t frames, const Progress& progress = {});

  /// Average::median: of all frames so far, in their order, |X_c|^2. Shape: frames x channels x kept bins; 8 bytes each
  [[nodiscard]] std::span<const double> powers() const noexcept { return powers_; }
  /// Elements of a frame there.
  [[nodiscard]] std::size_t powers_per_frame() const noexcept { return channels_ * kept_; }
  /// s median |X_c|^2 / median_bias(frames). Shape: channels x bins
  /// @param powers  those of all ranks, in any order of frames, at least one
  [[nodiscard]] std::vector<double> median_power(std::span<const double> powers) const;

  /// Average::mean: all sums so far, to be added elementwise to those of others: channels x kept bins of |X_c|^2, then pairs x kept bins of
  /// conj(X_a) X_b, real and imaginary parts in turn.
  [[nodiscard]] std::span<const double> sums() const noexcept { return sums_; }

  /// Shape: channels x bins. @param sums  as sums(), over `frames` frames
  [[nodiscard]] std::vector<double> power(std::span<const double> sums, std::uint64_t frames) const;
  /// Shape: pairs x bins
  [[nodiscard]] std::vector<std::complex<double>> cross(std::span<const double> sums,
                                                        std::uint64_t frames) const;
  /// Shape: pairs x bins, each in [0, 1]; not a number where a channel has no power.
  [[nodiscard]] std::vector<double> coherence(std::span<const double> sums) const;

 private:
  [[nodiscard]] bool has_half() const noexcept { return kReal && !settings_.two_sided; }
  [[nodiscard]] double scale(std::size_t bin, std::uint64_t frames) const noexcept;
  [[nodiscard]] std::complex<double> cross_sum(std::span<const double> sums, std::size_t pair,
                                               std::size_t kept_bin) const noexcept;
  /// Where a bin of the result was kept: bins above half the rate of real samples are the conjugates of those below.
  [[nodiscard]] bool is_mirrored(std::size_t bin) const noexcept { return kReal && bin >= kept_; }
  [[nodiscard]] std::size_t kept_bin(std::size_t bin) const noexcept {
    return is_mirrored(bin) ? nfft_ - bin : bin;
  }
  void transform(std::span<const Sample> samples, std::size_t first_frame, std::size_t frames,
                 const Progress& progress);
  void add(std::size_t frames);
  void keep(std::size_t frames);

  WelchSettings settings_;
  std::size_t nfft_;
  std::size_t channels_;
  std::size_t kept_;   // bins that are computed: half of them for real samples
  std::size_t pitch_;  // elements between two spectra, aligned for FFTW
  std::vector<ChannelPair> pairs_;
  std::vector<T> window_;
  double scale_ = 1;
  std::shared_ptr<const FftwPlan<T>> plan_;
  std::vector<double> sums_;
  std::vector<double> powers_;
  Buffer<Complex> work_;
  Buffer<Complex> spectra_;
};

}  // namespace papfft::fft
