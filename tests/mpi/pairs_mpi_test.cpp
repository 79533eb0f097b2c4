// SPDX-License-Identifier: MIT
// Oracle: the installed MPI's own Alltoall, Alltoallv, Gatherv and Scatterv, for every algorithm, sizes with zeros, places with gaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"
#include "tests/support/mpi_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Where blocks lie, in elements.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> places;
  int total = 0;

  /// @param gap  between two blocks; with one, they lie in the opposite order
  Blocks(std::vector<int> counts_in, int gap) : counts(std::move(counts_in)), places(counts.size()) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t r = gap > 0 ? counts.size() - 1 - i : i;
      places[r] = total;
      total += counts[r] + gap;
    }
  }
};

class MpiPairs : public testing::Test {
 protected:
  /// Elements from one rank to another: with zeros; all of one rank; none.
  static int count_of(int pattern, int source, int target, int n) {
    if (pattern == 0) return (2 * source + target) % 3 * n;
    return pattern == 1 && target == 0 ? 2 * n + 1 : 0;
  }
  static constexpr int kPatterns = 3;

  [[nodiscard]] std::vector<int> counts(int pattern, int n, bool out) const {
    std::vector<int> result;
    for (int r = 0; r < p; ++r)
      result.push_back(out ? count_of(pattern, me, r, n) : count_of(pattern, r, me, n));
    return result;
  }

  Communicator comm{MPI_COMM_WORLD, quick()};
  int p = comm.size();
  int me = comm.rank();
};

TEST_F(MpiPairs, AlltoallEqualsMpis) {
  for (const int n : {0, 1, 3, 1001, 20011}) {
    const auto send = numbers(me, n * p);
    auto expected = room(n * p);
    MPI_Alltoall(send.data(), n, MPI_DOUBLE, expected.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
    for (const std::string& algorithm : names(Operation::alltoall)) {
      auto actual = room(n * p);
      comm.alltoall<double>(send, actual, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " n " << n;
      std::ranges::fill(actual, -1);
      comm.alltoall(send.data(), n, MPI_DOUBLE, actual.data(), 8 * n, MPI_BYTE, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " as bytes, n " << n;
      actual = send;
      comm.alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, actual.data(), n, MPI_DOUBLE, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " in place, n " << n;
    }
  }
}

TEST_F(MpiPairs, AlltoallTakesDatatypesWithGaps) {
  Type column;  // every second of six numbers
  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &column.t);
  MPI_Type_commit(&column.t);
  MPI_Aint extent = 0;
  MPI_Aint lower = 0;
  MPI_Type_get_extent(column.t, &lower, &extent);
  const int each = static_cast<int>(extent / 8);
  const auto send = numbers(me, each * p);
  auto expected = room(each * p);
  MPI_Alltoall(send.data(), 1, column.t, expected.data(), 1, column.t, MPI_COMM_WORLD);
  for (const std::string& algorithm : names(Operation::alltoall)) {
    auto actual = room(each * p);
    comm.alltoall(send.data(), 1, column.t, actual.data(), 1, column.t, algorithm);
    EXPECT_EQ(actual, expected) << algorithm;
  }
}

TEST_F(MpiPairs, AlltoallvEqualsMpisForAnyCountsAndPlaces) {
  for (const int n : {1, 777, 9001}) {
    for (int pattern = 0; pattern < kPatterns; ++pattern) {
      for (const int gap : {0, 2}) {
        const Blocks out(counts(pattern, n, true), gap);
        const Blocks in(counts(pattern, n, false), gap);
        const auto send = numbers(me, out.total);
        auto expected = room(in.total);
        MPI_Alltoallv(send.data(), out.counts.data(), out.places.data(), MPI_DOUBLE, expected.data(),
                      in.counts.data(), in.places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
        for (const std::string& algorithm : names(Operation::alltoallv)) {
          auto actual = room(in.total);
          comm.alltoallv(send.data(), out.counts.data(), out.places.data(), MPI_DOUBLE, actual.data(),
                         in.counts.data(), in.places.data(), MPI_DOUBLE, algorithm);
          EXPECT_EQ(actual, expected) << algorithm << " n " << n << " pattern " << pattern << " gap " << gap;
        }
      }
    }
  }
}

TEST_F(MpiPairs, AlltoallvWorksInPlace) {
  std::vector<int> sizes;  // the same both ways
  for (int r = 0; r < p; ++r) sizes.push_back((me + r) % 3 * 50);
  for (const int gap : {0, 3}) {
    const Blocks blocks(sizes, gap);
    auto expected = numbers(me, blocks.total);
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, expected.data(), blocks.counts.data(),
                  blocks.places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    for (const std::string& algorithm : names(Operation::alltoallv)) {
      auto actual = numbers(me, blocks.total);
      comm.alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, actual.data(), blocks.counts.data(),
                     blocks.places.data(), MPI_DOUBLE, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " gap " << gap;
    }
  }
}

// A row of numbers to one rank, every second number to the next, and bytes to the one after that.
TEST_F(MpiPairs, AlltoallwTakesADatatypePerRank) {
  constexpr int kEach = 12;  // numbers of room per rank
  Type gaps;
  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &gaps.t);
  MPI_Type_commit(&gaps.t);
  const std::array<MPI_Datatype, 3> types = {MPI_DOUBLE, gaps.t, MPI_BYTE};
  const std::array<int, 3> counts = {5, 2, 3};
  std::vector<MPI_Datatype> of_rank;
  std::vector<int> count_of_rank;
  std::vector<int> places;
  for (int r = 0; r < p; ++r) {  // the same both ways
    of_rank.push_back(types.at(at((me + r) % 3)));
    count_of_rank.push_back(counts.at(at((me + r) % 3)));
    places.push_back((p - 1 - r) * kEach * 8);
  }
  const auto send = numbers(me, kEach * p);
  auto expected = room(kEach * p);
  MPI_Alltoallw(send.data(), count_of_rank.data(), places.data(), of_rank.data(), expected.data(),
                count_of_rank.data(), places.data(), of_rank.data(), MPI_COMM_WORLD);
  for (const std::string& algorithm : names(Operation::alltoallv)) {
    auto actual = room(kEach * p);
    comm.alltoallw(send.data(), count_of_rank.data(), places.data(), of_rank.data(), actual.data(),
                   count_of_rank.data(), places.data(), of_rank.data(), algorithm);
    EXPECT_EQ(actual, expected) << algorithm;
  }
}

TEST_F(MpiPairs, GathervEqualsMpisForAnyCountsPlacesAndRoot) {
  for (const int n : {1, 777, 20011}) {
    for (int pattern = 0; pattern < kPatterns; ++pattern) {
      for (const int gap : {0, 2}) {
        const int root = (n + pattern) % p;
        std::vector<int> sizes;
        for (int r = 0; r < p; ++r) sizes.push_back(count_of(pattern, r, pattern == 1 ? r : 1, n));
        const Blocks blocks(sizes, gap);
        const bool is_root = me == root;
        const auto own = numbers(me, sizes[at(me)]);
        // The counts mean something at the root alone.
        const int* const known = is_root ? blocks.counts.data() : nullptr;
        const int* const places = is_root ? blocks.places.data() : nullptr;
        auto expected = room(is_root ? blocks.total : 0);
        MPI_Gatherv(own.data(), sizes[at(me)], MPI_DOUBLE, expected.data(), known, places, MPI_DOUBLE, root,
                    MPI_COMM_WORLD);
        for (const std::string& algorithm : names(Operation::gatherv)) {
          auto actual = room(is_root ? blocks.total : 0);
          comm.gatherv(own.data(), sizes[at(me)], MPI_DOUBLE, actual.data(), known, places, MPI_DOUBLE, root,
                       algorithm);
          EXPECT_EQ(actual, expected) << algorithm << " n " << n << " pattern " << pattern << " gap " << gap;
          std::ranges::fill(actual, -1);
          if (is_root) std::ranges::copy(own, actual.begin() + blocks.places[at(root)]);
          comm.gatherv(is_root ? MPI_IN_PLACE : own.data(), sizes[at(me)], MPI_DOUBLE, actual.data(), known,
                       places, MPI_DOUBLE, root, algorithm);
          EXPECT_EQ(actual, expected) << algorithm << " in place, n " << n << " gap " << gap;
        }
      }
    }
  }
}

TEST_F(MpiPairs, ScattervEqualsMpisForAnyCountsPlacesAndRoot) {
  for (const int n : {1, 777, 20011}) {
    for (int pattern = 0; pattern < kPatterns; ++pattern) {
      for (const int gap : {0, 2}) {
        const int root = (n + pattern) % p;
        std::vector<int> sizes;
        for (int r = 0; r < p; ++r) sizes.push_back(count_of(pattern, r, pattern == 1 ? r : 1, n));
        const Blocks blocks(sizes, gap);
        const bool is_root = me == root;
        const auto whole = numbers(root, is_root ? blocks.total : 0);
        const int* const known = is_root ? blocks.counts.data() : nullptr;
        const int* const places = is_root ? blocks.places.data() : nullptr;
        auto expected = room(sizes[at(me)]);
        MPI_Scatterv(whole.data(), known, places, MPI_DOUBLE, expected.data(), sizes[at(me)], MPI_DOUBLE,
                     root, MPI_COMM_WORLD);
        for (const std::string& algorithm : names(Operation::scatterv)) {
          auto actual = room(sizes[at(me)]);
          comm.scatterv(whole.data(), known, places, MPI_DOUBLE, actual.data(), sizes[at(me)], MPI_DOUBLE,
                        root, algorithm);
          EXPECT_EQ(actual, expected) << algorithm << " n " << n << " pattern " << pattern << " gap " << gap;
          std::ranges::fill(actual, -1);
          comm.scatterv(whole.data(), known, places, MPI_DOUBLE, is_root ? MPI_IN_PLACE : actual.data(),
                        sizes[at(me)], MPI_DOUBLE, root, algorithm);
          if (!is_root) {
            EXPECT_EQ(actual, expected) << algorithm << " in place, n " << n << " gap " << gap;
          }
        }
      }
    }
  }
}

TEST_F(MpiPairs, InPlaceIsForTheRootAlone) {
  if (p == 1) return;
  const int root = 0;
  std::vector<double> data(at(p));
  if (me != root) {
    EXPECT_THROW(comm.gatherv(MPI_IN_PLACE, 1, MPI_DOUBLE, nullptr, nullptr, nullptr, MPI_DOUBLE, root),
                 std::invalid_argument);
    EXPECT_THROW(comm.scatterv(nullptr, nullptr, nullptr, MPI_DOUBLE, MPI_IN_PLACE, 1, MPI_DOUBLE, root),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace papfft::comm
