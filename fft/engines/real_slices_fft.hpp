// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

/// What SlicesFft is for complex samples: the transform of one real vector that no rank holds. Half of the bytes go over the links, and
/// half of the work is done. With R = 2P and M = N/R:
///
///   rank c      has slice c of the rows x[j M + n], j < R: R contiguous pieces of the vector
///               makes slice c of all P blocks                         (RealSplit)
///   all-to-all  brings the slices of block r to rank r
///   rank r      transforms it: X[R q + r], q < M; rank 0: {X[0], X[N/2]}, X[P q], 0 < q < M
///
/// X[R q + R - r] is the conjugate of X[R (M-1-q) + r]. So rank r has, of the N/2+1 bins k = P h + s, those with s = r for even h,
/// and with s = P - r for odd h. No bins have to be paired with those of another rank.
///
///   all-to-all  brings rank d the bins from P h to P h', for its part of all h, if wanted
///
/// The inverse goes through the same places backwards, from the bins in natural order to the pieces (RealMerge), and is scaled by 1/N.
///
/// Exchanges go in chunks as SlicesFft's. The one of samples goes on beside the transform, the one of bins does not. The numbers are
/// ParallelFft's of real samples, to the last bit.
template <typename T>
class RealSlicesFft {
 public:
  using Complex = std::complex<T>;
  /// Gives the samples [first, first + samples.size()) of the vector. What it throws leaves the other ranks waiting.
  using ReadSamples = std::function<void(std::uint64_t first, std::span<T> samples)>;
  using WriteSamples = std::function<void(std::uint64_t first, std::span<const T> samples)>;
  /// The same of bins. The imaginary parts of X[0] and X[N/2] are ignored, as numpy.fft.irfft does.
  using ReadBins = std::function<void(std::uint64_t first, std::span<Complex> bins)>;
  using WriteBins = std::function<void(std::uint64_t first, std::span<const Complex> bins)>;

  /// Not collective. @param comm  must outlive this object
  /// @throws std::invalid_argument  twice the number of ranks does not divide the length; no such algorithm
  RealSlicesFft(comm::Collectives& comm, const SlicesPlan& plan);

  /// Bytes that a rank needs for such a transform at most, about.
  [[nodiscard]] static std::uint64_t memory_bytes(std::uint64_t length, std::uint64_t ranks);

  /// Of the blocks.
  [[nodiscard]] const SliceLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] LocalKernel kernel() const;
  /// The bins that a rank has in natural order. Rank 0 has X[N/2] as well.
  [[nodiscard]] Columns part(std::size_t rank) const noexcept { return ordered_.part(rank); }
  [[nodiscard]] const PhaseTimes& times() const { return times_; }

  // Forward. @throws std::logic_error  the plan is of the other direction

  /// Collective. Reads this rank's pieces of the vector and transforms it. Then one of the following gives the result.
  /// @param read  called for pieces of the rank's slice, each once
  void execute(const ReadSamples& read);
  /// The same for one who has them in memory. @param slice  Shape: 2P x (length of this rank's slice); row j is x[j M + n ..]
  void execute(const T* slice);

  /// Not collective. After execute(): what this rank has computed. Shape: M. Valid until the next execute().
  [[nodiscard]] std::span<Complex> block();

  /// How many bins this rank has of those that determine the others: M, and rank 0 M + 1.
  [[nodiscard]] std::size_t bin_count() const noexcept;
  /// Not collective. After execute(): some of these, in rising order. Number h is X[P h + r] for even h or r = 0, else X[P h + P - r].
  void get_bins(std::size_t first, std::span<Complex> bins);

  /// Collective, after execute(): brings the N/2+1 bins in natural order.
  /// @param write  gets this rank's part of them piece by piece, each piece once
  void put_in_order(const WriteBins& write);

  // Inverse. @throws std::logic_error  the plan is of the other direction

  /// Collective. Reads this rank's part of the bins, and brings them to where they are transformed.
  /// @param read  called for pieces of the part, each once
  void execute(const ReadBins& read);
  /// Collective, after execute(), once: transforms them, and brings the samples to where they are written.
  /// @param write  gets this rank's slices of the rows piece by piece, each piece once
  void put_in_order(const WriteSamples& write);

 private:
  using Exchange = ChunkedExchange<T>;
  /// Says where the rows of some columns are.
  using Load = std::function<std::span<const T* const>(Columns columns)>;

  [[nodiscard]] typename Exchange::Matrix sample_matrix(Direction direction) const;
  void run(const Load& load);
  /// Where numbers first, first + 2, ... of get_bins() are in the block. @param work  called as work(i, element, whether that is the
  /// conjugate of number first + 2 i)
  template <typename Work>
  void for_every_other(std::size_t first, std::size_t count, const Work& work) const;
  /// @param to  Shape: count
  void get_every_other(std::size_t first, std::size_t count, Complex* to);

  std::size_t rank_;
  SliceLayout layout_;
  Columns slice_;
  HalfSpectrumLayout ordered_;
  std::optional<RealSplit<T>> split_;                     // forward
  std::optional<RealMerge<T>> merge_;                     // inverse
  std::variant<SteppedFft<T>, SteppedRealFft<T>> local_;  // the latter on rank 0
  Exchange exchange_;
  typename Exchange::Route of_samples_;
  typename Exchange::Route of_bins_;
  PhaseTimes times_;
};

}  // namespace papfft::fft
