// SPDX-License-Identifier: MIT
// A call that repeats takes no memory from `new`: its plan and its execution are those of the time before.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "app/bench/heap_meter.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {
namespace {

struct Buffers {
  explicit Buffers(std::size_t n, int ranks, int rank)
      : one(n, static_cast<double>(rank + 1)), sum(n), all(n * static_cast<std::size_t>(ranks)), other(all) {}
  std::vector<double> one;
  std::vector<double> sum;
  std::vector<double> all;
  std::vector<double> other;
};

using Call = std::function<void(Collectives&, Buffers&)>;

const std::vector<std::pair<const char*, Call>>& calls() {
  static const std::vector<std::pair<const char*, Call>> all = {
      {"bcast bnom", [](Collectives& c, Buffers& b) { c.bcast<double>(b.one, 0, "bnom/4"); }},
      {"bcast circulant", [](Collectives& c, Buffers& b) { c.bcast<double>(b.one, 0, "circulant/8"); }},
      {"bcast circulant@hosts",
       [](Collectives& c, Buffers& b) { c.bcast<double>(b.one, 0, "circulant@hosts/8"); }},
      {"reduce bnom",
       [](Collectives& c, Buffers& b) { c.reduce<double>(b.one, b.sum, std::plus<>{}, 0, "bnom/4"); }},
      {"reduce papbi",
       [](Collectives& c, Buffers& b) { c.reduce<double>(b.one, b.sum, std::plus<>{}, 0, "papbi/8"); }},
      {"allreduce ring",
       [](Collectives& c, Buffers& b) { c.allreduce<double>(b.one, b.sum, std::plus<>{}, "ring/2"); }},
      {"allreduce recursive-doubling",
       [](Collectives& c, Buffers& b) {
         c.allreduce<double>(b.one, b.sum, std::plus<>{}, "recursive-doubling");
       }},
      {"gather credit", [](Collectives& c, Buffers& b) { c.gather<double>(b.one, b.all, 0, "credit"); }},
      {"scatter lin", [](Collectives& c, Buffers& b) { c.scatter<double>(b.all, b.one, 0, "lin"); }},
      {"allgather circulant",
       [](Collectives& c, Buffers& b) { c.allgather<double>(b.one, b.all, "circulant"); }},
      {"reduce_scatter ring",
       [](Collectives& c, Buffers& b) { c.reduce_scatter<double>(b.all, b.sum, std::plus<>{}, "ring"); }},
      {"auto", [](Collectives& c, Buffers& b) { c.bcast<double>(b.one, 0); }},
  };
  return all;
}

/// How many allocations such a call makes when it has been made often enough.
std::size_t steady_allocations(const std::function<void()>& call) {
  // How many messages are staged at a time depends on their order: a few runs until all there ever are have been.
  std::size_t least = 1;
  for (int i = 0; i < 60 && (i < 10 || least > 0); ++i) {
    const app::HeapMeter meter;
    call();
    if (i >= 2) least = std::min(least, meter.allocations());
  }
  return least;
}

TEST(SteadyCalls, AllocateNothing) {
  if (!app::HeapMeter::works()) GTEST_SKIP() << "a sanitizer has its own operator new";
  Communicator comm(MPI_COMM_WORLD);
  Buffers buffers(1024, comm.size(), comm.rank());
  for (const auto& [name, call] : calls()) {
    EXPECT_EQ(steady_allocations([&, &call = call] { call(comm, buffers); }), 0U) << name;
  }
}

/// On the caller's thread; the background thread takes what its timers and messages need.
TEST(SteadyCalls, AllocateNothingInASession) {
  if (!app::HeapMeter::works()) GTEST_SKIP() << "a sanitizer has its own operator new";
  for (const bool background : {false, true}) {
    MpiSession session(MPI_COMM_WORLD, Options::from_environment(), SessionOptions{.background = background});
    Buffers buffers(1024, session.size(), session.rank());
    for (const auto& [name, call] : calls()) {
      EXPECT_EQ(steady_allocations([&, &call = call] { call(session, buffers); }), 0U)
          << name << (background ? " with" : " without") << " a background thread";
    }
    const std::vector<std::pair<const char*, std::function<void()>>> in_background = {
        {"bcast bcirculant", [&] { session.bcast<double>(buffers.one, 0, "bcirculant/8"); }},
        {"gather bcredit", [&] { session.gather<double>(buffers.one, buffers.all, 0, "bcredit"); }},
        {"scatter blin", [&] { session.scatter<double>(buffers.all, buffers.one, 0, "blin"); }},
        {"allgather bring", [&] { session.allgather<double>(buffers.one, buffers.all, "bring"); }},
        {"alltoall blinear", [&] { session.alltoall<double>(buffers.all, buffers.other, "blinear"); }}};
    for (const auto& [name, call] : in_background) {
      const auto after_a_while = [&call = call] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that some begin early
        call();
      };
      EXPECT_EQ(steady_allocations(after_a_while), 0U)
          << name << (background ? " with" : " without") << " a background thread";
    }
    PersistentCall sum = session.allreduce_init<double>(buffers.one, buffers.sum, std::plus<>{}, "ring");
    PersistentCall gather = session.gather_init<double>(buffers.one, buffers.all, 0, "bcredit");
    EXPECT_EQ(steady_allocations([&] { sum.call(); }), 0U) << "persistent allreduce";
    EXPECT_EQ(steady_allocations([&] { gather.call(); }), 0U) << "persistent gather";
    session.close();
  }
}

/// Of any operation whose blocks have one size.
Pending started(Collectives& comm, const OperationTraits& row, Buffers& b,
                const std::shared_ptr<const Reducer>& reducer) {
  const auto sized = [&](Holder holder) { return row.is_per_rank() && holder != Holder::owner; };
  const std::span<double> send = sized(row.before) ? b.all : b.one;
  const std::span<double> recv = row.operation == Operation::bcast ? b.one
                                 : sized(row.after)                ? b.other
                                                                   : b.sum;
  return comm.start(comm.prepared({.operation = row.operation,
                                   .element_bytes = sizeof(double),
                                   .send = std::as_bytes(send),
                                   .recv = std::as_writable_bytes(recv),
                                   .reducer = row.reduces ? reducer.get() : nullptr}),
                    reducer);
}

TEST(SteadyCalls, AllocateNothingWhenStarted) {
  if (!app::HeapMeter::works()) GTEST_SKIP() << "a sanitizer has its own operator new";
  Communicator comm(MPI_COMM_WORLD);
  Buffers one(1024, comm.size(), comm.rank());
  Buffers other = one;
  const auto reducer = std::make_shared<const ElementReducer<double, std::plus<>>>(std::plus<>{}, true);
  for (const OperationTraits& row : kOperations) {
    if (row.takes_sizes && row.operation != Operation::reduce_scatter) continue;
    EXPECT_EQ(steady_allocations([&] { started(comm, row, one, reducer).wait(); }), 0U) << row.name;
    EXPECT_EQ(steady_allocations([&] {
                Pending first = started(comm, row, one, reducer);
                Pending second = started(comm, row, other, reducer);
                second.wait();
                first.wait();
              }),
              0U)
        << row.name << ", two under way";
  }
}

TEST(SteadyCalls, FollowTheirBuffers) {
  Communicator comm(MPI_COMM_WORLD);
  const auto p = static_cast<std::size_t>(comm.size());
  for (int i = 0; i < 5; ++i) {
    const std::vector<int> mine(100 + static_cast<std::size_t>(i % 2), 10 * i + comm.rank());
    std::vector<int> all(mine.size() * p);
    comm.allgather<int>(mine, all, "ring");
    std::vector<int> sum(mine.size());
    comm.allreduce<int>(mine, sum, std::plus<>{}, "ring");
    std::vector<int> most(mine.size());
    comm.allreduce<int>(
        mine, most, [](int a, int b) { return std::max(a, b); }, "ring");
    int expected = 0;
    for (std::size_t r = 0; r < p; ++r) {
      expected += 10 * i + static_cast<int>(r);
      EXPECT_EQ(all[r * mine.size()], 10 * i + static_cast<int>(r));
    }
    EXPECT_EQ(sum, std::vector<int>(mine.size(), expected));
    EXPECT_EQ(most, std::vector<int>(mine.size(), 10 * i + comm.size() - 1));
  }
}

TEST(SteadyCalls, AreBounded) {
  Communicator comm(MPI_COMM_WORLD);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t n = 1; n <= 50; ++n) {
      std::vector<int> data(n, comm.rank() == 0 ? static_cast<int>(n) : 0);
      comm.bcast<int>(data, 0, "bnom");
      ASSERT_EQ(data, std::vector<int>(n, static_cast<int>(n)));
    }
  }
}

}  // namespace
}  // namespace papfft::comm
