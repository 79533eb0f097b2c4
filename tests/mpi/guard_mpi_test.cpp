// SPDX-License-Identifier: MIT
// Guarded calls, with the MPI library's own as the other way.
#include <gtest/gtest.h>

#include "papfft/mpi.hpp"
#include "tests/support/guarded.hpp"

namespace papfft::comm {
namespace {

using namespace test;

/// "auto" goes by ours_everywhere().
class Guarded : public Communicator {
 public:
  explicit Guarded(const Options& options = Options::from_environment())
      : Communicator(MPI_COMM_WORLD, options) {
    use_decisions(ours_everywhere(), false);
  }
};

TEST(GuardOverMpi, LeadsAllRanksTheSameWay) {
  Guarded comm;
  const std::string ways = mixed_calls(comm, 1000, 3);
  expect_same_everywhere(comm, ways);
  expect_same_everywhere(comm, text_of(comm.guarded_calls()));
  EXPECT_EQ(ways.find("mpi ") != std::string::npos, comm.size() > 1);
}

TEST(GuardOverMpi, GivesTheSameSumsByEitherWay) {
  Guarded comm;
  int expected = 0;
  for (int r = 0; r < comm.size(); ++r) expected += r + 1;
  std::string ways;
  for (int i = 0; i < 50; ++i) {
    const std::vector<int> mine(200, comm.rank() + 1);
    std::vector<int> sum(200);
    comm.allreduce(mine.data(), sum.data(), 200, MPI_INT, MPI_SUM);
    ASSERT_EQ(sum, std::vector<int>(200, expected));
    ways += std::string(comm.last_call().algorithm) + " ";
    std::vector<int> at_root(200);
    comm.reduce(mine.data(), at_root.data(), 200, MPI_INT, MPI_SUM, 0);
    if (comm.rank() == 0) {
      ASSERT_EQ(at_root, std::vector<int>(200, expected));
    }
    ways += std::string(comm.last_call().algorithm) + " ";
  }
  expect_same_everywhere(comm, ways);
  if (comm.size() > 1) {
    EXPECT_EQ(comm.guarded_calls().size(), 2U);
  }
}

TEST(GuardOverMpi, MayEndAtAnyCall) {
  for (int calls = 1; calls <= 12; ++calls) {
    Guarded comm;
    for (int i = 0; i < calls; ++i) checked_call(comm, i % 2, 50, 0, i);
  }
}

TEST(GuardOverMpi, CanBeSwitchedOff) {
  Options options = Options::from_environment();
  options.guard = false;
  Guarded comm(options);
  for (int i = 0; i < 20; ++i) {
    checked_call(comm, 0, 100, 0, i);
    EXPECT_EQ(comm.last_call().algorithm, "bnom");
  }
  EXPECT_TRUE(comm.guarded_calls().empty());
}

}  // namespace
}  // namespace papfft::comm
