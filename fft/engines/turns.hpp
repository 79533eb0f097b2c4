// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "fft/engines/parallel_fft.hpp"
#include "fft/engines/stream_fft.hpp"

namespace papfft::fft {

/// Before each vector of many, a word of the root's tells the others that there is one: the root need not know how many will
/// come, nor when. A quiet source does not look like a stuck root: the others hear of it now and then.
class Turns {
 public:
  /// Not collective. @param words  for the words; must outlive this object; rank 0 is the root
  explicit Turns(comm::Collectives& words);

  /// Asked at the root: true, there is a vector; false, there will be none; nothing: not yet. One that waits a little
  /// before it says nothing saves time.
  using Ask = std::function<std::optional<bool>()>;
  /// Collective; `ask` matters at the root alone. @return whether there is another, everywhere
  /// @throws what the collectives and `ask` throw
  [[nodiscard]] bool another(const Ask& ask);

 private:
  enum class Word : std::int32_t { end, wait, vector };

  [[nodiscard]] Word agree_on(Word word);

  comm::Collectives& words_;
  std::chrono::milliseconds longest_silence_;
};

/// Many vectors one after another, each as by ParallelFft: for algorithms that plan by arrivals, work in the background or
/// are the MPI library's own, which overlap with nothing. Memory: one vector.
template <typename T>
class TurnsFft {
 public:
  using Complex = std::complex<T>;
  template <typename In>
  using Source = typename StreamFft<T>::template Source<In>;
  template <typename Out>
  using Sink = typename StreamFft<T>::template Sink<Out>;

  /// Not collective. @param comm  of the vectors; must outlive this object, as must `words`, which may be the same
  /// @throws as ParallelFft
  TurnsFft(comm::Collectives& comm, comm::Collectives& words, const ParallelPlan& plan);

  /// As StreamFft::run. @return vectors transformed, on every rank
  std::uint64_t run(const Source<Complex>& source, const Sink<Complex>& sink);
  std::uint64_t run(const Source<T>& source, const Sink<Complex>& sink);
  std::uint64_t run(const Source<Complex>& source, const Sink<T>& sink);

  /// @param observer  nullptr: none; must outlive the calls of run.
  void observe(ParallelObserver* observer) { parallel_.observe(observer); }
  [[nodiscard]] const PhaseTimes& times() const { return parallel_.times(); }

 private:
  template <typename In, typename Out>
  std::uint64_t run_as(const Source<In>& source, const Sink<Out>& sink);

  bool is_root_;
  Turns turns_;
  ParallelPlan plan_;
  ParallelFft<T> parallel_;
};

}  // namespace papfft::fft
