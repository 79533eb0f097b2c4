// SPDX-License-Identifier: MIT
#include "comm/engine/credit_window.hpp"

#include <gtest/gtest.h>

namespace papfft::comm {
namespace {

using std::chrono::milliseconds;

void land(CreditWindow& window, int count, milliseconds since_grant) {
  for (int i = 0; i < count; ++i) window.landed(since_grant);
}

TEST(CreditWindow, StaysWhileNothingHappens) {
  CreditWindow window;
  land(window, 1000, milliseconds(2));
  EXPECT_EQ(window.size(), CreditWindow::kFirst);
}

TEST(CreditWindow, GrowsByOneAfterADrainUpToTheMost) {
  CreditWindow window;
  window.drained();
  EXPECT_EQ(window.size(), CreditWindow::kFirst + 1);
  for (int i = 0; i < 1000; ++i) window.drained();
  EXPECT_EQ(window.size(), CreditWindow::kMost);
}

TEST(CreditWindow, HalvesOncePerStallHoweverManyAnswersWereHeldUp) {
  CreditWindow window;
  while (window.size() < 8) window.drained();
  land(window, 50, milliseconds(2));
  land(window, 1 + 8, milliseconds(200));  // all that were under way
  EXPECT_EQ(window.size(), 4);
  land(window, 1, milliseconds(200));
  EXPECT_EQ(window.size(), 2);
}

TEST(CreditWindow, ReturnsOnlySeldomToWhereItStalled) {
  CreditWindow window;
  land(window, 50, milliseconds(2));
  land(window, 1, milliseconds(200));
  for (int i = 0; i < 50; ++i) window.drained();
  EXPECT_EQ(window.size(), CreditWindow::kFirst - 1);
  for (int i = 0; i < 100; ++i) window.drained();
  EXPECT_EQ(window.size(), CreditWindow::kFirst);
}

TEST(CreditWindow, AlwaysSlowAnswersAreNoStall) {
  CreditWindow window;  // 100 ms away
  land(window, 1000, milliseconds(100));
  EXPECT_EQ(window.size(), CreditWindow::kFirst);
}

TEST(CreditWindow, NeverBelowTheLeast) {
  CreditWindow window;
  land(window, 50, milliseconds(2));
  land(window, 1000, milliseconds(500));
  EXPECT_EQ(window.size(), CreditWindow::kLeast);
}

TEST(CreditWindow, AFixedOneKeepsItsSize) {
  CreditWindow window(3);
  land(window, 50, milliseconds(2));
  land(window, 50, milliseconds(500));
  window.drained();
  EXPECT_EQ(window.size(), 3);
}

}  // namespace
}  // namespace papfft::comm
