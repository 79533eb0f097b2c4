// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/arrival/arrival_exchange.hpp"
#include "comm/arrival/clock_sync.hpp"
#include "comm/engine/call_planner.hpp"
#include "comm/engine/farm.hpp"
#include "comm/engine/stuck_council.hpp"
#include "comm/transport/memory/host_pipes.hpp"
#include "comm/transport/memory/memory_channel.hpp"
#include "tests/support/hostile_transport.hpp"

namespace papfft::fuzz {

/// Ends the process, in every build type, so that a fuzzer keeps the input.
inline void require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace papfft::fuzz

/// What ranks send each other beside the data of calls, from ranks that send anything. TransportError may come of it, and wrong numbers;
/// nothing may be read or written outside of the buffers, no arithmetic may overflow, and messages are one line.
namespace papfft::fuzz::wire_formats {

using comm::Rank;
using comm::test::HostileTransport;
using comm::test::Script;

inline void require_one_line(std::string_view text) {
  require(std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }));
}

/// A microsecond further each time it is looked at.
inline comm::ClockSource steps_of_us(std::int64_t begin_ns) {
  return [ns = begin_ns]() mutable { return ns += 1000; };
}

/// Reports and decisions about arrivals: as the decider, or as another.
inline void arrivals(Script& script) {
  constexpr int kRanks = 3;
  constexpr int kTag = 8;
  const comm::ClockSource clock = steps_of_us(0);
  HostileTransport transport(script, static_cast<Rank>(script.next() % 2), kRanks);
  comm::ArrivalExchange exchange(transport, 0, clock, {}, kTag);
  for (std::int64_t call = 0;; ++call) {
    const comm::Basis basis = call % 2 == 0 ? comm::Basis::history : comm::Basis::waiting;
    exchange.report({.iteration = call,
                     .arrival_ns = clock(),
                     .past = {.predicted_ns = clock(), .arrived_ns = clock()},
                     .basis = basis,
                     .position = static_cast<std::int32_t>(call % comm::kPositions)});
    (void)exchange.step();
    (void)exchange.due();
    const auto decision = exchange.decision(call);
    if (!decision) continue;
    require(decision->iteration == call);
    require(decision->oblivious() || decision->arrival_ns.size() == kRanks);
    for (const std::int64_t ns : decision->arrival_ns) require(ns == comm::within_reach(ns));
    if (call > 6) return exchange.close();
  }
}

/// Readings of the reference clock: as who is asked, or as who asks.
inline void clocks(Script& script) {
  HostileTransport transport(script, static_cast<Rank>(script.next() % 2), 3);
  const comm::ClockSync::Settings settings{
      .first_burst = 3, .burst = 2, .period = std::chrono::microseconds(40)};
  comm::ClockSync sync(transport, steps_of_us(0), settings, 1);
  sync.synchronise();
  for (int i = 0; i < 1000; ++i) {
    (void)sync.step();
    (void)sync.due();
    (void)sync.now_ns();
    (void)sync.drift_ppb();
    require(sync.uncertainty_ns() >= 0);
  }
}

/// What stuck ranks say of whom they wait for.
inline void stuck_ranks(Script& script) {
  constexpr Rank kRanks = 4;
  HostileTransport transport(script, static_cast<Rank>(script.next() % kRanks), kRanks);
  comm::StuckCouncil council(transport, "rank 1 waits for rank 2");
  try {
    while (true) council.listen({}, {});
  } catch (const comm::TransportError&) {
  }
  require_one_line(council.text());
  if (council.must_speak()) council.tell_verdict();
}

/// Tasks, results and words of a farm: as the root, or as another.
inline void farms(Script& script) {
  constexpr std::size_t kTaskBytes = 12;
  constexpr std::size_t kResultBytes = 20;
  HostileTransport transport(script, static_cast<Rank>(script.next() % 2), 3);
  const std::size_t tasks = script.next() % 16;
  const comm::Options options;
  comm::Collectives comm(transport, options);
  comm::Farm farm(comm, kTaskBytes, kResultBytes);
  std::size_t given = 0;
  std::size_t taken = 0;
  const auto source = [&](std::span<std::byte> room) -> comm::Farm::Task {
    require(room.size() == kTaskBytes);
    if (given == tasks) return {};
    ++given;
    std::ranges::fill(room, std::byte{1});
    return {comm::Farm::Feed::task, room};
  };
  const auto work = [](std::span<const std::byte> task, std::span<std::byte> result,
                       const comm::Farm::MoveOn& move_on) {
    require(task.size() == kTaskBytes && result.size() == kResultBytes);
    std::ranges::fill(result, task.back());
    move_on();
  };
  const auto sink = [&](std::span<const std::byte> result) {
    require(result.size() == kResultBytes);
    ++taken;
  };
  (void)farm.run(source, work, sink);
  require(transport.rank() != 0 || taken == tasks);
}

/// Combines by adding nothing: only looks whether the pieces fit.
class CountedPieces final : public comm::Pieces {
 public:
  explicit CountedPieces(std::size_t bytes) : bytes_(bytes), room_(bytes) {}
  [[nodiscard]] std::size_t unit_bytes() const override { return 8; }
  void take(int /*key*/, std::size_t offset, std::span<const std::byte> piece) override {
    require(offset == done_ && piece.size() <= bytes_ - offset);
    std::ranges::copy(piece, room_.begin() + static_cast<std::ptrdiff_t>(offset));
    done_ += piece.size();
  }
  [[nodiscard]] std::span<std::byte> place(int /*key*/) override { return room_; }

 private:
  std::size_t bytes_;
  std::size_t done_ = 0;
  std::vector<std::byte> room_;
};

/// Letters of another rank of the host, and the pipes that it writes into.
inline void pipes(Script& script) {
  constexpr int kRanks = 2;
  constexpr std::size_t kBytes = 256;
  // Once: the pages that are used are few.
  static const std::shared_ptr<void> memory(std::aligned_alloc(4096, comm::HostPipes::bytes_for(kRanks)),
                                            std::free);
  comm::HostPipes::prepare(memory.get(), kRanks);
  const std::vector<int> places = {0, 1};
  const auto own = std::make_shared<comm::HostPipes>(memory, places, 0, 64);
  comm::HostPipes theirs(memory, places, 1, 64);
  HostileTransport transport(script, 0, kRanks);
  std::vector<std::byte> to(kBytes + 1024);  // and what lies behind it
  CountedPieces pieces(kBytes);
  comm::MemoryChannel channel(transport.open(), own, HostileTransport::kMaxTag);
  (void)channel.irecv(1, 3, std::span(to).first(kBytes));
  (void)channel.irecv_pieces(1, 4, kBytes, pieces, 0);
  std::vector<int> ended;
  while (true) {
    const unsigned what = script.next();
    comm::Pipe& pipe = theirs.own(static_cast<int>(what / 5 % comm::HostPipes::kPerRank));
    switch (what % 5) {
      case 0:
        (void)channel.poll(ended);
        break;
      case 1: {
        std::vector<std::byte> bytes(script.next() * 2, std::byte{1});
        (void)pipe.write(bytes);
        break;
      }
      case 2:
        pipe.leave(script.take<std::int32_t>());
        break;
      case 3:
        pipe.begin();
        break;
      default: {
        const auto head = script.take<comm::LetterHead>();
        const std::vector<std::byte> enclosed(script.next() * 16, std::byte{1});
        (void)theirs.post(0, head, enclosed);
      }
    }
    require(
        std::ranges::all_of(std::span(to).subspan(kBytes), [](std::byte b) { return b == std::byte{0}; }));
  }
}

/// What ranks compare that check whether they make the same call.
inline void signatures(Script& script) { require_one_line(script.take<comm::CallSignature>().text()); }

}  // namespace papfft::fuzz::wire_formats

namespace papfft::fuzz {

/// The first byte says which format.
inline void wire(std::span<const std::byte> bytes) {
  using namespace wire_formats;
  constexpr std::array kFormats = {arrivals, clocks, stuck_ranks, farms, pipes, signatures};
  Script script(bytes);
  try {
    kFormats.at(script.next() % kFormats.size())(script);
  } catch (const comm::TransportError& error) {
    require_one_line(error.what());
  }
}

}  // namespace papfft::fuzz
