// SPDX-License-Identifier: MIT
#include "fft/stream_fft.hpp"

#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace papfft::fft {

namespace {

using Clock = std::chrono::steady_clock;

/// What the root tells the others before each vector.
enum Word : std::int64_t {
  kEnd = 0,   ///< there is none, and there will be none
  kNext = 1,  ///< one follows
  kWait = 2   ///< not yet; so that a quiet source does not look like a stuck root
};

constexpr auto kAskAgain = std::chrono::milliseconds(1);  // a source that had nothing
constexpr auto kLongestSilence = std::chrono::seconds(5);

}  // namespace

template <typename T>
StreamFft<T>::StreamFft(comm::Collectives& comm, const ParallelPlan& plan, int depth)
    : comm_(comm), plan_(plan), transform_(plan, comm.rank(), comm.size()) {
  if (depth < 2) throw std::invalid_argument("a stream needs a depth of 2 vectors or more");
  slots_.resize(static_cast<std::size_t>(depth));
  const std::size_t block = transform_.block_length();
  const bool root = comm.rank() == 0;
  for (Slot& slot : slots_) {
    slot.in = Buffer<Complex>(root ? transform_.parts() * block : block);
    if (root) slot.out = Buffer<Complex>(transform_.parts() * block);
  }
}

template <typename T>
std::uint64_t StreamFft<T>::run(const Source<Complex>& source, const Sink<Complex>& sink) {
  return comm_.rank() == 0 ? run_root(source, sink) : run_other();
}

template <typename T>
std::uint64_t StreamFft<T>::run(const Source<T>& source, const Sink<Complex>& sink) {
  return comm_.rank() == 0 ? run_root(source, sink) : run_other();
}

template <typename T>
std::uint64_t StreamFft<T>::run(const Source<Complex>& source, const Sink<T>& sink) {
  return comm_.rank() == 0 ? run_root(source, sink) : run_other();
}

template <typename T>
void StreamFft<T>::begin() {
  started_ = computed_ = done_ = 0;
  ended_ = quiet_ = false;
}

template <typename T>
template <typename In, typename Out>
std::uint64_t StreamFft<T>::run_root(const Source<In>& source, const Sink<Out>& sink) {
  begin();
  const std::size_t length = std::is_same_v<Out, T> || !plan_.real ? plan_.length : plan_.length / 2 + 1;
  Buffer<Out> result(length);
  while (!(ended_ && done_ == started_)) {
    bool any = feed(source);
    if (computed_ < started_) {
      compute(slot(computed_));
      ++computed_;
      any = true;
    }
    if (done_ < computed_ && slot(done_).gather.test()) {
      {
        const Timer timer(times_.assemble_s, observer_, "assemble");
        transform_.assemble(transform_.template blocks_of<const Complex*>(slot(done_).out.data()),
                            result.data());
      }
      ++done_;
      sink(result.data());
      any = true;
    }
    if (any) continue;
    const bool can_wait_for_gather = done_ < computed_;
    const auto until = Clock::now() + kAskAgain;
    const Timer timer(times_.gather_s, observer_, "wait");
    comm_.wait_until(
        [&] {
          return (can_wait_for_gather && slot(done_).gather.done()) || (!quiet_ && may_feed()) ||
                 (quiet_ && Clock::now() >= until);
        },
        quiet_ && done_ == started_);
  }
  word_sent_.wait();
  return done_;
}

template <typename T>
bool StreamFft<T>::may_feed() const {
  return !ended_ && started_ - done_ < slots_.size() && word_sent_.done();
}

/// @return whether the source had anything to say
template <typename T>
template <typename In>
bool StreamFft<T>::feed(const Source<In>& source) {
  if (!may_feed()) return false;
  const Offer<In> offer = source();
  quiet_ = offer.kind == Offer<In>::Kind::later;
  ended_ = offer.kind == Offer<In>::Kind::end;
  if (quiet_) {
    if (Clock::now() - last_word_ > kLongestSilence) announce(kWait);
    return false;
  }
  announce(ended_ ? kEnd : kNext);
  if (ended_) return true;
  Slot& next = slot(started_);
  next.scatter.wait();  // has ended, as its gather has
  {
    const Timer timer(times_.split_s, observer_, "split");
    transform_.split(offer.vector, transform_.blocks_of(next.in.data()));
  }
  start_scatter(next);
  // The others' blocks may come at once; the root's own is transformed into its place meanwhile.
  start_gather(next);
  ++started_;
  return true;
}

template <typename T>
std::uint64_t StreamFft<T>::run_other() {
  begin();
  announce(kWait);  // overwritten by the root's
  while (!(ended_ && done_ == started_)) {
    bool any = false;
    if (!ended_ && word_sent_.test() && (word_ != kNext || started_ - done_ < slots_.size())) {
      ended_ = word_ == kEnd;
      if (word_ == kNext) start_scatter(slot(started_++));
      if (!ended_) announce(kWait);
      any = true;
    }
    if (computed_ < started_ && slot(computed_).scatter.test()) {
      compute(slot(computed_));
      start_gather(slot(computed_));
      ++computed_;
      any = true;
    }
    if (done_ < computed_ && slot(done_).gather.test()) {
      ++done_;
      any = true;
    }
    if (any) continue;
    const bool starved = computed_ < started_ || done_ == computed_;
    const Timer timer(starved ? times_.scatter_s : times_.gather_s, observer_, "wait");
    comm_.wait_until([&] {
      return (!ended_ && word_sent_.done() && (word_ != kNext || started_ - done_ < slots_.size())) ||
             (computed_ < started_ && slot(computed_).scatter.done()) ||
             (done_ < computed_ && slot(done_).gather.done());
    });
  }
  return done_;
}

/// At the root: sends a word. Elsewhere: expects the next one.
template <typename T>
void StreamFft<T>::announce(std::int64_t word) {
  word_ = word;
  last_word_ = Clock::now();
  word_sent_ = comm_.ibcast<std::int64_t>(std::span(&word_, 1), 0);
}

template <typename T>
void StreamFft<T>::start_scatter(Slot& slot) {
  const std::span<Complex> all(slot.in.data(), slot.in.size());
  slot.scatter = comm_.iscatter<Complex>(all, all.first(transform_.block_length()), 0, plan_.scatter);
  times_.bytes_scattered += moved_bytes();
}

template <typename T>
void StreamFft<T>::start_gather(Slot& slot) {
  Buffer<Complex>& results = comm_.rank() == 0 ? slot.out : slot.in;
  const std::span<Complex> all(results.data(), results.size());
  slot.gather = comm_.igather<Complex>(all.first(transform_.block_length()), all, 0, plan_.gather);
  times_.bytes_gathered += moved_bytes();
}

template <typename T>
void StreamFft<T>::compute(Slot& slot) {
  const Timer timer(times_.compute_s);
  transform_.compute(slot.in.data(), comm_.rank() == 0 ? slot.out.data() : slot.in.data(), observer_);
}

/// Over links, per vector and direction.
template <typename T>
std::uint64_t StreamFft<T>::moved_bytes() const {
  return comm_.rank() == 0 ? (transform_.parts() - 1) * transform_.block_length() * sizeof(Complex) : 0;
}

template class StreamFft<float>;
template class StreamFft<double>;

}  // namespace papfft::fft
