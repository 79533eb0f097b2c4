// SPDX-License-Identifier: MIT
// Recorded arrivals as JSON: the same as in the text form, and as carefully read.
#include "app/io/recording_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/sample_recording.hpp"

namespace papfft::app::io {
namespace {

using comm::ArrivalRecording;
using test::sample_recording;
using testing::HasSubstr;

ArrivalRecording read(const std::string& text) {
  std::istringstream in(text);
  return read_recording(in);
}

std::string text_form(const ArrivalRecording& recording) {
  std::ostringstream out;
  comm::write_recording(out, recording, {});
  return out.str();
}

TEST(RecordingFile, BothFormsSayTheSame) {
  EXPECT_EQ(read(to_json(sample_recording()).dump()), sample_recording());
  EXPECT_EQ(read(to_json(sample_recording()).dump(1) + "\n"), sample_recording());
  EXPECT_EQ(read(text_form(sample_recording())), sample_recording());
  const ArrivalRecording none{.ranks = 2, .calls = {}};
  EXPECT_EQ(read(to_json(none).dump()), read(text_form(none)));

  std::istringstream as_json(to_json(sample_recording()).dump());
  std::istringstream as_text(text_form(sample_recording()));
  EXPECT_EQ(parse_trace(as_json).delay_ns, parse_trace(as_text).delay_ns);
  std::istringstream delays("0,0,10\n0,1,20\n");
  EXPECT_EQ(parse_trace(delays).ranks, 2);
}

/// /calls/0/root
Json& at_path(Json& document, std::string_view path) {
  Json* place = &document;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string step(path.substr(0, path.find('/')));
    path.remove_prefix(step.size());
    place = place->is_array() ? &(*place)[static_cast<std::size_t>(std::stoul(step))] : &(*place)[step];
  }
  return *place;
}

TEST(RecordingFile, SaysWhatIsWrong) {
  const auto error = [](const std::string& text) -> std::string {
    try {
      (void)read(text);
    } catch (const comm::TraceError& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      return e.what();
    }
    return "no error";
  };
  const auto changed = [&](const char* path, const Json& value) {
    Json document = to_json(sample_recording());
    at_path(document, path) = value;
    return error(document.dump());
  };
  const std::string good = to_json(sample_recording()).dump();
  for (std::size_t length = 1; length < good.size(); length += 7)
    EXPECT_THAT(error(good.substr(0, length)), HasSubstr("no whole JSON")) << length;
  EXPECT_THAT(error(good + "x"), HasSubstr("no whole JSON"));
  EXPECT_THAT(error("{}"), HasSubstr("no 'arrivals'"));
  EXPECT_THAT(error("{\"a\":[[[[[[[[[[1]]]]]]]]]]}"), HasSubstr("deeper"));
  EXPECT_THAT(changed("/arrivals", 2), HasSubstr("version 1"));
  EXPECT_THAT(changed("/calls", 2), HasSubstr("'calls'"));
  EXPECT_THAT(changed("/calls/1", 2), HasSubstr("call 1 is no object"));
  for (const Json& ranks : {Json(-1), Json("2"), Json(1.5), Json(std::uint64_t{1} << 40), Json()})
    EXPECT_THAT(changed("/ranks", ranks), HasSubstr("'ranks'")) << ranks.dump();
  EXPECT_THAT(changed("/ranks", 0), HasSubstr("calls of no ranks"));
  EXPECT_THAT(changed("/ranks", 3), HasSubstr("per rank"));
  EXPECT_THAT(changed("/calls/0/operation", "yell"), HasSubstr("call 0 is of no operation 'yell'"));
  EXPECT_THAT(changed("/calls/0/operation", 5), HasSubstr("call 0 has no text 'operation'"));
  EXPECT_THAT(changed("/calls/0/algorithm", "a\nb"), HasSubstr("call 0 has a 'algorithm' that is no name"));
  EXPECT_THAT(changed("/calls/0/algorithm", std::string(1000, 'a')), HasSubstr("no name"));
  for (const Json& root : {Json(-1), Json(2), Json(0.5), Json(), Json(~std::uint64_t{0})})
    EXPECT_THAT(changed("/calls/1/root", root), HasSubstr("call 1 has a 'root'")) << root.dump();
  EXPECT_THAT(changed("/calls/1/bytes", (std::uint64_t{1} << 60) + 1), HasSubstr("'bytes'"));
  for (const char* name : {"compute_ns", "arrival_ns", "exit_ns"}) {
    const std::string path = "/calls/1/" + std::string(name) + "/1";
    for (const Json& value :
         {Json(-1), Json(1e3), Json("5"), Json(864'000'000'000'001), Json(~std::uint64_t{0})})
      EXPECT_THAT(changed(path.c_str(), value), HasSubstr("'" + std::string(name) + "'"))
          << name << value.dump();
    EXPECT_THAT(changed(path.c_str(), Json()), HasSubstr("lacks a number in '" + std::string(name))) << name;
  }
  EXPECT_THAT(changed("/calls/1/exit_ns/0", 139), HasSubstr("from 140 to"));
  EXPECT_THAT(changed("/calls/1/predicted_ns/0", -864'000'000'000'001), HasSubstr("'predicted_ns'"));
  EXPECT_EQ(changed("/calls/1/predicted_ns/0", Json()), "no error");
  std::string text = good;
  text.replace(text.find("150"), 3, "NaN");
  EXPECT_THAT(error(text), HasSubstr("no whole JSON"));
  text.replace(text.find("NaN"), 3, "1e999");
  EXPECT_THAT(error(text), HasSubstr("out of range"));
}

}  // namespace
}  // namespace papfft::app::io
