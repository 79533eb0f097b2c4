// SPDX-License-Identifier: MIT
#include "fft/engines/turns.hpp"

#include <algorithm>
#include <span>

namespace papfft::fft {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kAskAgain = milliseconds(1);  // a source that had nothing

}  // namespace

Turns::Turns(comm::Collectives& words) : words_(words), longest_silence_(words.options().longest_silence()) {}

bool Turns::another(const Ask& ask) {
  Word word = Word::wait;
  if (words_.rank() != 0) {
    while (word == Word::wait) word = agree_on(Word::wait);
    return word == Word::vector;
  }
  auto last_word = Clock::now();
  std::optional<bool> answer = ask();
  while (!answer) {
    if (Clock::now() - last_word > longest_silence_) {
      (void)agree_on(Word::wait);
      last_word = Clock::now();
    }
    const auto until = Clock::now() + kAskAgain;
    words_.wait_until([&] { return Clock::now() >= until; }, true);
    answer = ask();
  }
  return agree_on(*answer ? Word::vector : Word::end) == Word::vector;
}

/// @return the root's, everywhere
Turns::Word Turns::agree_on(Word word) {
  comm::Pending told = words_.ibcast<Word>(std::span(&word, 1), 0);
  told.wait();
  return word;
}

template <typename T>
TurnsFft<T>::TurnsFft(comm::Collectives& comm, comm::Collectives& words, const ParallelPlan& plan)
    : is_root_(comm.rank() == 0), turns_(words), plan_(plan), parallel_(comm, plan) {}

template <typename T>
std::uint64_t TurnsFft<T>::run(const Source<Complex>& source, const Sink<Complex>& sink) {
  return run_as<Complex, Complex>(source, sink);
}

template <typename T>
std::uint64_t TurnsFft<T>::run(const Source<T>& source, const Sink<Complex>& sink) {
  return run_as<T, Complex>(source, sink);
}

template <typename T>
std::uint64_t TurnsFft<T>::run(const Source<Complex>& source, const Sink<T>& sink) {
  return run_as<Complex, T>(source, sink);
}

template <typename T>
template <typename In, typename Out>
std::uint64_t TurnsFft<T>::run_as(const Source<In>& source, const Sink<Out>& sink) {
  Buffer<Out> result(is_root_ ? plan_.out_length() : 0);
  Offer<In> offer;
  const auto ask = [&]() -> std::optional<bool> {
    offer = source();
    if (offer.kind == Offer<In>::Kind::later) return std::nullopt;
    return offer.kind == Offer<In>::Kind::vector;
  };
  std::uint64_t vectors = 0;
  for (; turns_.another(ask); ++vectors) {
    parallel_.execute(offer.vector, result.data());
    if (is_root_) sink(result.data());
  }
  return vectors;
}

template class TurnsFft<float>;
template class TurnsFft<double>;

}  // namespace papfft::fft
