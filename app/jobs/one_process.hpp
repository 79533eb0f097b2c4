// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "app/jobs/transform_plan.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"

namespace papfft::app {

/// Transforms of vectors by this process alone: engine alone, and what --stats compares the others with.
template <typename In, typename Out>
class OneProcess {
 public:
  using Shape = TransformShape<In, Out>;

  OneProcess(const TransformOptions& options, std::uint64_t length)
      : length_(length), inverse_(options.inverse), fft_(make(options, length)) {}

  [[nodiscard]] fft::LocalKernel kernel() const { return fft_.kernel(); }

  /// So many vectors, one after another in memory.
  void operator()(const In* in, Out* out, std::size_t rows) {
    if constexpr (Shape::kRealIn) {
      fft_.forward(in, out, rows);
    } else if constexpr (Shape::kRealOut) {
      fft_.inverse(in, out, rows);
    } else {
      fft_.execute(in, out, rows);
    }
    if (!inverse_) return;
    const Real scale = Real(1) / static_cast<Real>(length_);
    std::for_each(out, out + rows * length_, [&](Out& x) { x *= scale; });
  }

 private:
  using Real = typename Shape::Real;
  using Fft = std::conditional_t<std::is_same_v<In, Out>, fft::LocalFft<Real>, fft::RealFft<Real>>;

  static Fft make(const TransformOptions& options, std::uint64_t length) {
    constexpr auto kRigor = fft::Rigor::tuned;
    using fft::LocalKernel;
    if constexpr (std::is_same_v<In, Out>) {
      const LocalKernel by_fftw = fft::pieces_of(length) > 1 ? LocalKernel::pieces : LocalKernel::fftw;
      return options.fftw_kernels ? Fft(length, options.direction(), by_fftw, kRigor)
                                  : Fft(length, options.direction(), kRigor);
    } else {
      return options.fftw_kernels ? Fft(length, LocalKernel::fftw, kRigor) : Fft(length, kRigor);
    }
  }

  std::uint64_t length_;
  bool inverse_;
  Fft fft_;
};

}  // namespace papfft::app
