// SPDX-License-Identifier: MIT
// Results that stay with the ranks: a file of each, and one that says what is where.
#pragma once
#include <cstdint>
#include <string>

namespace papfft::app {

/// "dir/spectrum.npy" -> "dir/spectrum.rank3.npy"
[[nodiscard]] std::string path_of_rank(const std::string& path, int rank);
/// "dir/spectrum.npy" -> "dir/spectrum.index.json"
[[nodiscard]] std::string path_of_index(const std::string& path);

/// What all files of one result hold together.
struct DistributedResult {
  int ranks = 1;
  std::uint64_t rows = 1;
  std::uint64_t length = 0;   ///< elements of a row, over all files
  std::string element;        ///< "complex128" and so on, as numpy calls it
  double sample_rate_hz = 0;  ///< 0: unknown
  bool everywhere = false;    ///< each file holds everything
};

/// JSON; the names of the files are relative to its own folder. @throws io::OutputError
void write_index(const std::string& path, const DistributedResult& result);

}  // namespace papfft::app
