// SPDX-License-Identifier: MIT
#include "papfft/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>

#include "comm/record/arrival_trace.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/session.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

TEST(Recorder, HasEveryRanksPartOfEveryCallOnOneClock) {
  constexpr int kRanks = 4;
  ArrivalRecording all;
  std::array<std::array<std::int64_t, 6>, kRanks> before{};
  ThreadGroup(kRanks, 7).run([&](Transport& transport) {
    const int me = transport.rank();
    // Clocks that are hours apart.
    Session session(transport, quick(), {.clock_offset = std::chrono::hours(me)});
    Recorder recorder;
    session.observe(&recorder);
    recorder.follow([&] { return session.now_ns(); });
    std::vector<int> mine(50, me);
    std::vector<int> whole(me == 0 ? 200 : 0);
    for (int i = 0; i < 3; ++i) {
      session.scatter<int>(whole, mine, 0, "sln");
      session.processing_start();
      const auto begin = Clock::now();
      // In the last round long enough for the background thread to predict, on a busy machine too.
      std::this_thread::sleep_for(milliseconds(me == i ? 40 : i == 2 ? 30 : 2));
      session.edge(0.5);
      session.processing_end();
      recorder.computed(begin, Clock::now());
      before.at(static_cast<std::size_t>(me)).at(2 * static_cast<std::size_t>(i)) = session.now_ns();
      session.gather<int>(mine, whole, 0, "bsls");
      before.at(static_cast<std::size_t>(me)).at(2 * static_cast<std::size_t>(i) + 1) = session.now_ns();
    }
    recorder.unfollow();
    ArrivalRecording got = recorder.collect(session);
    if (me == 0) {
      all = std::move(got);
    } else {
      EXPECT_TRUE(got.calls.empty());
    }
    session.close();
  });
  ASSERT_EQ(all.ranks, kRanks);
  EXPECT_EQ(all.dropped, 0U);
  ASSERT_EQ(all.calls.size(), 6U);
  // Each call lies between what its caller saw, for all ranks by the same clock: only its zero is not known.
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t c = 0; c < 6; ++c) {
    const RecordedCall& call = all.calls[c];
    const bool gather = c % 2 == 1;
    EXPECT_EQ(call.operation, gather ? Operation::gather : Operation::scatter);
    EXPECT_EQ(call.algorithm, gather ? "sls" : "sln");
    EXPECT_EQ(call.root, 0);
    EXPECT_EQ(call.bytes, 200U);
    ASSERT_EQ(call.ranks.size(), std::size_t{kRanks});
    for (std::size_t r = 0; r < kRanks; ++r) {
      const RecordedArrival& a = call.ranks[r];
      EXPECT_GE(a.exit_ns, a.arrival_ns);
      EXPECT_EQ(a.compute_ns > 0, gather);
      if (!gather) continue;
      EXPECT_GE(a.compute_ns, r == c / 2 ? 40'000'000 : 2'000'000);
      least = std::max(least, before[r][c - 1] - a.arrival_ns);
      most = std::min(most, before[r][c] - a.exit_ns);
    }
  }
  constexpr std::int64_t kClockErrorNs = 5'000'000;  // far below the hours that they are apart
  EXPECT_LE(least - most, kClockErrorNs);
  EXPECT_TRUE(all.calls[5].ranks[1].predicted_ns.has_value());
  EXPECT_EQ(replay(all).iterations, 3);
}

TEST(Recorder, PlainCollectivesWithoutASession) {
  ThreadGroup(3).run([](Transport& transport) {
    Collectives comm(transport, quick());
    Recorder recorder;
    comm.observe(&recorder);
    int value = comm.rank();
    comm.bcast<int>(std::span(&value, 1), 2);
    comm.barrier();  // no call of the caller's own that moves anything
    int sum = 0;
    comm.reduce<int>(std::span<const int>(&value, 1), std::span(&sum, 1), std::plus<>(), 0);
    comm.observe(nullptr);
    comm.bcast<int>(std::span(&value, 1), 0);
    const ArrivalRecording all = recorder.collect(comm);
    if (comm.rank() != 0) return;
    ASSERT_EQ(all.calls.size(), 2U);
    EXPECT_EQ(all.calls[0].operation, Operation::bcast);
    EXPECT_EQ(all.calls[0].root, 2);
    EXPECT_EQ(all.calls[1].operation, Operation::reduce);
    EXPECT_FALSE(all.calls[1].ranks[0].predicted_ns.has_value());
  });
}

TEST(Recorder, StartedCallsAreMatchedByTheirNumberNotByWhenTheyEnd) {
  ThreadGroup(3, 5).run([](Transport& transport) {
    const int me = transport.rank();
    Session session(transport, quick(), SessionOptions{});
    Recorder recorder;
    session.observe(&recorder);
    constexpr std::size_t kCalls = 4;
    std::vector<std::vector<int>> whole(kCalls, std::vector<int>(me == 0 ? 300 : 0));
    std::vector<std::vector<int>> mine(kCalls);
    std::vector<Pending> pending;
    for (std::size_t i = 0; i < kCalls; ++i) {
      mine[i].resize(i % 2 == 0 ? 100 : 1);
      whole[i].resize(me == 0 ? 3 * mine[i].size() : 0);
      pending.push_back(session.iscatter<int>(whole[i], mine[i], 0, "lin"));
      pending.push_back(session.igather<int>(mine[i], whole[i], 0, "lin"));
    }
    pending.clear();  // waits
    session.barrier();
    recorder.unfollow();
    const ArrivalRecording all = recorder.collect(session);
    session.close();
    if (me != 0) return;
    ASSERT_EQ(all.calls.size(), 2 * kCalls);
    for (const Operation operation : {Operation::scatter, Operation::gather}) {
      std::vector<std::uint64_t> bytes;
      for (const RecordedCall& call : all.calls) {
        if (call.operation == operation) bytes.push_back(call.bytes);
        for (const RecordedArrival& a : call.ranks) EXPECT_GE(a.exit_ns, a.arrival_ns);
      }
      EXPECT_THAT(bytes, testing::ElementsAre(400, 4, 400, 4));
    }
  });
}

TEST(Recorder, CallsBeyondTheMostAreCountedNotKept) {
  ThreadGroup(2).run([](Transport& transport) {
    Collectives comm(transport, quick());
    Recorder recorder(3);
    comm.observe(&recorder);
    int value = 0;
    for (int i = 0; i < 5; ++i) comm.bcast<int>(std::span(&value, 1), 0);
    const ArrivalRecording all = recorder.collect(comm);
    if (comm.rank() != 0) return;
    EXPECT_EQ(all.calls.size(), 3U);
    EXPECT_EQ(all.dropped, 2U);
  });
}

TEST(Recorder, MoreCallsThanAreGatheredAtATime) {
  ThreadGroup(2).run([](Transport& transport) {
    const int me = transport.rank();
    Collectives comm(transport, quick());
    Recorder recorder;
    constexpr std::uint64_t kCalls = 5000;
    for (std::uint64_t i = 0; i < kCalls + static_cast<std::uint64_t>(me); ++i) {
      recorder.call_ended({.operation = Operation::gather,
                           .algorithm = "ls",
                           .number = i,
                           .bytes = i,
                           .arrival_ns = static_cast<std::int64_t>(10 * i),
                           .exit_ns = static_cast<std::int64_t>(10 * i + 5)});
    }
    const ArrivalRecording all = recorder.collect(comm);
    if (me != 0) return;
    ASSERT_EQ(all.calls.size(), kCalls);
    for (std::uint64_t i = 0; i < kCalls; ++i) ASSERT_EQ(all.calls[i].bytes, i);
    EXPECT_EQ(all.dropped, 1U);  // of one rank alone
  });
}

TEST(Recorder, TimelineOfPhasesMessagesAndWhatCameEarly) {
  constexpr int kRanks = 3;
  Timeline all;
  ThreadGroup(kRanks, 3).run([&](Transport& transport) {
    const int me = transport.rank();
    Session session(transport, quick(), SessionOptions{});
    Recorder recorder(100, 10000);
    session.observe(&recorder);
    recorder.follow([&] { return session.now_ns(); });
    std::vector<int> mine(50, me);
    std::vector<int> whole(me == 0 ? 150 : 0);
    for (int i = 0; i < 3; ++i) {
      session.scatter<int>(whole, mine, 0,
                           "bsln");  // its leaves may ask for a decision, and wait for it within the call
      session.processing_start();
      const auto begin = Clock::now();
      std::this_thread::sleep_for(milliseconds(me == 0 ? 50 : 5));
      recorder.instant("edge");
      session.edge(0.5);
      session.processing_end();
      recorder.computed(begin, Clock::now());
      session.gather<int>(mine, whole, 0, "blin");
    }
    recorder.unfollow();
    Timeline got = recorder.collect_timeline(session);
    if (me == 0) all = std::move(got);
    session.close();
  });
  EXPECT_EQ(all.dropped_events, 0U);
  ASSERT_EQ(all.calls.calls.size(), 6U);
  for (const RecordedCall& call : all.calls.calls) {
    for (const RecordedArrival& a : call.ranks)
      EXPECT_LT(a.early_ns.value_or(a.arrival_ns - 1), a.arrival_ns);
  }
  ASSERT_EQ(all.events.size(), std::size_t{kRanks});
  using Kind = TimelineEvent::Kind;
  const auto count = [&](std::size_t rank, Kind kind, auto which) {
    return std::ranges::count_if(all.events[rank],
                                 [&](const TimelineEvent& e) { return e.kind == kind && which(e); });
  };
  for (std::size_t r = 0; r < kRanks; ++r) {
    EXPECT_EQ(count(r, Kind::span, [](const TimelineEvent& e) { return e.name == "compute"; }), 3);
    EXPECT_EQ(count(r, Kind::instant, [](const TimelineEvent& e) { return e.name == "edge"; }), 3);
    EXPECT_EQ(count(r, Kind::send, [](const TimelineEvent& e) { return e.peer == 0 && e.bytes == 200; }),
              r == 0 ? 0 : 3);
    for (const TimelineEvent& e : all.events[r]) EXPECT_LE(e.begin_ns, e.end_ns);
  }
  EXPECT_EQ(count(0, Kind::receive, [](const TimelineEvent& e) { return e.bytes == 200; }), 6);
  // From the second call on the root's thread expects it, and posts its receives while the root computes.
  EXPECT_GT(count(0, Kind::receive, [](const TimelineEvent& e) { return e.early; }), 0);
  const RecordedArrival& root = all.calls.calls[5].ranks[0];
  ASSERT_TRUE(root.early_ns.has_value());
  EXPECT_LT(*root.early_ns, root.arrival_ns);
}

TEST(Recorder, EventsBeyondTheMostAreCountedNotKept) {
  ThreadGroup(2).run([](Transport& transport) {
    Collectives comm(transport, quick());
    Recorder recorder(10, 4);
    for (int i = 0; i < 7; ++i)
      recorder.span("a name that is longer than what is kept", Clock::now(), Clock::now());
    const Timeline all = recorder.collect_timeline(comm);
    if (comm.rank() != 0) return;
    EXPECT_EQ(all.dropped_events, 3U);
    ASSERT_EQ(all.events.at(1).size(), 4U);
    EXPECT_EQ(all.events[1][0].name, "a name that is longer tha");
  });
}

TEST(Recorder, IsToldByManyThreads) {
  ThreadGroup(1).run([](Transport& transport) {
    Recorder recorder;
    recorder.follow([] { return std::int64_t{0}; });
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&recorder, t] {
        for (std::uint64_t i = 0; i < 500; ++i) {
          recorder.call_ended({.algorithm = "ls", .started = true, .number = 4 * i + t});
          recorder.computed(Clock::now(), Clock::now());
        }
      });
    }
    threads.clear();
    recorder.unfollow();
    Collectives comm(transport, quick());
    EXPECT_EQ(recorder.collect(comm).calls.size(), 2000U);
  });
}

}  // namespace
}  // namespace papfft::comm
