// SPDX-License-Identifier: MIT
// Tables of decisions as maps, sentences and tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/io/errors.hpp"
#include "app/report/decision_figures.hpp"
#include "app/report/input.hpp"

namespace papfft::app::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Decisions table_of(int ranks, int hosts, const std::string& rows) {
  return parse_decisions("some.txt", "papfft-decisions 1\nlibrary Open MPI\nranks " + std::to_string(ranks) +
                                         "\nhosts " + std::to_string(hosts) + "\n" + rows);
}

const RegionMap& map_of(const Figure& figure) { return std::get<RegionMap>(figure.plot); }

TEST(DecisionReport, AMapOfOneTableHasOperationsUpwards) {
  const std::vector<Decisions> one = {
      table_of(8, 8,
               "bcast 1048576 circulant/24=100 mpi:3/64K=150 mpi=400\n"
               "bcast 65536 mpi:2/64K=50 mpi=75\n"
               "scatter 8191 mpi=10 sln=20\n")};  // 8 blocks: 64 KiB, but for 8 bytes
  const auto figures = make_figures(one, "01");
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_THAT(figures[0].title, HasSubstr("8 ranks on 8 hosts"));
  const RegionMap& map = map_of(figures[0]);
  EXPECT_THAT(map.rows, ElementsAre("bcast", "scatter"));  // the lowest first
  EXPECT_THAT(map.columns, ElementsAre("64 KiB", "1 MiB"));
  EXPECT_THAT(map.names, ElementsAre("circulant", "mpi", "mpi:2"));
  EXPECT_THAT(map.cells, ElementsAre(2, 0, 1, 3)) << "the last was not measured";
  EXPECT_THAT(map.captions,
              ElementsAre("1.50x\nmpi:2/64K", "4.00x\ncirculant/24", "1.00x\nmpi", "not measured"));
  EXPECT_FALSE(draw(figures[0], Format::svg).bytes.empty());
}

TEST(DecisionReport, SeveralTablesGiveAMapOfGroupsPerOperation) {
  const std::vector<Decisions> all = {table_of(32, 8, "bcast 1048576 chain@hosts=100 mpi=200\n"),
                                      table_of(8, 8, "bcast 1048576 mpi=100 chain=200\nreduce 4 mpi=5\n")};
  const auto figures = make_figures(all, "01");
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].name, "01-bcast");
  EXPECT_THAT(map_of(figures[0]).rows, ElementsAre("8 on 8", "32 on 8"));
  EXPECT_THAT(map_of(figures[0]).captions, ElementsAre("1.00x\nmpi", "2.00x\nchain@hosts"));
  EXPECT_THAT(map_of(figures[1]).rows, ElementsAre("8 on 8")) << "the other table says nothing of reduce";
}

TEST(DecisionReport, BeginsWithTheAnswer) {
  const std::string answer = answer_of({table_of(8, 8,
                                                 "bcast 1048576 circulant/24=100 mpi=400\n"
                                                 "bcast 65536 mpi:2/64K=50 mpi=50\n"
                                                 "scatter 65536 mpi=10 sln=20\n"
                                                 "gather 65536 lin bnom\n")});
  EXPECT_THAT(
      answer,
      HasSubstr("Of 4 measured cells, auto takes an algorithm of this layer in 2, stock MPI's default "
                "in 1, and another algorithm of stock MPI in 1."));
  EXPECT_THAT(answer, HasSubstr("1.59 times as fast"));  // the cube root of 4 * 1 * 1
  EXPECT_THAT(answer, HasSubstr("4.00x: bcast of 1 MiB by circulant/24"));
  EXPECT_THAT(answer_of({table_of(2, 1, "gather 100 lin\n")}), HasSubstr("are not in the table"));
}

TEST(DecisionReport, TheTableNamesTheNextBest) {
  const auto rows = make_table({table_of(8, 4, "bcast 64 chain=50 mpi=75\nscatter 64 lin\n")});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_THAT(rows[2], ElementsAre("8", "4", "bcast", "64", "chain", "50.0", "1.50", "mpi", "75.0"));
  EXPECT_THAT(rows[1], ElementsAre("8", "4", "scatter", "64", "lin", "-", "-", "-", "-"));
}

TEST(DecisionReport, AnInputIsToldByItsContent) {
  EXPECT_TRUE(std::holds_alternative<Decisions>(parse_input("x", "papfft-decisions 1\nbcast 4 chain\n")));
  EXPECT_THROW((void)parse_input("x", "papfft-decisions 1\n"), io::DataError);
  EXPECT_THROW((void)parse_input("x", "papfft-decisions 1\nbcast 4 nonsense\n"), io::DataError);
}

}  // namespace
}  // namespace papfft::app::report
