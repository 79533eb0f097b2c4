// SPDX-License-Identifier: MIT
// Alltoall, and the operations whose block sizes only their owners know, with ranks as threads, by every algorithm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <string_view>
#include <thread>

#include "comm/schedule/core/registry.hpp"
#include "comm/transport/tags.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/collectives.hpp"
#include "papfft/session.hpp"
#include "tests/support/message_counter.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

using testing::HasSubstr;
using Counts = std::vector<std::size_t>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::size_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

/// What `source` has for `target`: other elements for each pair and call.
std::vector<Triple> for_pair(int source, int target, std::size_t n, int call = 0) {
  return ramp(at(4001 * source + 77 * target + 13 * call), n);
}

void append(std::vector<Triple>& all, const std::vector<Triple>& block) {
  all.insert(all.end(), block.begin(), block.end());
}

/// Elements from one rank to another: n each; in turns 0, 1 and 2 times n; all of one rank; none.
std::size_t count_of(int pattern, int source, int target, std::size_t n) {
  switch (pattern) {
    case 0:
      return n;
    case 1:
      return at((2 * source + target) % 3) * n;
    case 2:
      return target == 0 ? 2 * n + 1 : 0;
    default:
      return 0;
  }
}
constexpr int kPatterns = 4;

class PairsOnThreads : public GroupTest {};

/// Every call twice: the second time what the first has planned is used again, on other data.
TEST_P(PairsOnThreads, AlltoallGivesEachWhatIsForIt) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::alltoall, [&](Collectives& comm, std::string_view algorithm) {
    for (const int call : {0, 1}) {
      std::vector<Triple> send;
      std::vector<Triple> expected;
      for (int r = 0; r < comm.size(); ++r) {
        append(send, for_pair(comm.rank(), r, n, call));
        append(expected, for_pair(r, comm.rank(), n, call));
      }
      const std::vector<Triple> before = send;
      std::vector<Triple> recv(expected.size());
      comm.alltoall<Triple>(send, recv, algorithm);
      EXPECT_EQ(recv, expected) << algorithm << " call " << call;
      EXPECT_EQ(send, before) << algorithm << ": the caller's input changed";
    }
  });
}

TEST_P(PairsOnThreads, AlltoallvTakesBlocksOfAnySize) {
  const std::size_t n = GetParam().elements;
  for_all(Operation::alltoallv, [&](Collectives& comm, std::string_view algorithm) {
    for (int pattern = 0; pattern < kPatterns; ++pattern) {
      Counts out;
      Counts in;
      std::vector<Triple> send;
      std::vector<Triple> expected;
      for (int r = 0; r < comm.size(); ++r) {
        out.push_back(count_of(pattern, comm.rank(), r, n));
        in.push_back(count_of(pattern, r, comm.rank(), n));
        append(send, for_pair(comm.rank(), r, out.back()));
        append(expected, for_pair(r, comm.rank(), in.back()));
      }
      std::vector<Triple> recv(expected.size());
      comm.alltoallv<Triple>(send, out, recv, in, algorithm);
      EXPECT_EQ(recv, expected) << algorithm << " pattern " << pattern;
    }
  });
}

TEST_P(PairsOnThreads, GathervAndScattervTakeBlocksOfAnySizeAtAnyRoot) {
  const std::size_t n = GetParam().elements;
  const auto counts_of = [&](int pattern, int ranks) {
    Counts counts;
    for (int r = 0; r < ranks; ++r) counts.push_back(count_of(pattern, r, pattern == 2 ? r : 1, n));
    return counts;
  };
  const auto all_blocks = [](const Counts& counts, int call) {
    std::vector<Triple> all;
    for (std::size_t r = 0; r < counts.size(); ++r)
      append(all, for_pair(static_cast<int>(r), 0, counts[r], call));
    return all;
  };
  for (const Operation operation : {Operation::gatherv, Operation::scatterv}) {
    for_all(operation, [&](Collectives& comm, std::string_view algorithm) {
      const int me = comm.rank();
      for (int root = 0; root < comm.size(); ++root) {
        for (int pattern = 0; pattern < kPatterns; ++pattern) {
          const Counts counts = counts_of(pattern, comm.size());
          const std::vector<Triple> all = all_blocks(counts, root);
          const std::vector<Triple> mine = for_pair(me, 0, counts[at(me)], root);
          // Elsewhere than at the root, nobody knows the sizes.
          const Counts known = me == root ? counts : Counts{};
          if (operation == Operation::gatherv) {
            std::vector<Triple> recv(me == root ? all.size() : 0);
            comm.gatherv<Triple>(mine, recv, known, root, algorithm);
            if (me == root) {
              EXPECT_EQ(recv, all) << algorithm << " root " << root << " pattern " << pattern;
            }
          } else {
            std::vector<Triple> recv(mine.size());
            comm.scatterv<Triple>(me == root ? all : std::vector<Triple>{}, known, recv, root, algorithm);
            EXPECT_EQ(recv, mine) << algorithm << " root " << root << " pattern " << pattern;
          }
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, PairsOnThreads,
                         testing::Values(Group{1, 5, 0}, Group{2, 0, 0}, Group{2, 1000, 1}, Group{3, 1, 2},
                                         Group{4, 17, 3}, Group{5, 20000, 4}, Group{6, 40, 5}, Group{7, 3, 5},
                                         Group{8, 5001, 6}, Group{9, 129, 7}, Group{2, 150003, 8, 1},
                                         Group{5, 1001, 9, 1}),
                         &Group::name);

TEST(Pairs, RefuseWrongSizesBeforeAnyMessage) {
  ThreadGroup(2).run([](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<int> three(3);
    std::vector<int> two(2);
    const Counts one_each = {1, 1};
    EXPECT_EQ(refusal([&] { comm.alltoall<int>(two, three); }),
              "alltoall: the receive buffer has 12 bytes instead of 8");
    EXPECT_THAT(refusal([&] { comm.alltoall<int>({}, two); }),
                HasSubstr("alltoall: the receive buffer has 8 bytes instead of 0"));
    EXPECT_EQ(refusal([&] { comm.alltoall<char>(std::vector<char>(3), std::span<char>()); }),
              "alltoall: 3 bytes are no 2 blocks of one size");
    EXPECT_EQ(refusal([&] { comm.alltoallv<int>(two, one_each, two, {}); }),
              "alltoallv: 0 block sizes for 2 ranks");
    EXPECT_EQ(refusal([&] { comm.alltoallv<int>(two, one_each, three, one_each); }),
              "alltoallv: the receive buffer has 12 bytes instead of 8");
    if (comm.rank() == 0) {
      EXPECT_EQ(refusal([&] {
                  comm.alltoallv<int>(two, one_each, two, Counts{2, 0});
                }),
                "alltoallv: this rank's block for itself has 8 bytes instead of 4");
      EXPECT_EQ(refusal([&] { comm.gatherv<int>(three, two, {}, 0); }),
                "gatherv: the root needs the size of each rank's block");
      EXPECT_EQ(refusal([&] { comm.scatterv<int>(two, one_each, two, 0); }),
                "scatterv: this rank's block has 8 bytes instead of 4");
    }
  });
}

// Nothing that all must agree on depends on sizes that only their owners know.
TEST(Pairs, SizesThatDifferBetweenRanksAreNoDisagreement) {
  ThreadGroup(3).run([&](Transport& transport) {
    Options options = quick();
    options.check_arguments = true;
    Collectives comm(transport, options);
    const std::vector<Triple> mine = for_pair(comm.rank(), 0, at(comm.rank()));
    std::vector<Triple> all(comm.rank() == 1 ? 3 : 0);
    comm.gatherv<Triple>(mine, all, comm.rank() == 1 ? Counts{0, 1, 2} : Counts{}, 1);
    EXPECT_EQ(all.empty(), comm.rank() != 1);
    try {
      comm.gatherv<Triple>(mine, all, comm.rank() == 1 ? Counts{0, 1, 2} : Counts{}, 1,
                           comm.rank() == 2 ? "ls" : "lin");
      ADD_FAILURE() << "algorithms differ";
    } catch (const MismatchError& e) {
      EXPECT_THAT(e.what(),
                  HasSubstr("rank 2 calls gatherv ls, root 1, blocks of any sizes in elements of 3"));
    }
  });
}

// The third call is like the first two on all ranks but one: nobody may have begun it early by their sizes.
TEST(Pairs, SizesMayChangeFromCallToCallInASession) {
  ThreadGroup(4).run([&](Transport& transport) {
    Session session(transport, quick(), {});
    const int me = session.rank();
    for (int call = 0; call < 6; ++call) {
      session.processing_start();
      std::this_thread::sleep_for(std::chrono::milliseconds(me == 2 ? 12 : 3));
      session.processing_end();
      const auto size = [&](int rank) { return at(call == 2 && rank == 3 ? 30000 : 20000); };
      Counts counts;
      std::vector<Triple> all;
      for (int r = 0; r < 4; ++r) {
        counts.push_back(size(r));
        append(all, for_pair(r, 0, size(r), call));
      }
      const std::vector<Triple> mine = for_pair(me, 0, size(me), call);
      std::vector<Triple> recv(me == 0 ? all.size() : 0);
      session.gatherv<Triple>(mine, recv, me == 0 ? counts : Counts{}, 0, call % 2 == 0 ? "bsls" : "bcredit");
      if (me == 0) {
        EXPECT_EQ(recv, all) << "call " << call;
      }
      std::vector<Triple> part(mine.size());
      session.scatterv<Triple>(me == 0 ? all : std::vector<Triple>{}, me == 0 ? counts : Counts{}, part, 0,
                               "bsln");
      EXPECT_EQ(part, mine) << "call " << call;
      std::vector<Triple> send;
      std::vector<Triple> expected;
      for (int r = 0; r < 4; ++r) {
        append(send, for_pair(me, r, 9000, call));
        append(expected, for_pair(r, me, 9000, call));
      }
      std::vector<Triple> from_all(send.size());
      session.alltoall<Triple>(send, from_all, call % 2 == 0 ? "bcredit" : "bbruck");
      EXPECT_EQ(from_all, expected) << "call " << call;
    }
    session.close();
  });
}

// The root alone has an order, and decides it alone. A rank tells when it comes only if its block is long.
TEST(Pairs, NobodyIsToldInWhichOrderTheRootServes) {
  constexpr std::size_t kShort = 300;
  constexpr std::size_t kLong = 30000;  // longer than an eager message
  for (const bool has_thread : {true, false}) {
    for (const Counts& counts :
         {Counts{9, kShort, kShort, kShort}, Counts{0, 0, 0, 0}, Counts{7, 0, kLong, 1},
          Counts{0, kLong, kShort, kLong}, Counts{kLong, kLong, kLong, kLong}}) {
      SCOPED_TRACE(testing::PrintToString(counts) + (has_thread ? "" : " without thread"));
      ThreadGroup(4, 0, {0, 1, 2, 3}).run([&](Transport& transport) {
        const int max_tag = transport.max_tag();
        MessageCounter reports(transport, [max_tag](const auto& message) {
          return message.is_sent && message.tag == service_tag(max_tag, Service::arrival_report);
        });
        MessageCounter decisions(reports, [max_tag](const auto& message) {
          return message.is_sent && message.tag == service_tag(max_tag, Service::arrival_decision);
        });
        Session session(decisions, quick(), {.background = has_thread});
        const int me = session.rank();
        const Counts known = me == 0 ? counts : Counts{};
        int call = 0;
        for (const char* algorithm : {"auto", "sln", "bwin", "sls", "bsls"}) {
          for (int repeat = 0; repeat < 3; ++repeat, ++call) {
            std::this_thread::sleep_for(std::chrono::milliseconds((me + repeat) % 3));
            std::vector<Triple> all;
            for (int r = 0; r < 4; ++r) append(all, for_pair(r, 0, counts[at(r)], call));
            const std::vector<Triple> mine = for_pair(me, 0, counts[at(me)], call);
            if (std::string_view(algorithm).ends_with("sls")) {
              std::vector<Triple> got(me == 0 ? all.size() : 0);
              session.gatherv<Triple>(mine, got, known, 0, algorithm);
              EXPECT_EQ(got, me == 0 ? all : got) << algorithm;
            } else {
              std::vector<Triple> got(mine.size());
              session.scatterv<Triple>(me == 0 ? all : std::vector<Triple>{}, known, got, 0, algorithm);
              EXPECT_EQ(got, mine) << algorithm;
            }
          }
        }
        EXPECT_EQ(decisions.messages, 0);
        EXPECT_EQ(reports.messages > 0, me != 0 && counts[at(me)] == kLong);
        session.close();
      });
    }
  }
}

// Rank 2 has nothing to get, and so is in the next call, where all go by one decision, before the root comes.
TEST(Pairs, ARankWithoutABlockRunsAheadOfTheRootsDecision) {
  ThreadGroup(3, 0, {0, 1, 2}).run([](Transport& transport) {
    Session session(transport, quick(), {});
    const int me = session.rank();
    const Counts counts = {5, 30000, 0};
    for (int call = 0; call < 4; ++call) {
      if (me == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::vector<Triple> all;
      for (int r = 0; r < 3; ++r) append(all, for_pair(r, 0, counts[at(r)], call));
      std::vector<Triple> got(counts[at(me)]);
      session.scatterv<Triple>(me == 0 ? all : std::vector<Triple>{}, me == 0 ? counts : Counts{}, got, 0,
                               "sln");
      EXPECT_EQ(got, for_pair(me, 0, counts[at(me)], call));
      const std::vector<int> mine = block(call, me, 30000);
      std::vector<int> everything(3 * mine.size());
      session.allgather<int>(mine, everything, "slb");
      EXPECT_EQ(everything, whole(call, 3, mine.size()));
    }
    session.close();
  });
}

// The handle keeps the sizes, so the call may begin before its caller comes.
TEST(Pairs, APersistentCallKeepsItsSizes) {
  std::atomic<int> early{0};
  ThreadGroup(4).run([&](Transport& transport) {
    Session session(transport, quick(), {});
    const int me = session.rank();
    const Counts counts = {20000, 0, 30000, 10};
    std::vector<Triple> all(sum(counts));
    std::vector<Triple> mine(counts[at(me)]);
    std::vector<Triple> back(mine.size());
    const auto at_root = [&](auto& data) { return me == 1 ? std::span(data) : std::span(data).first(0); };
    std::optional<PersistentCall> gather;
    std::optional<PersistentCall> scatter;
    {
      const Counts gone = counts;
      gather = session.gatherv_init<Triple>(mine, at_root(all), at_root(gone), 1, "bsls");
      scatter = session.scatterv_init<Triple>(at_root(all), at_root(gone), back, 1, "bsln");
    }
    for (int call = 0; call < 4; ++call) {
      gather->start();
      std::this_thread::sleep_for(std::chrono::milliseconds(me == 1 ? 30 : 2));
      std::ranges::copy(for_pair(me, 0, counts[at(me)], call), mine.begin());  // the handle knows this memory
      gather->wait();
      if (me == 1) {
        std::vector<Triple> expected;
        for (int r = 0; r < 4; ++r) append(expected, for_pair(r, 0, counts[at(r)], call));
        EXPECT_EQ(all, expected) << "call " << call;
      }
      scatter->call();
      EXPECT_EQ(back, mine) << "call " << call;
    }
    early += static_cast<int>(session.statistics().begun_early);
    gather.reset();
    scatter.reset();
    session.close();
  });
  EXPECT_GT(early, 0) << "the root never began before it came";
}

TEST(Pairs, CanBeStartedBesideEachOther) {
  ThreadGroup(3).run([&](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<Triple> send;
    std::vector<Triple> expected;
    for (int r = 0; r < 3; ++r) {
      append(send, for_pair(comm.rank(), r, 500));
      append(expected, for_pair(r, comm.rank(), 500));
    }
    std::vector<Triple> first(send.size());
    std::vector<Triple> second(send.size());
    const auto start = [&](std::vector<Triple>& recv, std::string_view algorithm) {
      return comm.start(comm.prepared({.operation = Operation::alltoall,
                                       .element_bytes = sizeof(Triple),
                                       .algorithm = algorithm,
                                       .send = std::as_bytes(std::span<const Triple>(send)),
                                       .recv = std::as_writable_bytes(std::span(recv))}));
    };
    Pending a = start(first, "credit");
    Pending b = start(second, "circulant");
    b.wait();
    a.wait();
    EXPECT_EQ(first, expected);
    EXPECT_EQ(second, expected);
  });
}

// A message of an algorithm with relays is packed once, when it leaves; nothing else is copied but what has arrived.
TEST(Pairs, RelaysSendWhatTheirSchedulesSay) {
  ThreadGroup(5).run([&](Transport& transport) {
    Collectives comm(transport, quick());
    std::vector<char> send(500, 'x');
    std::vector<char> recv(500);
    comm.alltoall<char>(send, recv, "bruck");
    EXPECT_EQ(comm.last_call().bytes_sent, 500U);
    comm.alltoall<char>(send, recv, "linear");
    EXPECT_EQ(comm.last_call().bytes_sent, 400U);
    EXPECT_EQ(comm.last_call().bytes_staged, 0U);
  });
}

}  // namespace
}  // namespace papfft::comm
