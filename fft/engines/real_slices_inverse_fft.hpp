// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>

#include "fft/engines/chunked_exchange.hpp"
#include "fft/engines/half_spectrum_layout.hpp"
#include "fft/engines/slices_fft.hpp"
#include "fft/engines/timer.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/stepped_fft.hpp"
#include "fft/split/dif.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// The way back of RealSlicesFft: from the half spectrum of a real vector, which no rank holds, to its samples. Half of the bytes go over
/// the links that SlicesFft would send. With R = 2P and M = N/R:
///
///   rank d      has its part of the N/2+1 bins in natural order         (HalfSpectrumLayout)
///   all-to-all  brings the bins of block r to rank r
///   rank r      transforms them: block r of RealSplit
///   all-to-all  brings slice c of all blocks to rank c, beside the second step of the transform
///   rank c      makes slice c of the rows x[j M + n], j < R             (RealMerge): R contiguous pieces of the vector
///
/// Scaled by 1/N. The numbers are ParallelFft's, to the last bit.
template <typename T>
class RealSlicesInverseFft {
 public:
  using Complex = std::complex<T>;
  /// Gives the bins [first, first + bins.size()). The imaginary parts of X[0] and X[N/2] are ignored, as numpy.fft.irfft does.
  using Read = std::function<void(std::uint64_t first, std::span<Complex> bins)>;
  /// Takes the samples [first, first + samples.size()) of the vector.
  using Write = std::function<void(std::uint64_t first, std::span<const T> samples)>;

  /// Not collective. @param comm  must outlive this object
  /// @throws std::invalid_argument  twice the number of ranks does not divide the length; not inverse; no such algorithm
  RealSlicesInverseFft(comm::Collectives& comm, const SlicesPlan& plan);

  /// Bytes that a rank needs for such a transform at most, about.
  [[nodiscard]] static std::uint64_t memory_bytes(std::uint64_t length, std::uint64_t ranks);

  /// Of the blocks.
  [[nodiscard]] const SliceLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] LocalKernel kernel() const noexcept;

  /// Collective. Reads this rank's part of the bins, and brings them to where they are transformed.
  /// @param read  is called for pieces of the part, each once; what it throws leaves the other ranks waiting
  void execute(const Read& read);
  /// Collective, after execute(), once: transforms them, and brings the samples to where they are written.
  /// @param write  gets this rank's slices of the rows piece by piece, each piece once
  void put_in_order(const Write& write);

  [[nodiscard]] const PhaseTimes& times() const { return times_; }

 private:
  using Exchange = ChunkedExchange<T>;

  [[nodiscard]] typename SteppedFft<T>::Matrix matrix_out() const;
  [[nodiscard]] std::span<Complex> block();
  /// Numbers first, first + 2, ... of this rank's bins. @param from  Shape: count
  void put_every_other(std::size_t first, std::size_t count, const Complex* from);

  std::size_t rank_;
  SliceLayout layout_;
  Columns slice_;
  HalfSpectrumLayout ordered_;
  std::variant<SteppedFft<T>, SteppedRealInverseFft<T>> local_;  // the latter on rank 0
  RealMerge<T> merge_;
  Exchange exchange_;
  typename Exchange::Route way_in_;
  typename Exchange::Route way_out_;
  PhaseTimes times_;
};

}  // namespace papfft::fft
