// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fft/engines/shared_transform.hpp"
#include "fft/engines/timer.hpp"
#include "fft/kernel/types.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// What a source of vectors has for a stream.
template <typename Sample>
struct Offer {
  enum class Kind : std::uint8_t { vector, later, end };
  Kind kind = Kind::end;
  const Sample* vector = nullptr;  ///< valid until the source is asked again
  bool lasting = false;            ///< or until the run has ended: then it need not be copied

  static Offer of(const Sample* vector, bool lasting = false) { return {Kind::vector, vector, lasting}; }
  static Offer later() { return {Kind::later}; }  ///< none now; the stream goes on with what it has
  static Offer end() { return {Kind::end}; }
};

/// Many vectors, each transformed by all ranks as ParallelFft does, and bitwise with its numbers; but the root sends vector
/// i+1, all compute vector i and the root receives vector i-1 at the same time, so that a full-duplex link carries both ways.
///
///     root    split 2 | send 2 ........ | split 3 | send 3 ........ | ...
///             own 1, assemble 0 | receive 1 ........ | own 2, assemble 1 | receive 2 ...
///     others  receive 2 ...... | compute 1 | send 1 ...... | compute 2 | ...
///
/// Short vectors travel several together, as the network is idle between messages that are too short.
///
/// At most `depth` such groups of vectors are between split and assemble: when a rank falls behind, the source is not asked
/// until the oldest is back. Of those, few are on their way at a time, so that an older vector is not held up by newer ones;
/// the rest makes up for ranks that are late now and then. Memory at the root: 2 depth groups; elsewhere: depth blocks of one.
///
/// Messages move while ranks compute if the collectives are a Session's with a background thread. A small broadcast before
/// each group tells the others how many vectors it has: the root need not know how many will come.
template <typename T>
class StreamFft {
 public:
  using Complex = std::complex<T>;
  static constexpr int kDepth = 6;
  static constexpr std::size_t kMessageBytes = std::size_t{1} << 18;

  /// Not collective. @param comm  must outlive this object; rank 0 is the root. @param depth  2 or more
  /// @param message_bytes  wanted, of short vectors together; alike on all ranks
  /// @throws std::invalid_argument  unless can_share(); a depth that makes no sense
  StreamFft(comm::Collectives& comm, const ParallelPlan& plan, int depth = kDepth,
            std::size_t message_bytes = kMessageBytes);

  /// Asked at the root whenever there is room, until it offers the end.
  template <typename In>
  using Source = std::function<Offer<In>()>;
  /// Gets each result at the root, in order; valid during the call.
  template <typename Out>
  using Sink = std::function<void(const Out*)>;

  /// Collective; source and sink matter at the root alone. Each of the three serves one kind of plan. Shapes as
  /// ParallelFft::execute. @return vectors transformed, on every rank
  /// @throws std::logic_error  the plan is of another kind; what the collectives, the source and the sink throw
  std::uint64_t run(const Source<Complex>& source, const Sink<Complex>& sink);
  std::uint64_t run(const Source<T>& source, const Sink<Complex>& sink);
  std::uint64_t run(const Source<Complex>& source, const Sink<T>& sink);

  /// @param observer  nullptr: none; must outlive the calls of run.
  void observe(ParallelObserver* observer) { observer_ = observer; }

  /// scatter_s and gather_s are the time in which this rank had to wait for blocks to come and, at the root, to come back.
  [[nodiscard]] const PhaseTimes& times() const { return times_; }

  /// So many vectors travel together.
  [[nodiscard]] std::size_t vectors_per_group() const { return group_; }

 private:
  struct Slot {               // of one group in flight
    Buffer<Complex> own;      // this rank's blocks, transformed in place
    Buffer<Complex> out;      // root: all ranks' blocks on their way out; its own lie in `own`
    Buffer<Complex> back;     // root: the same on their way back
    std::uint64_t count = 0;  // vectors
    comm::Pending scatter;
    comm::Pending gather;
  };

  void begin();
  template <typename In, typename Out>
  std::uint64_t run_root(const Source<In>& source, const Sink<Out>& sink);
  std::uint64_t run_other();
  template <typename In>
  bool feed(const Source<In>& source);
  [[nodiscard]] bool may_feed() const;
  template <typename Pointer>
  [[nodiscard]] std::vector<Pointer> blocks(Pointer own, Pointer others, std::size_t index) const;
  void announce(std::int64_t word);
  void start_scatter(Slot& slot);
  void start_gather(Slot& slot);
  void compute(Slot& slot);
  [[nodiscard]] std::uint64_t moved_bytes() const;
  [[nodiscard]] bool has_room() const { return started_ - done_ < slots_.size(); }
  /// Elsewhere than at the root: a word has come that can be acted upon.
  [[nodiscard]] bool may_listen() const { return !ended_ && word_sent_.done() && (word_ <= 0 || has_room()); }
  [[nodiscard]] Slot& slot(std::uint64_t group) { return slots_[group % slots_.size()]; }

  comm::Collectives& comm_;
  ParallelPlan plan_;
  SharedTransform<T> transform_;
  std::size_t group_;   // vectors in a group
  std::size_t stride_;  // from one vector's block of a rank to the next one's
  std::vector<Slot> slots_;
  std::int64_t word_ = 0;  // of the broadcast under way
  comm::Pending word_sent_;
  std::chrono::steady_clock::time_point last_word_;
  std::uint64_t started_ = 0;  // groups
  std::uint64_t computed_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t vectors_ = 0;  // done
  bool source_ended_ = false;
  bool ended_ = false;  // and the others know
  bool quiet_ = false;  // the source had nothing when it was asked last
  PhaseTimes times_;
  ParallelObserver* observer_ = nullptr;
};

}  // namespace papfft::fft
