// SPDX-License-Identifier: MIT
// The full-lane mock-ups, on hosts of all shapes that the ranks can play, against the data that each operation promises.
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/bench/stock_peer.hpp"
#include "comm/mpi/mpi_buffer.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {
namespace {

using comm::CallArguments;
using comm::Operation;
using Words = std::vector<std::int32_t>;

struct Shape {
  std::string name;
  std::vector<int> host_of_rank = {};
};

/// Every way to give all hosts equally many of so many ranks, in several orders.
std::vector<Shape> shapes(int ranks) {
  std::vector<Shape> all;
  for (int hosts = 1; hosts <= ranks; ++hosts) {
    if (ranks % hosts != 0) continue;
    Shape by_host{.name = std::to_string(hosts) + " hosts, by host"};
    Shape in_turns{.name = std::to_string(hosts) + " hosts, round robin"};
    for (int r = 0; r < ranks; ++r) {
      by_host.host_of_rank.push_back(r / (ranks / hosts));
      in_turns.host_of_rank.push_back(r % hosts);
    }
    Shape backwards{.name = std::to_string(hosts) + " hosts, to and fro"};
    for (int r = 0; r < ranks; ++r)
      backwards.host_of_rank.push_back(r / hosts % 2 == 0 ? r % hosts : hosts - 1 - r % hosts);
    all.insert(all.end(), {by_host, in_turns, backwards});
  }
  return all;
}

/// What rank `r` contributes at place i of block b.
std::int32_t word(int r, std::size_t b, std::size_t i) {
  return static_cast<std::int32_t>(1000000 * r + 1000 * static_cast<int>(b) + static_cast<int>(i));
}

class StockLanes : public testing::Test {
 protected:
  /// The call with its buffers, on a communicator that the test makes.
  void run(StockPeer& lanes, CallArguments a, const Words& send, Words& recv,
           const std::vector<std::size_t>& block_bytes = {}) {
    const comm::MpiReducer sum(MPI_SUM, MPI_INT32_T);
    a.element_bytes = sizeof(std::int32_t);
    a.send = std::as_bytes(std::span(send));
    a.recv = std::as_writable_bytes(std::span(recv));
    a.block_bytes = block_bytes;
    if (comm::traits(a.operation).reduces) a.reducer = &sum;
    lanes.call(world_.prepared(a));
  }

  template <typename Do>
  void on_all_shapes(Do check) {
    for (const Shape& shape : shapes(world_.size())) {
      SCOPED_TRACE(shape.name);
      const comm::Hosts hosts(world_.size(), shape.host_of_rank);
      const auto lanes = make_lanes(MPI_COMM_WORLD, hosts);
      for (const std::size_t n : {0U, 1U, 3U, 8U, 1000U}) check(*lanes, n);
    }
  }

  /// The sum of word(r, b, i) over all ranks.
  [[nodiscard]] std::int32_t sum(std::size_t b, std::size_t i) const {
    std::int32_t all = 0;
    for (int r = 0; r < world_.size(); ++r) all += word(r, b, i);
    return all;
  }
  [[nodiscard]] Words mine(std::size_t n, std::size_t b = 0) const {
    Words words(n);
    for (std::size_t i = 0; i < n; ++i) words[i] = word(world_.rank(), b, i);
    return words;
  }
  [[nodiscard]] Words sums(std::size_t n, std::size_t b = 0) const {
    Words words(n);
    for (std::size_t i = 0; i < n; ++i) words[i] = sum(b, i);
    return words;
  }
  [[nodiscard]] bool is(int rank) const { return world_.rank() == rank; }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(world_.size()); }

  comm::Communicator world_{MPI_COMM_WORLD};
};

TEST_F(StockLanes, Bcast) {
  on_all_shapes([&](StockPeer& lanes, std::size_t n) {
    for (int root = 0; root < world_.size(); ++root) {
      Words words = mine(n);
      Words expected(n);
      for (std::size_t i = 0; i < n; ++i) expected[i] = word(root, 0, i);
      run(lanes, {.operation = Operation::bcast, .root = root}, words, words);
      EXPECT_EQ(words, expected);
    }
  });
}

TEST_F(StockLanes, Reduce) {
  on_all_shapes([&](StockPeer& lanes, std::size_t n) {
    for (int root = 0; root < world_.size(); ++root) {
      Words result(is(root) ? n : 0);
      run(lanes, {.operation = Operation::reduce, .root = root}, mine(n), result);
      EXPECT_EQ(result, is(root) ? sums(n) : Words());
    }
  });
}

TEST_F(StockLanes, Allreduce) {
  on_all_shapes([&](StockPeer& lanes, std::size_t n) {
    Words result(n);
    run(lanes, {.operation = Operation::allreduce}, mine(n), result);
    EXPECT_EQ(result, sums(n));
  });
}

TEST_F(StockLanes, ScatterAndGather) {
  on_all_shapes([&](StockPeer& lanes, std::size_t n) {
    for (int root = 0; root < world_.size(); ++root) {
      Words whole;
      for (std::size_t b = 0; is(root) && b < ranks(); ++b) {
        for (std::size_t i = 0; i < n; ++i) whole.push_back(word(root, b, i));
      }
      Words block(n);
      run(lanes, {.operation = Operation::scatter, .root = root}, whole, block);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(block[i], word(root, static_cast<std::size_t>(world_.rank()), i));
      Words back(whole.size());
      run(lanes, {.operation = Operation::gather, .root = root}, block, back);
      EXPECT_EQ(back, whole);
    }
  });
}

TEST_F(StockLanes, Allgather) {
  on_all_shapes([&](StockPeer& lanes, std::size_t n) {
    Words all(n * ranks());
    Words expected;
    for (int r = 0; r < world_.size(); ++r) {
      for (std::size_t i = 0; i < n; ++i) expected.push_back(word(r, 0, i));
    }
    run(lanes, {.operation = Operation::allgather}, mine(n), all);
    EXPECT_EQ(all, expected);
  });
}

TEST_F(StockLanes, AllgatherAndReduceScatterOfBlocksOfAnySize) {
  on_all_shapes([&](StockPeer& lanes, std::size_t n) {
    for (const bool regular : {false, true}) {
      std::vector<std::size_t> bytes;
      Words gathered;
      Words contribution;
      for (std::size_t b = 0; b < ranks(); ++b) {
        const std::size_t count = regular ? n : n * (b % 3);
        bytes.push_back(count * sizeof(std::int32_t));
        for (std::size_t i = 0; i < count; ++i) {
          gathered.push_back(word(static_cast<int>(b), 0, i));
          contribution.push_back(word(world_.rank(), b, i));
        }
      }
      const auto self = static_cast<std::size_t>(world_.rank());
      const std::size_t own = bytes[self] / sizeof(std::int32_t);
      Words all(gathered.size());
      run(lanes, {.operation = Operation::allgatherv}, mine(own), all, bytes);
      EXPECT_EQ(all, gathered);
      Words block(own);
      run(lanes, {.operation = Operation::reduce_scatter}, contribution, block, bytes);
      EXPECT_EQ(block, sums(own, self));
    }
  });
}

TEST_F(StockLanes, HostsOfSeveralSizesAreRefused) {
  if (world_.size() < 3) GTEST_SKIP() << "three ranks or more make uneven hosts";
  std::vector<int> host_of_rank(ranks());
  host_of_rank.back() = 1;
  const comm::Hosts uneven(world_.size(), host_of_rank);
  EXPECT_THROW(require_lanes(Operation::bcast, uneven), std::invalid_argument);
  EXPECT_THROW(require_lanes(Operation::alltoall, comm::Hosts(world_.size(), {})), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::app
