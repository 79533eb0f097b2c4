// SPDX-License-Identifier: MIT
#include "fft/farm_fft.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <span>

namespace papfft::fft {

namespace {

constexpr std::size_t kTaskBytes = std::size_t{1}
                                   << 18;  // short against memory, long against a message's latency

template <typename Sample>
std::span<const Sample> as(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Sample*>(bytes.data()), bytes.size() / sizeof(Sample)};
}
template <typename Sample>
std::span<Sample> as(std::span<std::byte> bytes) {
  return {reinterpret_cast<Sample*>(bytes.data()), bytes.size() / sizeof(Sample)};
}

}  // namespace

template <typename T>
FarmFft<T>::FarmFft(comm::Collectives& comm, const ParallelPlan& plan)
    : comm_(comm),
      plan_(plan),
      group_(std::max<std::size_t>(1, kTaskBytes / std::max<std::size_t>(1, plan.length * sizeof(Complex)))) {
  if (plan.real) {
    real_.emplace(plan.length, plan.rigor);
  } else {
    complex_.emplace(plan.length, plan.direction, plan.rigor);
  }
}

template <typename T>
std::uint64_t FarmFft<T>::run(const typename StreamFft<T>::template Source<Complex>& source,
                              const typename StreamFft<T>::template Sink<Complex>& sink) {
  return run_as<Complex, Complex>(source, sink, plan_.length, plan_.length);
}

template <typename T>
std::uint64_t FarmFft<T>::run(const typename StreamFft<T>::template Source<T>& source,
                              const typename StreamFft<T>::template Sink<Complex>& sink) {
  return run_as<T, Complex>(source, sink, plan_.length, plan_.length / 2 + 1);
}

template <typename T>
std::uint64_t FarmFft<T>::run(const typename StreamFft<T>::template Source<Complex>& source,
                              const typename StreamFft<T>::template Sink<T>& sink) {
  return run_as<Complex, T>(source, sink, plan_.length / 2 + 1, plan_.length);
}

template <typename T>
template <typename In, typename Out>
std::uint64_t FarmFft<T>::run_as(const std::function<Offer<In>()>& source,
                                 const std::function<void(const Out*)>& sink, std::size_t in_length,
                                 std::size_t out_length) {
  std::deque<std::size_t> counts;  // vectors in each task under way; the rest of a task is zeros
  bool ended = false;
  std::uint64_t vectors = 0;
  Pauses idle(observer_);
  comm::Farm farm(comm_, group_ * in_length * sizeof(In), group_ * out_length * sizeof(Out));
  (void)farm.run(
      [&](std::span<std::byte> task) {
        using Feed = comm::Farm::Feed;
        if (ended) return Feed::end;
        const auto begin = std::chrono::steady_clock::now();
        const std::span<In> samples = as<In>(task);
        std::size_t count = 0;
        bool pauses = false;
        while (count < group_ && !ended && !pauses) {
          const Offer<In> offer = source();
          ended = offer.kind == Offer<In>::Kind::end;
          pauses = offer.kind == Offer<In>::Kind::later;
          if (!ended && !pauses) std::copy_n(offer.vector, in_length, samples.data() + count++ * in_length);
        }
        if (count == 0) return ended ? Feed::end : Feed::later;
        std::fill(samples.begin() + static_cast<std::ptrdiff_t>(count * in_length), samples.end(), In{});
        counts.push_back(count);
        idle.interrupted("read", begin);
        return Feed::task;
      },
      [&](std::span<const std::byte> task, std::span<std::byte> result) {
        const Timer timer(times_.compute_s);
        idle.end();
        if (observer_ != nullptr) observer_->compute_begins();
        for (std::size_t v = 0; v < group_; ++v) {
          transform(as<In>(task).data() + v * in_length, as<Out>(result).data() + v * out_length);
        }
        if (observer_ != nullptr) {
          observer_->compute_reaches(1);
          observer_->compute_ends();
        }
        idle.begin();
      },
      [&](std::span<const std::byte> result) {
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t v = 0; v < counts.front(); ++v) sink(as<Out>(result).data() + v * out_length);
        vectors += counts.front();
        counts.pop_front();
        idle.interrupted("write", begin);
      });
  idle.end();
  return vectors;
}

template <typename T>
void FarmFft<T>::transform(const Complex* in, Complex* out) {
  complex_->execute(in, out);
  if (plan_.direction == Direction::forward) return;
  const T scale = T(1) / static_cast<T>(plan_.length);
  std::for_each(out, out + plan_.length, [scale](Complex& z) { z *= scale; });
}

template <typename T>
void FarmFft<T>::transform(const T* in, Complex* out) {
  real_->forward(in, out);
}

template <typename T>
void FarmFft<T>::transform(const Complex* in, T* out) {
  real_->inverse(in, out);
  const T scale = T(1) / static_cast<T>(plan_.length);
  std::for_each(out, out + plan_.length, [scale](T& x) { x *= scale; });
}

template class FarmFft<float>;
template class FarmFft<double>;

}  // namespace papfft::fft
