// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "fft/local/local.hpp"
#include "fft/local/real.hpp"
#include "fft/split/dif.hpp"

namespace papfft::test {

template <typename T>
using Blocks = std::vector<std::vector<std::complex<T>>>;

template <typename T>
Blocks<T> make_blocks(std::size_t parts, std::size_t length) {
  return Blocks<T>(parts, std::vector<std::complex<T>>(length));
}

template <typename T>
std::vector<std::complex<T>*> pointers(Blocks<T>& blocks, std::size_t offset = 0) {
  std::vector<std::complex<T>*> result;
  for (auto& block : blocks) result.push_back(block.data() + offset);
  return result;
}

template <typename T>
std::vector<const std::complex<T>*> pointers(const Blocks<T>& blocks, std::size_t offset = 0) {
  std::vector<const std::complex<T>*> result;
  for (const auto& block : blocks) result.push_back(block.data() + offset);
  return result;
}

/// What P ranks do to a complex vector, one after the other in this process: split, transform the blocks, interleave.
template <typename T>
std::vector<std::complex<T>> distributed_fft(const std::vector<std::complex<T>>& x, std::size_t parts,
                                             fft::Direction direction) {
  const fft::Split<T> split(x.size(), parts, direction);
  auto blocks = make_blocks<T>(parts, split.block_length());
  split.run(x.data(), pointers(blocks), 0, split.block_length());
  fft::LocalFft<T> local(split.block_length(), direction);
  for (auto& block : blocks) local.execute(block.data(), block.data());
  std::vector<std::complex<T>> spectrum(x.size());
  fft::interleave<T>(pointers(std::as_const(blocks)), split.block_length(), spectrum.data());
  return spectrum;
}

/// The local step of the real transforms: rank 0's packed block and the others'.
template <typename T>
void transform_real_blocks(Blocks<T>& blocks, fft::Direction direction) {
  const std::size_t length = blocks[0].size();
  fft::PackedRealFft<T>(length, direction).execute(blocks[0].data(), blocks[0].data());
  fft::LocalFft<T> local(length, direction);
  for (std::size_t r = 1; r < blocks.size(); ++r) local.execute(blocks[r].data(), blocks[r].data());
}

/// Real x -> X[0..N/2], as P ranks do it.
template <typename T>
std::vector<std::complex<T>> distributed_real_fft(const std::vector<T>& x, std::size_t parts) {
  const fft::RealSplit<T> split(x.size(), parts);
  auto blocks = make_blocks<T>(parts, split.block_length());
  split.run(x.data(), pointers(blocks), 0, split.block_length());
  transform_real_blocks(blocks, fft::Direction::forward);
  std::vector<std::complex<T>> spectrum(x.size() / 2 + 1);
  fft::assemble_half_spectrum<T>(pointers(std::as_const(blocks)), split.block_length(), spectrum.data());
  return spectrum;
}

/// X[0..N/2] -> real x, scaled by 1/N, as P ranks do it.
template <typename T>
std::vector<T> distributed_real_inverse(const std::vector<std::complex<T>>& spectrum, std::size_t parts) {
  const std::size_t length = 2 * (spectrum.size() - 1);
  const fft::RealMerge<T> merge(length, parts);
  auto blocks = make_blocks<T>(parts, merge.block_length());
  fft::distribute_half_spectrum<T>(spectrum.data(), pointers(blocks), merge.block_length());
  transform_real_blocks(blocks, fft::Direction::inverse);
  std::vector<T> x(length);
  merge.run(pointers(std::as_const(blocks)), x.data(), 0, merge.block_length());
  return x;
}

}  // namespace papfft::test
