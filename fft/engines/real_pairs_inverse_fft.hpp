// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fft/engines/slices_fft.hpp"
#include "fft/engines/timer.hpp"
#include "fft/kernel/types.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// The way back of RealSlicesFft for samples that stay with the ranks: there, each rank would have 2P pieces of them. Here the samples go in
/// pairs z[m] = x[2m] + i x[2m+1], m < N/2, which SlicesFft transforms: with w = exp(2 pi i/N), the transform of z is
///
///   Z[k] = (X[k] + X[k + N/2])/2 + i w^k (X[k] - X[k + N/2])/2,     k < N/2
///
/// Each rank makes its part of Z as it reads. So it reads twice as many bins as for RealSlicesFft, but half as many bytes go over the links
/// as for a complex vector, and the samples are there after one all-to-all, or in natural order after two.
///
/// Scaled by 1/N. The numbers are not those of ParallelFft, which takes other steps.
template <typename T>
class RealPairsInverseFft {
 public:
  using Complex = std::complex<T>;
  /// Gives the bins [first, first + bins.size()) of all N, of which the upper ones are the conjugates of the lower ones. X[0] and X[N/2]
  /// must be real.
  using Read = std::function<void(std::uint64_t first, std::span<Complex> bins)>;
  /// Takes the samples [first, first + samples.size()) of the vector.
  using Write = std::function<void(std::uint64_t first, std::span<const T> samples)>;

  /// Not collective. @param comm  must outlive this object
  /// @throws std::invalid_argument  twice the number of ranks does not divide the length; not inverse; no such algorithm
  RealPairsInverseFft(comm::Collectives& comm, const SlicesPlan& plan);

  /// Bytes that a rank needs for such a transform at most, about.
  [[nodiscard]] static std::uint64_t memory_bytes(std::uint64_t length, std::uint64_t ranks);

  /// Of the pairs.
  [[nodiscard]] const SliceLayout& layout() const noexcept { return fft_.layout(); }
  [[nodiscard]] LocalKernel kernel() const noexcept { return fft_.kernel(); }

  /// Collective. Reads this rank's bins and transforms them. Then samples(), put_in_order(), or both give the result.
  /// @param read  is called for pieces of the rank's slice; what it throws leaves the other ranks waiting
  void execute(const Read& read);

  /// Not collective. After execute(): this rank's samples. Shape: N/P; x[2 (P q + rank)] is element 2q, and the next sample the next.
  /// Valid until the next execute().
  [[nodiscard]] std::span<const T> samples() { return parts_of(fft_.bins()); }

  /// Collective, after execute(): brings the samples in natural order.
  /// @param write  gets this rank's contiguous part of the vector piece by piece, each piece once
  void put_in_order(const Write& write);

  [[nodiscard]] const PhaseTimes& times() const { return fft_.times(); }

 private:
  static std::span<const T> parts_of(std::span<const Complex> pairs) {
    return {reinterpret_cast<const T*>(pairs.data()), 2 * pairs.size()};
  }
  /// @param low, high  X[first ...] and X[first + N/2 ...]; Z goes to where the former are
  void fold(std::uint64_t first, std::span<Complex> low, std::span<const Complex> high);

  std::size_t length_;
  SlicesFft<T> fft_;
  std::vector<Complex> high_;                // a piece
  std::vector<std::complex<double>> roots_;  // w^0, w^1, ..., as many as a piece has
};

}  // namespace papfft::fft
