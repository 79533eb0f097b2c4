// SPDX-License-Identifier: MIT
// Compositions run on ranks as threads that are told which hosts they are on: every operation, with and without a session that knows
// when ranks come.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "comm/schedule/core/composition.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/collectives.hpp"
#include "papfft/session.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

/// Five hosts of 1, 2, 3, 4 and 2 ranks; round robin over three hosts; two hosts of 2 and 5 ranks; one host.
const std::vector<std::vector<int>> kLayouts = {
    {0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4}, {0, 1, 2, 0, 1, 2, 0, 1}, {1, 0, 1, 1, 0, 1, 1}, {3, 3, 3}};

void for_all(Operation operation, const std::function<void(Collectives&, std::string_view)>& body) {
  for (const std::vector<int>& hosts : kLayouts) {
    for (const std::uint32_t seed : {0U, 3U}) {
      if (papfft::test::kSanitized && seed == 0) continue;
      const std::size_t piped_from_bytes = seed == 0 ? 0 : 1000;
      ThreadGroup(static_cast<int>(hosts.size()), seed, hosts, piped_from_bytes)
          .run([&](Transport& transport) {
            Collectives comm(transport, quick());
            for (const Algorithm* flat : algorithms()) {
              if (flat->operation != operation) continue;
              for (const Composition* composition : compositions()) {
                if (!composition->serves(*flat)) continue;
                body(comm, std::string(flat->name) + "@" + std::string(composition->name));
              }
            }
            body(comm, "auto");
          });
    }
  }
}

constexpr std::size_t kElements = 40000;  // of a vector: long enough for "auto" to compose
constexpr std::size_t kBlock = 1003;

TEST(HostsOnThreads, Bcast) {
  for_all(Operation::bcast, [](Collectives& comm, std::string_view algorithm) {
    const int root = comm.size() - 1;
    std::vector<int> data = comm.rank() == root ? block(1, root, kElements) : std::vector<int>(kElements);
    comm.bcast<int>(data, root, algorithm);
    EXPECT_EQ(data, block(1, root, kElements)) << algorithm;
  });
}

TEST(HostsOnThreads, Reduce) {
  for_all(Operation::reduce, [](Collectives& comm, std::string_view algorithm) {
    const int root = comm.size() / 2;
    const auto send = contributions(comm.rank(), kElements);
    std::vector<std::uint64_t> recv(comm.rank() == root ? kElements : 0);
    comm.reduce<std::uint64_t>(send, recv, std::plus<>{}, root, algorithm);
    for (std::size_t i = 0; i < recv.size(); ++i) ASSERT_EQ(recv[i], sum_of_all(comm.size(), i)) << algorithm;
  });
}

TEST(HostsOnThreads, Allreduce) {
  for_all(Operation::allreduce, [](Collectives& comm, std::string_view algorithm) {
    auto data = contributions(comm.rank(), kElements);
    comm.allreduce<std::uint64_t>(data, data, std::plus<>{}, algorithm);
    for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], sum_of_all(comm.size(), i)) << algorithm;
  });
}

TEST(HostsOnThreads, ScatterAndGather) {
  for_all(Operation::scatter, [](Collectives& comm, std::string_view algorithm) {
    std::vector<int> mine(kBlock);
    comm.scatter<int>(comm.rank() == 1 ? whole(2, comm.size(), kBlock) : std::vector<int>(), mine, 1,
                      algorithm);
    EXPECT_EQ(mine, block(2, comm.rank(), kBlock)) << algorithm;
  });
  for_all(Operation::gather, [](Collectives& comm, std::string_view algorithm) {
    std::vector<int> all(comm.rank() == 1 ? kBlock * static_cast<std::size_t>(comm.size()) : 0);
    comm.gather<int>(block(3, comm.rank(), kBlock), all, 1, algorithm);
    if (comm.rank() != 1) return;
    EXPECT_EQ(all, whole(3, comm.size(), kBlock)) << algorithm;
  });
}

TEST(HostsOnThreads, AllgatherAndReduceScatter) {
  for_all(Operation::allgather, [](Collectives& comm, std::string_view algorithm) {
    std::vector<int> all(kBlock * static_cast<std::size_t>(comm.size()));
    comm.allgather<int>(block(4, comm.rank(), kBlock), all, algorithm);
    EXPECT_EQ(all, whole(4, comm.size(), kBlock)) << algorithm;
  });
  for_all(Operation::allgatherv, [](Collectives& comm, std::string_view algorithm) {
    std::vector<std::size_t> counts;
    for (int r = 0; r < comm.size(); ++r) counts.push_back(static_cast<std::size_t>(r % 3) * 7);
    const std::size_t before = std::accumulate(counts.begin(), counts.begin() + comm.rank(), std::size_t{0});
    std::vector<Triple> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    comm.allgatherv<Triple>(ramp(before, counts[static_cast<std::size_t>(comm.rank())]), all, counts,
                            algorithm);
    EXPECT_EQ(all, ramp(0, all.size())) << algorithm;
  });
  for_all(Operation::reduce_scatter, [](Collectives& comm, std::string_view algorithm) {
    const auto send = contributions(comm.rank(), kBlock * static_cast<std::size_t>(comm.size()));
    std::vector<std::uint64_t> mine(kBlock);
    comm.reduce_scatter<std::uint64_t>(send, mine, std::plus<>{}, algorithm);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      ASSERT_EQ(mine[i], sum_of_all(comm.size(), static_cast<std::size_t>(comm.rank()) * kBlock + i))
          << algorithm;
    }
  });
}

TEST(HostsOnThreads, ASessionComposesArrivalsAndBackground) {
  const std::vector<int> hosts = {0, 0, 0, 1, 1, 2};
  ThreadGroup(6, 0, hosts).run([&](Transport& transport) {
    Session session(transport, quick());
    session.use_algorithm(Operation::reduce, "bpapbi@hosts");
    session.use_algorithm(Operation::gather, "bcredit@hosts");
    session.use_algorithm(Operation::scatter, "bsln@hosts");
    for (int call = 0; call < 4; ++call) {
      session.processing_start();
      std::this_thread::sleep_for(std::chrono::milliseconds(session.rank()));
      session.edge(0.5);
      std::this_thread::sleep_for(std::chrono::milliseconds(session.rank()));
      session.processing_end();
      const auto send = contributions(session.rank(), kElements);
      std::vector<std::uint64_t> sum(session.rank() == 0 ? kElements : 0);
      session.reduce<std::uint64_t>(send, sum, std::plus<>{}, 0);
      for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], sum_of_all(6, i));
      std::vector<int> all(session.rank() == 0 ? kBlock * 6 : 0);
      session.gather<int>(block(call, session.rank(), kBlock), all, 0);
      const std::vector<int> expected = session.rank() == 0 ? whole(call, 6, kBlock) : std::vector<int>();
      ASSERT_EQ(all, expected);
      std::vector<int> mine(kBlock);
      session.scatter<int>(all, mine, 0);
      ASSERT_EQ(mine, block(call, session.rank(), kBlock));
    }
  });
}

}  // namespace
}  // namespace papfft::comm
