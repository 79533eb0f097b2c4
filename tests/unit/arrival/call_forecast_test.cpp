// SPDX-License-Identifier: MIT
#include "comm/arrival/call_forecast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "comm/arrival/decision_board.hpp"

namespace papfft::comm {
namespace {

std::shared_ptr<const PlannedCall> call_of(std::uint64_t bytes) {
  PlannedCall plan;
  plan.signature.bytes = bytes;
  return std::make_shared<const PlannedCall>(plan);
}

TEST(CallForecast, ExpectsWhatCameTheLastTimeAndNumbersPositions) {
  CallForecast forecast;
  std::vector<std::int32_t> positions;
  for (const std::uint64_t bytes : std::initializer_list<std::uint64_t>{10, 20, 10, 30, 10}) {
    forecast.note(call_of(bytes), false);
    positions.push_back(forecast.position());
  }
  EXPECT_EQ(positions, (std::vector<std::int32_t>{1, 2, 1, 3, 1})) << "0 is before any call";
  ASSERT_NE(forecast.next(), nullptr);
  EXPECT_EQ(forecast.next()->signature.bytes, 30U);
  forecast.note(call_of(20), true);
  forecast.note(call_of(10), false);
  EXPECT_EQ(forecast.next(), nullptr) << "a handle announces its call itself";
}

TEST(CallForecast, AProgramThatNeverRepeatsTakesBoundedMemory) {
  CallForecast forecast;
  for (std::uint64_t bytes = 0; bytes < 10000; ++bytes) {
    forecast.note(call_of(bytes), false);
    ASSERT_EQ(forecast.position(),
              static_cast<std::int32_t>(std::min<std::uint64_t>(bytes + 1, kPositions - 1)));
  }
  EXPECT_EQ(forecast.next(), nullptr);
  forecast.note(call_of(0), false);
  ASSERT_NE(forecast.next(), nullptr);
  EXPECT_EQ(forecast.next()->signature.bytes, 1U);
}

}  // namespace
}  // namespace papfft::comm
