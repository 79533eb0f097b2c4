// SPDX-License-Identifier: MIT
// Results that stay with the ranks: a file of each, and one that says what is where.
#pragma once
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "app/io/shares.hpp"

namespace papfft::app {

/// "dir/spectrum.npy" -> "dir/spectrum.rank3.npy"
[[nodiscard]] std::string path_of_rank(const std::string& path, int rank);
/// "dir/spectrum.npy" -> "dir/spectrum.index.json"
[[nodiscard]] std::string path_of_index(const std::string& path);

/// How many of a result's elements rank + ranks i a rank has.
[[nodiscard]] constexpr std::uint64_t share_of(std::uint64_t length, std::uint64_t rank,
                                               std::uint64_t ranks) {
  return rank >= length ? 0 : (length - rank + ranks - 1) / ranks;
}

/// What numpy calls samples of this type.
template <typename Sample>
[[nodiscard]] constexpr const char* element_name() {
  if constexpr (std::is_floating_point_v<Sample>) {
    return sizeof(Sample) == sizeof(float) ? "float32" : "float64";
  } else {
    return sizeof(Sample) == sizeof(std::complex<float>) ? "complex64" : "complex128";
  }
}

/// What all files of one result hold together.
struct DistributedResult {
  int ranks = 1;
  std::uint64_t rows = 1;
  std::uint64_t length = 0;   ///< elements of a row, over all files
  std::string element;        ///< "complex128" and so on, as numpy calls it
  double sample_rate_hz = 0;  ///< 0: unknown
  io::Layout layout = io::Layout::round_robin;
  std::uint64_t part = 0;  ///< of io::Layout::contiguous: elements of a row in each file
};

/// JSON; the names of the files are relative to its own folder. @throws io::OutputError
void write_index(const std::string& path, const DistributedResult& result);

}  // namespace papfft::app
