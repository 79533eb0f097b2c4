// SPDX-License-Identifier: MIT
#include "fft/engines/farm_fft.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
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

/// Tells an observer of one task from the first vector on.
class Telling {
 public:
  explicit Telling(ParallelObserver* observer) : observer_(observer) {}
  void begin() {
    if (observer_ != nullptr) observer_->compute_begins();
  }
  void end() {
    if (observer_ == nullptr) return;
    observer_->compute_reaches(1);
    observer_->compute_ends();
  }

 private:
  ParallelObserver* observer_;
};

}  // namespace

template <typename T>
FarmFft<T>::FarmFft(comm::Collectives& comm, const ParallelPlan& plan)
    : plan_(plan),
      group_(std::max<std::size_t>(1, kTaskBytes / std::max<std::size_t>(1, plan.length * sizeof(Complex)))),
      farm_(comm, task_bytes(), result_bytes()) {
  if (plan.real) {
    real_.emplace(plan.length, plan.rigor);
  } else {
    complex_.emplace(plan.length, plan.direction, plan.rigor);
  }
}

template <typename T>
std::size_t FarmFft<T>::task_bytes() const {
  return group_ * plan_.in_length() * (plan_.gives_half() ? sizeof(T) : sizeof(Complex));
}
template <typename T>
std::size_t FarmFft<T>::result_bytes() const {
  return group_ * plan_.out_length() * (plan_.takes_half() ? sizeof(T) : sizeof(Complex));
}

template <typename T>
std::uint64_t FarmFft<T>::run(const typename StreamFft<T>::template Source<Complex>& source,
                              const typename StreamFft<T>::template Sink<Complex>& sink) {
  return run_as<Complex, Complex>(source, sink);
}

template <typename T>
std::uint64_t FarmFft<T>::run(const typename StreamFft<T>::template Source<T>& source,
                              const typename StreamFft<T>::template Sink<Complex>& sink) {
  return run_as<T, Complex>(source, sink);
}

template <typename T>
std::uint64_t FarmFft<T>::run(const typename StreamFft<T>::template Source<Complex>& source,
                              const typename StreamFft<T>::template Sink<T>& sink) {
  return run_as<Complex, T>(source, sink);
}

template <typename T>
template <typename In, typename Out>
std::uint64_t FarmFft<T>::run_as(const std::function<Offer<In>()>& source,
                                 const std::function<void(const Out*)>& sink) {
  using Feed = comm::Farm::Feed;
  using Kind = typename Offer<In>::Kind;
  std::deque<std::size_t>
      counts;  // vectors in each task under way; the rest of a task is zeros, or not looked at
  bool ended = false;
  std::uint64_t vectors = 0;
  Pauses idle(observer_);
  const std::size_t in_length = plan_.in_length();
  const std::size_t out_length = plan_.out_length();

  // Calls each(offer, number) for the vectors of the next task.
  const auto take = [&](const auto& each) {
    std::size_t count = 0;
    Kind kind = ended ? Kind::end : Kind::vector;
    while (count < group_ && kind == Kind::vector) {
      const Offer<In> offer = source();
      kind = offer.kind;
      if (kind == Kind::vector) each(offer, count++);
    }
    ended = kind == Kind::end;
    if (count == 0) return ended ? Feed::end : Feed::later;
    counts.push_back(count);
    return Feed::task;
  };
  const comm::Farm::Source fill = [&](std::span<std::byte> room) {
    const auto begin = std::chrono::steady_clock::now();
    const std::span<In> samples = as<In>(room);
    std::span<const std::byte> task = room;
    std::size_t filled = 0;
    const Feed feed = take([&](const Offer<In>& offer, std::size_t v) {
      if (offer.lasting && group_ == 1) {
        task = std::as_bytes(std::span(offer.vector, in_length));
        return;
      }
      std::copy_n(offer.vector, in_length, samples.data() + v * in_length);
      filled = (v + 1) * in_length;
    });
    if (feed == Feed::task && task.data() == room.data()) {
      std::fill(samples.begin() + static_cast<std::ptrdiff_t>(filled), samples.end(), In{});
    }
    if (feed == Feed::task) idle.interrupted("read", begin);
    return comm::Farm::Task{feed, task};
  };
  const auto work = [&](std::span<const std::byte> task, std::span<std::byte> result, const MoveOn& move_on) {
    Telling telling(observer_);
    idle.end();
    telling.begin();
    transform(as<In>(task).data(), as<Out>(result).data(), group_, move_on);
    telling.end();
    idle.begin();
  };
  const auto own = [&](std::span<std::byte> result, const MoveOn& move_on) {
    Telling telling(observer_);
    const Feed feed = take([&](const Offer<In>& offer, std::size_t v) {
      if (v == 0) {
        idle.end();
        telling.begin();
      }
      transform(offer.vector, as<Out>(result).data() + v * out_length, 1, move_on);
    });
    if (feed == Feed::task) {
      telling.end();
      idle.begin();
    }
    return feed;
  };
  const bool threads_share = group_ > 1 && omp_get_max_threads() > 1;
  (void)farm_.run(
      fill, work,
      [&](std::span<const std::byte> result) {
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t v = 0; v < counts.front(); ++v) sink(as<Out>(result).data() + v * out_length);
        vectors += counts.front();
        counts.pop_front();
        idle.interrupted("write", begin);
      },
      threads_share ? comm::Farm::Own{} : comm::Farm::Own(own));
  idle.end();
  return vectors;
}

template <typename T>
void FarmFft<T>::transform(const Complex* in, Complex* out, std::size_t count, const MoveOn& move_on) {
  const Timer timer(times_.compute_s);
  own_vectors_ += count;
  if (complex_->pieces() > 1) {  // MPI wants one thread alone
    complex_->execute(in, out, count, [&](double) {
      if (omp_get_thread_num() == 0) move_on();
    });
  } else {
    complex_->execute(in, out, count);
    move_on();
  }
  if (plan_.direction == Direction::forward) return;
  const T scale = T(1) / static_cast<T>(plan_.length);
  std::for_each(out, out + count * plan_.length, [scale](Complex& z) { z *= scale; });
}

template <typename T>
void FarmFft<T>::transform(const T* in, Complex* out, std::size_t count, const MoveOn& move_on) {
  const Timer timer(times_.compute_s);
  own_vectors_ += count;
  real_->forward(in, out, count);
  move_on();
}

template <typename T>
void FarmFft<T>::transform(const Complex* in, T* out, std::size_t count, const MoveOn& move_on) {
  const Timer timer(times_.compute_s);
  own_vectors_ += count;
  real_->inverse(in, out, count);
  move_on();
  const T scale = T(1) / static_cast<T>(plan_.length);
  std::for_each(out, out + count * plan_.length, [scale](T& x) { x *= scale; });
}

template class FarmFft<float>;
template class FarmFft<double>;

}  // namespace papfft::fft
