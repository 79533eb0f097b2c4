// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>

#include "fft/engines/shared_transform.hpp"
#include "fft/engines/timer.hpp"
#include "fft/kernel/types.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// One vector transformed by all ranks of a group: the root splits it by decimation in frequency, scatters the P blocks,
/// each rank transforms its own, the root gathers them and puts the bins in order (shared_transform.hpp). For many vectors
/// one after another: StreamFft.
template <typename T>
class ParallelFft {
 public:
  using Complex = std::complex<T>;

  /// Not collective. @param comm  must outlive this object; rank 0 is the root.
  /// @throws std::invalid_argument  unless can_share()
  ParallelFft(comm::Collectives& comm, const ParallelPlan& plan);

  /// Collective. Each of the three serves one kind of plan. At the root: `in` and `out` hold the whole vector (N complex;
  /// or N real, N/2+1 complex) and must not overlap; elsewhere both are ignored.
  /// @throws std::logic_error  the plan is of another kind; what the collectives throw
  void execute(const Complex* in, Complex* out) { run(in, out); }
  void execute(const T* in, Complex* half_spectrum) { run(in, half_spectrum); }
  void execute(const Complex* half_spectrum, T* out) { run(half_spectrum, out); }

  /// @param observer  nullptr: none; must outlive the calls of execute.
  void observe(ParallelObserver* observer) { observer_ = observer; }

  [[nodiscard]] const PhaseTimes& times() const { return times_; }
  [[nodiscard]] std::size_t block_length() const { return transform_.block_length(); }

 private:
  template <typename In, typename Out>
  void run(const In* in, Out* out);

  comm::Collectives& comm_;
  ParallelPlan plan_;
  SharedTransform<T> transform_;
  Buffer<Complex> whole_;  // root: P blocks
  Buffer<Complex> block_;
  PhaseTimes times_;
  ParallelObserver* observer_ = nullptr;
};

}  // namespace papfft::fft
