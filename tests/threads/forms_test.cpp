// SPDX-License-Identifier: MIT
// Every operation, blocking, started and persistent, gives the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "comm/schedule/core/registry.hpp"
#include "comm/transport/tags.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/session.hpp"
#include "tests/support/call_forms.hpp"
#include "tests/support/message_counter.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

constexpr std::size_t n = 500;

/// One rank's buffers. The blocks of operations that take sizes differ: some are empty.
struct Buffers {
  Buffers(int ranks_in, int rank_in, int root_in)
      : ranks(static_cast<std::size_t>(ranks_in)), rank(static_cast<std::size_t>(rank_in)), root(root_in) {
    for (std::size_t r = 0; r < ranks; ++r) {
      counts.push_back(r % 3 == 2 ? 0 : n - r);
      from_each.push_back((rank + r) % 4 == 3 ? 0 : n - rank - r);
    }
    send.resize(ranks * n);
    recv.assign(ranks * n, -1);
  }
  /// @param own_block  nothing else: the rest is where the result comes
  void fill(int call, bool own_block) {
    const std::vector<int> input = block(call, static_cast<int>(rank), send.size());
    const std::size_t first = own_block ? rank * n : 0;
    std::copy_n(input.begin(), own_block ? n : input.size(),
                send.begin() + static_cast<std::ptrdiff_t>(first));
  }

  [[nodiscard]] bool is_root() const { return static_cast<int>(rank) == root; }
  [[nodiscard]] std::span<const int> out(std::size_t count) const { return std::span(send).first(count); }
  [[nodiscard]] std::span<int> in(std::size_t count) { return std::span(recv).first(count); }
  [[nodiscard]] static std::size_t sum(const std::vector<std::size_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
  }

  std::size_t ranks;
  std::size_t rank;
  int root;
  std::vector<std::size_t> counts;
  std::vector<std::size_t> from_each;  // and for each: the sizes of pairs are alike both ways
  std::vector<int> send;
  std::vector<int> recv;
};

using Fill = std::function<void()>;

struct FormsCase {
  const char* name;
  Operation operation;
  void (*call)(Session& session, Form form, const Fill& fill, Buffers& b, std::string_view algorithm);
  bool fills_own_block = false;
};

#define PAPFFT_CALL(name, ...)                                                                \
  [](Session& session, Form form, const Fill& fill, Buffers& b, std::string_view algorithm) { \
    PAPFFT_TYPED_FORMS(int, name, __VA_ARGS__, algorithm);                                    \
  }
#define PAPFFT_CASE(name, ...) \
  { #name, Operation::name, PAPFFT_CALL(name, __VA_ARGS__) }

const std::plus<> add;

const std::vector<FormsCase>& cases() {
  static const std::vector<FormsCase> all = {
      PAPFFT_CASE(scatter, b.out(b.ranks * n), b.in(n), b.root),
      PAPFFT_CASE(gather, b.out(n), b.in(b.ranks * n), b.root),
      PAPFFT_CASE(bcast, b.is_root() ? std::span(b.send).first(n) : b.in(n), b.root),
      PAPFFT_CASE(reduce, b.out(n), b.in(n), add, b.root),
      // What is in its place already.
      PAPFFT_CASE(reduce, b.out(n), b.is_root() ? std::span(b.send).first(n) : b.in(0), add, b.root),
      PAPFFT_CASE(allgather, b.out(n), b.in(b.ranks * n)),
      {"allgather", Operation::allgather,
       PAPFFT_CALL(allgather, std::span<const int>(b.send).subspan(b.rank * n, n), std::span(b.send)), true},
      PAPFFT_CASE(allgatherv, b.out(b.counts[b.rank]), b.in(Buffers::sum(b.counts)), b.counts),
      PAPFFT_CASE(allreduce, b.out(n), b.in(n), add),
      PAPFFT_CASE(allreduce, b.out(n), std::span(b.send).first(n), add),
      PAPFFT_CASE(reduce_scatter, b.out(b.ranks * n), b.in(n), add),
      PAPFFT_CASE(reduce_scatter, b.out(Buffers::sum(b.counts)), b.in(b.counts[b.rank]), b.counts, add),
      PAPFFT_CASE(alltoall, b.out(b.ranks * n), b.in(b.ranks * n)),
      PAPFFT_CASE(alltoallv, b.out(Buffers::sum(b.from_each)), b.from_each, b.in(Buffers::sum(b.from_each)),
                  b.from_each),
      PAPFFT_CASE(gatherv, b.out(b.counts[b.rank]), b.in(b.is_root() ? Buffers::sum(b.counts) : 0), b.counts,
                  b.root),
      PAPFFT_CASE(scatterv, b.out(Buffers::sum(b.counts)), b.counts, b.in(b.counts[b.rank]), b.root),
  };
  return all;
}

class FormsOnThreads : public testing::TestWithParam<SessionGroup> {
 protected:
  /// With "auto" and with every algorithm of the operation, in the background where that is possible.
  static void compare(Session& session, const FormsCase& c, int root) {
    std::vector<std::string> names = {"auto"};
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->operation == c.operation) names.push_back("b" + std::string(algorithm->name));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      Buffers expected(session.size(), session.rank(), root);
      const int number = static_cast<int>(i);
      c.call(
          session, Form::blocking, [&] { expected.fill(number, c.fills_own_block); }, expected, "auto");
      for (const Form form : kForms) {
        Buffers got(session.size(), session.rank(), root);
        c.call(
            session, form, [&] { got.fill(number, c.fills_own_block); }, got, names[i]);
        ASSERT_EQ(got.recv, expected.recv) << c.name << ' ' << names[i] << ' ' << name_of(form);
        ASSERT_EQ(got.send, expected.send) << c.name << ' ' << names[i] << ' ' << name_of(form);
      }
    }
  }
};

TEST_P(FormsOnThreads, GiveTheSameOfEveryOperation) {
  ThreadGroup(GetParam().ranks, GetParam().seed).run([&](Transport& transport) {
    Session session(transport, quick(), {.background = GetParam().background});
    int call = 0;
    for (const FormsCase& c : cases())
      compare(session, c, traits(c.operation).is_rooted() ? ++call % session.size() : 0);
    session.close();
  });
}

INSTANTIATE_TEST_SUITE_P(Groups, FormsOnThreads,
                         testing::Values(SessionGroup{1, n, 0, true}, SessionGroup{3, n, 1, true},
                                         SessionGroup{4, n, 2, false}, SessionGroup{5, n, 3, true}),
                         SessionGroup::name);

// What is short goes at once: nobody tells when it comes, and nobody waits to hear when others come.
TEST(Forms, ShortCallsSayNothingAboutArrivals) {
  ThreadGroup(5, 0, {0, 1, 2, 3, 4}).run([](Transport& transport) {
    const auto is_about_arrivals = [max_tag = transport.max_tag()](const MessageCounter::Message& message) {
      return message.is_sent && (message.tag == service_tag(max_tag, Service::arrival_report) ||
                                 message.tag == service_tag(max_tag, Service::arrival_decision));
    };
    MessageCounter counter(transport, is_about_arrivals);
    Options options = quick();
    options.learn_link = false;  // threads have a fast link, on which nothing is short
    Session session(counter, options, {});
    for (const FormsCase& c : cases()) {
      Buffers buffers(session.size(), session.rank(), 0);
      for (int call = 0; call < 3; ++call) {
        c.call(
            session, Form::blocking, [&] { buffers.fill(call, c.fills_own_block); }, buffers, "auto");
      }
      EXPECT_EQ(counter.messages, 0) << c.name;
    }
    session.close();
  });
}

/// Its operation has a state, so nothing may call it before its caller comes.
TEST(Forms, APersistentReductionKeepsItsOperation) {
  ThreadGroup(3, 9).run([](Transport& transport) {
    Session session(transport, quick(), {});
    std::vector<int> mine(10);
    std::vector<int> sum(10);
    bool has_come = false;
    bool was_early = false;
    const auto adds = [&](int a, int b) {
      was_early = was_early || !has_come;
      return a + b;
    };
    PersistentCall call = session.allreduce_init<int>(mine, sum, adds, "brecursive-doubling");
    for (int i = 0; i < 5; ++i) {
      has_come = false;
      call.start();
      std::this_thread::sleep_for(std::chrono::milliseconds(session.rank()));
      std::ranges::fill(mine, i);
      has_come = true;
      call.wait();
      EXPECT_EQ(sum, std::vector<int>(10, 3 * i));
    }
    EXPECT_FALSE(was_early);
    session.close();
  });
}

TEST(Forms, RefuseTheSameBeforeAnyMessage) {
  ThreadGroup(2).run([](Transport& transport) {
    Session session(transport, quick(), {});
    std::vector<int> mine(3);
    std::vector<int> all(5);
    const std::string refused = refusal([&] { session.allgather<int>(mine, all); });
    EXPECT_NE(refused, "nothing thrown");
    EXPECT_EQ(refusal([&] { (void)session.iallgather<int>(mine, all); }), refused);
    EXPECT_EQ(refusal([&] { (void)session.allgather_init<int>(mine, all); }), refused);
    const std::string unknown = refusal([&] { session.allreduce<int>(mine, mine, add, "magic"); });
    EXPECT_NE(unknown, "nothing thrown");
    EXPECT_EQ(refusal([&] { (void)session.iallreduce<int>(mine, mine, add, "magic"); }), unknown);
    EXPECT_EQ(refusal([&] { (void)session.allreduce_init<int>(mine, mine, add, "magic"); }), unknown);
    session.close();
  });
}

}  // namespace
}  // namespace papfft::comm
