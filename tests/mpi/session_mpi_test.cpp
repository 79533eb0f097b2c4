// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"
#include "tests/support/mpi_collectives.hpp"

namespace papfft::comm {
namespace {

using namespace test;

TEST(MpiSession, EveryAlgorithmInTheBackgroundEqualsMpi) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  const int me = session.rank();
  constexpr int n = 40000;
  const auto sized = [&](int count) { return std::vector<float>(static_cast<std::size_t>(count)); };
  const auto work = [&](int iteration) {
    session.processing_start();
    std::this_thread::sleep_for(std::chrono::milliseconds((me + iteration) % 4));
    session.edge(0.5);
    std::this_thread::sleep_for(std::chrono::milliseconds((me + iteration) % 4));
    session.processing_end();
  };
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation != Operation::gather && algorithm->operation != Operation::scatter) continue;
    for (const std::string& name : {std::string(algorithm->name), "b" + std::string(algorithm->name)}) {
      for (int iteration = 0; iteration < 3; ++iteration) {
        auto whole = sized(me == 0 ? n * session.size() : 0);
        auto mine = sized(n);
        work(iteration);
        if (algorithm->operation == Operation::gather) {
          for (int i = 0; i < n; ++i)
            mine[static_cast<std::size_t>(i)] = static_cast<float>(me * 17 + i + iteration);
          auto expected = whole;
          MPI_Gather(mine.data(), n, MPI_FLOAT, expected.data(), n, MPI_FLOAT, 0, MPI_COMM_WORLD);
          session.gather(mine.data(), n, MPI_FLOAT, whole.data(), n, MPI_FLOAT, 0, name);
          EXPECT_EQ(whole, expected) << name;
        } else {
          for (std::size_t i = 0; i < whole.size(); ++i)
            whole[i] = static_cast<float>(i) + static_cast<float>(iteration);
          auto expected = mine;
          MPI_Scatter(whole.data(), n, MPI_FLOAT, expected.data(), n, MPI_FLOAT, 0, MPI_COMM_WORLD);
          session.scatter(whole.data(), n, MPI_FLOAT, mine.data(), n, MPI_FLOAT, 0, name);
          EXPECT_EQ(mine, expected) << name;
        }
      }
    }
  }
  auto whole = sized(me == 0 ? n * session.size() : 0);
  auto mine = sized(n);
  session.gather<float>(mine, whole, 0, "mpi");  // the stock collective is there too
  EXPECT_EQ(session.last_call().algorithm, "mpi");
  session.close();
}

TEST(MpiSession, AllgathersAndAllreducesInTheBackgroundEqualMpis) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  const int me = session.rank();
  constexpr int n = 20000;
  const std::size_t all = static_cast<std::size_t>(n) * static_cast<std::size_t>(session.size());
  for (const Algorithm* algorithm : algorithms()) {
    const bool gathers = algorithm->operation == Operation::allgather;
    if (!gathers && algorithm->operation != Operation::allreduce) continue;
    const std::string name = "b" + std::string(algorithm->name);
    for (int iteration = 0; iteration < 3; ++iteration) {
      session.processing_start();
      std::this_thread::sleep_for(std::chrono::milliseconds((3 * me + iteration) % 4));
      session.edge(0.5);
      std::this_thread::sleep_for(std::chrono::milliseconds((3 * me + iteration) % 4));
      session.processing_end();
      std::vector<double> mine(n);
      for (int i = 0; i < n; ++i) mine[static_cast<std::size_t>(i)] = me * 17 + i % 1000 + iteration;
      std::vector<double> expected(gathers ? all : n);
      std::vector<double> actual(expected.size());
      if (gathers) {
        MPI_Allgather(mine.data(), n, MPI_DOUBLE, expected.data(), n, MPI_DOUBLE, MPI_COMM_WORLD);
        session.allgather(mine.data(), n, MPI_DOUBLE, actual.data(), n, MPI_DOUBLE, name);
      } else {
        MPI_Allreduce(mine.data(), expected.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        session.allreduce(mine.data(), actual.data(), n, MPI_DOUBLE, MPI_SUM, name);
      }
      EXPECT_EQ(actual, expected) << to_string(algorithm->operation) << ' ' << name;
    }
  }
}

TEST(MpiSession, PersistentCallsEqualMpi) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  const int me = session.rank();
  constexpr int n = 40000;
  std::vector<int> mine(n);
  std::vector<int> whole(me == 0 ? static_cast<std::size_t>(n * session.size()) : 0);
  std::vector<int> expected = whole;
  for (const char* algorithm : {"bsls", "bcredit", "bsbn", "blin", "sls", "mpi"}) {
    PersistentCall gather = session.gather_init<int>(mine, whole, 0, algorithm);
    for (int iteration = 0; iteration < 4; ++iteration) {
      gather.start();
      session.processing_start();
      std::this_thread::sleep_for(std::chrono::milliseconds((me + iteration) % 4));
      session.edge(0.5);
      std::this_thread::sleep_for(std::chrono::milliseconds((me + iteration) % 4));
      for (int i = 0; i < n; ++i) mine[static_cast<std::size_t>(i)] = me * 17 + i * (iteration + 1);
      session.processing_end();
      MPI_Gather(mine.data(), n, MPI_INT, expected.data(), n, MPI_INT, 0, MPI_COMM_WORLD);
      gather.wait();
      EXPECT_EQ(whole, expected) << algorithm;
    }
    PersistentCall dropped = session.gather_init<int>(mine, whole, 0, algorithm);
    dropped.start();
  }
}

void multiply(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) static_cast<double*>(inout)[i] *= static_cast<double*>(in)[i];
}

struct ValueAndPlace {  // MPI_DOUBLE_INT, which has a gap at its end
  double value;
  int place;
};

TEST(MpiSession, BeginsReductionsByMpisOwnOperationsEarlyAndUsersNever) {
  MpiSession session(MPI_COMM_WORLD, quick(), SessionOptions{});
  const int me = session.rank();
  constexpr int n = 3000;
  const auto late_root = [&] {
    session.processing_start();
    if (me == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    session.processing_end();
  };
  for (int iteration = 0; iteration < 5; ++iteration) {
    std::vector<ValueAndPlace> mine(n, {(me * 7 + iteration) % 5 * 1.0, me});
    std::vector<ValueAndPlace> expected(n);
    std::vector<ValueAndPlace> largest(n);
    MPI_Reduce(mine.data(), expected.data(), n, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
    late_root();
    session.reduce(mine.data(), largest.data(), n, MPI_DOUBLE_INT, MPI_MAXLOC, 0, "bbnom");
    for (std::size_t i = 0; i < n && me == 0; ++i) {
      ASSERT_EQ(largest[i].value, expected[i].value);
      ASSERT_EQ(largest[i].place, expected[i].place);
    }
  }
  EXPECT_GE(session.statistics().begun_early,
            session.statistics().has_thread && me == 0 && session.size() > 1 ? 1 : 0);
  const auto begun_before = session.statistics().begun_early;
  for (int iteration = 0; iteration < 5; ++iteration) {
    MPI_Op op = MPI_OP_NULL;  // its owner may free it after each call
    MPI_Op_create(multiply, 1, &op);
    const std::vector<double> mine(n, 1.0 + me);
    std::vector<double> product(n);
    late_root();
    session.reduce(mine.data(), product.data(), n, MPI_DOUBLE, op, 0, "bbnom");
    MPI_Op_free(&op);
    double factorial = 1;
    for (int r = 1; r <= session.size(); ++r) factorial *= r;
    EXPECT_TRUE(me != 0 || product == std::vector<double>(n, factorial));
  }
  EXPECT_LE(session.statistics().begun_early, begun_before + 1)
      << "only the call that was expected after the last one by MPI_MAXLOC";
}

}  // namespace
}  // namespace papfft::comm
