// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "comm/exec/collectives_impl.hpp"

namespace papfft::comm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kShort = 4096;
constexpr std::size_t kLong = 32768;  // both as segments are, and below MPI's eager limit
constexpr int kMessages = 64;
constexpr int kInFlight = 4;
constexpr int kRepetitions = 3;

double elapsed_ns(Clock::time_point since) {
  return static_cast<double>(std::chrono::nanoseconds(Clock::now() - since).count());
}

double combine_ns_per_byte() {
  const ElementReducer<double, std::plus<>> reducer({}, true);
  std::vector<std::byte> left(kLong);
  const std::vector<std::byte> right(kLong);
  double best = 1e300;
  for (int i = 0; i < 8 * kRepetitions; ++i) {
    const auto start = Clock::now();
    reducer.combine(left.data(), right.data(), left.data(), kLong);
    best = std::min(best, elapsed_ns(start));
  }
  return best / kLong;
}

}  // namespace

LinkModel Collectives::measure_link() {
  Impl& x = *impl_;
  Transport& transport = x.transport;
  const Rank last = transport.size() - 1;
  LinkModel link = x.options.link;
  if (transport.rank() == 0) link.gamma_ns_per_byte = combine_ns_per_byte();
  if (last > 0 && (transport.rank() == 0 || transport.rank() == last)) {
    const bool sends = transport.rank() == 0;
    const Rank peer = sends ? last : 0;
    const int tag = transport.max_tag() / 2 + 1;  // of the half that the calls leave free
    std::vector<std::byte> buffer(kMessages * kLong);
    const std::unique_ptr<Channel> channel = transport.open();
    std::vector<int> ended;
    int open = 0;
    const auto wait_until = [&](int at_most) {
      x.wait(
          [&] {
            ended.clear();
            channel->poll(ended);
            open -= static_cast<int>(ended.size());
            return !ended.empty();
          },
          [&] { return open <= at_most; },
          [&] { return "rank " + std::to_string(transport.rank()) + " measures the link"; });
    };
    const auto put = [&](bool out, std::span<std::byte> data) {
      (void)(out ? channel->isend(peer, tag, data) : channel->irecv(peer, tag, data));
      ++open;
    };
    /// Time per message of a stream, from the go-ahead to the receiver's word that it has all.
    const auto stream_ns = [&](std::size_t bytes) {
      put(!sends, {});
      wait_until(0);
      const auto start = Clock::now();
      for (int i = 0; i < kMessages; ++i) {
        wait_until(kInFlight - 1);
        put(sends, std::span(buffer).subspan(static_cast<std::size_t>(i) * kLong, bytes));
      }
      wait_until(0);
      put(!sends, {});
      wait_until(0);
      return elapsed_ns(start) / kMessages;
    };
    std::array<double, 2> best = {1e300, 1e300};
    for (int i = 0; i < kRepetitions; ++i) {
      best[0] = std::min(best[0], stream_ns(kShort));
      best[1] = std::min(best[1], stream_ns(kLong));
    }
    link.beta_ns_per_byte = std::max(1e-3, (best[1] - best[0]) / static_cast<double>(kLong - kShort));
    link.alpha_ns = std::max(100.0, best[0] - link.beta_ns_per_byte * kShort);
  }
  const auto bytes = std::as_writable_bytes(std::span(&link, 1));
  x.internal(Operation::bcast, bytes, bytes, sizeof(link), "bnom");
  x.options.link = link;
  return link;
}

}  // namespace papfft::comm
