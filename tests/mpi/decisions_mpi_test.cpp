// SPDX-License-Identifier: MIT
// "auto" by a table of decisions that rank 0 finds in a file, and MPI's own algorithms by their numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/mpi/decisions_file.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "comm/mpi/stock_variables.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A file of decisions that all ranks name in their environment; written by rank 0.
class Decisions : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    const MpiTransport transport(MPI_COMM_WORLD, false);
    group_ = {.library = mpi_library(),
              .ranks = transport.size(),
              .hosts = 1,
              .is_crowded = transport.is_any_crowded()};
    unsigned long long number = static_cast<unsigned long long>(
        std::hash<std::string>()(testing::UnitTest::GetInstance()->current_test_info()->name()));
    number ^= static_cast<unsigned long long>(getpid());
    MPI_Bcast(&number, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    folder_ = fs::temp_directory_path() / ("papfft-decisions-" + std::to_string(number));
    if (rank_ == 0) fs::create_directory(folder_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override {
    name("off");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) fs::remove_all(folder_);
  }

  void write(const std::string& name, const std::string& text) {
    if (rank_ == 0) std::ofstream(folder_ / name) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  [[nodiscard]] std::string table_for(const GroupProfile& group, const std::string& rows) const {
    return DecisionTable(group).text() + rows;
  }
  void name(const fs::path& path) { setenv("PAPFFT_DECISIONS", path.c_str(), 1); }
  /// A broadcast of 1000 bytes by "auto", which is checked. @return by which algorithm it went
  std::string used() {
    Communicator comm(MPI_COMM_WORLD);
    std::vector<char> data(1000, comm.rank() == 0 ? 'x' : ' ');
    comm.bcast<char>(data, 0);
    EXPECT_EQ(data, std::vector<char>(1000, 'x'));
    return std::string(comm.last_call().algorithm);
  }
  /// What is said of the file, the same on all ranks.
  std::string complaint() {
    try {
      const Communicator comm(MPI_COMM_WORLD);
      return "nothing";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  }

  int rank_ = 0;
  GroupProfile group_;
  fs::path folder_;
};

TEST_F(Decisions, AreThoseOfTheNamedFile) {
  EXPECT_EQ(used(), "mpi");
  write("table", table_for(group_, "bcast 1000 chain mpi\n"));
  name(folder_ / "table");
  EXPECT_EQ(used(), "chain");
  name("off");
  EXPECT_EQ(used(), "mpi");
}

TEST_F(Decisions, AreLookedForInAFolderByTheGroup) {
  name(folder_);
  EXPECT_EQ(used(), "mpi");
  write("decisions-" + std::to_string(group_.ranks) + "-on-1.txt", table_for(group_, "bcast 1000 chain\n"));
  EXPECT_EQ(used(), "chain");
}

TEST_F(Decisions, OfOtherGroupsAreNotUsed) {
  GroupProfile other = group_;
  ++other.ranks;
  write("table", table_for(other, "bcast 1000 chain\n"));
  name(folder_ / "table");
  EXPECT_EQ(used(), "mpi");
}

TEST_F(Decisions, OfAGroupOfAnotherSizeOnThisMachineTellTheLinks) {
  const auto alpha_ns = [] { return Communicator(MPI_COMM_WORLD).options().link.alpha_ns; };
  const auto lines = [](const std::string& hosts, int alpha) {
    return "hosts-named " + hosts +
           "\nlink inside alpha_ns=1 beta_ns_per_byte=1\nlink between alpha_ns=" + std::to_string(alpha) +
           " beta_ns_per_byte=1\nbcast 1000 chain\n";
  };
  GroupProfile other = group_;
  name(folder_);
  other.ranks = 100;
  write("decisions-100-on-1.txt", table_for(other, lines("elsewhere#", 7000)));
  EXPECT_EQ(alpha_ns(), LinkModel{}.alpha_ns);
  write("decisions-100-on-1.txt", table_for(other, lines(host_name_pattern(), 7000)));
  EXPECT_EQ(alpha_ns(), 7000);
  other.ranks = 50;
  write("decisions-50-on-1.txt", table_for(other, lines(host_name_pattern(), 8000)));
  EXPECT_EQ(alpha_ns(), 8000) << "50 ranks are nearer";
  EXPECT_EQ(used(), "mpi") << "the rows are those of 50 ranks";
  write("decisions-50-on-1.txt", "nonsense");
  EXPECT_EQ(alpha_ns(), 7000) << "a file of another group is no business of ours";
}

TEST_F(Decisions, OfAnotherLibraryAreRefusedOnAllRanks) {
  GroupProfile other = group_;
  other.library = "Some MPI 1.0";
  write("table", table_for(other, "bcast 1000 chain\n"));
  name(folder_ / "table");
  EXPECT_THAT(complaint(), HasSubstr("measured with Some MPI 1.0, and this is " + mpi_library()));
}

TEST_F(Decisions, ThatCannotBeReadAreRefusedOnAllRanks) {
  name(folder_ / "missing");
  EXPECT_THAT(complaint(), HasSubstr("missing: cannot be read"));
  write("table", table_for(group_, "bcast 1000 nonsense\n"));
  name(folder_ / "table");
  EXPECT_THAT(complaint(), HasSubstr("table: line 7: "));
  EXPECT_THAT(complaint(), HasSubstr("nonsense"));
}

TEST_F(Decisions, MayNameMpisAlgorithms) {
  write("table", table_for(group_, "bcast 1000 mpi:1 chain\n"));
  name(folder_ / "table");
  EXPECT_EQ(used(), StockVariables::are_enabled() ? "mpi:1" : "chain");
}

TEST(StockAlgorithms, GoByTheirNumbers) {
  if (!StockVariables::are_enabled()) GTEST_SKIP() << "this MPI library does not let a program choose";
  Communicator comm(MPI_COMM_WORLD);
  std::vector<float> sum(3000);
  const std::vector<float> mine(3000, 1);
  for (const char* algorithm : {"mpi:1", "mpi:3/4K", "mpi:1", "mpi"}) {
    comm.allreduce(mine.data(), sum.data(), 3000, MPI_FLOAT, MPI_SUM, algorithm);
    EXPECT_EQ(sum, std::vector<float>(3000, static_cast<float>(comm.size()))) << algorithm;
    EXPECT_EQ(comm.last_call().algorithm, algorithm);
  }
  EXPECT_THROW(comm.allreduce(mine.data(), sum.data(), 3000, MPI_FLOAT, MPI_SUM, "mpi:99"),
               std::invalid_argument);
}

}  // namespace
}  // namespace papfft::comm
