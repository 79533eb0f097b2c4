// SPDX-License-Identifier: MIT
#pragma once

namespace papfft::app {

/// A plan of FFTW from one vector to another, and both. @tparam Api  FFTW's names for one precision
template <typename Api>
struct FftwTransform {
  typename Api::Complex* in = nullptr;
  typename Api::Complex* out = nullptr;
  typename Api::Handle handle = nullptr;

  FftwTransform() = default;
  ~FftwTransform() {
    if (handle != nullptr) Api::destroy(handle);
    Api::release(in);
    Api::release(out);
  }
  FftwTransform(const FftwTransform&) = delete;
  FftwTransform& operator=(const FftwTransform&) = delete;
};

}  // namespace papfft::app
