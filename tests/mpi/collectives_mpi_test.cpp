// SPDX-License-Identifier: MIT
// Oracle: the installed MPI's own collectives, for every algorithm, root and size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <typeinfo>

#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"
#include "tests/support/mpi_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

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

std::vector<std::string_view> reduce_algorithms() {
  std::vector<std::string_view> names = {"auto"};
  for (const Algorithm* a : algorithms()) {
    if (a->operation == Operation::reduce) names.push_back(a->name);
  }
  return names;
}

/// Each operation on each size and some root, by one algorithm after another.
template <typename T>
void expect_reduces_like_mpi(Communicator& comm, MPI_Datatype type, std::initializer_list<MPI_Op> ops,
                             T (*element)(int i, int rank)) {
  const auto names = reduce_algorithms();
  std::size_t turn = 0;
  for (const MPI_Op op : ops) {
    for (const int n : {0, 1, 257}) {
      for (std::size_t k = 0; k < 3; ++k, ++turn) {
        const std::string_view algorithm = names[turn % names.size()];
        const int root = static_cast<int>(turn) % comm.size();
        std::vector<T> own;
        for (int i = 0; i < n; ++i) own.push_back(element(i, comm.rank()));
        std::vector<T> expected(own.size(), element(3, 99));
        std::vector<T> actual = expected;
        MPI_Reduce(own.data(), expected.data(), n, type, op, root, MPI_COMM_WORLD);
        comm.reduce(own.data(), actual.data(), n, type, op, root, algorithm);
        if (comm.rank() == root) {
          EXPECT_EQ(actual, expected)
              << typeid(T).name() << " " << algorithm << " root " << root << " n " << n;
        }
      }
    }
  }
}

template <typename T>
struct Located {  // as MPI's pair types
  T value;
  int index;
  friend bool operator==(const Located&, const Located&) = default;
};

template <typename T>
Located<T> located(int i, int rank) {
  return {static_cast<T>((i * 7 + rank * 3) % 5), rank};
}

template <typename T>
T whole(int i, int rank) {
  return static_cast<T>((i * 7 + rank * 3) % 5);
}

/// One or two: products stay exact.
template <typename T>
T factor(int i, int rank) {
  return static_cast<T>(1 + (i + rank) % 2);
}

TEST_F(Mpi, ReduceTakesMpisOperationsAndTypes) {
  expect_reduces_like_mpi<int>(
      comm, MPI_INT,
      {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR},
      whole<int>);
  expect_reduces_like_mpi<std::int64_t>(comm, MPI_INT64_T, {MPI_SUM, MPI_BXOR}, whole<std::int64_t>);
  expect_reduces_like_mpi<unsigned char>(comm, MPI_BYTE, {MPI_BAND, MPI_BOR, MPI_BXOR}, whole<unsigned char>);
  expect_reduces_like_mpi<char>(comm, MPI_C_BOOL, {MPI_LAND, MPI_LOR, MPI_LXOR},
                                [](int i, int rank) { return static_cast<char>((i + rank) % 2); });
  expect_reduces_like_mpi<float>(comm, MPI_FLOAT, {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN}, factor<float>);
  expect_reduces_like_mpi<double>(comm, MPI_DOUBLE, {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN}, factor<double>);
  expect_reduces_like_mpi<long double>(comm, MPI_LONG_DOUBLE, {MPI_SUM, MPI_MAX}, factor<long double>);
  expect_reduces_like_mpi<std::complex<double>>(
      comm, MPI_C_DOUBLE_COMPLEX, {MPI_SUM, MPI_PROD},
      [](int i, int rank) { return std::complex<double>((i + rank) % 2, 1 - i % 2); });
  expect_reduces_like_mpi<std::complex<float>>(comm, MPI_C_FLOAT_COMPLEX, {MPI_SUM}, [](int i, int rank) {
    return std::complex<float>(whole<float>(i, rank), 1);
  });
}

TEST_F(Mpi, ReduceTakesMpisPairTypes) {
  expect_reduces_like_mpi<Located<int>>(comm, MPI_2INT, {MPI_MINLOC, MPI_MAXLOC}, located<int>);
  expect_reduces_like_mpi<Located<float>>(comm, MPI_FLOAT_INT, {MPI_MINLOC, MPI_MAXLOC}, located<float>);
  // With gaps between or behind their parts:
  expect_reduces_like_mpi<Located<double>>(comm, MPI_DOUBLE_INT, {MPI_MINLOC, MPI_MAXLOC}, located<double>);
  expect_reduces_like_mpi<Located<short>>(comm, MPI_SHORT_INT, {MPI_MINLOC, MPI_MAXLOC}, located<short>);
  expect_reduces_like_mpi<Located<long>>(comm, MPI_LONG_INT, {MPI_MINLOC, MPI_MAXLOC}, located<long>);
}

/// On {int, gap, double}: the sum of the ints, the greatest of the doubles.
struct Mixed {
  int a;
  double b;
  friend bool operator==(const Mixed&, const Mixed&) = default;
};
void sum_and_greatest(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* x = static_cast<const Mixed*>(in);
  auto* y = static_cast<Mixed*>(inout);
  for (int i = 0; i < *count; ++i) y[i] = {x[i].a + y[i].a, std::max(x[i].b, y[i].b)};
}

TEST_F(Mpi, ReduceTakesUserOperationsOnDerivedTypesByEveryAlgorithm) {
  Type parts;
  Type mixed;
  const std::array<int, 2> lengths = {1, 1};
  const std::array<MPI_Aint, 2> places = {offsetof(Mixed, a), offsetof(Mixed, b)};
  const std::array<MPI_Datatype, 2> types = {MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &parts.t);
  MPI_Type_create_resized(parts.t, 0, sizeof(Mixed), &mixed.t);
  MPI_Type_commit(&mixed.t);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&sum_and_greatest, 1, &op);
  std::vector<Mixed> own;
  for (int i = 0; i < 300; ++i)
    own.push_back({i + comm.rank(), static_cast<double>((i * 5 + comm.rank() * 3) % 11)});
  for (const std::string_view algorithm : reduce_algorithms()) {
    const int root = p - 1;
    std::vector<Mixed> expected(own.size());
    std::vector<Mixed> actual(own.size());
    MPI_Reduce(own.data(), expected.data(), 300, mixed.t, op, root, MPI_COMM_WORLD);
    comm.reduce(own.data(), actual.data(), 300, mixed.t, op, root, algorithm);
    if (is(root)) {
      EXPECT_EQ(actual, expected) << algorithm;
    }
    actual = own;  // in place
    comm.reduce(is(root) ? MPI_IN_PLACE : own.data(), actual.data(), 300, mixed.t, op, root, algorithm);
    EXPECT_EQ(actual, is(root) ? expected : own) << algorithm;
  }
  MPI_Op_free(&op);
}

TEST_F(Mpi, ReduceKeepsTheOrderOrRefuses) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&keep_last, 0, &op);
  Type pair;
  MPI_Type_contiguous(2, MPI_INT, &pair.t);
  MPI_Type_commit(&pair.t);
  constexpr int n = 50;
  std::vector<int> own(2 * n);
  for (int i = 0; i < n; ++i)
    own[static_cast<std::size_t>(2 * i)] = (comm.rank() + i) % 3 == 0 ? 0 : comm.rank() + 1;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation != Operation::reduce) continue;
    std::vector<int> expected(2 * n, -5);
    std::vector<int> actual(2 * n, -5);
    if (!algorithm->can_be_ordered) {
      try {
        comm.reduce(own.data(), actual.data(), n, pair.t, op, 0, algorithm->name);
        ADD_FAILURE() << algorithm->name << " took an operation that is not commutative";
      } catch (const std::invalid_argument& e) {
        EXPECT_THAT(e.what(), testing::HasSubstr("needs a commutative operation"));
      }
      continue;
    }
    for (int root = 0; root < p; ++root) {
      MPI_Reduce(own.data(), expected.data(), n, pair.t, op, root, MPI_COMM_WORLD);
      comm.reduce(own.data(), actual.data(), n, pair.t, op, root, algorithm->name);
      for (std::size_t i = 0; is(root) && i < actual.size(); i += 2) {
        EXPECT_EQ(actual[i], expected[i]) << algorithm->name << " root " << root;
      }
    }
  }
  MPI_Op_free(&op);
}

TEST_F(Mpi, ReductionsTakeTypesWithoutDataAndInPlaceIsForTheRoot) {
  Type nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing.t);
  MPI_Type_commit(&nothing.t);
  int value = 5;
  comm.reduce(&value, &value, 3, nothing.t, MPI_SUM, 0);
  comm.bcast(&value, 3, nothing.t, 0);
  comm.allgather(&value, 3, nothing.t, &value, 3, nothing.t);
  comm.allreduce(&value, &value, 3, nothing.t, MPI_SUM);
  const std::vector<int> counts(static_cast<std::size_t>(p), 2);
  comm.reduce_scatter(&value, &value, counts.data(), nothing.t, MPI_SUM);
  EXPECT_EQ(value, 5);
  if (!is(0)) {
    EXPECT_THROW(comm.reduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, 0), std::invalid_argument);
    EXPECT_THROW(comm.gather(MPI_IN_PLACE, 1, MPI_INT, &value, 1, MPI_INT, 0), std::invalid_argument);
    EXPECT_THROW(comm.scatter(&value, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0), std::invalid_argument);
  }
  int sum = 0;
  const int one = 1;
  comm.reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0);  // the group is as before
  if (is(0)) {
    EXPECT_EQ(sum, p);
  }
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
