// SPDX-License-Identifier: MIT
#include "comm/arrival/clock_sync.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "comm/arrival/decision_board.hpp"
#include "comm/arrival/wire.hpp"
#include "comm/engine/steady_clock.hpp"

namespace papfft::comm {

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kNoMorePings = -1;
constexpr std::chrono::nanoseconds kGrace =
    20ms;  // after a round's begin and each message, the next is polled for so long,
constexpr std::chrono::nanoseconds kLatePoll = 10ms;  // then so often

}  // namespace

ClockSource monotonic_clock() { return steady_now_ns; }

ClockSource skewed_clock(ClockSource clock, std::int64_t offset_ns, std::int64_t drift_ppb) {
  const std::int64_t start_ns = clock();
  return [clock = std::move(clock), start_ns, offset_ns, drift_ppb] {
    const std::int64_t now_ns = clock();
    const auto since_us = (now_ns - start_ns) / 1000;
    return now_ns + offset_ns + since_us * drift_ppb / 1'000'000;
  };
}

ClockSync::ClockSync(Transport& transport, ClockSource local, const Settings& settings, int tag)
    : transport_(transport),
      local_(std::move(local)),
      settings_(settings),
      tag_(tag),
      reference_(transport.rank() == 0),
      channel_(transport.open()) {
  if (settings.first_burst < 1 || settings.burst < 1 || settings.period <= 0ns) {
    throw std::invalid_argument("clock synchronisation: bursts and period must be positive");
  }
  next_ns_ = local_() + settings_.period.count();
  if (!reference_) return;
  clients_.resize(static_cast<std::size_t>(transport.size()));
  for (Rank r = 1; r < transport.size(); ++r) expect_ping(r);
}

ClockSync::~ClockSync() = default;

void ClockSync::expect_ping(Rank from) {
  Client& client = clients_[static_cast<std::size_t>(from)];
  client.ticket = channel_->irecv(from, tag_, writable_bytes_of(client.ping));
}

void ClockSync::synchronise() {
  const std::lock_guard lock(step_mutex_);
  const auto run_until = [&](auto done) {
    drive(
        transport_, [&] { return step_locked(); }, done);
  };
  if (!reference_) {
    begin_burst(settings_.first_burst);
    run_until([&] { return left_ == 0; });
    return;
  }
  for (turn_ = 1; turn_ < transport_.size(); ++turn_) {
    Client& client = clients_[static_cast<std::size_t>(turn_)];
    client.owed = settings_.first_burst;
    run_until([&] { return client.owed == 0; });
  }
  turn_ = -1;
}

bool ClockSync::step() {
  const std::unique_lock lock(step_mutex_, std::try_to_lock);
  return lock.owns_lock() && step_locked();
}

bool ClockSync::step_locked() { return reference_ ? serve(local_()) : ask(local_()); }

bool ClockSync::serve(std::int64_t now_ns) {
  if (turn_ < 0 && now_ns >= next_ns_ && !closing_) {
    for (Client& client : clients_) client.owed = client.gone ? 0 : settings_.burst;
    clients_.front().owed = 0;
    active_ns_ = next_ns_;
    while (next_ns_ <= now_ns) next_ns_ += settings_.period.count();
  }
  ended_.clear();
  channel_->poll(ended_);
  for (const int ticket : ended_) {
    if (outbox_.ended(ticket)) continue;
    const auto client = std::ranges::find(clients_, ticket, &Client::ticket);
    client->ticket = -1;
    if (client->ping.sequence == kNoMorePings) {
      client->gone = true;
    } else {
      client->waits = true;
    }
  }
  bool any = !ended_.empty();
  for (std::size_t r = 0; r < clients_.size(); ++r) {
    Client& client = clients_[r];
    if (!client.waits || (turn_ >= 0 && static_cast<Rank>(r) != turn_)) continue;
    client.waits = false;
    active_ns_ = now_ns;
    client.owed = std::max(0, client.owed - 1);
    expect_ping(static_cast<Rank>(r));
    const Pong pong{local_(), next_ns_};
    outbox_.send(*channel_, static_cast<Rank>(r), tag_, bytes_of(pong));
    any = true;
  }
  return any;
}

void ClockSync::begin_burst(int count) {
  left_ = count;
  active_ns_ = local_();
  samples_.clear();
}

bool ClockSync::ask(std::int64_t now_ns) {
  if (left_ == 0 && now_ns >= next_ns_ && !closing_) begin_burst(settings_.burst);
  bool any = false;
  if (left_ > 0 && pong_ticket_ < 0) {
    pong_ticket_ = channel_->irecv(0, tag_, writable_bytes_of(pong_));
    send_ns_ = local_();
    outbox_.send(*channel_, 0, tag_, bytes_of(Ping{left_}));
    any = true;
  }
  ended_.clear();
  channel_->poll(ended_);
  for (const int ticket : ended_) {
    if (ticket == pong_ticket_) {
      take_pong();
    } else {
      outbox_.ended(ticket);
    }
  }
  return any || !ended_.empty();
}

void ClockSync::take_pong() {
  for (const std::int64_t ns : {pong_.remote_ns, pong_.next_ns}) {
    if (ns == within_reach(ns)) continue;
    throw TransportError("rank 0's clock shows " + std::to_string(ns) +
                         " ns, as no clock does (are all ranks of one version?)");
  }
  samples_.push_back({send_ns_, pong_.remote_ns, local_()});
  pong_ticket_ = -1;
  active_ns_ = local_();
  if (--left_ > 0) return;
  const std::lock_guard lock(model_mutex_);
  model_.add(samples_);
  ++bursts_;
  // A round that is just beginning, for a clock a little ahead, is the one that this burst was of.
  const std::int64_t period_ns = settings_.period.count();
  const std::int64_t next_ns = model_.to_local(pong_.next_ns);
  const std::int64_t behind_ns = std::max<std::int64_t>(0, local_() + period_ns / 2 - next_ns);
  next_ns_ = next_ns + (behind_ns + period_ns - 1) / period_ns * period_ns;
}

void ClockSync::close() {
  const std::lock_guard lock(step_mutex_);
  closing_ = true;
  bool said_bye = reference_;
  const auto step = [&] {
    const bool any = step_locked();
    if (said_bye || left_ > 0) return any;
    outbox_.send(*channel_, 0, tag_, bytes_of(Ping{kNoMorePings}));
    said_bye = true;
    return true;
  };
  drive(transport_, step, [&] {
    const auto clients = std::span(clients_).subspan(std::min<std::size_t>(1, clients_.size()));
    return said_bye && outbox_.empty() && std::ranges::all_of(clients, &Client::gone);
  });
}

BackgroundTask::Clock::time_point ClockSync::due() const {
  const std::unique_lock lock(step_mutex_, std::try_to_lock);
  const auto now = Clock::now();
  if (!lock.owns_lock()) return now + 1ms;  // somebody is at it
  if (closing_ || transport_.size() == 1) return Clock::time_point::max();
  const std::int64_t local_ns = local_();
  const bool owed =
      left_ > 0 || std::ranges::any_of(clients_, [](const Client& c) { return c.owed > 0 || c.waits; });
  if (owed) return local_ns - active_ns_ < kGrace.count() ? now : now + kLatePoll;
  return now + std::chrono::nanoseconds(next_ns_ - local_ns);
}

std::int64_t ClockSync::now_ns() const { return to_reference(local_()); }

std::int64_t ClockSync::to_reference(std::int64_t local_ns) const {
  if (reference_) return local_ns;
  const std::lock_guard lock(model_mutex_);
  return model_.to_reference(local_ns);
}

std::int64_t ClockSync::uncertainty_ns() const {
  if (reference_) return 0;
  const std::int64_t local_ns = local_();
  const std::lock_guard lock(model_mutex_);
  return model_.uncertainty_ns(local_ns);
}

std::int64_t ClockSync::drift_ppb() const {
  const std::lock_guard lock(model_mutex_);
  return model_.drift_ppb();
}

int ClockSync::bursts() const {
  const std::lock_guard lock(model_mutex_);
  return bursts_;
}

}  // namespace papfft::comm
