// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "comm/choose/link_limits.hpp"
#include "comm/engine/call_engine.hpp"

namespace papfft::comm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepetitions = 3;
constexpr std::size_t kCombined = 32768;  // bytes, as a segment may have
constexpr double kNone = 1e300;

double elapsed_ns(Clock::time_point since) {
  return static_cast<double>(std::chrono::nanoseconds(Clock::now() - since).count());
}

double combine_ns_per_byte() {
  const ElementReducer<double, std::plus<>> reducer({}, true);
  std::vector<std::byte> left(kCombined);
  const std::vector<std::byte> right(kCombined);
  double best = kNone;
  for (int i = 0; i < 8 * kRepetitions; ++i) {
    const auto start = Clock::now();
    reducer.combine(left.data(), right.data(), left.data(), kCombined);
    best = std::min(best, elapsed_ns(start));
  }
  return best / kCombined;
}

/// One end of the link that is measured: streams of messages, a few of them under way at a time.
class ProbeEnd {
 public:
  ProbeEnd(CallEngine& engine, const LinkProbe& probe, Rank peer, bool sends)
      : engine_(engine),
        probe_(probe),
        peer_(peer),
        sends_(sends),
        tag_(service_tag(engine.transport().max_tag(), Service::link)),
        buffer_(slots() * probe.long_bytes),
        channel_(engine.transport().open()),
        free_slots_(slots()) {
    std::iota(free_slots_.begin(), free_slots_.end(), std::size_t{0});
  }

  /// Time per message of a stream, from its first message to the receiver's word that it has all.
  double stream_ns(int messages, std::size_t bytes) {
    const auto start = Clock::now();
    stream(messages, bytes);
    signal(!sends_);
    return elapsed_ns(start) / messages;
  }

  /// Both ends are here.
  void meet() { signal(!sends_); }

  /// What the sender says, on both.
  bool sender_says(bool yes) {
    std::byte& word = buffer_[free_slots_.back() * probe_.long_bytes];
    word = static_cast<std::byte>(yes);
    put(sends_, 1);
    wait_for_slots(slots());
    return word != std::byte{0};
  }

 private:
  [[nodiscard]] std::size_t slots() const { return static_cast<std::size_t>(probe_.in_flight); }

  void stream(int messages, std::size_t bytes) {
    for (int i = 0; i < messages; ++i) {
      wait_for_slots(1);
      put(sends_, bytes);
    }
    wait_for_slots(slots());
  }

  void signal(bool out) {
    put(out, 0);
    wait_for_slots(slots());
  }

  void put(bool out, std::size_t bytes) {
    const std::size_t slot = free_slots_.back();
    free_slots_.pop_back();
    const auto data = std::span(buffer_).subspan(slot * probe_.long_bytes, bytes);
    const auto ticket = static_cast<std::size_t>(out ? channel_->issend(peer_, tag_, data)
                                                     : channel_->irecv(peer_, tag_, data));
    if (slot_of_.size() <= ticket) slot_of_.resize(ticket + 1);
    slot_of_[ticket] = slot;
  }

  void wait_for_slots(std::size_t least) {
    engine_.wait([&] { return poll(); }, [&] { return free_slots_.size() >= least; },
                 [&] { return "rank " + std::to_string(engine_.rank()) + " measures the link"; });
  }

  bool poll() {
    ended_.clear();
    channel_->poll(ended_);
    for (const int ticket : ended_) free_slots_.push_back(slot_of_[static_cast<std::size_t>(ticket)]);
    return !ended_.empty();
  }

  CallEngine& engine_;
  const LinkProbe& probe_;
  Rank peer_;
  bool sends_;
  int tag_;
  std::vector<std::byte> buffer_;
  std::unique_ptr<Channel> channel_;
  std::vector<int> ended_;
  std::vector<std::size_t> slot_of_;  // by ticket
  std::vector<std::size_t> free_slots_;
};

/// Alpha and beta from the fastest of several streams of short and of long messages. Before the long messages that count go others,
/// which use up the burst of a shaped link. On a link on which these take most of the budget, they are what counts.
void measure(ProbeEnd& end, const LinkProbe& probe, std::chrono::nanoseconds budget, LinkModel& link) {
  const int burst = static_cast<int>(probe.burst_bytes / probe.long_bytes) + 1;
  const auto budget_ns = static_cast<double>(budget.count());
  double short_ns = kNone;
  double long_ns = kNone;
  end.meet();
  const auto start = Clock::now();
  for (int i = 0; i < kRepetitions; ++i) {
    short_ns = std::min(short_ns, end.stream_ns(probe.messages, probe.short_bytes));
    const double burst_ns = end.stream_ns(burst, probe.long_bytes);
    if (!end.sender_says(elapsed_ns(start) + (probe.messages + burst) * burst_ns <= budget_ns)) {
      long_ns = std::min(long_ns, burst_ns);
      break;
    }
    long_ns = std::min(long_ns, end.stream_ns(probe.messages, probe.long_bytes));
  }
  link.beta_ns_per_byte =
      std::max(1e-3, (long_ns - short_ns) / static_cast<double>(probe.long_bytes - probe.short_bytes));
  link.alpha_ns = std::max(100.0, short_ns - link.beta_ns_per_byte * static_cast<double>(probe.short_bytes));
}

/// Rounded to a power of `step` times `usual`, so that one measurement chooses as the next does.
double coarse(double value, double usual, double step) {
  return usual * std::pow(step, std::round(std::log(value / usual) / std::log(step)));
}

/// A rank that talks to rank 0 through the network.
Rank far_from_first(std::span<const int> host_of_rank, int ranks) {
  if (host_of_rank.empty()) return ranks - 1;
  const auto far = std::ranges::find_if(host_of_rank, [&](int host) { return host != host_of_rank.front(); });
  return static_cast<Rank>(far - host_of_rank.begin());
}

}  // namespace

void CallEngine::learn_link() {
  if (std::exchange(is_link_known_, true)) return;
  if (!options_.learn_link || !transport_.has_network()) return;
  // 2 to 3 MB: 20 ms at 1 Gb/s, and within the budget down to 60 Mb/s. Of a shaped link's burst, the streams before use up the rest.
  const LinkProbe probe{.receiver = far_from_first(transport_.host_of_rank(), transport_.size()),
                        .long_bytes = kLinkLimits.longest_segment_bytes(),
                        .messages = 8,
                        .burst_bytes = std::size_t{1} << 18U};
  constexpr std::chrono::milliseconds kBudget{50};
  const LinkModel measured = measure_link(probe, kBudget);
  const LinkModel usual;
  options_.link.alpha_ns = coarse(measured.alpha_ns, usual.alpha_ns, 4);
  options_.link.beta_ns_per_byte = coarse(measured.beta_ns_per_byte, usual.beta_ns_per_byte, 2);
  steady_.clear();
}

LinkModel Collectives::measure_link(const LinkProbe& probe) { return engine_->measure_link(probe); }

LinkModel CallEngine::measure_link(const LinkProbe& probe, std::chrono::nanoseconds budget) {
  const int size = transport_.size();
  const Rank receiver = probe.receiver == -1 ? size - 1 : probe.receiver;
  const auto is_rank = [&](Rank r) { return r >= 0 && r < size; };
  if (!is_rank(probe.sender) || !is_rank(receiver) || probe.short_bytes >= probe.long_bytes ||
      probe.messages < 1 || probe.in_flight < 1) {
    throw std::invalid_argument(
        "measure_link: needs two ranks of the group, short and long messages, at least one of them");
  }
  LinkModel link = options_.link;
  const bool sends = rank() == probe.sender;
  if (sends) link.gamma_ns_per_byte = combine_ns_per_byte();
  if (probe.sender != receiver && (sends || rank() == receiver)) {
    ProbeEnd end(*this, probe, sends ? receiver : probe.sender, sends);
    measure(end, probe, budget, link);
  }
  const auto bytes = std::as_writable_bytes(std::span(&link, 1));
  run_own(Operation::bcast, bytes, bytes, sizeof(link), "bnom", probe.sender);
  return link;
}

void Collectives::use_link(const LinkModel& link) { engine_->use_link(link); }

}  // namespace papfft::comm
