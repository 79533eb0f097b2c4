// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "comm/progress/slot_sizes.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// How many messages a rank may have under way. Windows count in program order: an op enters the window when fewer than
/// `sends` earlier sends (or `receives` earlier receives) of its program are unfinished. So a larger window only allows more.
/// A window that counted in the order in which ops become possible would not have this property.
struct Window {
  int sends = 1;
  int receives = 1;
  /// Those inside a host (Op::inside) are counted apart.
  int inside_sends = 1;
  int inside_receives = 1;
  friend bool operator==(const Window&, const Window&) = default;
};

/// Where the message of a receive that combines lands, and so when the receive may be posted.
enum class Landing : std::uint8_t {
  /// Aside: the receive is posted when it enters the window. Its bytes are combined when its dependencies have ended.
  aside,
  /// In its slots: the receive is posted like any other op, when its dependencies have ended.
  in_place
};

/// What bounds a rank beside its program.
struct Rules {
  Window window = {};
  Landing landing = Landing::aside;
};

/// What happens to a rank's Progress, in order. The value is the number of credits or an op.
enum class ProgressEvent : std::uint8_t {
  begun,
  arrived,
  credits,
  handed_out,
  landed,
  ended,
  nothing_to_start
};

/// Is told of every event of one or more ranks.
class ProgressObserver {
 public:
  virtual ~ProgressObserver() = default;
  virtual void happened(Rank rank, ProgressEvent event, int value) = 0;
};

/// Says which ops of one rank may start. Everything that runs a schedule asks this class and has no rule of its own: the
/// executor adds messages and buffers, the simulators add time, the verifier adds sets of contributors.
///
/// An op may start when all of this holds:
/// - The ops that it waits for have ended.
/// - The rank has arrived, or the op does not need the arrival (background.hpp) and begin() was called.
/// - It is a local op, or it has entered its window, or the window does not count it. The window counts every message that
///   names slots and has no credit mark, but no send that waits for an empty message from its receiver. That one has been invited, and
///   the receiver knows how many it invites, in an order of its own.
/// - It has a credit, if it takes one (see Credit).
/// A receive that lands aside only has to enter its window. It may be combined when its message has landed and the first two
/// conditions hold.
///
/// A message whose slots are all empty is void: it is a local op at both ends and is never sent, since both ends know the sizes.
/// So is a message without slots that is for such slots (Op::about); any other is sent. What is void takes no credit and gives none
/// back. In a schedule with credits that does not say what it grants (Shape::names_what_it_grants) every message is sent.
///
/// Each condition stays true once it is true, except for the credit. So without credits the order of events does not matter:
/// all runs of a schedule end the same ops.
///
/// Cost: O(1) per op and per dependency, O(log n) for what is startable at one time. Per op 12 bytes, 4 more per dependency, per
/// counted message and, in a program that takes credits, per op. No allocation after construction, but for growing queues.
class Progress {
 public:
  enum class Phase : std::uint8_t { waiting, started, landed, ended };

  /// @param needs_arrival  one flag per op; empty: no op needs it
  /// @throws std::invalid_argument  if an op waits for an op that is not an earlier one
  Progress(const Shape& shape, const Program& program, const SlotSizes& sizes, const Rules& rules,
           const std::vector<bool>& needs_arrival = {});

  /// From now on ops may start that do not need the arrival.
  void begin();
  /// The rank's caller has come. Implies begin().
  void arrive();
  /// How many credits there are; Shape::credits at first. Fewer than are taken: none is handed out until enough came back.
  void set_credits(int credits);

  /// Hands out the next op that may start, each op once: local ops and uncounted messages first, then counted receives, then
  /// counted sends, each in program order; then takes. Hands out a landed op once more when it may be combined.
  [[nodiscard]] std::optional<int> next();
  /// The message of an op that lands aside is there. The op ends when it has been combined.
  void landed(int op);
  void ended(int op);

  [[nodiscard]] bool done() const { return unfinished_ == 0; }
  [[nodiscard]] bool has_arrived() const { return arrived_; }
  [[nodiscard]] Phase phase(int op) const { return node(op).phase; }
  /// A local op or a void message.
  [[nodiscard]] bool is_local(int op) const { return has(op, kLocal); }
  [[nodiscard]] bool lands_aside(int op) const { return has(op, kAside); }
  /// Nothing is missing but the message: what comes of it may be combined at once.
  [[nodiscard]] bool lacks_only_message(int op) const {
    return has(op, kAside) && begun_ && node(op).unmet == 1;
  }
  [[nodiscard]] bool needs_arrival(int op) const { return has(op, kNeedsArrival); }
  /// Counted sends remain that have not been handed out.
  [[nodiscard]] bool has_more_to_send() const { return sends_to_start_ > 0; }
  /// Credits that have been taken and have not come back.
  [[nodiscard]] int credits_taken() const { return taken_; }

  /// `observer` must outlive this object or the next call; `rank` is what it is told. nullptr: nobody.
  void observe(ProgressObserver* observer, Rank rank);

 private:
  enum Trait : std::uint8_t {
    kLocal = 1,
    kSend = 2,     // counted by the window of sends
    kReceive = 4,  // counted by the window of receives
    kAside = 8,
    kNeedsArrival = 16,
    kTake = 32,
    kGive = 64,
    kInside = 128
  };
  struct Node {     // of one op
    int unmet = 0;  // conditions that do not hold yet, but for the credit
    int dependents_end =
        0;  // its dependents end here in dependents_, where those of the op before it end they begin
    std::uint8_t traits = 0;
    Phase phase = Phase::waiting;
  };
  /// The counted messages of one direction, in program order.
  struct Lane {
    std::vector<int> ops = {};
    std::size_t entered = 0;  // so many have entered the window
    int open = 0;             // of these, so many have not ended
    int window = 1;
  };

  [[nodiscard]] const Node& node(int op) const { return nodes_[static_cast<std::size_t>(op)]; }
  [[nodiscard]] Node& node(int op) { return nodes_[static_cast<std::size_t>(op)]; }
  [[nodiscard]] bool has(int op, Trait trait) const { return (node(op).traits & trait) != 0; }
  Lane& lane_of(int op) { return lanes_[(has(op, kInside) ? 2U : 0U) + (has(op, kSend) ? 0U : 1U)]; }

  void tell(ProgressEvent event, int value = 0) {
    if (observer_ != nullptr) observer_->happened(rank_, event, value);
  }
  void connect_dependents(const Program& program);
  void number_peers(const Program& program);
  void advance(Lane& lane);
  void meet_condition(int op);
  void make_ready(int op);
  void ask(int op);
  int hand_out(int op);

  std::vector<Node> nodes_;
  std::vector<int> dependents_;
  std::array<Lane, 4> lanes_;          // sends, receives; the same inside a host
  std::vector<std::uint32_t> ready_;   // heap: what may start and takes no credit, by its turn
  std::vector<std::uint64_t> asking_;  // heap: takes that have all but a credit, by (order of the peer, op)
  std::vector<int> take_peer_;         // per op, if there are takes: its peer, numbered from 0
  std::vector<std::uint32_t>
      turn_of_;  // per such number: the peer's turn, or kNoTurn before its first take is ready
  std::uint32_t turns_ = 0;
  int credits_ = 0;
  int taken_ = 0;
  int unfinished_ = 0;
  int sends_to_start_ = 0;
  Rank rank_ = 0;
  bool begun_ = false;
  bool arrived_ = false;
  ProgressObserver* observer_ = nullptr;
};

}  // namespace papfft::comm
