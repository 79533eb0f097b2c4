// SPDX-License-Identifier: MIT
#include "comm/arrival/arrival_doubt.hpp"

#include <gtest/gtest.h>

#include <string>

namespace papfft::comm {
namespace {

/// @return per call: a (asked in vain), p (asked and planned by) or - (did without)
std::string calls(ArrivalDoubt& doubt, int count, bool is_planned_by) {
  std::string said;
  for (int i = 0; i < count; ++i) {
    if (doubt.is_silent()) {
      doubt.pass();
      said += '-';
    } else {
      doubt.decided(is_planned_by);
      said += is_planned_by ? 'p' : 'a';
    }
  }
  return said;
}

TEST(ArrivalDoubt, SilencesGrow) {
  ArrivalDoubt doubt;
  EXPECT_EQ(calls(doubt, 17, false), "aaaa----a--------");
  EXPECT_EQ(calls(doubt, 1000, false).find(std::string(ArrivalDoubt::kLongestSilence + 1, '-')),
            std::string::npos);
}

TEST(ArrivalDoubt, GoodArrivalsAreAlwaysAskedFor) {
  ArrivalDoubt doubt;
  EXPECT_EQ(calls(doubt, 20, true), std::string(20, 'p'));
}

TEST(ArrivalDoubt, AProgramThatChangesIsNoticed) {
  ArrivalDoubt doubt;
  EXPECT_EQ(calls(doubt, 9, false), "aaaa----a");
  EXPECT_EQ(calls(doubt, 12, true), "--------pppp");
  EXPECT_EQ(calls(doubt, 9, false), "aaaa----a") << "patient again, and silent as briefly";
}

}  // namespace
}  // namespace papfft::comm
