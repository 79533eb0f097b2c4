// SPDX-License-Identifier: MIT
// What a message costs, measured by ranks that are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/engine/call_engine.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/collectives.hpp"
#include "tests/support/message_counter.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

TEST(MeasureLink, RefusesWhatMakesNoSense) {
  ThreadGroup(2).run([](Transport& transport) {
    Collectives comm(transport, quick());
    for (const LinkProbe& wrong :
         {LinkProbe{.sender = 2}, LinkProbe{.receiver = -2}, LinkProbe{.short_bytes = 5, .long_bytes = 5},
          LinkProbe{.messages = 0}, LinkProbe{.in_flight = 0}}) {
      EXPECT_THROW((void)comm.measure_link(wrong), std::invalid_argument);
    }
  });
}

TEST(MeasureLink, AgreesOnAllRanks) {
  std::mutex mutex;
  std::vector<LinkModel> links;
  for (const int p : {1, 2, 5}) {
    links.clear();
    ThreadGroup(p).run([&](Transport& transport) {
      Collectives comm(transport, quick());
      const LinkModel link =
          comm.measure_link({.sender = p - 1, .receiver = 0, .messages = 8, .in_flight = 3});
      comm.use_link(link);
      EXPECT_EQ(comm.options().link.alpha_ns, link.alpha_ns);
      const std::lock_guard lock(mutex);
      links.push_back(link);
    });
    for (const LinkModel& link : links) {
      EXPECT_EQ(link.alpha_ns, links[0].alpha_ns);
      EXPECT_EQ(link.beta_ns_per_byte, links[0].beta_ns_per_byte);
      EXPECT_EQ(link.gamma_ns_per_byte, links[0].gamma_ns_per_byte);
      EXPECT_EQ(link.latency_ns, LinkModel{}.latency_ns) << "is left alone";
      EXPECT_GT(link.alpha_ns, 0);
      EXPECT_GT(link.beta_ns_per_byte, 0);
      EXPECT_GT(link.gamma_ns_per_byte, 0);
    }
  }
}

/// The link by which each of four ranks on two hosts chooses after broadcasts of so many bytes.
std::vector<LinkModel> links_after(int calls, std::size_t bytes, Options options) {
  std::vector<LinkModel> links(4);
  ThreadGroup(4, 0, {0, 0, 1, 1}).run([&](Transport& transport) {
    Collectives comm(transport, options);
    std::vector<std::byte> data(bytes);
    for (int i = 0; i < calls; ++i) comm.bcast(std::span(data), 0);
    links[static_cast<std::size_t>(comm.rank())] = comm.options().link;
  });
  return links;
}

/// No power of 2, so not what is learned.
Options with_odd_link() {
  Options options = quick();
  options.link.beta_ns_per_byte = 7.3;
  return options;
}

TEST(LearnLink, WhenSoMuchHasBeenMovedThatItPays) {
  for (const LinkModel& link : links_after(3, std::size_t{1} << 18U, with_odd_link())) {
    EXPECT_EQ(link.beta_ns_per_byte, 7.3) << "three calls are not worth it";
  }
  const std::vector<LinkModel> links = links_after(4, std::size_t{1} << 18U, with_odd_link());
  for (const LinkModel& link : links) {
    EXPECT_EQ(link.beta_ns_per_byte, links[0].beta_ns_per_byte);
    EXPECT_EQ(link.alpha_ns, links[0].alpha_ns);
    EXPECT_EQ(std::exp2(std::round(std::log2(link.beta_ns_per_byte))), link.beta_ns_per_byte)
        << "a power of 2";
  }
}

TEST(LearnLink, NotWhereTheOptionsSayTheLink) {
  Options options = with_odd_link();
  options.learn_link = false;
  for (const LinkModel& link : links_after(1, std::size_t{1} << 20U, options)) {
    EXPECT_EQ(link.beta_ns_per_byte, 7.3);
  }
}

/// Ranks that were told what was measured.
class WithTable : public Collectives {
 public:
  WithTable(Transport& transport, const Options& options, std::string_view lines)
      : Collectives(transport, options) {
    use_decisions("papfft-decisions 1\n" + std::string(lines), false);
  }
};

/// The link by which the first of four ranks on two hosts chooses after a long broadcast.
LinkModel link_with_table(const Options& options, std::string_view lines) {
  LinkModel link;
  ThreadGroup(4, 0, {0, 0, 1, 1}).run([&](Transport& transport) {
    WithTable comm(transport, options, lines);
    std::vector<std::byte> data(std::size_t{1} << 20U);
    comm.bcast(std::span(data), 0);
    if (comm.rank() == 0) link = comm.options().link;
    EXPECT_EQ(comm.last_call().reason, "the rules");
  });
  return link;
}

TEST(LearnLink, NotWhereATableKnowsTheLink) {
  const std::string lines =
      "link between alpha_ns=1234 beta_ns_per_byte=5.6 gamma_ns_per_byte=0.7 latency_ns=891\n";
  const LinkModel told = link_with_table(with_odd_link(), lines);
  EXPECT_EQ(told.alpha_ns, 1234);
  EXPECT_EQ(told.beta_ns_per_byte, 5.6);
  EXPECT_EQ(told.gamma_ns_per_byte, 0.7);
  EXPECT_EQ(told.latency_ns, 891);
  Options fixed = with_odd_link();
  fixed.learn_link = false;
  EXPECT_EQ(link_with_table(fixed, lines).beta_ns_per_byte, 7.3) << "whoever fixes the link knows better";
  EXPECT_NE(link_with_table(with_odd_link(), "link inside alpha_ns=1234 beta_ns_per_byte=5.6\n").alpha_ns,
            1234)
      << "that is another link";
}

TEST(Reduce, TheRootStagesNothingUnlessItsBuffersAreOne) {
  for (const bool in_place : {false, true}) {
    ThreadGroup(3).run([&](Transport& transport) {
      Collectives comm(transport, quick());
      std::vector<double> send(5000, comm.rank() + 1.0);
      std::vector<double> recv(comm.rank() == 0 && !in_place ? send.size() : 0);
      const std::span<double> result = in_place && comm.rank() == 0 ? std::span(send) : std::span(recv);
      comm.reduce<double>(send, result, std::plus<>(), 0, "chain/4");
      if (comm.rank() != 0) return;
      EXPECT_THAT(result, testing::Each(6.0));
      EXPECT_EQ(comm.last_call().bytes_staged > 0, in_place);
    });
  }
}

TEST(MeasureLink, EndsAfterOneBurstIfThereIsNoTime) {
  ThreadGroup(2).run([](Transport& transport) {
    const LinkProbe probe{.long_bytes = 10000, .messages = 50, .burst_bytes = 100'000};
    const auto long_messages = [&](std::chrono::nanoseconds budget) {
      MessageCounter counting(transport,
                              [&](const auto& message) { return message.bytes >= probe.long_bytes; });
      CallEngine engine(counting, quick());
      const LinkModel link = engine.measure_link(probe, budget);
      EXPECT_GT(link.alpha_ns, 0);
      EXPECT_GT(link.beta_ns_per_byte, 0);
      return counting.messages.load();
    };
    EXPECT_EQ(long_messages(std::chrono::nanoseconds(0)), 11);
    EXPECT_EQ(long_messages(std::chrono::nanoseconds::max()), 3 * (11 + 50));
  });
}

}  // namespace
}  // namespace papfft::comm
