// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "comm/engine/collectives_impl.hpp"

namespace papfft::comm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepetitions = 3;
constexpr std::size_t kCombined = 32768;  // bytes, as a segment may have

double elapsed_ns(Clock::time_point since) {
  return static_cast<double>(std::chrono::nanoseconds(Clock::now() - since).count());
}

double combine_ns_per_byte() {
  const ElementReducer<double, std::plus<>> reducer({}, true);
  std::vector<std::byte> left(kCombined);
  const std::vector<std::byte> right(kCombined);
  double best = 1e300;
  for (int i = 0; i < 8 * kRepetitions; ++i) {
    const auto start = Clock::now();
    reducer.combine(left.data(), right.data(), left.data(), kCombined);
    best = std::min(best, elapsed_ns(start));
  }
  return best / kCombined;
}

}  // namespace

LinkModel Collectives::measure_link(const LinkProbe& probe) {
  Impl& x = *impl_;
  Transport& transport = x.transport;
  const Rank receiver = probe.receiver == -1 ? transport.size() - 1 : probe.receiver;
  const auto is_rank = [&](Rank r) { return r >= 0 && r < transport.size(); };
  if (!is_rank(probe.sender) || !is_rank(receiver) || probe.short_bytes >= probe.long_bytes ||
      probe.messages < 1 || probe.in_flight < 1) {
    throw std::invalid_argument(
        "measure_link: needs two ranks of the group, short and long messages, at least one of them");
  }
  LinkModel link = x.options.link;
  const bool sends = transport.rank() == probe.sender;
  if (sends) link.gamma_ns_per_byte = combine_ns_per_byte();
  if (probe.sender != receiver && (sends || transport.rank() == receiver)) {
    const Rank peer = sends ? receiver : probe.sender;
    const int tag = transport.max_tag() / 2 + 1;  // of the half that the calls leave free
    const auto slots = static_cast<std::size_t>(probe.in_flight);
    std::vector<std::byte> buffer(slots * probe.long_bytes);
    const std::unique_ptr<Channel> channel = transport.open();
    std::vector<int> ended;
    std::vector<std::size_t> slot_of;  // by ticket
    std::vector<std::size_t> free_slots(slots);
    std::iota(free_slots.begin(), free_slots.end(), std::size_t{0});
    const auto wait_for_slots = [&](std::size_t least) {
      x.wait(
          [&] {
            ended.clear();
            channel->poll(ended);
            for (const int ticket : ended) free_slots.push_back(slot_of[static_cast<std::size_t>(ticket)]);
            return !ended.empty();
          },
          [&] { return free_slots.size() >= least; },
          [&] { return "rank " + std::to_string(transport.rank()) + " measures the link"; });
    };
    const auto put = [&](bool out, std::size_t bytes) {
      const std::size_t slot = free_slots.back();
      free_slots.pop_back();
      const auto data = std::span(buffer).subspan(slot * probe.long_bytes, bytes);
      const auto ticket =
          static_cast<std::size_t>(out ? channel->issend(peer, tag, data) : channel->irecv(peer, tag, data));
      if (slot_of.size() <= ticket) slot_of.resize(ticket + 1);
      slot_of[ticket] = slot;
    };
    /// Time per message of a stream, from the go-ahead to the receiver's word that it has all.
    const auto stream_ns = [&](std::size_t bytes) {
      const auto signal = [&](bool out) {
        put(out, 0);
        wait_for_slots(slots);
      };
      signal(!sends);
      const auto start = Clock::now();
      for (int i = 0; i < probe.messages; ++i) {
        wait_for_slots(1);
        put(sends, bytes);
      }
      wait_for_slots(slots);
      signal(!sends);
      return elapsed_ns(start) / probe.messages;
    };
    std::array<double, 2> best = {1e300, 1e300};
    for (int i = 0; i < kRepetitions; ++i) {
      best[0] = std::min(best[0], stream_ns(probe.short_bytes));
      best[1] = std::min(best[1], stream_ns(probe.long_bytes));
    }
    link.beta_ns_per_byte =
        std::max(1e-3, (best[1] - best[0]) / static_cast<double>(probe.long_bytes - probe.short_bytes));
    link.alpha_ns = std::max(100.0, best[0] - link.beta_ns_per_byte * static_cast<double>(probe.short_bytes));
  }
  const auto bytes = std::as_writable_bytes(std::span(&link, 1));
  x.internal(Operation::bcast, bytes, bytes, sizeof(link), "bnom", probe.sender);
  return link;
}

void Collectives::use_link(const LinkModel& link) { impl_->options.link = link; }

}  // namespace papfft::comm
