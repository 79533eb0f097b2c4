// SPDX-License-Identifier: MIT
#pragma once
#include <fftw3.h>

#include <cstddef>

namespace papfft::app {

/// FFTW's names for one precision; the same members for both.
template <typename T>
struct FftwNames;

#define PAPFFT_FFTW_NAMES(T, PREFIX)                         \
  template <>                                                \
  struct FftwNames<T> {                                      \
    using Complex = PREFIX##_complex;                        \
    using Handle = PREFIX##_plan;                            \
    static constexpr auto execute = PREFIX##_execute;        \
    static constexpr auto destroy = PREFIX##_destroy_plan;   \
    static constexpr auto allocate = PREFIX##_alloc_complex; \
    static constexpr auto release = PREFIX##_free;           \
  };
PAPFFT_FFTW_NAMES(float, fftwf)
PAPFFT_FFTW_NAMES(double, fftw)
#undef PAPFFT_FFTW_NAMES

/// A plan of FFTW from one vector to another, and both. How the plan is made is up to those who derive from this.
template <typename T>
struct FftwTransform {
  using Names = FftwNames<T>;

  typename Names::Complex* in = nullptr;
  typename Names::Complex* out = nullptr;
  typename Names::Handle handle = nullptr;

  FftwTransform() = default;
  ~FftwTransform() {
    if (handle != nullptr) Names::destroy(handle);
    Names::release(in);
    Names::release(out);
  }
  FftwTransform(const FftwTransform&) = delete;
  FftwTransform& operator=(const FftwTransform&) = delete;

  /// Both vectors, of so many complex samples. To be called once, before there is a plan.
  void allocate(std::size_t samples) {
    in = Names::allocate(samples);
    out = Names::allocate(samples);
  }
  void execute() const { Names::execute(handle); }
};

}  // namespace papfft::app
