// SPDX-License-Identifier: MIT
// Oracle: the installed MPI's own collectives, for every algorithm, root and size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

#include "comm/schedule/registry.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {
namespace {

Options quick() {
  Options o = Options::from_environment();
  o.stuck_after = std::chrono::seconds(60);
  return o;
}

std::vector<double> numbers(int rank, std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<double>((i * 37 + static_cast<std::size_t>(rank) * 101) % 1000);
  return v;
}

template <typename Body>
void for_all(Operation operation, int ranks, Body body) {
  for (int root = 0; root < ranks; ++root) {
    for (const int n : {0, 1, 3, 1001, 65537}) {
      body(root, n, "auto");
      for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->operation == operation) body(root, n, algorithm->name);
      }
    }
  }
}

class Mpi : public testing::Test {
 protected:
  Communicator comm{MPI_COMM_WORLD, quick()};
  int p = comm.size();
  bool is(int root) const { return comm.rank() == root; }
};

TEST_F(Mpi, ScatterEqualsMpiScatter) {
  for_all(Operation::scatter, p, [&](int root, int n, std::string_view algorithm) {
    const auto whole = numbers(root, static_cast<std::size_t>(is(root) ? n * p : 0));
    std::vector<double> expected(static_cast<std::size_t>(n));
    std::vector<double> actual(static_cast<std::size_t>(n));
    MPI_Scatter(whole.data(), n, MPI_DOUBLE, expected.data(), n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    comm.scatter<double>(whole, actual, root, algorithm);
    EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
    std::ranges::fill(actual, -1);
    comm.scatter(whole.data(), n, MPI_DOUBLE, actual.data(), n, MPI_DOUBLE, root, algorithm);
    EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
  });
}

TEST_F(Mpi, GatherEqualsMpiGather) {
  for_all(Operation::gather, p, [&](int root, int n, std::string_view algorithm) {
    const auto own = numbers(comm.rank(), static_cast<std::size_t>(n));
    std::vector<double> expected(static_cast<std::size_t>(is(root) ? n * p : 0));
    std::vector<double> actual(expected.size());
    MPI_Gather(own.data(), n, MPI_DOUBLE, expected.data(), n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    comm.gather<double>(own, actual, root, algorithm);
    EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
    std::ranges::fill(actual, -1);
    comm.gather(own.data(), n, MPI_DOUBLE, actual.data(), n, MPI_DOUBLE, root, algorithm);
    EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
  });
}

TEST_F(Mpi, BcastEqualsMpiBcast) {
  for_all(Operation::bcast, p, [&](int root, int n, std::string_view algorithm) {
    const auto count = static_cast<std::size_t>(n);
    auto expected = numbers(comm.rank(), count);
    auto actual = numbers(comm.rank(), count);
    MPI_Bcast(expected.data(), n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    comm.bcast<double>(actual, root, algorithm);
    EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
    actual = numbers(comm.rank(), count);
    comm.bcast(actual.data(), n, MPI_DOUBLE, root, algorithm);
    EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
  });
}

TEST_F(Mpi, ReduceEqualsMpiReduce) {
  for_all(Operation::reduce, p, [&](int root, int n, std::string_view algorithm) {
    const auto own = numbers(comm.rank(), static_cast<std::size_t>(n));  // whole numbers: sums are exact
    std::vector<double> expected(is(root) ? own.size() : 0);
    std::vector<double> actual(expected.size());
    MPI_Reduce(own.data(), expected.data(), n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    comm.reduce<double>(own, actual, std::plus<>{}, root, algorithm);
    EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
    for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_MIN}) {
      MPI_Reduce(own.data(), expected.data(), n, MPI_DOUBLE, op, root, MPI_COMM_WORLD);
      std::ranges::fill(actual, -1);
      comm.reduce(own.data(), actual.data(), n, MPI_DOUBLE, op, root, algorithm);
      EXPECT_EQ(actual, expected) << algorithm << " root " << root << " n " << n;
    }
  });
}

TEST_F(Mpi, InPlaceMeansWhatItMeansInMpi) {
  constexpr int n = 1000;
  for (int root = 0; root < p; ++root) {
    const auto at = static_cast<std::ptrdiff_t>(root) * n;
    auto own = numbers(comm.rank(), n);
    std::vector<double> expected(static_cast<std::size_t>(is(root) ? n * p : 0));
    MPI_Gather(own.data(), n, MPI_DOUBLE, expected.data(), n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    std::vector<double> whole(expected.size(), -1);
    if (is(root)) std::ranges::copy(own, whole.begin() + at);
    comm.gather(is(root) ? MPI_IN_PLACE : own.data(), n, MPI_DOUBLE, whole.data(), n, MPI_DOUBLE, root);
    EXPECT_EQ(whole, expected);

    std::vector<double> block(n);
    comm.scatter(whole.data(), n, MPI_DOUBLE, is(root) ? MPI_IN_PLACE : block.data(), n, MPI_DOUBLE, root);
    EXPECT_EQ(whole, expected) << "the root's data changed";
    if (!is(root)) {
      EXPECT_EQ(block, own);
    }

    std::vector<double> sum(n);
    MPI_Reduce(own.data(), sum.data(), n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    comm.reduce(is(root) ? MPI_IN_PLACE : own.data(), is(root) ? own.data() : nullptr, n, MPI_DOUBLE, MPI_SUM,
                root);
    if (is(root)) {
      EXPECT_EQ(own, sum);
    }
  }
}

struct Type {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  ~Type() { MPI_Type_free(&t); }
};

TEST_F(Mpi, DatatypesOfOneSignatureMayDifferBetweenRanks) {
  // The root describes each block as a column of a matrix, the others as contiguous numbers.
  constexpr int rows = 50;
  Type column;
  Type resized;
  MPI_Type_vector(rows, 1, p, MPI_DOUBLE, &column.t);
  MPI_Type_create_resized(column.t, 0, sizeof(double), &resized.t);
  MPI_Type_commit(&resized.t);
  for (const std::string_view algorithm : {"lin", "bnom"}) {
    const auto matrix = numbers(1, static_cast<std::size_t>(rows * p));
    std::vector<double> mine(rows);
    comm.scatter(matrix.data(), 1, resized.t, mine.data(), rows, MPI_DOUBLE, 0, algorithm);
    for (int i = 0; i < rows; ++i) {
      EXPECT_EQ(mine[static_cast<std::size_t>(i)],
                matrix[static_cast<std::size_t>(i) * static_cast<std::size_t>(p) +
                       static_cast<std::size_t>(comm.rank())]);
    }
    std::vector<double> back(is(0) ? matrix.size() : 0, -1);
    comm.gather(mine.data(), rows, MPI_DOUBLE, back.data(), 1, resized.t, 0, algorithm);
    if (is(0)) {
      EXPECT_EQ(back, matrix);
    }
  }
  std::vector<double> line = numbers(2, rows);
  std::vector<double> spread(static_cast<std::size_t>(rows * p), -1);
  const bool spreads = comm.rank() % 2 == 1;  // contiguous on even ranks, a column with gaps on odd ones
  void* buffer = spreads ? static_cast<void*>(spread.data()) : line.data();
  if (comm.rank() > 0) std::ranges::fill(line, -1);
  comm.bcast(buffer, spreads ? 1 : rows, spreads ? resized.t : MPI_DOUBLE, 0);
  for (int i = 0; i < rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(spreads ? spread[at * static_cast<std::size_t>(p)] : line[at], numbers(2, rows)[at]);
    if (spreads && p > 1) {
      EXPECT_EQ(spread[at * static_cast<std::size_t>(p) + 1], -1) << "a gap was written to";
    }
  }
}

/// a then b: keep the last non-zero; associative, not commutative. On pairs {value, gap}.
void keep_last(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const int*>(in);
  auto* b = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i) {
    if (b[2 * i] == 0) b[2 * i] = a[2 * i];
  }
}

TEST_F(Mpi, ReduceTakesUserOperationsOnTypesWithGapsInRankOrder) {
  constexpr int n = 40;
  Type padded;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &padded.t);
  MPI_Type_commit(&padded.t);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&keep_last, 0, &op);
  std::vector<int> own(2 * n, 77);
  for (int i = 0; i < n; ++i)
    own[static_cast<std::size_t>(2 * i)] = (comm.rank() + i) % 3 == 0 ? 0 : comm.rank() + 1;
  for (int root = 0; root < p; ++root) {
    std::vector<int> expected(2 * n, -5);
    std::vector<int> actual(2 * n, -5);
    MPI_Reduce(own.data(), expected.data(), n, padded.t, op, root, MPI_COMM_WORLD);
    comm.reduce(own.data(), actual.data(), n, padded.t, op, root);
    if (!is(root)) continue;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(actual[i], i % 2 == 0 ? expected[i] : -5) << "element " << i << " root " << root;
    }
  }
  MPI_Op_free(&op);
}

TEST_F(Mpi, TakesBlocksBeyondTwoGigabytes) {
  // 2.2 GB per message needs 7 GB of memory at 2 ranks; too much for more.
  if (p != 2 || std::getenv("PAPFFT_TEST_LARGE") == nullptr) {
    GTEST_SKIP() << "needs 2 ranks and PAPFFT_TEST_LARGE=1";
  }
  constexpr std::size_t n = (std::size_t{1} << 31) + 12345;
  std::vector<std::uint8_t> data(n);
  const auto value = [](std::size_t i) { return static_cast<std::uint8_t>((i * 2654435761U) >> 13); };
  if (is(0)) {
    for (std::size_t i = 0; i < n; ++i) data[i] = value(i);
  }
  std::vector<std::uint8_t> whole(is(1) ? 2 * n : 0);
  comm.gather<std::uint8_t>(data, whole, 1, "lin");
  if (is(1)) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) wrong += whole[i] != value(i) ? 1U : 0U;
    EXPECT_EQ(wrong, 0U);
  }
}

TEST_F(Mpi, ChecksTheArguments) {
  std::vector<double> data(4);
  EXPECT_THROW(comm.bcast(data.data(), -1, MPI_DOUBLE, 0), std::invalid_argument);
  EXPECT_THROW(comm.bcast<double>(data, p), std::invalid_argument);
  if (p > 1) {
    Options checking = quick();
    checking.check_arguments = true;
    Communicator strict(MPI_COMM_WORLD, checking);
    EXPECT_THROW(strict.bcast<double>(data, comm.rank() == p - 1 ? 1 : 0), MismatchError);
    EXPECT_NO_THROW(strict.bcast<double>(data, 0)) << "the check leaves nothing behind";
  }
}

}  // namespace
}  // namespace papfft::comm
