// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm/exec/farm.hpp"
#include "fft/local.hpp"
#include "fft/real.hpp"
#include "fft/shared_transform.hpp"
#include "fft/stream_fft.hpp"
#include "fft/timer.hpp"

namespace papfft::fft {

/// Many vectors, each transformed by one rank: whichever is free (comm::Farm). Results come in order. Any length. Short
/// vectors travel several at a time. Scaled as ParallelFft; its numbers differ from these in the last bits.
template <typename T>
class FarmFft {
 public:
  using Complex = std::complex<T>;

  /// Not collective. @param comm  must outlive this object; rank 0 is the root. @param plan  its algorithms have no meaning here
  FarmFft(comm::Collectives& comm, const ParallelPlan& plan);

  /// As StreamFft::run. @return vectors that came out, at the root; elsewhere those of this rank's tasks at most
  std::uint64_t run(const typename StreamFft<T>::template Source<Complex>& source,
                    const typename StreamFft<T>::template Sink<Complex>& sink);
  std::uint64_t run(const typename StreamFft<T>::template Source<T>& source,
                    const typename StreamFft<T>::template Sink<Complex>& sink);
  std::uint64_t run(const typename StreamFft<T>::template Source<Complex>& source,
                    const typename StreamFft<T>::template Sink<T>& sink);

  /// @param observer  nullptr: none; is told of tasks. Must outlive the calls of run.
  void observe(ParallelObserver* observer) { observer_ = observer; }
  [[nodiscard]] const PhaseTimes& times() const { return times_; }
  /// How many vectors travel together.
  [[nodiscard]] std::size_t vectors_per_task() const { return group_; }

 private:
  template <typename In, typename Out>
  std::uint64_t run_as(const std::function<Offer<In>()>& source, const std::function<void(const Out*)>& sink,
                       std::size_t in_length, std::size_t out_length);
  void transform(const Complex* in, Complex* out);
  void transform(const T* in, Complex* out);
  void transform(const Complex* in, T* out);

  comm::Collectives& comm_;
  ParallelPlan plan_;
  std::size_t group_;
  std::optional<LocalFft<T>> complex_;
  std::optional<RealFft<T>> real_;
  PhaseTimes times_;
  ParallelObserver* observer_ = nullptr;
};

}  // namespace papfft::fft
