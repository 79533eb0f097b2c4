// SPDX-License-Identifier: MIT
#include "comm/engine/execution.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>

#include "comm/choose/link_limits.hpp"
#include "comm/engine/steady_clock.hpp"
#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/transport/tags.hpp"

namespace papfft::comm {

namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// A send of these ends when its receiver has answered. Else the window bounds nothing: MPI says of a message below its
/// eager limit that it is sent when it is in the socket's buffer, with many others, which then leave in any order; and
/// what a rank has not given to the network when its call ends, waits for its next one. On 8 hosts with 1 Gb/s Ethernet
/// that makes the whole bound out of 0.8 of it for a broadcast of 2 MB, and 0.9 out of 0.8 for an allreduce. Reductions,
/// allgathers and reduce-scatters gained nothing in the same measurement; gathers go by credits.
bool are_sends_answered(Operation operation) {
  return operation == Operation::bcast || operation == Operation::allreduce;
}

using Bytes = std::shared_ptr<std::byte[]>;

Bytes allocate(std::size_t bytes) {
  return std::make_shared_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1));
}

}  // namespace

struct Execution::Impl {
  using Clock = std::chrono::steady_clock;

  enum class Phase : std::uint8_t { waiting, moving, landed, ended };

  struct State {  // of one op
    Phase phase = Phase::waiting;
    bool needs_arrival = false;
    bool queued = false;  // asks for a credit
    bool local = false;  // needs no message: a local op, or one whose slots are all empty, as both sides know
    int unmet = 0;       // dependencies that have not ended
    int tag = 0;
    std::size_t bytes = 0;
    std::byte* landing = nullptr;  // where a receive puts its bytes
    Bytes buffer;                  // keeps packed or staged bytes alive
  };

  struct Slot {
    const std::byte* at = nullptr;  // the present value
    Bytes owner;                    // of staged values; then the value may be overwritten in place
  };

  /// Ops of one direction in program order, and how many of the first have all ended.
  struct Lane {
    std::vector<int> ops;
    std::size_t ended = 0;
    int window = 1;
  };

  /// Takes of one peer that are ready, in program order; peers in the order of their first take (see Credit).
  struct Asking {
    Rank peer = -1;
    std::deque<int> takes;
    std::deque<Clock::time_point> granted = {};  // when, of those whose answer has not landed
  };

  Impl(RankSchedule part_in, Layout layout_in, Transport& transport_in, std::uint32_t instance, Window window,
       const Reducer* reducer_in, CreditWindow* credits_in)
      : part(std::move(part_in)),
        layout(std::move(layout_in)),
        reducer(reducer_in),
        channel(transport_in.open()),
        credits(credits_in != nullptr ? *credits_in : own_credits) {
    channel->keep(memory);
    const auto slot_count = idx(part.shape.slots());
    if (transport_in.size() != part.shape.ranks || transport_in.rank() != part.rank) {
      throw std::invalid_argument("execution: the schedule is for another group or rank");
    }
    if (layout.bytes.size() != slot_count || layout.input.size() != slot_count ||
        layout.output.size() != slot_count) {
      throw std::invalid_argument("execution: the layout has not one entry per slot");
    }
    const Program& program = part.program;
    states.resize(idx(program.size()));
    dependents.resize(idx(program.size()));
    slots.resize(slot_count);
    last_writer.assign(slot_count, -1);
    last_use.assign(slot_count, -1);
    readers.assign(slot_count, 0);
    for (std::size_t s = 0; s < slot_count; ++s) slots[s].at = layout.input[s];
    sends.window = std::max(1, window.sends);
    receives.window = std::max(1, window.receives);
    const std::vector<bool> needs = comm::needs_arrival(part);
    std::map<std::pair<Rank, bool>, int> messages;  // (peer, direction) -> count so far
    for (int i = 0; i < program.size(); ++i) {
      const Op& op = program[i];
      State& state = states[idx(i)];
      state.needs_arrival = needs[idx(i)];
      state.unmet = static_cast<int>(program.after(i).size());
      for (const int before : program.after(i)) dependents[idx(before)].push_back(i);
      for (int s = op.blocks.first; s < op.blocks.last; ++s) {
        state.bytes += layout.bytes[idx(s)];
        if (op.kind != OpKind::send) last_writer[idx(s)] = i;
        const int source = is_local(op.kind) ? op.from + s - op.blocks.first : s;
        last_use[idx(s)] = last_use[idx(source)] = i;
        if (is_local(op.kind) || op.kind == OpKind::send) ++readers[idx(source)];
      }
      if (combines(op.kind) && reducer == nullptr) {
        throw std::invalid_argument("execution: a reduction needs an operation");
      }
      const bool empty = op.blocks.count() > 0 && state.bytes == 0 && part.shape.credits == 0;
      state.local = is_local(op.kind) || empty;
      if (state.local) {
        locals.push_back(i);
        continue;
      }
      if (is_data_to_come(op, state)) ++receives_left;
      state.tag = call_tag(transport_in.max_tag(), instance, messages[{op.peer, op.kind == OpKind::send}]++);
      if (is_uncounted(op)) {
        uncounted.push_back(i);
      } else {
        (op.kind == OpKind::send ? sends : receives).ops.push_back(i);
      }
    }
    unfinished = program.size();
  }

  /// Not under the windows (verify.hpp): messages without data, and what is bounded by credits.
  static bool is_uncounted(const Op& op) { return op.credit != Credit::none || op.blocks.count() == 0; }

  static bool is_data_to_come(const Op& op, const State& state) {
    return op.kind != OpKind::send && !state.local && state.bytes > 0;
  }

  [[nodiscard]] bool may_run(const State& state) const {
    return state.unmet == 0 && (arrived || !state.needs_arrival);
  }

  bool start_lane(Lane& lane) {
    bool any = false;
    while (lane.ended < lane.ops.size() && states[idx(lane.ops[lane.ended])].phase == Phase::ended)
      ++lane.ended;
    int open = 0;
    for (std::size_t k = lane.ended; k < lane.ops.size() && open < lane.window; ++k) {
      const int i = lane.ops[k];
      State& state = states[idx(i)];
      if (state.phase == Phase::ended) continue;
      ++open;
      if (state.phase != Phase::waiting) continue;
      // What is to be combined lands in staging, so that the transfer need not wait: only the combining does.
      if (!may_run(state) && part.program[i].kind != OpKind::recv_combine) continue;
      start(i);
      any = true;
    }
    return any;
  }

  /// An uncounted message has become possible: it starts now, or when there is a credit for it.
  void enable(int i) {
    const Op& op = part.program[i];
    if (op.credit != Credit::take) {
      start(i);
      return;
    }
    auto asking = std::ranges::find(asking_peers, op.peer, &Asking::peer);
    if (asking == asking_peers.end()) asking = asking_peers.insert(asking_peers.end(), Asking{op.peer, {}});
    asking->takes.push_back(i);
    states[idx(i)].queued = true;
  }

  bool serve_takes() {
    bool any = false;
    for (Asking& asking : asking_peers) {
      while (granted < credits.size() && !asking.takes.empty()) {
        if (std::exchange(has_drained, false)) credits.drained();
        ++granted;
        asking.granted.push_back(Clock::now());
        start(asking.takes.front());
        asking.takes.pop_front();
        any = true;
      }
      if (granted >= credits.size()) break;
    }
    has_drained = false;
    return any;
  }

  /// The answer to the oldest grant of this peer.
  void give_back(Rank peer) {
    const auto asking = std::ranges::find(asking_peers, peer, &Asking::peer);
    credits.landed(Clock::now() - asking->granted.front());
    asking->granted.pop_front();
    has_drained = --granted == 0;
  }

  void start(int i) {
    if (observer != nullptr) begun[idx(i)] = {steady_now_ns(), !arrived};
    if (observer != nullptr && !arrived && !first_early_ns) first_early_ns = begun[idx(i)].at_ns;
    if (part.program[i].kind == OpKind::send) {
      start_send(i);
    } else {
      start_receive(i);
    }
  }

  void start_send(int i) {
    const Op& op = part.program[i];
    State& state = states[idx(i)];
    const std::byte* from = state.bytes == 0 ? nullptr : slots[first_filled(op)].at;
    // Staged values are kept until they have left, whatever becomes of their slots (see bind).
    if (state.bytes > 0) state.buffer = slots[first_filled(op)].owner;
    if (!is_contiguous(op.blocks, [&](std::size_t s) { return slots[s].at; }) ||
        !have_one_owner(op.blocks, state.buffer)) {
      state.buffer = allocate(state.bytes);
      std::byte* to = state.buffer.get();
      for (int s = op.blocks.first; s < op.blocks.last; ++s) {
        to = std::copy_n(slots[idx(s)].at, layout.bytes[idx(s)], to);
      }
      from = state.buffer.get();
    }
    state.phase = Phase::moving;
    sent += state.bytes;
    const bool answered =
        are_sends_answered(part.shape.operation) && state.bytes >= kLinkLimits.answered_bytes;
    const std::span data(from, state.bytes);
    remember(answered ? channel->issend(op.peer, state.tag, data) : channel->isend(op.peer, state.tag, data),
             i);
  }

  [[nodiscard]] bool have_one_owner(BlockRange range, const Bytes& owner) const {
    for (int s = range.first; s < range.last; ++s) {
      if (layout.bytes[idx(s)] > 0 && slots[idx(s)].owner != owner) return false;
    }
    return true;
  }

  void start_receive(int i) {
    const Op& op = part.program[i];
    State& state = states[idx(i)];
    const bool direct = op.kind == OpKind::recv && is_contiguous(op.blocks, [&](std::size_t s) {
                          return static_cast<const std::byte*>(layout.output[s]);
                        });
    if (direct) {
      state.landing = state.bytes == 0 ? nullptr : layout.output[first_filled(op)];
    } else {
      state.buffer = allocate(state.bytes);
      state.landing = state.buffer.get();
      staged += state.bytes;
    }
    state.phase = Phase::moving;
    remember(channel->irecv(op.peer, state.tag, {state.landing, state.bytes}), i);
  }

  /// Of an op with data, its first slot that has some. Empty slots need not be anywhere.
  [[nodiscard]] std::size_t first_filled(const Op& op) const {
    auto s = idx(op.blocks.first);
    while (layout.bytes[s] == 0) ++s;
    return s;
  }

  template <typename Where>
  bool is_contiguous(BlockRange range, Where where) const {
    const std::byte* expected = nullptr;
    for (int s = range.first; s < range.last; ++s) {
      if (layout.bytes[idx(s)] == 0) continue;  // wherever it is
      const std::byte* at = where(idx(s));
      if (at == nullptr || (expected != nullptr && at != expected)) return false;
      expected = at + layout.bytes[idx(s)];
    }
    return true;
  }

  void remember(int ticket, int op) {
    if (tickets.size() <= idx(ticket)) tickets.resize(idx(ticket) + 1, -1);
    tickets[idx(ticket)] = op;
  }

  bool poll() {
    ended_tickets.clear();
    channel->poll(ended_tickets);
    // What ends may start other messages, and these may get the same tickets again.
    ended_ops.clear();
    for (const int ticket : ended_tickets) ended_ops.push_back(tickets[idx(ticket)]);
    for (const int i : ended_ops) {
      State& state = states[idx(i)];
      if (observer != nullptr) {
        const Op& op = part.program[i];
        observer->message_ended({.sent = op.kind == OpKind::send,
                                 .peer = op.peer,
                                 .tag = state.tag,
                                 .bytes = state.bytes,
                                 .early = begun[idx(i)].early,
                                 .begin_ns = begun[idx(i)].at_ns,
                                 .end_ns = steady_now_ns()});
      }
      if (part.program[i].kind == OpKind::recv_combine) {
        state.phase = Phase::landed;
        if (may_run(state)) finish(i);
      } else {
        finish(i);
      }
    }
    return !ended_ops.empty();
  }

  /// Carries out what op i does to this rank's slots, and whatever that makes possible without a message.
  void finish(int i) {
    std::vector<int> open{i};
    while (!open.empty()) {
      const int k = open.back();
      open.pop_back();
      apply(k);
      states[idx(k)].phase = Phase::ended;
      states[idx(k)].buffer.reset();
      --unfinished;
      if (is_data_to_come(part.program[k], states[idx(k)])) --receives_left;
      if (part.program[k].credit == Credit::give) give_back(part.program[k].peer);
      for (const int next : dependents[idx(k)]) {
        State& state = states[idx(next)];
        --state.unmet;
        if (can_finish_now(next)) {
          open.push_back(next);
        } else if (can_enable(next)) {
          enable(next);
        }
      }
    }
  }

  [[nodiscard]] bool can_enable(int i) const {
    const Op& op = part.program[i];
    const State& state = states[idx(i)];
    return !state.local && is_uncounted(op) && state.phase == Phase::waiting && may_run(state);
  }

  [[nodiscard]] bool can_finish_now(int i) const {
    const State& state = states[idx(i)];
    if (!may_run(state)) return false;
    return state.phase == Phase::landed || (state.phase == Phase::waiting && state.local);
  }

  void apply(int i) {
    const Op& op = part.program[i];
    State& state = states[idx(i)];
    if (op.kind == OpKind::send) return;
    const std::byte* incoming = state.landing;
    for (int k = 0; k < op.blocks.count(); ++k) {
      const auto s = idx(op.blocks.first + k);
      if (is_local(op.kind)) incoming = slots[idx(op.from + k)].at;
      switch (op.kind) {
        case OpKind::recv:
          slots[s] = {incoming, state.buffer};
          break;
        case OpKind::copy:
          place(s, incoming);
          break;
        default:
          combine(i, s, idx(op.from + k), incoming);
      }
      if (!is_local(op.kind)) incoming += layout.bytes[s];
    }
  }

  void place(std::size_t s, const std::byte* from) {
    std::byte* to = layout.output[s];
    Bytes owner;
    if (to == nullptr) {
      owner = allocate(layout.bytes[s]);
      to = owner.get();
    }
    std::copy_n(from, layout.bytes[s], to);
    slots[s] = {to, std::move(owner)};
  }

  /// The sum goes where the result is wanted, else over what is staged already: no copy of its own.
  /// @param source  of a local op
  void combine(int i, std::size_t s, std::size_t source, const std::byte* incoming) {
    const Op& op = part.program[i];
    const State& state = states[idx(i)];
    Slot& slot = slots[s];
    const std::byte* left = op.incoming_first ? incoming : slot.at;
    const std::byte* right = op.incoming_first ? slot.at : incoming;
    std::byte* out = layout.output[s];
    Bytes owner;
    if (out == nullptr && slot.owner != nullptr) {
      owner = slot.owner;
      out = const_cast<std::byte*>(slot.at);  // points into our own staging
    } else if (out == nullptr && op.kind == OpKind::recv_combine) {
      owner = state.buffer;
      out = state.landing + (incoming - state.landing);
    } else if (out == nullptr && slots[source].owner != nullptr && last_use[source] == i &&
               readers[source] == 1) {
      owner = slots[source].owner;  // nobody else looks at it, now or later
      out = const_cast<std::byte*>(slots[source].at);
    } else if (out == nullptr) {
      owner = allocate(layout.bytes[s]);
      out = owner.get();
    }
    if (layout.bytes[s] > 0) reducer->combine(left, right, out, layout.bytes[s]);
    slot = {out, std::move(owner)};
  }

  /// What is possible without a message having ended: at the beginning, and when the caller arrives.
  bool begin() {
    bool any = false;
    for (const std::vector<int>* ops : {&locals, &receives.ops}) {
      for (const int i : *ops) {
        if (!can_finish_now(i)) continue;
        finish(i);
        any = true;
      }
    }
    for (const int i : uncounted) {
      if (!can_enable(i) || states[idx(i)].queued) continue;
      enable(i);
      any = true;
    }
    return any;
  }

  void bind(std::vector<const std::byte*> input, std::vector<std::byte*> output) {
    if (input.size() != slots.size() || output.size() != slots.size()) {
      throw std::invalid_argument("execution: the buffers have not one entry per slot");
    }
    layout.input = std::move(input);
    layout.output = std::move(output);
    for (std::size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].at == nullptr) slots[s].at = layout.input[s];
      // What came early goes to its place now, while other messages are still under way.
      const bool is_final = last_writer[s] >= 0 && states[idx(last_writer[s])].phase == Phase::ended;
      if (is_final && slots[s].owner != nullptr && layout.output[s] != nullptr) {
        std::copy_n(slots[s].at, layout.bytes[s], layout.output[s]);
        slots[s] = {layout.output[s], nullptr};
      }
    }
  }

  /// Values that did not land where the caller wants them (staged, or the caller's own input) go there now.
  void deliver() {
    for (std::size_t s = 0; s < slots.size(); ++s) {
      if (layout.output[s] != nullptr && layout.output[s] != slots[s].at && layout.bytes[s] > 0) {
        std::memmove(layout.output[s], slots[s].at, layout.bytes[s]);
      }
    }
    delivered = true;
  }

  RankSchedule part;
  Layout layout;
  const Reducer* reducer;
  std::unique_ptr<Channel> channel;
  /// What is staged lives for as long as messages use it, even if this execution is abandoned half-way.
  struct Memory {
    std::vector<State> states;
    std::vector<Slot> slots;
  };
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
  std::vector<State>& states = memory->states;
  std::vector<Slot>& slots = memory->slots;
  std::vector<std::vector<int>> dependents;
  std::vector<int> last_writer;  // of each slot, or -1
  std::vector<int> last_use;     // op that names each slot last, or -1
  std::vector<int> readers;      // how many ops send or copy each slot, or combine it into another
  Lane sends;
  Lane receives;
  std::vector<int> locals;
  std::vector<int> uncounted;
  std::vector<Asking> asking_peers;
  CreditWindow own_credits;
  CreditWindow& credits;
  int granted = 0;           // takes whose answer has not landed
  bool has_drained = false;  // since the last take
  std::vector<int> tickets;  // ticket -> op
  std::vector<int> ended_tickets;
  std::vector<int> ended_ops;
  int unfinished = 0;
  int receives_left = 0;
  bool arrived = false;
  bool fresh = true;  // ops may have become possible without a message: at the start and on arrival
  bool delivered = false;
  std::uint64_t sent = 0;
  std::uint64_t staged = 0;
  /// For an observer of messages; else empty.
  struct Begin {
    std::int64_t at_ns = 0;
    bool early = false;
  };
  Observer* observer = nullptr;
  std::vector<Begin> begun;  // per op
  std::optional<std::int64_t> first_early_ns;
};

Execution::Execution(RankSchedule part, Layout layout, Transport& transport, std::uint32_t instance,
                     Window window, const Reducer* reducer, CreditWindow* credits)
    : impl_(std::make_unique<Impl>(std::move(part), std::move(layout), transport, instance, window, reducer,
                                   credits)) {}

Execution::~Execution() = default;

void Execution::arrive() {
  impl_->arrived = true;
  impl_->fresh = true;
}

void Execution::arrive(std::vector<const std::byte*> input, std::vector<std::byte*> output) {
  impl_->bind(std::move(input), std::move(output));
  arrive();
}

void Execution::observe(Observer* observer) {
  if (observer == nullptr || !observer->wants_messages()) return;
  impl_->observer = observer;
  impl_->begun.resize(idx(impl_->part.program.size()));
}

std::optional<std::int64_t> Execution::early_ns() const { return impl_->first_early_ns; }

bool Execution::step() {
  Impl& x = *impl_;
  if (x.delivered) return false;
  bool any = false;
  if (x.fresh) {
    x.fresh = false;
    any = x.begin();
  }
  any = x.start_lane(x.receives) || any;
  any = x.serve_takes() || any;
  any = x.start_lane(x.sends) || any;
  any = x.poll() || any;
  if (x.unfinished == 0 && x.arrived) {
    x.deliver();
    any = true;
  }
  return any;
}

bool Execution::has_more_to_send() const {
  const Impl& x = *impl_;
  return std::ranges::any_of(x.sends.ops.begin() + static_cast<std::ptrdiff_t>(x.sends.ended),
                             x.sends.ops.end(),
                             [&](int i) { return x.states[idx(i)].phase == Impl::Phase::waiting; });
}

int Execution::receives_left() const { return impl_->receives_left; }

bool Execution::done() const { return impl_->delivered; }

std::string Execution::waits_for() const {
  const Impl& x = *impl_;
  if (x.delivered) return "nothing";
  for (const Impl::Phase phase : {Impl::Phase::moving, Impl::Phase::waiting}) {
    for (std::size_t i = 0; i < x.states.size(); ++i) {
      const Op& op = x.part.program[static_cast<int>(i)];
      if (x.states[i].phase != phase || x.states[i].local) continue;
      if (phase == Impl::Phase::waiting && x.states[i].needs_arrival && !x.arrived) continue;
      return "rank " + std::to_string(op.peer) + " (" + describe(op) + ", " +
             std::to_string(x.states[i].bytes) + " bytes)";
    }
  }
  return "its caller";
}

const Shape& Execution::shape() const { return impl_->part.shape; }
std::uint64_t Execution::bytes_sent() const { return impl_->sent; }
std::uint64_t Execution::bytes_staged() const { return impl_->staged; }

}  // namespace papfft::comm
