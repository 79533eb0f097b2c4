// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "fft/engines/chunked_exchange.hpp"
#include "fft/engines/timer.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/stepped_fft.hpp"
#include "fft/split/dif.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// One vector that no rank holds.
struct SlicesPlan {
  std::size_t length = 0;  ///< N
  Direction direction = Direction::forward;
  std::string alltoall = "auto";  ///< the algorithm of the exchanges
  Rigor rigor = Rigor::estimate;
  /// Of each rank's own transform; nothing: as `rigor` says.
  std::optional<LocalKernel> local_kernel = std::nullopt;
  /// A rank sends about so many bytes at a time; 0: a part of its share (README.md). The numbers do not depend on it.
  std::size_t chunk_bytes = 0;
};

/// How P ranks share N = P M elements. With W = M/P, rounded up, slice c of a block is its elements [c W, min((c + 1) W, M)).
struct SliceLayout {
  std::size_t ranks = 1;         ///< P
  std::size_t block_length = 0;  ///< M
  std::size_t width = 0;         ///< W

  /// @throws std::invalid_argument  P does not divide N, or one of them is 0
  SliceLayout(std::size_t length, std::size_t ranks);

  [[nodiscard]] Columns slice(std::size_t rank) const;
};

/// A transform with every rank as the master of a slice, for vectors that no rank can hold (or read, or send) by itself. It is the
/// decimation in frequency of dif.hpp, without a root:
///
///   rank c      has slice c of the rows x[j M + n], j < P: P contiguous pieces of the vector
///               makes slice c of all P blocks y_r                     (Split)
///   all-to-all  brings the slices of y_r to rank r
///   rank r      transforms y_r                                        (SteppedFft) and owns the bins X[P q + r], q < M
///   all-to-all  brings slice d of all ranks' bins to rank d, which has X[P d W .. P min((d + 1) W, M)) then, if wanted
///
/// Both exchanges go in chunks of columns of SteppedFft's matrices. While some are under way, the rank prepares the next chunk and
/// takes what has come: the transform's first step goes on beside the first exchange, and its last step beside the second. A rank
/// holds its share of the vector, for kernels other than our own as much work space, tables of a sixteenth of it, and seven chunks.
/// Each link carries N (P - 1)/P^2 elements per exchange, where a root would carry N (P - 1)/P.
///
/// Inverse transforms are scaled by 1/N. The numbers are ParallelFft's, to the last bit.
template <typename T>
class SlicesFft {
 public:
  using Complex = std::complex<T>;
  /// Gives the elements [first, first + elements.size()) of the vector.
  using Read = std::function<void(std::uint64_t first, std::span<Complex> elements)>;
  /// Takes the bins [first, first + bins.size()).
  using Write = std::function<void(std::uint64_t first, std::span<const Complex> bins)>;

  /// Not collective. @param comm  must outlive this object
  /// @throws std::invalid_argument  the ranks do not divide the length; no such algorithm
  SlicesFft(comm::Collectives& comm, const SlicesPlan& plan);

  /// Bytes that a rank needs for such a transform at most, about.
  [[nodiscard]] static std::uint64_t memory_bytes(std::uint64_t length, std::uint64_t ranks);

  [[nodiscard]] const SliceLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] LocalKernel kernel() const noexcept { return local_.kernel(); }

  /// Collective. Reads this rank's pieces of the vector and transforms it. Then bins(), put_in_order(), or both give the result.
  /// @param read  is called for pieces of the rank's slice; what it throws leaves the other ranks waiting
  void execute(const Read& read);
  /// The same for one who has them in memory. @param slice  Shape: P x (length of this rank's slice); row j is x[j M + n ..]
  void execute(const Complex* slice);

  /// Not collective. After execute(): this rank's bins. Shape: M; X[P q + rank] is element q. The first call ends the rank's own
  /// transform. Valid until the next execute().
  [[nodiscard]] std::span<Complex> bins();

  /// Collective, after execute(): brings the bins in natural order.
  /// @param write  gets this rank's contiguous part of the spectrum piece by piece, each piece once
  void put_in_order(const Write& write);
  /// The same into memory. @param part  Shape: P x (length of this rank's slice)
  void put_in_order(Complex* part);

  [[nodiscard]] const PhaseTimes& times() const { return times_; }

 private:
  using Rows = std::span<const Complex* const>;
  using Exchange = ChunkedExchange<T>;
  /// Says where the rows of some columns are. @param room  where they may be put
  using Load = std::function<Rows(Columns columns, std::span<Complex* const> room)>;
  /// Says where so many bins from `first` on may be put, and then that they are there.
  using Place = std::function<Complex*(std::uint64_t first, std::size_t count)>;

  void run(const Load& load);
  void put_in_order(const Place& place, const Write& placed);

  SliceLayout layout_;
  Columns slice_;
  Split<T> split_;
  SteppedFft<T> local_;
  Exchange exchange_;
  typename Exchange::Route way_in_;
  typename Exchange::Route way_out_;
  PhaseTimes times_;
};

}  // namespace papfft::fft
