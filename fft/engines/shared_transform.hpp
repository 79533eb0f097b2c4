// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <complex>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fft/kernel/types.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"
#include "fft/split/dif.hpp"

namespace papfft::fft {

/// What the ranks transform together.
struct ParallelPlan {
  std::size_t length = 0;  ///< N, in the time domain
  Direction direction = Direction::forward;
  bool real = false;  ///< real samples and the half spectrum of N/2+1 bins, instead of complex ones
  std::string scatter = "auto";
  std::string gather = "auto";
  Rigor rigor = Rigor::estimate;
  /// Of each rank's own transforms; nothing: as `rigor` says.
  std::optional<LocalKernel> local_kernel = std::nullopt;

  /// Elements of a vector as it comes and as it goes.
  [[nodiscard]] std::size_t in_length() const { return takes_half() ? length / 2 + 1 : length; }
  [[nodiscard]] std::size_t out_length() const { return gives_half() ? length / 2 + 1 : length; }
  /// Whether these are half a spectrum; the others are real samples then.
  [[nodiscard]] bool takes_half() const { return real && direction == Direction::inverse; }
  [[nodiscard]] bool gives_half() const { return real && direction == Direction::forward; }
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
  using TimePoint = std::chrono::steady_clock::time_point;
  /// Anything but computing, such as "split" at the root.
  virtual void phase_lasted(const char* /*name*/, TimePoint /*begin*/, TimePoint /*end*/) noexcept {}
  /// The same until now.
  void phase_ends(const char* name, TimePoint begin) noexcept {
    phase_lasted(name, begin, std::chrono::steady_clock::now());
  }
};

/// Whether so many ranks can share the transform: ranks divide `length` (twice the ranks, if real).
[[nodiscard]] bool can_share(std::size_t length, bool real, int ranks);

/// The computing parts of a transform shared by P ranks (dif.hpp, real.hpp), without the moving of blocks between them:
/// the root splits a vector, each rank transforms its block, the root assembles the result. Rank 0 is the root.
///
/// Complex inverse transforms are scaled by 1/N, real ones too (numpy's convention). The numbers depend on N, P and the
/// precision only, not on the number of threads or on how the data move.
template <typename T>
class SharedTransform {
 public:
  using Complex = std::complex<T>;
  using Blocks = std::span<Complex* const>;
  using ConstBlocks = std::span<const Complex* const>;

  /// @throws std::invalid_argument  unless can_share()
  SharedTransform(const ParallelPlan& plan, int rank, int ranks);

  [[nodiscard]] std::size_t parts() const { return parts_; }
  [[nodiscard]] std::size_t block_length() const { return block_length_; }

  /// At the root; each serves one kind of plan. Shape of the vectors: N complex; or N real and N/2+1 complex. Blocks: parts().
  /// @throws std::logic_error  the plan is of another kind
  void split(const Complex* in, Blocks blocks) const;
  void split(const T* in, Blocks blocks) const;
  void assemble(ConstBlocks blocks, Complex* out) const;
  void assemble(ConstBlocks blocks, T* out) const;

  /// This rank's block. @param in, out  the same, or disjoint
  void compute(const Complex* in, Complex* out, ParallelObserver* observer);

  /// Pointers to the blocks of a whole vector of them.
  template <typename Pointer>
  [[nodiscard]] std::vector<Pointer> blocks_of(Pointer first) const {
    std::vector<Pointer> blocks(parts_);
    for (std::size_t r = 0; r < parts_; ++r) blocks[r] = first + r * block_length_;
    return blocks;
  }

 private:
  bool real_;
  bool forward_;
  std::size_t parts_;
  std::size_t block_length_;
  std::optional<Split<T>> split_;
  std::optional<RealSplit<T>> real_split_;
  std::optional<RealMerge<T>> real_merge_;
  std::optional<LocalFft<T>> local_;
  std::optional<PackedRealFft<T>> packed_;
};

}  // namespace papfft::fft
