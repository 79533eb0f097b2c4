// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace papfft::comm::preload {
namespace {

Settings parsed(const std::map<std::string, std::string>& environment) {
  return Settings::parse([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::string complaint(const std::map<std::string, std::string>& environment) {
  try {
    (void)parsed(environment);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "none";
}

TEST(PreloadSettings, WhoeverLoadsTheLibraryWantsItOn) {
  const Settings settings = parsed({});
  EXPECT_EQ(settings.mode, Mode::on);
  EXPECT_TRUE(settings.takes(Operation::bcast));
  EXPECT_FALSE(settings.takes(Operation::gatherv));
  EXPECT_EQ(settings.report, "");
  EXPECT_EQ(settings.thread, Thread::program);
}

TEST(PreloadSettings, WhoeverObservesWantsToSeeIt) {
  EXPECT_EQ(parsed({{"PAPFFT_PRELOAD", "observe"}}).report, "-");
  EXPECT_EQ(parsed({{"PAPFFT_PRELOAD", "observe"}, {"PAPFFT_PRELOAD_REPORT", "off"}}).report, "");
  EXPECT_EQ(parsed({{"PAPFFT_PRELOAD_REPORT", "calls.json"}}).report, "calls.json");
}

TEST(PreloadSettings, Threads) {
  EXPECT_EQ(parsed({{"PAPFFT_THREAD", "multiple"}}).thread, Thread::multiple);
  EXPECT_EQ(parsed({{"PAPFFT_THREAD", "none"}}).thread, Thread::none);
}

TEST(PreloadSettings, StartedCallsAreTakenIfAskedFor) {
  EXPECT_FALSE(parsed({}).takes_started);
  EXPECT_TRUE(parsed({{"PAPFFT_NONBLOCKING", "1"}}).takes_started);
  EXPECT_NE(parsed({}).hash(), parsed({{"PAPFFT_NONBLOCKING", "1"}}).hash()) << "all ranks must agree";
}

TEST(PreloadSettings, SumsHaveOneOrderIfThatIsAskedFor) {
  const Settings any = parsed({});
  const Settings one = parsed({{"PAPFFT_REPRODUCIBLE", "1"}});
  EXPECT_EQ(any.algorithm_of(Operation::reduce), "auto");
  EXPECT_EQ(any.algorithm_of(Operation::allreduce), "auto");
  EXPECT_EQ(one.algorithm_of(Operation::reduce), "rab");
  EXPECT_EQ(one.algorithm_of(Operation::allreduce), "ring/1");
  EXPECT_EQ(one.algorithm_of(Operation::bcast), "auto");
}

TEST(PreloadSettings, Operations) {
  const Settings some = parsed({{"PAPFFT_PRELOAD_OPERATIONS", "reduce,gatherv"}});
  EXPECT_TRUE(some.takes(Operation::reduce));
  EXPECT_TRUE(some.takes(Operation::gatherv));
  EXPECT_FALSE(some.takes(Operation::bcast));
  EXPECT_TRUE(parsed({{"PAPFFT_PRELOAD_OPERATIONS", "all"}}).takes(Operation::alltoallv));
  const Settings none = parsed({{"PAPFFT_PRELOAD_OPERATIONS", ""}});
  for (const OperationTraits& row : kOperations) EXPECT_FALSE(none.takes(row.operation));
}

TEST(PreloadSettings, MistakesNameTheVariableAndWhatWorks) {
  using testing::HasSubstr;
  EXPECT_EQ(complaint({{"PAPFFT_PRELOAD", "On"}}), "PAPFFT_PRELOAD='On': expected off, observe, on");
  EXPECT_EQ(complaint({{"PAPFFT_PRELOAD_BYTES", "64K"}}),
            "PAPFFT_PRELOAD_BYTES='64K': expected a whole number from 0 to 2147483647");
  EXPECT_THAT(complaint({{"PAPFFT_PRELOAD_OPERATIONS", "bcast,barrier"}}),
              HasSubstr("'barrier': expected scatter, "));
  EXPECT_EQ(complaint({{"PAPFFT_THREAD", "single"}}),
            "PAPFFT_THREAD='single': expected program, multiple, none");
  EXPECT_EQ(complaint({{"PAPFFT_REPRODUCIBLE", "2"}}),
            "PAPFFT_REPRODUCIBLE='2': expected a whole number from 0 to 1");
}

TEST(PreloadSettings, TheHashDiffersWhereRanksMustAgree) {
  const std::uint64_t usual = parsed({}).hash();
  EXPECT_EQ(usual, parsed({{"PAPFFT_PRELOAD", "on"}}).hash());
  for (const auto& [name, value] : std::map<std::string, std::string>{{"PAPFFT_PRELOAD", "off"},
                                                                      {"PAPFFT_PRELOAD_BYTES", "1"},
                                                                      {"PAPFFT_PRELOAD_COMMUNICATORS", "64"},
                                                                      {"PAPFFT_PRELOAD_OPERATIONS", "bcast"},
                                                                      {"PAPFFT_PRELOAD_REPORT", "-"},
                                                                      {"PAPFFT_REPRODUCIBLE", "1"}}) {
    EXPECT_NE(usual, parsed({{name, value}}).hash()) << name;
  }
}

}  // namespace
}  // namespace papfft::comm::preload
