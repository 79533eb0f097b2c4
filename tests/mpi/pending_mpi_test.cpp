// SPDX-License-Identifier: MIT
// Calls that are started and waited for later, over MPI, with and without a background thread.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <string_view>
#include <vector>

#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"
#include "tests/support/mpi_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

/// Scatters one way and gathers back the other, several of each under way, as a stream does.
void stream(Collectives& comm, std::string_view scatter, std::string_view gather) {
  constexpr std::size_t kAtOnce = 3;
  constexpr std::size_t kCalls = 9;
  constexpr std::size_t n = 30000;  // beyond an eager message
  const bool root = comm.rank() == 0;
  struct Slot {
    std::vector<float> out;
    std::vector<float> mine;
    std::vector<float> back;
    Pending scatter;
    Pending gather;
  };
  std::array<Slot, kAtOnce> slots;
  const auto value = [](std::size_t call, std::size_t i) { return static_cast<float>(call * 7 + i % 1013); };
  const auto check = [&](Slot& slot, std::size_t call) {
    slot.gather.wait();
    for (std::size_t i = 0; i < slot.back.size(); ++i) {
      ASSERT_EQ(slot.back[i], 2 * value(call, i))
          << scatter << " " << gather << " call " << call << " at " << i;
    }
  };
  for (std::size_t call = 0; call < kCalls + kAtOnce; ++call) {
    Slot& slot = slots[call % kAtOnce];
    if (call >= kAtOnce) check(slot, call - kAtOnce);
    if (call >= kCalls) continue;
    slot.out.resize(root ? n * static_cast<std::size_t>(comm.size()) : 0);
    slot.back.assign(slot.out.size(), 0);
    slot.mine.resize(n);
    for (std::size_t i = 0; i < slot.out.size(); ++i) slot.out[i] = value(call, i);
    slot.scatter = comm.iscatter<float>(slot.out, slot.mine, 0, scatter);
    slot.scatter.wait();
    for (float& x : slot.mine) x *= 2;
    slot.gather = comm.igather<float>(slot.mine, slot.back, 0, gather);
  }
}

TEST(PendingOverMpi, EveryScatterAndGatherStreams) {
  Communicator plain(MPI_COMM_WORLD, quick());
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  for (const Algorithm* algorithm : algorithms()) {
    for (Collectives* comm : {static_cast<Collectives*>(&plain), static_cast<Collectives*>(&session)}) {
      if (algorithm->operation == Operation::scatter) stream(*comm, algorithm->name, "auto");
      if (algorithm->operation == Operation::gather) stream(*comm, "auto", algorithm->name);
    }
  }
  session.close();
}

TEST(PendingOverMpi, BroadcastsAndReductionsInAnyOrderOfWaiting) {
  Communicator comm(MPI_COMM_WORLD, quick());
  const int p = comm.size();
  for (int round = 0; round < 3; ++round) {
    std::vector<int> data(50000, comm.rank() == 0 ? 40 + round : 0);
    const std::vector<int> ones(50000, 1);
    std::vector<int> sum(comm.rank() == 0 ? ones.size() : 0);
    Pending bcast = comm.ibcast<int>(data, 0);
    Pending reduce = comm.ireduce<int>(ones, sum, std::plus<>{}, 0);
    if (comm.rank() % 2 == 0) bcast.wait();
    reduce.wait();
    bcast.wait();
    EXPECT_EQ(data, std::vector<int>(data.size(), 40 + round));
    EXPECT_EQ(sum, std::vector<int>(sum.size(), p));
  }
}

}  // namespace
}  // namespace papfft::comm
