// SPDX-License-Identifier: MIT
#include "comm/progress/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr BlockRange kBlock{0, 1};

Op message(OpKind kind, Rank peer, BlockRange blocks = kBlock) {
  return {.kind = kind, .peer = peer, .blocks = blocks};
}
Op with_credit(OpKind kind, Rank peer, Credit credit) {
  return {.kind = kind, .credit = credit, .peer = peer};
}

/// One rank's program over two slots of 8 bytes.
struct Part {
  Shape shape = {.operation = Operation::bcast, .ranks = 9, .segments = 2};
  Program program;
  int add(const Op& op, const std::vector<int>& after = {}) { return program.append(op, after); }
  [[nodiscard]] Progress start(const Rules& rules = {}, const std::vector<bool>& needs_arrival = {}) const {
    return {shape, program, SlotSizes(std::vector<int>{8, 8}), rules, needs_arrival};
  }
};

std::vector<int> startable(Progress& progress) {
  std::vector<int> ops;
  while (const auto op = progress.next()) ops.push_back(*op);
  return ops;
}

TEST(Progress, NothingStartsBeforeItBegins) {
  Part part;
  part.add(message(OpKind::send, 1));
  Progress progress = part.start();
  EXPECT_THAT(startable(progress), IsEmpty());
  progress.begin();
  EXPECT_THAT(startable(progress), ElementsAre(0));
  EXPECT_FALSE(progress.done());
  progress.ended(0);
  EXPECT_TRUE(progress.done());
}

TEST(Progress, AnOpWaitsForItsDependenciesAndForTheArrivalIfItNeedsIt) {
  Part part;
  const int first = part.add(message(OpKind::recv, 1));
  part.add(message(OpKind::send, 2), {first});
  part.add({.kind = OpKind::copy, .blocks = {1, 2}, .from = 0}, {first});
  Progress progress = part.start({.window = {8, 8}}, {false, true, false});
  progress.begin();
  EXPECT_THAT(startable(progress), ElementsAre(0));
  progress.ended(0);
  EXPECT_THAT(startable(progress), ElementsAre(2)) << "the send needs the arrival";
  progress.arrive();
  EXPECT_THAT(startable(progress), ElementsAre(1));
}

// The second send cannot start, but it has entered the window: the third waits for it.
TEST(Progress, WindowsCountInProgramOrder) {
  Part part;
  const int receive = part.add(message(OpKind::recv, 1));
  part.add(message(OpKind::send, 2));
  part.add(message(OpKind::send, 3), {receive});
  part.add(message(OpKind::send, 4));
  Progress two = part.start({.window = {2, 1}});
  two.begin();
  EXPECT_THAT(startable(two), ElementsAre(0, 1)) << "receives first";
  EXPECT_TRUE(two.has_more_to_send());
  two.ended(1);
  EXPECT_THAT(startable(two), ElementsAre(3));
  two.ended(0);
  EXPECT_THAT(startable(two), ElementsAre(2));
  EXPECT_FALSE(two.has_more_to_send());
  Progress three = part.start({.window = {3, 1}});
  three.begin();
  EXPECT_THAT(startable(three), ElementsAre(0, 1, 3));
}

TEST(Progress, SendsInsideAHostHaveAWindowOfTheirOwn) {
  Part part;
  for (const Rank peer : {1, 2, 3, 4}) {
    Op op = message(OpKind::send, peer);
    op.inside = peer <= 2;
    part.add(op);
  }
  Progress few_inside = part.start({.window = {.sends = 2, .inside_sends = 1}});
  few_inside.begin();
  EXPECT_THAT(startable(few_inside), testing::UnorderedElementsAre(0, 2, 3));
  Progress more_inside = part.start({.window = {.sends = 1, .inside_sends = 2}});
  more_inside.begin();
  EXPECT_THAT(startable(more_inside), testing::UnorderedElementsAre(0, 1, 2));
}

TEST(Progress, WhatNamesNoSlotsIsNotCountedAndWhatIsEmptyIsLocal) {
  Part part;
  part.add(message(OpKind::send, 1));
  part.add(message(OpKind::send, 2, {1, 2}));
  part.add(message(OpKind::send, 3, {}));
  Progress progress(part.shape, part.program, SlotSizes(std::vector<int>{8, 0}), {.window = {1, 1}});
  progress.begin();
  EXPECT_THAT(startable(progress), ElementsAre(1, 2, 0));
  EXPECT_FALSE(progress.is_local(0));
  EXPECT_TRUE(progress.is_local(1));
  EXPECT_FALSE(progress.is_local(2));
  part.shape.credits = 1;
  EXPECT_FALSE(Progress(part.shape, part.program, SlotSizes(std::vector<int>{8, 0}), {}).is_local(1));
  part.shape.names_what_it_grants = true;
  EXPECT_TRUE(Progress(part.shape, part.program, SlotSizes(std::vector<int>{8, 0}), {}).is_local(1));
}

// Two grants: the first is for an empty slot. With one credit the second would have to wait for it.
TEST(Progress, AGrantForEmptySlotsIsNotSentAndTakesNoCredit) {
  Part part;
  part.shape.credits = 1;
  part.shape.names_what_it_grants = true;
  for (const int slot : {0, 1}) {
    Op answer = message(OpKind::recv, 1, {slot, slot + 1});
    answer.credit = Credit::give;
    Op grant = with_credit(OpKind::send, 1, Credit::take);
    grant.about = answer.blocks;
    part.add(answer);
    part.add(grant);
  }
  Progress progress(part.shape, part.program, SlotSizes(std::vector<int>{0, 8}), {});
  progress.begin();
  EXPECT_THAT(startable(progress), testing::UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_EQ(progress.credits_taken(), 1);
  for (const int op : {0, 1}) {
    EXPECT_TRUE(progress.is_local(op));
    progress.ended(op);
  }
  EXPECT_EQ(progress.credits_taken(), 1);
  progress.ended(3);
  progress.ended(2);
  EXPECT_EQ(progress.credits_taken(), 0);
  EXPECT_TRUE(progress.done());
}

TEST(Progress, WhatIsCombinedLandsAsideOrWaits) {
  Part part;
  const int first = part.add(message(OpKind::recv, 1));
  part.add(message(OpKind::recv_combine, 2), {first});
  Progress aside = part.start({.window = {1, 2}});
  aside.begin();
  EXPECT_THAT(startable(aside), ElementsAre(0, 1));
  aside.landed(1);
  EXPECT_THAT(startable(aside), IsEmpty()) << "there is nothing yet to combine it with";
  aside.ended(0);
  EXPECT_THAT(startable(aside), ElementsAre(1)) << "to be combined";
  EXPECT_EQ(aside.phase(1), Progress::Phase::landed);
  Progress in_place = part.start({.window = {1, 2}, .landing = Landing::in_place});
  in_place.begin();
  EXPECT_THAT(startable(in_place), ElementsAre(0));
  in_place.ended(0);
  EXPECT_THAT(startable(in_place), ElementsAre(1));
}

// Any op may take a credit: here receives, which a rank posts for two peers.
TEST(Progress, CreditsGoToThePeerThatAskedFirst) {
  Part part;
  part.shape.credits = 1;
  const int told_1 = part.add(message(OpKind::recv, 1, {}));
  const int told_2 = part.add(message(OpKind::recv, 2, {}));
  const int take_1 = part.add(with_credit(OpKind::recv, 1, Credit::take), {told_1});
  part.add(with_credit(OpKind::send, 1, Credit::give), {take_1});
  const int take_2 = part.add(with_credit(OpKind::recv, 2, Credit::take), {told_2});
  const int next_2 = part.add(with_credit(OpKind::recv, 2, Credit::take), {told_2});
  const int give_2 = part.add(with_credit(OpKind::send, 2, Credit::give), {take_2});
  part.add(with_credit(OpKind::send, 2, Credit::give), {next_2});
  Progress progress = part.start();
  progress.begin();
  EXPECT_THAT(startable(progress), ElementsAre(told_1, told_2));
  progress.ended(told_2);
  progress.ended(told_1);
  EXPECT_THAT(startable(progress), ElementsAre(take_2));
  EXPECT_EQ(progress.credits_taken(), 1);
  progress.ended(take_2);
  EXPECT_THAT(startable(progress), ElementsAre(give_2));
  progress.ended(give_2);
  EXPECT_THAT(startable(progress), ElementsAre(next_2)) << "rank 2 asked first";
  progress.set_credits(2);
  EXPECT_THAT(startable(progress), ElementsAre(take_1));
  progress.set_credits(1);
  progress.ended(next_2);
  EXPECT_THAT(startable(progress), ElementsAre(give_2 + 1));
  progress.ended(give_2 + 1);
  EXPECT_EQ(progress.credits_taken(), 1);
}

TEST(Progress, RefusesADependencyOnNoEarlierOp) {
  Part part;
  part.add(message(OpKind::send, 1), {0});
  EXPECT_THROW((void)part.start(), std::invalid_argument);
}

TEST(SlotSizes, AreThoseOfRanges) {
  const SlotSizes sizes(std::vector<int>{3, 0, 5});
  EXPECT_EQ(sizes.of({0, 3}), 8);
  EXPECT_EQ(sizes.of({1, 2}), 0);
  EXPECT_EQ(sizes.of({2, 2}), 0);
  EXPECT_THROW(SlotSizes(std::vector<std::int64_t>(2, std::numeric_limits<std::int64_t>::max())),
               std::overflow_error);
}

}  // namespace
}  // namespace papfft::comm
