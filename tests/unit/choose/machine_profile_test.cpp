// SPDX-License-Identifier: MIT
#include "comm/choose/machine_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "comm/choose/decision_table.hpp"

namespace papfft::comm {
namespace {

using testing::HasSubstr;

const std::string kLines =
    "hosts-named node#\n"
    "cores-per-rank 0.25\n"
    "link inside alpha_ns=350 beta_ns_per_byte=0.125 gamma_ns_per_byte=0.25 latency_ns=900 eager_bytes=4096 "
    "duplex=no\n"
    "link between alpha_ns=9400 beta_ns_per_byte=8.34 gamma_ns_per_byte=0.3 latency_ns=60000 duplex=yes\n";

/// What a table with this line says of it.
std::string complaint(const std::string& line) {
  try {
    (void)DecisionTable::parse("papfft-decisions 1\n" + line + "\n");
    return "nothing";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

TEST(MachineProfile, IsPartOfATableAndReadAsItWasWritten) {
  const std::string row = "bcast 1024 chain=10.0\n";
  const DecisionTable table = DecisionTable::parse("papfft-decisions 1\nranks 4\n" + kLines + row);
  const MachineProfile& machine = table.machine();
  EXPECT_EQ(machine.text(), kLines);
  EXPECT_THAT(table.text(), HasSubstr(kLines));
  EXPECT_THAT(table.text(), HasSubstr(row)) << "the lines of collectives stay";
  EXPECT_EQ(DecisionTable::parse(table.text()).text(), table.text());
  EXPECT_EQ(machine.hosts_named, "node#");
  EXPECT_DOUBLE_EQ(machine.cores_per_rank, 0.25);
  ASSERT_TRUE(machine.inside && machine.between);
  EXPECT_DOUBLE_EQ(machine.inside->link.alpha_ns, 350);
  EXPECT_EQ(machine.inside->eager_bytes, 4096U);
  EXPECT_FALSE(machine.inside->is_duplex);
  EXPECT_DOUBLE_EQ(machine.between->link.beta_ns_per_byte, 8.34);
  EXPECT_DOUBLE_EQ(machine.between->link.gamma_ns_per_byte, 0.3);
  EXPECT_DOUBLE_EQ(machine.between->link.latency_ns, 60000);
  EXPECT_EQ(machine.between->eager_bytes, 0U) << "not known";
  EXPECT_TRUE(machine.between->is_duplex);
}

TEST(MachineProfile, SaysNothingOfWhatIsNotKnown) {
  EXPECT_EQ(MachineProfile{}.text(), "");
  EXPECT_EQ(DecisionTable::parse("papfft-decisions 1\n").machine().text(), "");
  const auto table = DecisionTable::parse("papfft-decisions 1\nlink between beta_ns_per_byte=1 alpha_ns=2\n");
  EXPECT_FALSE(table.machine().inside);
  EXPECT_DOUBLE_EQ(table.machine().between->link.latency_ns, LinkModel{}.latency_ns);
}

TEST(MachineProfile, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(complaint("link between alpha_ns=1 beta_ns_per_byte=2"), "nothing");
  EXPECT_THAT(complaint("link between alpha_ns=1"), HasSubstr("line 2: a link needs its beta_ns_per_byte"));
  EXPECT_THAT(complaint("link between beta_ns_per_byte=1"), HasSubstr("needs its alpha_ns"));
  EXPECT_THAT(complaint("link around alpha_ns=1 beta_ns_per_byte=2"), HasSubstr("not 'around'"));
  EXPECT_THAT(complaint("link inside alpha_ns=-1 beta_ns_per_byte=2"), HasSubstr("'-1' is no time in ns"));
  EXPECT_THAT(complaint("link inside alpha_ns=inf beta_ns_per_byte=2"), HasSubstr("'inf' is no time in ns"));
  EXPECT_THAT(complaint("link inside alpha_ns=1 beta_ns_per_byte=nan"), HasSubstr("'nan' is no time in ns"));
  EXPECT_THAT(complaint("link inside alpha_ns beta_ns_per_byte=2"), HasSubstr("'' is no time in ns"));
  EXPECT_THAT(complaint("link inside speed=1"), HasSubstr("a link has no 'speed'; known: alpha_ns"));
  EXPECT_THAT(complaint("link inside duplex=perhaps"), HasSubstr("yes or no"));
  EXPECT_THAT(complaint("link inside eager_bytes=-5"), HasSubstr("'-5' is no number of bytes"));
  EXPECT_THAT(complaint("cores-per-rank many"), HasSubstr("'many' is no number of cores"));
}

}  // namespace
}  // namespace papfft::comm
