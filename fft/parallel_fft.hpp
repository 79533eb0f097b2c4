// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fft/dif.hpp"
#include "fft/local.hpp"
#include "fft/real.hpp"
#include "fft/types.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// What the ranks transform together.
struct ParallelPlan {
  std::size_t length = 0;  ///< N, in the time domain
  Direction direction = Direction::forward;
  bool real = false;  ///< real samples and the half spectrum of N/2+1 bins, instead of complex ones
  std::string scatter = "auto";
  std::string gather = "auto";
  Rigor rigor = Rigor::estimate;
};

/// Where the time of a parallel transform went, on this rank, summed over its calls.
struct PhaseTimes {
  double split_s = 0;    ///< root only
  double scatter_s = 0;  ///< with the wait for the others
  double compute_s = 0;
  double gather_s = 0;
  double assemble_s = 0;              ///< root only
  std::uint64_t bytes_scattered = 0;  ///< over links: what the root sends
  std::uint64_t bytes_gathered = 0;   ///< over links: what the root receives
};

/// Is told on every rank how a parallel transform proceeds, so that it can predict when the ranks will gather.
class ParallelObserver {
 public:
  ParallelObserver() = default;
  ParallelObserver(const ParallelObserver&) = delete;
  ParallelObserver& operator=(const ParallelObserver&) = delete;
  virtual ~ParallelObserver() = default;
  /// This rank has its block.
  virtual void compute_begins() = 0;
  /// As fft::Progress: from any OpenMP worker, several at once, 0 < fraction <= 1.
  virtual void compute_reaches(double fraction) = 0;
  /// The gather comes next.
  virtual void compute_ends() = 0;
  virtual void gather_ends() = 0;
};

/// Whether so many ranks can share the transform: ranks divide `length` (twice the ranks, if real).
[[nodiscard]] bool can_share(std::size_t length, bool real, int ranks);

/// One vector transformed by all ranks of a group: the root splits it by decimation in frequency, scatters the P blocks,
/// each rank transforms its own, the root gathers them and puts the bins in order (dif.hpp, real.hpp).
///
/// Complex inverse transforms are scaled by 1/N, real ones too (numpy's convention). The numbers depend on N, P and the
/// precision only, not on the number of threads or on the algorithms that move the data.
template <typename T>
class ParallelFft {
 public:
  using Complex = std::complex<T>;

  /// Not collective. @param comm  must outlive this object; rank 0 is the root.
  /// @throws std::invalid_argument  unless can_share(); an unknown algorithm
  ParallelFft(comm::Collectives& comm, ParallelPlan plan);

  /// Collective. Each of the three serves one kind of plan. At the root: `in` and `out` hold the whole vector (N complex;
  /// or N real, N/2+1 complex) and must not overlap; elsewhere both are ignored.
  /// @throws std::logic_error  the plan is of another kind; what the collectives throw
  void execute(const Complex* in, Complex* out);
  void execute(const T* in, Complex* half_spectrum);
  void execute(const Complex* half_spectrum, T* out);

  /// @param observer  nullptr: none; must outlive the calls of execute.
  void observe(ParallelObserver* observer) { observer_ = observer; }

  [[nodiscard]] const PhaseTimes& times() const { return times_; }
  [[nodiscard]] std::size_t block_length() const { return block_length_; }

 private:
  template <typename SplitStep, typename AssembleStep>
  void run(SplitStep split, AssembleStep assemble);
  void require(bool real, std::optional<Direction> direction) const;

  comm::Collectives& comm_;
  ParallelPlan plan_;
  std::size_t parts_;
  std::size_t block_length_;
  bool root_;
  std::optional<Split<T>> split_;
  std::optional<RealSplit<T>> real_split_;
  std::optional<RealMerge<T>> real_merge_;
  std::optional<LocalFft<T>> local_;
  std::optional<PackedRealFft<T>> packed_;
  Buffer<Complex> whole_;  // root: P blocks
  Buffer<Complex> block_;
  PhaseTimes times_;
  ParallelObserver* observer_ = nullptr;
};

}  // namespace papfft::fft
