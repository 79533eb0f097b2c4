// SPDX-License-Identifier: MIT
// The table of tags: no two users ever share one.
#include "comm/transport/tags.hpp"

#include <gtest/gtest.h>

#include <set>

namespace papfft::comm {
namespace {

class Tags : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static int max_tag() { return GetParam(); }
};

TEST_P(Tags, OfServicesAreTheirOwnAndBesideThoseOfCalls) {
  std::set<int> seen;
  for (int s = 0; s < kServices; ++s) {
    const int tag = service_tag(max_tag(), static_cast<Service>(s));
    EXPECT_LE(tag, max_tag());
    EXPECT_GE(tag, max_tag() / 2);
    EXPECT_TRUE(seen.insert(tag).second) << "service " << s;
  }
}

TEST_P(Tags, OfCallsStayInTheLowerHalf) {
  for (const std::uint32_t instance : {0U, 1U, 259U, 260U, 262143U, 1U << 31U, ~0U}) {
    for (const int message : {0, 1, 62, 63, 4095, 4096, 1 << 20}) {
      const int tag = call_tag(max_tag(), instance, message);
      EXPECT_GE(tag, 0);
      EXPECT_LT(tag, max_tag() / 2) << instance << ", " << message;
    }
  }
}

TEST_P(Tags, OfCallsThatFollowEachOtherAreApart) {
  const CallTags tags(max_tag());
  EXPECT_GE(tags.calls_apart, CallTags::kLeastCallsApart);
  const int last = static_cast<int>(tags.per_call) - 1;
  std::set<int> first;
  for (std::uint32_t i = 0; i < 256; ++i) {
    const int begin = call_tag(max_tag(), i, 0);
    EXPECT_EQ(call_tag(max_tag(), i, last), begin + last) << "a range of their own";
    EXPECT_EQ(call_tag(max_tag(), i, last + 1), begin) << "used again within a call";
    EXPECT_TRUE(first.insert(begin).second);
    EXPECT_EQ(begin % static_cast<int>(tags.per_call), 0);
  }
}

// 32767 is the least that MPI allows; the others are those of MPICH, of Open MPI over some networks, and of Open MPI.
INSTANTIATE_TEST_SUITE_P(Limits, Tags, testing::Values(32767, 65535, (1 << 20) - 1, 268435455, 2147483647));

TEST(Instances, OfAllKindsAndOperationsDiffer) {
  std::set<std::uint32_t> seen;
  constexpr std::uint32_t kCalls = 50;
  for (std::uint32_t call = 0; call < kCalls; ++call) {
    for (const CallKind kind :
         {CallKind::plain, CallKind::expected, CallKind::persistent, CallKind::report}) {
      EXPECT_TRUE(seen.insert(instance_of(call, kind)).second);
    }
    for (const OperationTraits& row : kOperations) {
      EXPECT_TRUE(seen.insert(instance_of_pending(call, row.operation)).second) << row.name;
    }
  }
  EXPECT_EQ(*seen.rbegin() + 1, seen.size()) << "no gaps: they are few as it is";
}

}  // namespace
}  // namespace papfft::comm
