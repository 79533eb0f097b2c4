// SPDX-License-Identifier: MIT
#include "comm/record/arrival_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "comm/arrival/clock_track.hpp"
#include "tests/support/sample_recording.hpp"

namespace papfft::comm {
namespace {

using test::sample_recording;
using testing::ElementsAre;
using testing::HasSubstr;

ArrivalTrace parsed(const std::string& text) {
  std::istringstream in(text);
  return parse_trace(in);
}

TEST(ArrivalTraceFile, AnyOrderWithCommentsAndHeading) {
  const ArrivalTrace trace = parsed("# a job\niteration,rank,delay_ns\r\n1,0,30\n0,1,20\n\n0,0,10\n1,1,40\n");
  EXPECT_EQ(trace.iterations, 2);
  EXPECT_EQ(trace.ranks, 2);
  EXPECT_THAT(trace.delay_ns, ElementsAre(10, 20, 30, 40));
}

TEST(ArrivalTraceFile, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      (void)parsed(text);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error("0,0,5\n0,1\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("0,0,5\n0,x,5\n"), HasSubstr("line 2"));
  EXPECT_THAT(error("0,0,-5\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("0,0,5,6\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("0,0,5\n0,0,6\n"), HasSubstr("line 2: iteration 0, rank 0 is there twice"));
  EXPECT_THAT(error("0,0,5\n0,2,6\n"), HasSubstr("iteration 0 has no rank 1"));
  EXPECT_THAT(error("0,0,5\n0,1,5\n1,0,6\n"), HasSubstr("iteration 1 has no rank 1"));
  EXPECT_THAT(error("0,0,5\n2,0,6\n"), HasSubstr("iteration 1 has no rank 0"));
  EXPECT_THAT(error("# nothing\n"), HasSubstr("empty"));
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("0,0,nan\n"), HasSubstr("line 1"));
  EXPECT_THAT(error("0,0,864000000000001\n"), HasSubstr("line 1"));
  EXPECT_THAT(error(std::string(100000, '0')), HasSubstr("line 1: is too long"));
  EXPECT_THAT(error(std::string("\0\x1b\n", 3)), HasSubstr("'" + std::string(2, '?') + "'"));
}

std::string written(const ArrivalRecording& recording) {
  std::ostringstream out;
  write_recording(out, recording, {"papfft 1.2.3: transform\nx", "times in ns"});
  return out.str();
}

ArrivalRecording read(const std::string& text) {
  std::istringstream in(text);
  return read_recording(in);
}

TEST(ArrivalRecordingFile, WhatWasWrittenIsRead) {
  EXPECT_EQ(read(written(sample_recording())), sample_recording());
  EXPECT_EQ(read(written({.ranks = 0, .calls = {}})), (ArrivalRecording{.ranks = 0, .calls = {}}));
  EXPECT_EQ(read("# papfft arrivals 1\n" + written(sample_recording()).substr(20)), sample_recording());
  EXPECT_THAT(written(sample_recording()),
              HasSubstr("# papfft 1.2.3: transform x\n# times in ns\n# dropped calls: 3\n"));
}

TEST(ArrivalRecordingFile, ReplayedAreTheCallsAfterComputations) {
  const ArrivalTrace trace = parsed(written(sample_recording()));
  EXPECT_EQ(trace.iterations, 2);
  EXPECT_EQ(trace.ranks, 2);
  EXPECT_THAT(trace.delay_ns, ElementsAre(40, 0, 0, 60));

  ArrivalRecording idle = sample_recording();
  idle.calls.resize(1);  // nobody has computed: the calls themselves
  EXPECT_THAT(parsed(written(idle)).delay_ns, ElementsAre(0, 7));
  EXPECT_THROW((void)parsed(written({.ranks = 0, .calls = {}})), TraceError);
}

TEST(ArrivalRecordingFile, SaysWhatIsWrong) {
  const std::string good = written(sample_recording());
  const auto error = [](const std::string& text) -> std::string {
    try {
      (void)read(text);
    } catch (const TraceError& e) {
      return e.what();
    }
    return "no error";
  };
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  ASSERT_EQ(error(good), "no error");
  // Cut off anywhere but within the last line's newline, and it is noticed.
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    ASSERT_NE(error(good.substr(0, length)), "no error") << length;
  }
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("call,rank\n"), HasSubstr("line 1"));
  EXPECT_THAT(error(changed("arrivals 1", "arrivals 2")), HasSubstr("line 1: version 2"));
  EXPECT_THAT(error(changed("arrivals 1", "arrivals x")), HasSubstr("names no version"));
  EXPECT_THAT(error(changed("arrival_ns", "arrival_us")), HasSubstr("line 5: 'call,rank,"));
  EXPECT_THAT(error(changed("\n0,0,", "\n0,")), HasSubstr("line 6: "));
  EXPECT_THAT(error(changed(",90\n", ",90,1\n")), HasSubstr("line 6: "));
  EXPECT_THAT(error(changed("scatter", "scattr")), HasSubstr("line 6: no operation 'scattr'"));
  EXPECT_THAT(error(changed(",139,", ",nan,")), HasSubstr("line 8: column 9: 'nan'"));
  EXPECT_THAT(error(changed("30,140", "-30,140")), HasSubstr("line 8: column 7: '-30'"));
  EXPECT_THAT(error(changed(",150\n", ",139\n")), HasSubstr("line 8: column 10"));  // before its arrival
  EXPECT_THAT(error(changed(",150\n", ",864000000000001\n")), HasSubstr("line 8: column 10"));
  EXPECT_THAT(error(changed("\n1,1,", "\n1,0,")), HasSubstr("call 1, rank 0 is there twice"));
  EXPECT_THAT(error(changed("\n1,1,", "\n1,2,")), HasSubstr("call 0 has no rank 2"));
  EXPECT_THAT(error(changed("\n2,1,reduce,,0", "\n2,1,reduce,,1")), HasSubstr("line 11: is another call"));
  EXPECT_THAT(error(changed("sln,1,800", "sln,2,800")), HasSubstr("no rank 2 to be the root"));
  EXPECT_THAT(error(changed("# end: 6", "# end: 7")), HasSubstr("but there are 6"));
  EXPECT_THAT(error(good + "0,0,\n"), HasSubstr("line 13: comes after the end"));
  EXPECT_THAT(error(changed(",139,", "," + std::string(5000, '1') + ",")), HasSubstr("line 8: is too long"));
  EXPECT_THAT(error(changed("\n1,1,", "\n1000000000,1,")), HasSubstr("call 1 has no rank 1"));
}

TEST(ClockTrack, TellsThePastByReadings) {
  ClockTrack track;
  EXPECT_EQ(track.to_reference(42), 42);
  track.add(1000, 5000);  // 4000 ahead
  EXPECT_EQ(track.to_reference(0), 4000);
  EXPECT_EQ(track.to_reference(2000), 6000);
  track.add(3000, 7100);  // 4100 ahead
  EXPECT_EQ(track.to_reference(1000), 5000);
  EXPECT_EQ(track.to_reference(2000), 6050);
  EXPECT_EQ(track.to_reference(3000), 7100);
  EXPECT_EQ(track.to_reference(9000), 13100);
  track.add(3000, 1);  // not later
  EXPECT_EQ(track.to_reference(3000), 7100);
  EXPECT_EQ(track.last_ns(), 3000);
}

TEST(ClockTrack, NeverGoesBack) {
  ClockTrack track;
  track.add(1000, 5000);
  track.add(1100, 4000);  // a much better estimate
  track.add(1300, 4200);
  std::int64_t last = track.to_reference(900);
  for (std::int64_t t = 901; t < 1500; ++t) {
    ASSERT_GE(track.to_reference(t), last) << t;
    last = track.to_reference(t);
  }
}

}  // namespace
}  // namespace papfft::comm
