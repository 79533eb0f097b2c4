// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fft/engines/timer.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/local.hpp"
#include "fft/split/dif.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// One vector that no rank holds as a whole.
struct SlicesPlan {
  std::size_t length = 0;  ///< N
  Direction direction = Direction::forward;
  std::string alltoall = "auto";  ///< the algorithm of the exchanges
  Rigor rigor = Rigor::estimate;
  /// Of each rank's own transform; nothing: as `rigor` says.
  std::optional<LocalKernel> local_kernel = std::nullopt;
  /// A rank sends about so many bytes at a time; 0: a quarter of its share, between 1 and 8 MiB. The numbers do not depend on it.
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
///   rank r      transforms y_r                                        (LocalFft) and owns the bins X[P q + r], q < M
///   all-to-all  brings slice d of all ranks' bins to rank d, which has X[P d W .. P min((d + 1) W, M)) then, if wanted
///
/// Both exchanges go in chunks: while one is under way, the rank prepares the next and puts the one before to its place. A rank holds
/// its share of the vector and as much work space for its transform, tables of a sixteenth of it, and five chunks.
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

  /// Bytes that a rank needs for such a transform, about.
  [[nodiscard]] static std::uint64_t memory_bytes(std::uint64_t length, std::uint64_t ranks);

  [[nodiscard]] const SliceLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] LocalKernel kernel() const noexcept { return local_.kernel(); }

  /// Collective. Reads this rank's pieces of the vector, transforms it, and leaves the bins with the ranks.
  /// @param read  is called for pieces of the rank's slice; what it throws leaves the other ranks waiting
  void execute(const Read& read);
  /// The same for one who has them in memory. @param slice  Shape: P x (length of this rank's slice); row j is x[j M + n ..]
  void execute(const Complex* slice);
  /// This rank's bins: Shape: M; X[P q + rank] is element q.
  [[nodiscard]] std::span<Complex> bins() noexcept { return {block_.data(), layout_.block_length}; }

  /// Collective, after execute(): brings the bins in natural order. They stay in bins() as well.
  /// @param write  gets this rank's contiguous part of the spectrum piece by piece, in order
  void put_in_order(const Write& write);

  [[nodiscard]] const PhaseTimes& times() const { return times_; }

 private:
  using Rows = std::span<const Complex* const>;
  /// Says where the rows of some columns are. @param room  where they may be put
  using Load = std::function<Rows(Columns columns, std::span<Complex* const> room)>;
  /// @param chunk  columns of a slice that travel together, counted from the slice's first; the same on all ranks
  /// @param blocks  Shape: P x chunk.count()
  using Step = std::function<void(Columns chunk, Complex* blocks)>;

  void exchange(const Step& prepare, const Step& take, double& waiting_s);
  void run(const Load& load);
  void make_blocks(const Load& load, Columns chunk, Complex* blocks);
  void move_on();
  [[nodiscard]] Columns mine_of(Columns chunk) const;

  comm::Collectives& comm_;
  SlicesPlan plan_;
  SliceLayout layout_;
  std::size_t rank_;
  Columns slice_;
  std::vector<Columns> chunks_;
  Split<T> split_;
  LocalFft<T> local_;
  Buffer<Complex> block_;                    // P W: y_r, then this rank's bins
  std::array<Buffer<Complex>, 2> outgoing_;  // P blocks of a chunk's width
  std::array<Buffer<Complex>, 2> incoming_;
  comm::Pending pending_;
  PhaseTimes times_;
};

}  // namespace papfft::fft
