// SPDX-License-Identifier: MIT
#include "comm/engine/execution.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "comm/engine/slot_data.hpp"
#include "comm/engine/steady_clock.hpp"
#include "comm/schedule/core/background.hpp"
#include "comm/schedule/core/index.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/transport/tags.hpp"

namespace papfft::comm {

namespace {

using Clock = std::chrono::steady_clock;
using Phase = Progress::Phase;

void require_fit(const RankSchedule& part, const Layout& layout, const Transport& transport) {
  if (transport.size() != part.shape.ranks || transport.rank() != part.rank) {
    throw std::invalid_argument("execution: the schedule is for another group or rank");
  }
  const auto slots = idx(part.shape.slots());
  if (layout.bytes.size() != slots || layout.input.size() != slots || layout.output.size() != slots) {
    throw std::invalid_argument("execution: the layout has not one entry per slot");
  }
}

/// How long each answer takes: the n-th give with a peer answers the n-th take with this peer.
class AnswerTimes {
 public:
  explicit AnswerTimes(const Program& program) {
    using Mark = std::pair<Rank, int>;  // peer, op
    std::vector<Mark> takes;
    std::vector<Mark> gives;
    for (int i = 0; i < program.size(); ++i) {
      if (program[i].credit == Credit::take) takes.emplace_back(program[i].peer, i);
      if (program[i].credit == Credit::give) gives.emplace_back(program[i].peer, i);
    }
    if (takes.empty() && gives.empty()) return;
    std::ranges::sort(takes);
    std::ranges::sort(gives);
    take_of_.resize(idx(program.size()));
    taken_at_.resize(idx(program.size()));
    for (std::size_t k = 0; k < std::min(takes.size(), gives.size()); ++k) {
      take_of_[idx(gives[k].second)] = takes[k].second;
    }
  }

  void taken(int take) { taken_at_[idx(take)] = Clock::now(); }
  [[nodiscard]] Clock::duration of(int give) const {
    return Clock::now() - taken_at_[idx(take_of_[idx(give)])];
  }

 private:
  std::vector<int> take_of_;  // per op; empty without credits
  std::vector<Clock::time_point> taken_at_;
};

}  // namespace

struct Execution::Impl final : Pieces {
  Impl(RankSchedule part_in, Layout layout, Transport& transport, std::uint32_t instance, Window window,
       const Reducer* reducer, CreditWindow* credits_in, std::size_t answered_from)
      : part(std::move(part_in)),
        sizes(layout.bytes),
        progress(part.shape, part.program, sizes, {.window = window}, needs_arrival(part)),
        data(std::make_shared<SlotData>(part.program, sizes, std::move(layout), reducer)),
        channel(transport.open()),
        answered_from_bytes(transport.has_network() ? answered_from : kNoAnswers),
        credits(credits_in != nullptr ? *credits_in : own_credits),
        answers(part.program),
        max_tag(transport.max_tag()),
        numbers(idx(part.program.size())),
        tags(idx(part.program.size())) {
    channel->keep(data);
    std::vector<std::array<int, 2>> messages(idx(part.shape.ranks));  // per peer: sends, receives so far
    for (int i = 0; i < part.program.size(); ++i) {
      const Op& op = part.program[i];
      if (progress.is_local(i)) continue;
      numbers[idx(i)] = messages[idx(op.peer)][is_receive(op.kind) ? 1 : 0]++;
    }
    begin(instance);
  }

  void begin(std::uint32_t instance) {
    for (int i = 0; i < part.program.size(); ++i) {
      if (progress.is_local(i)) continue;
      if (brings_data(i)) ++receives_left;
      tags[idx(i)] = call_tag(max_tag, instance, numbers[idx(i)]);
    }
  }

  void restart(std::uint32_t instance, const std::byte* send, std::byte* recv, const Reducer* reducer) {
    progress = *unbegun;
    data->restart(send, recv, reducer);
    has_drained = delivered = false;
    receives_left = 0;
    sent = 0;
    first_early_ns.reset();
    begin(instance);
  }

  [[nodiscard]] bool brings_data(int i) const {
    return is_receive(part.program[i].kind) && !progress.is_local(i) && data->bytes_of(i) > 0;
  }

  /// Starts whatever may start, and does whatever needs no message.
  bool advance() {
    bool any = false;
    progress.begin();
    // Only who takes credits may look at them: another call's thread may be changing them.
    if (part.shape.credits > 0) progress.set_credits(credits.size());
    for (std::optional<int> op = progress.next(); op; op = progress.next()) {
      any = true;
      if (progress.phase(*op) == Phase::landed || progress.is_local(*op)) {
        finish(*op);
        continue;
      }
      if (part.program[*op].credit == Credit::take) take_credit(*op);
      start(*op);
    }
    has_drained = false;
    return any;
  }

  void take_credit(int i) {
    answers.taken(i);
    if (!std::exchange(has_drained, false)) return;
    credits.drained();
    progress.set_credits(credits.size());
  }

  void start(int i) {
    if (observer != nullptr) begun[idx(i)] = {steady_now_ns(), !progress.has_arrived()};
    if (observer != nullptr && !progress.has_arrived() && !first_early_ns)
      first_early_ns = begun[idx(i)].at_ns;
    const Op& op = part.program[i];
    const int tag = tags[idx(i)];
    const int ticket = op.kind == OpKind::send ? send(op, tag, data->to_send(i))
                       : progress.lands_aside(i)
                           ? channel->irecv_pieces(op.peer, tag, data->bytes_of(i), *this, i)
                           : channel->irecv(op.peer, tag, data->to_receive(i));
    if (tickets.size() <= idx(ticket)) tickets.resize(idx(ticket) + 1, -1);
    tickets[idx(ticket)] = i;
  }

  int send(const Op& op, int tag, std::span<const std::byte> bytes) {
    sent += bytes.size();
    const bool answered = !op.inside && bytes.size() >= answered_from_bytes;
    return answered ? channel->issend(op.peer, tag, bytes) : channel->isend(op.peer, tag, bytes);
  }

  /// Of a message that is to be combined. It is combined straight from where it comes, if its turn has come.
  void take(int i, std::size_t offset, std::span<const std::byte> piece) override {
    if (offset == 0) data->begin_pieces(i, progress.lacks_only_message(i));
    data->take(i, offset, piece);
  }
  std::span<std::byte> place(int i) override { return data->to_receive(i); }
  std::size_t unit_bytes() const override { return data->element_bytes(); }

  bool poll() {
    ended_tickets.clear();
    const bool any = channel->poll(ended_tickets);
    // What ends may start other messages, and these may get the same tickets again.
    ended_ops.clear();
    for (const int ticket : ended_tickets) ended_ops.push_back(tickets[idx(ticket)]);
    for (const int i : ended_ops) {
      if (observer != nullptr) report(i);
      if (progress.lands_aside(i)) {
        progress.landed(i);
      } else {
        finish(i);
      }
    }
    return any;
  }

  void report(int i) {
    const Op& op = part.program[i];
    observer->message_ended({.sent = op.kind == OpKind::send,
                             .peer = op.peer,
                             .tag = tags[idx(i)],
                             .bytes = data->bytes_of(i),
                             .early = begun[idx(i)].early,
                             .begin_ns = begun[idx(i)].at_ns,
                             .end_ns = steady_now_ns()});
  }

  void finish(int i) {
    data->apply(i);
    progress.ended(i);
    if (brings_data(i)) --receives_left;
    if (part.program[i].credit != Credit::give || progress.is_local(i)) return;
    credits.landed(answers.of(i));
    has_drained = progress.credits_taken() == 0;
  }

  RankSchedule part;
  SlotSizes sizes;
  Progress progress;
  std::optional<Progress> unbegun = {};  // of an execution that will be restarted
  /// Lives for as long as messages use what it has staged, even if this execution is abandoned half-way.
  std::shared_ptr<SlotData> data;
  std::unique_ptr<Channel> channel;
  std::size_t answered_from_bytes;
  CreditWindow own_credits;
  CreditWindow& credits;
  AnswerTimes answers;
  bool has_drained = false;  // all credits have come back since the last take
  int max_tag;
  std::vector<int> numbers;  // per op: of its message among those with its peer
  std::vector<int> tags;     // per op
  std::vector<int> tickets;  // ticket -> op
  std::vector<int> ended_tickets;
  std::vector<int> ended_ops;
  int receives_left = 0;
  bool delivered = false;
  std::uint64_t sent = 0;
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
                     Window window, const Reducer* reducer, CreditWindow* credits,
                     std::size_t answered_from_bytes) {
  require_fit(part, layout, transport);
  impl_ = std::make_unique<Impl>(std::move(part), std::move(layout), transport, instance, window, reducer,
                                 credits, answered_from_bytes);
}

Execution::~Execution() = default;

void Execution::arrive() { impl_->progress.arrive(); }

void Execution::arrive(Layout where) {
  impl_->data->bind(std::move(where), impl_->progress);
  arrive();
}

void Execution::arrive(const std::byte* send, std::byte* recv) {
  impl_->data->bind(send, recv, impl_->progress);
  arrive();
}

void Execution::keep_for_restart() { impl_->unbegun = impl_->progress; }

void Execution::restart(std::uint32_t instance, const std::byte* send, std::byte* recv,
                        const Reducer* reducer) {
  impl_->restart(instance, send, recv, reducer);
}

void Execution::observe(Observer* observer) {
  impl_->observer = nullptr;
  if (observer == nullptr || !observer->wants_messages()) return;
  impl_->observer = observer;
  impl_->begun.resize(idx(impl_->part.program.size()));
}

void Execution::observe(ProgressObserver* observer) { impl_->progress.observe(observer, impl_->part.rank); }

std::optional<std::int64_t> Execution::early_ns() const { return impl_->first_early_ns; }

bool Execution::step() {
  Impl& x = *impl_;
  if (x.delivered) return false;
  bool any = x.advance();
  if (x.poll()) {
    any = true;
    x.advance();
  }
  x.delivered = x.progress.done() && x.progress.has_arrived();
  if (x.delivered) x.data->deliver();
  return any || x.delivered;
}

bool Execution::has_more_to_send() const { return impl_->progress.has_more_to_send(); }
int Execution::receives_left() const { return impl_->receives_left; }
bool Execution::done() const { return impl_->delivered; }

std::string Execution::waits_for() const {
  const Impl& x = *impl_;
  if (x.delivered) return "nothing";
  for (const Phase phase : {Phase::started, Phase::waiting}) {
    for (int i = 0; i < x.part.program.size(); ++i) {
      if (x.progress.phase(i) != phase || x.progress.is_local(i)) continue;
      if (phase == Phase::waiting && x.progress.needs_arrival(i) && !x.progress.has_arrived()) continue;
      const Op& op = x.part.program[i];
      return "rank " + std::to_string(op.peer) + " (" + describe(op) + ", " +
             std::to_string(x.data->bytes_of(i)) + " bytes)";
    }
  }
  return "its caller";
}

const Shape& Execution::shape() const { return impl_->part.shape; }
std::uint64_t Execution::bytes_sent() const { return impl_->sent; }
std::uint64_t Execution::bytes_staged() const { return impl_->data->bytes_staged(); }

}  // namespace papfft::comm
