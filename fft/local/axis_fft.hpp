// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <optional>
#include <vector>

#include "fft/kernel/fftw_plan.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"

namespace papfft::fft {

/// What becomes of a line of samples, N of them.
///   complex        X[k] = sum_n x[n] exp(-+ 2 pi i nk/N)
///   half_spectrum  N real samples (the imaginary parts are not looked at) to the bins 0..N/2
///   from_half      the bins 0..N/2 to N real samples, N times as large as they were
///   dct2           y[k] = 2 sum_n x[n] cos(pi k (2n+1) / (2N)), of real samples
///   dct3           y[k] = x[0] + 2 sum_{n>0} x[n] cos(pi n (2k+1) / (2N)); of what dct2 makes: 2N x
enum class LineKind { complex, half_spectrum, from_half, dct2, dct3 };

/// What to do with each line along one axis of an array.
struct LinePlan {
  LineKind kind = LineKind::complex;
  Direction direction = Direction::forward;  ///< of kind complex
  std::size_t length = 0;                    ///< N
  double factor = 1;                         ///< results are multiplied by it
  bool orthogonal = false;  ///< dct2: y[0] is divided by sqrt(2); dct3: x[0] is multiplied by it
  Rigor rigor = Rigor::estimate;

  /// Elements of a line, before and after.
  [[nodiscard]] std::size_t in() const { return kind == LineKind::from_half ? length / 2 + 1 : length; }
  [[nodiscard]] std::size_t out() const { return kind == LineKind::half_spectrum ? length / 2 + 1 : length; }
};

/// Transforms along one axis of an array, on this process's OpenMP threads, tile by tile. All elements are complex; real ones have
/// imaginary parts of zero. The cosine transforms are Makhoul's (IEEE Trans. ASSP 28, 1980): one real transform of as many samples.
/// Owns work space: one `execute` at a time per object.
template <typename T>
class AxisFft {
 public:
  using Complex = std::complex<T>;

  /// @throws std::invalid_argument  the length is 0, or too long for FFTW
  explicit AxisFft(const LinePlan& plan);

  [[nodiscard]] const LinePlan& plan() const noexcept { return plan_; }

  /// @param in     Shape: outer x have x inner. Lines longer than plan().in() are cut, shorter ones padded with zeros.
  /// @param out    Shape: outer x plan().out() x inner. The same as `in` if both have one shape, or disjoint.
  void execute(const Complex* in, Complex* out, std::size_t outer, std::size_t have, std::size_t inner);

 private:
  /// Lines [first, first + count) of an array.
  struct Tile {
    std::size_t first = 0;
    std::size_t count = 0;
    std::size_t inner = 1;
  };

  void take(const Complex* in, const Tile& tile, std::size_t have);
  void transform(std::size_t lines);
  void put(Complex* out, const Tile& tile) const;
  void prepare_line(std::size_t line);
  void finish_line(std::size_t line);

  LinePlan plan_;
  std::vector<Complex> quarter_turns_;  // cosine transforms: exp(-i pi k / (2N)), k = 0..N/2
  std::optional<LocalFft<T>> complex_;
  std::optional<RealFft<T>> real_;
  std::size_t pitch_ = 0;  // of lines_
  Buffer<Complex> lines_;  // of a tile: before, and then after
  Buffer<Complex> half_;
  Buffer<T> samples_;
};

}  // namespace papfft::fft
