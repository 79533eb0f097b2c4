// SPDX-License-Identifier: MIT
#include "fft/engines/stream_fft.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace papfft::fft {

namespace {

using Clock = std::chrono::steady_clock;

/// What the root tells the others before each group: how many vectors it has, or one of these.
enum Word : std::int64_t {
  kEnd = 0,   ///< there is none, and there will be none
  kWait = -1  ///< not yet; so that a quiet source does not look like a stuck root
};

constexpr std::size_t kMostInGroup = 256;

constexpr auto kAskAgain = std::chrono::milliseconds(1);  // a source that had nothing

}  // namespace

template <typename T>
StreamFft<T>::StreamFft(comm::Collectives& comm, const ParallelPlan& plan, int depth,
                        std::size_t message_bytes)
    : comm_(comm), plan_(plan), transform_(plan, comm.rank(), comm.size()), group_(1) {
  // In rank order, so that ranks get, compute and return their blocks one after another; and in whole blocks: grants of a
  // gather by chunks would wait behind the scatter's blocks on their way to the same rank.
  if (plan_.scatter == "auto") plan_.scatter = "lin";
  if (plan_.gather == "auto") plan_.gather = "lin";
  if (depth < 2) throw std::invalid_argument("a stream needs a depth of 2 vectors or more");
  slots_.resize(static_cast<std::size_t>(depth));
  const std::size_t block = transform_.block_length();
  const std::size_t block_bytes = block * sizeof(Complex);
  const std::size_t wanted_bytes = std::max<std::size_t>(message_bytes, 1);
  stride_ = block;
  if (block_bytes < wanted_bytes) {
    group_ = std::min(wanted_bytes / block_bytes, kMostInGroup);
    if (group_ > 1) stride_ = Buffer<Complex>::whole_lines(block);
  }
  const bool root = comm.rank() == 0;
  for (Slot& slot : slots_) {
    slot.own = Buffer<Complex>(group_ * stride_);
    std::fill(slot.own.begin(), slot.own.end(), Complex{});  // a group that is not full travels as a whole
    if (!root) continue;
    slot.out = Buffer<Complex>(transform_.parts() * group_ * stride_);
    std::fill(slot.out.begin(), slot.out.end(), Complex{});
    slot.back = Buffer<Complex>(slot.out.size());
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
  started_ = computed_ = done_ = vectors_ = 0;
  source_ended_ = ended_ = quiet_ = false;
}

template <typename T>
template <typename In, typename Out>
std::uint64_t StreamFft<T>::run_root(const Source<In>& source, const Sink<Out>& sink) {
  begin();
  Buffer<Out> result(plan_.out_length());
  while (!(ended_ && done_ == started_)) {
    bool any = feed(source);
    if (computed_ < started_) {
      compute(slot(computed_));
      ++computed_;
      any = true;
    }
    if (done_ < computed_ && slot(done_).gather.test()) {
      Slot& oldest = slot(done_);
      for (std::size_t v = 0; v < oldest.count; ++v) {
        {
          const Timer timer(times_.assemble_s, observer_, "assemble");
          const Complex* own = oldest.own.data();
          const Complex* back = oldest.back.data();
          transform_.assemble(blocks(own, back, v), result.data());
        }
        ++vectors_;
        sink(result.data());
      }
      ++done_;
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
  return vectors_;
}

template <typename T>
bool StreamFft<T>::may_feed() const {
  return !ended_ && has_room() && word_sent_.done();
}

/// @return whether the source had anything to say
template <typename T>
template <typename In>
bool StreamFft<T>::feed(const Source<In>& source) {
  if (!may_feed()) return false;
  Slot& next = slot(started_);
  next.scatter.wait();  // has ended, as its gather has
  next.count = 0;
  quiet_ = false;
  while (next.count < group_ && !source_ended_ && !quiet_) {
    const Offer<In> offer = source();
    quiet_ = offer.kind == Offer<In>::Kind::later;
    source_ended_ = offer.kind == Offer<In>::Kind::end;
    if (offer.kind != Offer<In>::Kind::vector) break;
    const Timer timer(times_.split_s, observer_, "split");
    transform_.split(offer.vector, blocks(next.own.data(), next.out.data(), next.count));
    ++next.count;
  }
  if (next.count == 0 && quiet_) {
    if (Clock::now() - last_word_ > comm_.options().longest_silence()) announce(kWait);
    return false;
  }
  if (next.count == 0) {
    announce(kEnd);
    ended_ = true;
    return true;
  }
  announce(static_cast<std::int64_t>(next.count));
  start_scatter(next);
  // The others' blocks may come at once; the root's own are transformed meanwhile.
  start_gather(next);
  ++started_;
  return true;
}

/// Where the blocks of a group's vector lie at the root.
template <typename T>
template <typename Pointer>
std::vector<Pointer> StreamFft<T>::blocks(Pointer own, Pointer others, std::size_t index) const {
  std::vector<Pointer> result(transform_.parts());
  for (std::size_t r = 0; r < result.size(); ++r) {
    result[r] = (r == 0 ? own : others + r * group_ * stride_) + index * stride_;
  }
  return result;
}

template <typename T>
std::uint64_t StreamFft<T>::run_other() {
  begin();
  announce(kWait);  // overwritten by the root's
  while (!(ended_ && done_ == started_)) {
    bool any = false;
    (void)word_sent_.test();
    if (may_listen()) {
      ended_ = word_ == kEnd;
      if (word_ > 0) {
        Slot& next = slot(started_++);
        next.count = static_cast<std::uint64_t>(word_);
        start_scatter(next);
      }
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
      vectors_ += slot(done_).count;
      ++done_;
      any = true;
    }
    if (any) continue;
    const bool starved = computed_ < started_ || done_ == computed_;
    const Timer timer(starved ? times_.scatter_s : times_.gather_s, observer_, "wait");
    comm_.wait_until([&] {
      return may_listen() || (computed_ < started_ && slot(computed_).scatter.done()) ||
             (done_ < computed_ && slot(done_).gather.done());
    });
  }
  return vectors_;
}

/// At the root: sends a word. Elsewhere: expects the next one.
template <typename T>
void StreamFft<T>::announce(std::int64_t word) {
  word_ = word;
  last_word_ = Clock::now();
  word_sent_ = comm_.ibcast<std::int64_t>(std::span(&word_, 1), 0);
}

/// The root's own block lies elsewhere than in `out` and `back`, where its place is neither read nor written.
template <typename T>
void StreamFft<T>::start_scatter(Slot& slot) {
  const std::span<Complex> whole(slot.out.data(), slot.out.size());
  const std::span<Complex> own(slot.own.data(), slot.own.size());
  slot.scatter =
      comm_.iscatter<Complex>(whole, comm_.rank() == 0 ? whole.first(own.size()) : own, 0, plan_.scatter);
  times_.bytes_scattered += moved_bytes();
}

template <typename T>
void StreamFft<T>::start_gather(Slot& slot) {
  const std::span<Complex> whole(slot.back.data(), slot.back.size());
  const std::span<Complex> own(slot.own.data(), slot.own.size());
  slot.gather =
      comm_.igather<Complex>(comm_.rank() == 0 ? whole.first(own.size()) : own, whole, 0, plan_.gather);
  times_.bytes_gathered += moved_bytes();
}

/// With other ranks, per group and direction.
template <typename T>
std::uint64_t StreamFft<T>::moved_bytes() const {
  return comm_.rank() == 0 ? (transform_.parts() - 1) * group_ * stride_ * sizeof(Complex) : 0;
}

template <typename T>
void StreamFft<T>::compute(Slot& slot) {
  const Timer timer(times_.compute_s);
  for (std::size_t v = 0; v < slot.count; ++v) {
    Complex* block = slot.own.data() + v * stride_;
    transform_.compute(block, block, observer_);
  }
}

template class StreamFft<float>;
template class StreamFft<double>;

}  // namespace papfft::fft
