// SPDX-License-Identifier: MIT
// Oracle: the installed MPI's own Allgather, Allgatherv, Allreduce and Reduce_scatter, for every algorithm and size.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"
#include "tests/support/mpi_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

class MpiAllToAll : public testing::Test {
 protected:
  Communicator comm{MPI_COMM_WORLD, quick()};
  int p = comm.size();
  int me = comm.rank();

  /// Counts with zeros, from n on.
  std::vector<std::vector<int>> count_patterns(int n) const {
    std::vector<std::vector<int>> result(3, std::vector<int>(static_cast<std::size_t>(p), 0));
    for (std::size_t r = 0; r < result[0].size(); ++r) {
      result[0][r] = n + static_cast<int>(r % 2);
      result[1][r] = static_cast<int>(r % 3) * n;
    }
    result[2].back() = 2 * n + 1;
    return result;
  }
};

TEST_F(MpiAllToAll, AllgatherEqualsMpis) {
  for (const int n : {0, 1, 3, 1001, 30011}) {
    const auto own = numbers(me, n);
    auto expected = room(n * p);
    MPI_Allgather(own.data(), n, MPI_DOUBLE, expected.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
    for (const std::string& algorithm : names(Operation::allgather)) {
      auto actual = room(n * p);
      comm.allgather<double>(own, actual, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " n " << n;
      std::ranges::fill(actual, -1);
      comm.allgather(own.data(), n, MPI_DOUBLE, actual.data(), n, MPI_DOUBLE, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " n " << n;
      std::ranges::fill(actual, -1);
      std::ranges::copy(own, actual.begin() + std::ptrdiff_t{n} * me);
      comm.allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, actual.data(), n, MPI_DOUBLE, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " in place, n " << n;
    }
  }
}

TEST_F(MpiAllToAll, AllgathervEqualsMpisForAnyCountsAndPlaces) {
  for (const int n : {0, 1, 777, 20011}) {
    for (const std::vector<int>& counts : count_patterns(n)) {
      const int mine = counts[static_cast<std::size_t>(me)];
      const auto own = numbers(me, mine);
      std::vector<int> dense(counts.size());
      std::exclusive_scan(counts.begin(), counts.end(), dense.begin(), 0);
      std::vector<int> apart(counts.size());  // in the opposite order, with gaps
      int total = 0;
      for (std::size_t r = counts.size(); r-- > 0; total += counts[r] + 2) apart[r] = total;
      for (const std::vector<int>& places : {dense, apart}) {
        auto expected = room(total);
        MPI_Allgatherv(own.data(), mine, MPI_DOUBLE, expected.data(), counts.data(), places.data(),
                       MPI_DOUBLE, MPI_COMM_WORLD);
        for (const std::string& algorithm : names(Operation::allgatherv)) {
          auto actual = room(total);
          comm.allgatherv(own.data(), mine, MPI_DOUBLE, actual.data(), counts.data(), places.data(),
                          MPI_DOUBLE, algorithm);
          EXPECT_EQ(actual, expected) << algorithm << " n " << n;
          std::ranges::fill(actual, -1);
          std::ranges::copy(own, actual.begin() + places[static_cast<std::size_t>(me)]);
          comm.allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, actual.data(), counts.data(), places.data(),
                          MPI_DOUBLE, algorithm);
          EXPECT_EQ(actual, expected) << algorithm << " in place, n " << n;
        }
      }
    }
  }
}

TEST_F(MpiAllToAll, AllreduceEqualsMpis) {
  for (const int n : {0, 1, 3, 1001, 65537}) {
    const auto own = numbers(me, n);  // whole numbers: sums are exact
    for (const std::string& algorithm : names(Operation::allreduce)) {
      for (const MPI_Op op : {MPI_SUM, MPI_MAX}) {
        auto expected = room(n);
        MPI_Allreduce(own.data(), expected.data(), n, MPI_DOUBLE, op, MPI_COMM_WORLD);
        auto actual = room(n);
        comm.allreduce(own.data(), actual.data(), n, MPI_DOUBLE, op, algorithm);
        EXPECT_EQ(actual, expected) << algorithm << " n " << n;
        actual = own;
        comm.allreduce(MPI_IN_PLACE, actual.data(), n, MPI_DOUBLE, op, algorithm);
        EXPECT_EQ(actual, expected) << algorithm << " in place, n " << n;
      }
    }
  }
}

TEST_F(MpiAllToAll, ReduceScatterEqualsMpis) {
  for (const int n : {0, 1, 3, 1001, 20011}) {
    const auto whole = numbers(me, n * p);
    auto expected = room(n);
    MPI_Reduce_scatter_block(whole.data(), expected.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (const std::string& algorithm : names(Operation::reduce_scatter)) {
      auto actual = room(n);
      comm.reduce_scatter_block(whole.data(), actual.data(), n, MPI_DOUBLE, MPI_SUM, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " n " << n;
      auto all = whole;
      comm.reduce_scatter_block(MPI_IN_PLACE, all.data(), n, MPI_DOUBLE, MPI_SUM, algorithm);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), all.begin()))
          << algorithm << " in place, n " << n;
    }
    for (const std::vector<int>& counts : count_patterns(n)) {
      const int total = std::accumulate(counts.begin(), counts.end(), 0);
      const int mine = counts[static_cast<std::size_t>(me)];
      const auto input = numbers(me, total);
      auto wanted = room(mine);
      MPI_Reduce_scatter(input.data(), wanted.data(), counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      for (const std::string& algorithm : names(Operation::reduce_scatter)) {
        auto actual = room(mine);
        comm.reduce_scatter(input.data(), actual.data(), counts.data(), MPI_DOUBLE, MPI_SUM, algorithm);
        EXPECT_EQ(actual, wanted) << algorithm << " n " << n;
        auto all = input;
        comm.reduce_scatter(MPI_IN_PLACE, all.data(), counts.data(), MPI_DOUBLE, MPI_SUM, algorithm);
        EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), all.begin()))
            << algorithm << " in place, n " << n;
      }
    }
  }
}

TEST_F(MpiAllToAll, TakesUserOperationsOnTypesWithGapsInRankOrder) {
  constexpr int n = 40;
  Type padded;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &padded.t);
  MPI_Type_commit(&padded.t);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&keep_last, 0, &op);
  std::vector<int> own(static_cast<std::size_t>(2 * n * p), 77);
  for (std::size_t i = 0; i < own.size(); i += 2)
    own[i] = (me + static_cast<int>(i) / 2) % 3 == 0 ? 0 : me + 1;
  const auto same = [](const std::vector<int>& actual, const std::vector<int>& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(actual[i], i % 2 == 0 ? expected[i] : -5) << "element " << i;
    }
  };
  std::vector<int> expected(own.size(), -5);
  std::vector<int> actual(own.size(), -5);
  MPI_Allreduce(own.data(), expected.data(), n * p, padded.t, op, MPI_COMM_WORLD);
  comm.allreduce(own.data(), actual.data(), n * p, padded.t, op);
  same(actual, expected);
  const std::vector<int> block(expected.begin() + std::ptrdiff_t{2} * n * me,
                               expected.begin() + std::ptrdiff_t{2} * n * (me + 1));
  std::vector<int> mine(block.size(), -5);
  comm.reduce_scatter_block(own.data(), mine.data(), n, padded.t, op);
  same(mine, block);
  MPI_Op_free(&op);
}

TEST_F(MpiAllToAll, AllgatherOfColumnsFillsAMatrix) {
  constexpr int rows = 50;
  Type column;
  Type resized;
  MPI_Type_vector(rows, 1, p, MPI_DOUBLE, &column.t);
  MPI_Type_create_resized(column.t, 0, sizeof(double), &resized.t);
  MPI_Type_commit(&resized.t);
  const auto own = numbers(me, rows);
  auto expected = room(rows * p);
  MPI_Allgather(own.data(), rows, MPI_DOUBLE, expected.data(), 1, resized.t, MPI_COMM_WORLD);
  auto actual = room(rows * p);
  comm.allgather(own.data(), rows, MPI_DOUBLE, actual.data(), 1, resized.t);
  EXPECT_EQ(actual, expected);
}

TEST_F(MpiAllToAll, MeasuresTheLink) {
  const LinkModel link = comm.measure_link();
  comm.use_link(link);
  EXPECT_GT(link.beta_ns_per_byte, 0);
  const auto own = numbers(me, 1000);
  auto expected = room(1000);
  MPI_Allreduce(own.data(), expected.data(), 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  auto actual = room(1000);
  comm.allreduce<double>(own, actual, std::plus<>{});
  EXPECT_EQ(actual, expected) << "after it";
}

}  // namespace
}  // namespace papfft::comm
