// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm/engine/farm.hpp"
#include "fft/engines/shared_transform.hpp"
#include "fft/engines/stream_fft.hpp"
#include "fft/engines/timer.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"

namespace papfft::fft {

/// Many vectors, each transformed by one rank: whichever is free (comm::Farm), the root included, which transforms most of
/// them where links are slow. Results come in order. Any length. Short vectors travel several at a time. Scaled as
/// ParallelFft; its numbers differ from these in the last bits.
///
/// The root's own vectors go from where the source has them to where the sink gets them, without a copy in between, unless
/// there are several threads to share short ones. Messages move while a long complex vector is transformed.
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
  /// How many vectors can be between source and sink.
  [[nodiscard]] std::size_t most_under_way() const { return group_ * farm_.most_under_way(); }
  /// That this rank has transformed, in all runs; with what fills up tasks that are not full.
  [[nodiscard]] std::uint64_t own_vectors() const { return own_vectors_; }

 private:
  using MoveOn = comm::Farm::MoveOn;

  [[nodiscard]] std::size_t task_bytes() const;
  [[nodiscard]] std::size_t result_bytes() const;
  template <typename In, typename Out>
  std::uint64_t run_as(const std::function<Offer<In>()>& source, const std::function<void(const Out*)>& sink);
  void transform(const Complex* in, Complex* out, std::size_t count, const MoveOn& move_on);
  void transform(const T* in, Complex* out, std::size_t count, const MoveOn& move_on);
  void transform(const Complex* in, T* out, std::size_t count, const MoveOn& move_on);

  ParallelPlan plan_;
  std::size_t group_;
  comm::Farm farm_;
  std::optional<LocalFft<T>> complex_;
  std::optional<RealFft<T>> real_;
  PhaseTimes times_;
  std::uint64_t own_vectors_ = 0;
  ParallelObserver* observer_ = nullptr;
};

}  // namespace papfft::fft
