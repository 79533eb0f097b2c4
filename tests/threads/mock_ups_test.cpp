// SPDX-License-Identifier: MIT
// Mock-ups give what the call would have given, with ranks as threads.
#include "app/bench/mock_ups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "comm/transport/threads/thread_group.hpp"
#include "papfft/collectives.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::app {
namespace {

using comm::CallArguments;
using comm::Collectives;
using comm::ElementReducer;
using comm::Operation;
using comm::test::block;
using comm::test::quick;

using Words = std::vector<int>;

struct Job {
  int ranks;
  std::size_t elements;
};

class MockUpsOnThreads : public testing::TestWithParam<Job> {
 protected:
  /// On each rank, for each root, twice: memory that is kept from the call before must not show.
  void for_each_root(const std::function<void(Collectives&, MockUps&, int root, int call)>& body) {
    comm::ThreadGroup(GetParam().ranks, 7).run([&](comm::Transport& transport) {
      Collectives group(transport, quick());
      MockUps mock_ups;
      for (int call = 0; call < 2 * group.size(); ++call) body(group, mock_ups, call / 2, call);
    });
  }
  [[nodiscard]] std::size_t n() const { return GetParam().elements; }
  /// Of element i over all ranks.
  [[nodiscard]] static int sum(int call, int ranks, std::size_t n, std::size_t i) {
    int total = 0;
    for (int r = 0; r < ranks; ++r) total += block(call, r, n)[i];
    return total;
  }
};

const ElementReducer<int, std::plus<>> kSum({}, true);

TEST_P(MockUpsOnThreads, BcastByScatterAndAllgather) {
  for_each_root([&](Collectives& group, MockUps& mock_ups, int root, int call) {
    Words data = group.rank() == root ? block(call, root, n()) : Words(n(), -1);
    mock_ups.call(group, group.prepared({.operation = Operation::bcast,
                                         .element_bytes = sizeof(int),
                                         .root = root,
                                         .send = std::as_bytes(std::span(data)),
                                         .recv = std::as_writable_bytes(std::span(data))}));
    EXPECT_EQ(data, block(call, root, n()));
  });
}

TEST_P(MockUpsOnThreads, AllreduceByReduceAndBcast) {
  for_each_root([&](Collectives& group, MockUps& mock_ups, int /*root*/, int call) {
    const Words send = block(call, group.rank(), n());
    Words recv(n(), -1);
    mock_ups.call(group, group.prepared({.operation = Operation::allreduce,
                                         .send = std::as_bytes(std::span(send)),
                                         .recv = std::as_writable_bytes(std::span(recv)),
                                         .reducer = &kSum}));
    for (std::size_t i = 0; i < n(); ++i) ASSERT_EQ(recv[i], sum(call, group.size(), n(), i));
  });
}

TEST_P(MockUpsOnThreads, GatherByAllgather) {
  for_each_root([&](Collectives& group, MockUps& mock_ups, int root, int call) {
    const Words send = block(call, group.rank(), n());
    Words recv(group.rank() == root ? n() * static_cast<std::size_t>(group.size()) : 0, -1);
    mock_ups.call(group, group.prepared({.operation = Operation::gather,
                                         .element_bytes = sizeof(int),
                                         .root = root,
                                         .send = std::as_bytes(std::span(send)),
                                         .recv = std::as_writable_bytes(std::span(recv))}));
    EXPECT_EQ(recv, group.rank() == root ? comm::test::whole(call, group.size(), n()) : Words());
  });
}

TEST_P(MockUpsOnThreads, ReduceScatterByReduceAndScatter) {
  for_each_root([&](Collectives& group, MockUps& mock_ups, int /*root*/, int call) {
    const std::size_t all = n() * static_cast<std::size_t>(group.size());
    const Words send = block(call, group.rank(), all);
    Words recv(n(), -1);
    mock_ups.call(group, group.prepared({.operation = Operation::reduce_scatter,
                                         .send = std::as_bytes(std::span(send)),
                                         .recv = std::as_writable_bytes(std::span(recv)),
                                         .reducer = &kSum}));
    const std::size_t first = n() * static_cast<std::size_t>(group.rank());
    for (std::size_t i = 0; i < n(); ++i) ASSERT_EQ(recv[i], sum(call, group.size(), all, first + i));
  });
}

// Elements that the ranks can share evenly, and others; fewer than ranks; none.
INSTANTIATE_TEST_SUITE_P(Groups, MockUpsOnThreads,
                         testing::Values(Job{1, 5}, Job{2, 8}, Job{3, 10}, Job{4, 3}, Job{5, 1000},
                                         Job{3, 0}),
                         [](const testing::TestParamInfo<Job>& test) {
                           return "P" + std::to_string(test.param.ranks) + "_n" +
                                  std::to_string(test.param.elements);
                         });

TEST(MockUps, OperationsWithoutOneAreRefused) {
  comm::ThreadGroup(1, 7).run([&](comm::Transport& transport) {
    Collectives group(transport, quick());
    MockUps mock_ups;
    for (const comm::OperationTraits& row : comm::kOperations) {
      if (!mock_up_name(row.operation).empty()) continue;
      EXPECT_THROW(mock_ups.call(group, {.operation = row.operation}), std::invalid_argument) << row.name;
    }
    const std::vector<std::size_t> uneven = {4, 8};
    EXPECT_THROW(mock_ups.call(group, {.operation = Operation::reduce_scatter, .block_bytes = uneven}),
                 std::invalid_argument);
  });
}

}  // namespace
}  // namespace papfft::app
