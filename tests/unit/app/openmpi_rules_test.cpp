// SPDX-License-Identifier: MIT
#include "app/bench/openmpi_rules.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace papfft::app {
namespace {

using comm::Operation;

std::string without_comments(std::string text) {
  for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#')) {
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  return text;
}

TEST(OpenMpiRules, HoldFromHalfwayBetweenTheMeasuredSizes) {
  const std::vector<StockDecision> decisions = {
      {Operation::bcast, 65536, {.number = 6}},
      {Operation::bcast, 1048576, {}},
      {Operation::bcast, 4194304, {.number = 3, .segment_bytes = 65536}},
      {Operation::allreduce, 1000, {.number = 4}}};
  EXPECT_EQ(without_comments(openmpi_rules(8, decisions)),
            "2\n"
            "2\n1\n8\n2\n0 0 0 0\n500 4 0 0\n"
            "7\n1\n8\n4\n0 0 0 0\n32768 6 0 0\n262144 0 0 0\n2097152 3 0 65536\n");
}

TEST(OpenMpiRules, OfNothingAreEmpty) { EXPECT_EQ(without_comments(openmpi_rules(8, {})), "0\n"); }

}  // namespace
}  // namespace papfft::app
