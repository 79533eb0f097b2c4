// SPDX-License-Identifier: MIT
#include "app/run/timeline_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace papfft::app {
namespace {

using comm::TimelineEvent;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TimelineEvent message(TimelineEvent::Kind kind, int peer, int tag, std::int64_t begin_ns,
                      std::int64_t end_ns) {
  return {.kind = kind, .name = {}, .peer = peer, .tag = tag, .begin_ns = begin_ns, .end_ns = end_ns};
}
TimelineEvent sent(int peer, int tag, std::int64_t begin_ns, std::int64_t end_ns) {
  return message(TimelineEvent::Kind::send, peer, tag, begin_ns, end_ns);
}
TimelineEvent received(int peer, int tag, std::int64_t begin_ns, std::int64_t end_ns) {
  return message(TimelineEvent::Kind::receive, peer, tag, begin_ns, end_ns);
}

TEST(MatchMessages, ByTheirTagsAndThenInTheOrderOfTheirBeginnings) {
  // In the order of their ends, as they are recorded: the second message with tag 7 ends first at the sender.
  const std::vector<std::vector<TimelineEvent>> events = {
      {sent(1, 7, 20, 25), sent(1, 7, 10, 30), sent(1, 8, 5, 40), sent(2, 7, 6, 41)},
      {received(0, 8, 0, 45), received(0, 7, 1, 50), received(0, 7, 2, 60)},
      {received(0, 7, 0, 44)}};
  EXPECT_THAT(match_messages(events), UnorderedElementsAre(MessageEnds{0, 1, 1, 1}, MessageEnds{0, 0, 1, 2},
                                                           MessageEnds{0, 2, 1, 0}, MessageEnds{0, 3, 2, 0}));
}

TEST(MatchMessages, LeavesOutWhatHasOneEndOrTurnsBackInTime) {
  const TimelineEvent phase{.kind = TimelineEvent::Kind::span, .name = "read", .begin_ns = 0, .end_ns = 9};
  EXPECT_THAT(match_messages({}), IsEmpty());
  EXPECT_THAT(match_messages({{sent(1, 1, 0, 5), phase}, {received(0, 2, 0, 6), phase}}), IsEmpty());
  // Dropped at the other end, or no rank at all.
  EXPECT_THAT(match_messages({{sent(1, 1, 0, 5), sent(9, 1, 0, 5), received(7, 1, 0, 5)}, {}}), IsEmpty());
  EXPECT_THAT(match_messages({{sent(1, 1, 6, 9)}, {received(0, 1, 0, 6)}}), IsEmpty());
  EXPECT_THAT(match_messages({{sent(1, 1, 5, 9)}, {received(0, 1, 0, 6)}}),
              UnorderedElementsAre(MessageEnds{0, 0, 1, 0}));
}

}  // namespace
}  // namespace papfft::app
