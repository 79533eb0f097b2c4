// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace papfft::app::io {

/// What a .wav is asked to hold.
struct WavContent {
  bool is_complex = false;
  std::uint64_t channels = 1;
  std::uint64_t length = 0;   ///< samples per channel
  double sample_rate_hz = 0;  ///< 0: unknown
};

/// Before long work: can this be a .wav, under this name? @throws OutputError  saying why not, and what would work
void check_wav(const std::string& path, const WavContent& content);

/// A sound of 32-bit floating point: full scale is 1, and what is beyond stays. The same samples give the same bytes. The file
/// appears only when complete (AtomicFile).
/// @param samples  float or double: all of the first channel, then all of the second, ...
/// @return the largest magnitude; not-a-number does not count. @throws OutputError  as check_wav(), or it cannot be written
template <typename T>
double write_wav(const std::string& path, std::span<const T> samples, std::uint64_t channels,
                 double sample_rate_hz);

}  // namespace papfft::app::io
