// SPDX-License-Identifier: MIT
#include "comm/arrival/arrival_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "comm/arrival/wire.hpp"

namespace papfft::comm {

namespace {
constexpr std::int64_t kBye = -1;  // instead of an iteration: no more messages from here
constexpr std::size_t kHeader = 4;
constexpr int kCloseLook = 10;  // in lead times: how long after a predicted arrival its message is polled for

[[noreturn]] void fail(Rank from, std::int64_t iteration, const char* what) {
  throw TransportError("rank " + std::to_string(from) + " " + what + " call " + std::to_string(iteration) +
                       " (are all ranks of one version?)");
}
}  // namespace

ArrivalExchange::ArrivalExchange(Transport& transport, Rank decider,
                                 std::function<std::int64_t()> reference_now, const Settings& settings,
                                 int first_tag)
    : transport_(transport),
      decider_(decider),
      now_(std::move(reference_now)),
      settings_(settings),
      report_tag_(first_tag),
      decision_tag_(first_tag + 1),
      board_(transport.size(), decider, settings.lead.count()),
      channel_(transport.open()) {
  if (transport.rank() != decider) {
    decision_message_.resize(kHeader + static_cast<std::size_t>(transport.size()));
    expect_decision();
    return;
  }
  inboxes_.resize(static_cast<std::size_t>(transport.size()));
  for (Rank r = 0; r < transport.size(); ++r) {
    if (r != decider) expect_report(r);
  }
}

ArrivalExchange::~ArrivalExchange() = default;

void ArrivalExchange::report(const ArrivalReport& report) {
  if (report.iteration < 0) throw std::invalid_argument("arrival report: iterations are numbered from 0");
  if (report.position < 0 || report.position >= kPositions) {
    throw std::invalid_argument("arrival report: positions are numbered from 0 to " +
                                std::to_string(kPositions - 1));
  }
  const auto worth = [](const ArrivalReport& r) { return std::pair(r.iteration, r.basis); };
  const std::lock_guard lock(mutex_);
  if (newest_ && worth(report) < worth(*newest_)) return;
  forget_before(report.iteration);
  newest_ = report;
  is_newest_unsent_ = true;
}

std::optional<Decision> ArrivalExchange::decision(std::int64_t iteration) {
  const std::lock_guard lock(mutex_);
  forget_before(iteration);
  if (!decisions_.empty() && decisions_.front().iteration == iteration) return decisions_.front();
  // A rank ran ahead over calls that it needs no decision for, and waits in a later one. Only the decider still asks about those.
  if (last_known_ > iteration) return Decision{.iteration = iteration, .arrival_ns = {}};
  return std::nullopt;
}

void ArrivalExchange::forget_before(std::int64_t iteration) {
  while (!decisions_.empty() && decisions_.front().iteration < iteration) decisions_.pop_front();
}

bool ArrivalExchange::step() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && step_locked();
}

bool ArrivalExchange::step_locked() {
  bool any = false;
  // All that has come counts before the decider's own arrival makes it decide.
  while (poll()) any = true;
  any = send_newest() || any;
  return decide() || any;
}

bool ArrivalExchange::poll() {
  ended_.clear();
  heard_.clear();
  channel_->poll(ended_);
  for (const int ticket : ended_) {
    if (outbox_.ended(ticket)) continue;
    if (ticket == decision_ticket_) {
      decision_ticket_ = -1;
      take_decision();
      continue;
    }
    const auto inbox = std::ranges::find(inboxes_, ticket, &Inbox::ticket);
    inbox->ticket = -1;
    heard_.push_back(static_cast<Rank>(inbox - inboxes_.begin()));
  }
  // New messages may get the tickets of those that have ended: not before all of these are dealt with.
  for (const Rank from : heard_) {
    Inbox& inbox = inboxes_[static_cast<std::size_t>(from)];
    inbox.gone = inbox.report.iteration == kBye;
    if (inbox.gone) continue;
    if (inbox.report.iteration < 0) fail(from, inbox.report.iteration, "reports an arrival at");
    board_.report(from, inbox.report);
    expect_report(from);
  }
  if (transport_.rank() != decider_ && decision_ticket_ < 0 && !decider_gone_) expect_decision();
  return !ended_.empty();
}

void ArrivalExchange::expect_report(Rank from) {
  Inbox& inbox = inboxes_[static_cast<std::size_t>(from)];
  inbox.ticket = channel_->irecv(from, report_tag_, writable_bytes_of(inbox.report));
}

void ArrivalExchange::expect_decision() {
  decision_ticket_ =
      channel_->irecv(decider_, decision_tag_, std::as_writable_bytes(std::span(decision_message_)));
}

void ArrivalExchange::take_decision() {
  if (decision_message_[0] == kBye) {
    decider_gone_ = true;
    return;
  }
  Decision decision{.iteration = decision_message_[0],
                    .arrival_ns = {},
                    .error = {.error_ns = decision_message_[2], .together_ns = decision_message_[3]}};
  if (decision.iteration <= last_known_) fail(decider_, decision.iteration, "decides too late about");
  if (decision_message_[1] == 0) {
    std::transform(decision_message_.begin() + kHeader, decision_message_.end(),
                   std::back_inserter(decision.arrival_ns), within_reach);
  }
  last_known_ = decision.iteration;
  decisions_.push_back(std::move(decision));
}

bool ArrivalExchange::send_newest() {
  if (!is_newest_unsent_) return false;
  if (transport_.rank() == decider_) {
    board_.report(decider_, *newest_);
  } else {
    if (!outbox_.empty()) return false;  // one at a time: a decider that is away gets the newest only
    outbox_.send(*channel_, decider_, report_tag_, bytes_of(*newest_));
  }
  is_newest_unsent_ = false;
  return true;
}

bool ArrivalExchange::decide() {
  if (transport_.rank() != decider_) return false;
  bool any = false;
  while (auto decision = board_.decide(now_())) {
    if (decision->is_for_all) send_to_all(*decision);
    last_known_ = decision->iteration;
    decisions_.push_back(std::move(*decision));
    any = true;
  }
  return any;
}

void ArrivalExchange::send_to_all(const Decision& decision) {
  std::vector<std::int64_t> message = {decision.iteration, decision.oblivious() ? 1 : 0,
                                       decision.error.error_ns, decision.error.together_ns};
  message.insert(message.end(), decision.arrival_ns.begin(), decision.arrival_ns.end());
  message.resize(kHeader + static_cast<std::size_t>(transport_.size()));
  for (Rank r = 0; r < transport_.size(); ++r) {
    if (r != decider_) outbox_.send(*channel_, r, decision_tag_, std::as_bytes(std::span(message)));
  }
}

BackgroundTask::Clock::time_point ArrivalExchange::due() const {
  const auto now = Clock::now();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return now + settings_.lazy_poll;  // somebody is at it
  const auto lazy = now + settings_.lazy_poll;
  if (transport_.rank() != decider_) {
    if (is_newest_unsent_ && outbox_.empty()) return now;
    const bool expecting = !outbox_.empty() || (newest_ && newest_->iteration > last_known_);
    return expecting ? lazy : Clock::time_point::max();
  }
  if (is_newest_unsent_) return now;
  const auto due_ns = board_.due_ns();
  if (!due_ns) return lazy;
  const auto until = std::chrono::nanoseconds(*due_ns - now_());
  if (until < -kCloseLook * settings_.lead) return lazy;
  return now + std::min(until, settings_.lazy_poll);
}

void ArrivalExchange::close() {
  const std::lock_guard lock(mutex_);
  bool said_bye = false;
  const bool decides = transport_.rank() == decider_;
  const auto all_gone = [&] {
    for (Rank r = 0; r < static_cast<Rank>(inboxes_.size()); ++r) {
      if (r != decider_ && !inboxes_[static_cast<std::size_t>(r)].gone) return false;
    }
    return true;
  };
  const auto step = [&] {
    const bool any = step_locked();
    if (said_bye || is_newest_unsent_ || (decides && !all_gone())) return any;
    if (decides) {
      send_to_all({.iteration = kBye, .arrival_ns = {}});
    } else {
      outbox_.send(*channel_, decider_, report_tag_, bytes_of(ArrivalReport{.iteration = kBye}));
    }
    said_bye = true;
    return true;
  };
  drive(transport_, step, [&] { return said_bye && outbox_.empty() && (decides || decider_gone_); });
}

}  // namespace papfft::comm
