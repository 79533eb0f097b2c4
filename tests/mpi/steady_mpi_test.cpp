// SPDX-License-Identifier: MIT
// A call that repeats takes no memory from `new`: its plan and its execution are those of the time before.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "app/bench/heap_meter.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {
namespace {

struct Buffers {
  explicit Buffers(std::size_t n, int ranks, int rank)
      : one(n, static_cast<double>(rank + 1)), sum(n), all(n * static_cast<std::size_t>(ranks)) {}
  std::vector<double> one;
  std::vector<double> sum;
  std::vector<double> all;
};

using Call = std::function<void(Communicator&, Buffers&)>;

const std::vector<std::pair<const char*, Call>>& calls() {
  static const std::vector<std::pair<const char*, Call>> all = {
      {"bcast bnom", [](Communicator& c, Buffers& b) { c.bcast<double>(b.one, 0, "bnom/4"); }},
      {"bcast circulant", [](Communicator& c, Buffers& b) { c.bcast<double>(b.one, 0, "circulant/8"); }},
      {"bcast circulant@hosts",
       [](Communicator& c, Buffers& b) { c.bcast<double>(b.one, 0, "circulant@hosts/8"); }},
      {"reduce bnom",
       [](Communicator& c, Buffers& b) { c.reduce<double>(b.one, b.sum, std::plus<>{}, 0, "bnom/4"); }},
      {"reduce papbi",
       [](Communicator& c, Buffers& b) { c.reduce<double>(b.one, b.sum, std::plus<>{}, 0, "papbi/8"); }},
      {"allreduce ring",
       [](Communicator& c, Buffers& b) { c.allreduce<double>(b.one, b.sum, std::plus<>{}, "ring/2"); }},
      {"allreduce recursive-doubling",
       [](Communicator& c, Buffers& b) {
         c.allreduce<double>(b.one, b.sum, std::plus<>{}, "recursive-doubling");
       }},
      {"gather credit", [](Communicator& c, Buffers& b) { c.gather<double>(b.one, b.all, 0, "credit"); }},
      {"scatter lin", [](Communicator& c, Buffers& b) { c.scatter<double>(b.all, b.one, 0, "lin"); }},
      {"allgather circulant",
       [](Communicator& c, Buffers& b) { c.allgather<double>(b.one, b.all, "circulant"); }},
      {"reduce_scatter ring",
       [](Communicator& c, Buffers& b) { c.reduce_scatter<double>(b.all, b.sum, std::plus<>{}, "ring"); }},
      {"auto", [](Communicator& c, Buffers& b) { c.bcast<double>(b.one, 0); }},
  };
  return all;
}

TEST(SteadyCalls, AllocateNothing) {
  if (!app::HeapMeter::works()) GTEST_SKIP() << "a sanitizer has its own operator new";
  Communicator comm(MPI_COMM_WORLD);
  Buffers buffers(1024, comm.size(), comm.rank());
  for (const auto& [name, call] : calls()) {
    // How many messages are staged at a time depends on their order: a few runs until all there ever are have been.
    std::size_t least = 1;
    for (int i = 0; i < 60 && (i < 10 || least > 0); ++i) {
      const app::HeapMeter meter;
      call(comm, buffers);
      if (i >= 2) least = std::min(least, meter.allocations());
    }
    EXPECT_EQ(least, 0U) << name;
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
