// SPDX-License-Identifier: MIT
#include "app/io/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace papfft::app::io {
namespace {

using testing::HasSubstr;

std::string again(const char* text) { return Json::parse(text).dump(); }

std::optional<JsonError> error_of(std::string_view text, int deepest = Json::kDeepest) {
  try {
    (void)Json::parse(text, deepest);
  } catch (const JsonError& error) {
    return error;
  }
  return std::nullopt;
}

TEST(Json, NumbersAreWrittenSoThatTheyAreReadTheSame) {
  const std::vector<std::pair<Json, const char*>> texts = {
      {Json(), "null"},
      {0, "0"},
      {-7, "-7"},
      {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808"},
      {std::numeric_limits<std::uint64_t>::max(), "18446744073709551615"},
      {true, "true"},
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {0.1, "0.1"},
      {1.0F / 3, "0.3333333432674408"},
      {1e14, "100000000000000.0"},
      {1e15, "1e+15"},
      {123456.789e3, "123456789.0"},
      {0.001, "0.001"},
      {1e-5, "1e-05"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {std::numeric_limits<double>::infinity(), "null"},
      {std::numeric_limits<double>::quiet_NaN(), "null"}};
  for (const auto& [value, text] : texts) {
    EXPECT_EQ(value.dump(), text);
    if (std::string_view(text).starts_with("n")) continue;
    EXPECT_EQ(Json::parse(text), value) << text;
  }
}

TEST(Json, ListsMakeObjectsAndArrays) {
  const std::string name = "n";
  const Json json = {{"a", 1},
                     {"b", {1, 2.5, "x"}},
                     {"c", {{"d", nullptr}, {"e", false}}},
                     {"f", Json::array()},
                     {"g", Json::object()},
                     {"h", std::vector<std::string>{"p", "q"}},
                     {"i", {"two", "texts"}},
                     {"j", Json::array({{"k", 1}})},
                     {name, std::string_view("v")}};
  EXPECT_EQ(json.dump(), R"({"a":1,"b":[1,2.5,"x"],"c":{"d":null,"e":false},"f":[],"g":{},"h":["p","q"],)"
                         R"("i":["two","texts"],"j":[["k",1]],"n":"v"})");
  EXPECT_EQ(
      json.dump(1),
      "{\n \"a\": 1,\n \"b\": [\n  1,\n  2.5,\n  \"x\"\n ],\n \"c\": {\n  \"d\": null,\n  \"e\": false\n },\n"
      " \"f\": [],\n \"g\": {},\n \"h\": [\n  \"p\",\n  \"q\"\n ],\n \"i\": [\n  \"two\",\n  \"texts\"\n ],\n"
      " \"j\": [\n  [\n   \"k\",\n   1\n  ]\n ],\n \"n\": \"v\"\n}");
  EXPECT_EQ(Json::object({{"a", Json::object({})}}).dump(), R"({"a":{}})");
  EXPECT_THROW((void)Json::object({1, 2}), JsonError);
  EXPECT_TRUE(Json({}).is_object());
  EXPECT_TRUE(Json().is_null());
}

TEST(Json, TextsAreEscapedAndAlwaysUtf8) {
  EXPECT_EQ(Json("a\"\\/\b\n\x01 ü").dump(), R"("a\"\\/\b\n\u0001 ü")");
  EXPECT_EQ(Json("\xff\xc3").dump(), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(again(R"("\u00fc\ud83d\ude00")"), "\"ü😀\"");
}

TEST(Json, MembersKeepTheirOrder) {
  Json json;
  json["z"] = 1;
  json["a"]["b"].push_back(2);
  json["m"] = "text";
  json["z"] = 3;
  EXPECT_EQ(json.dump(), R"({"z":3,"a":{"b":[2]},"m":"text"})");
  json.update({{"m", 4}, {"n", 5}});
  json.erase("a");
  json.erase("nothing");
  EXPECT_EQ(json.dump(), R"({"z":3,"m":4,"n":5})");
  std::string names;
  for (const auto& [name, value] : json.items()) names += name + value.dump();
  EXPECT_EQ(names, "z3m4n5");
  EXPECT_EQ(again(R"({"b":1,"a":2,"b":3})"), R"({"b":3,"a":2})");
}

TEST(Json, ReadsAreChecked) {
  const Json json = Json::parse(R"({"n":-3,"u":7,"r":2.5,"big":1e30,"t":"x","l":[1,2],"z":null})");
  EXPECT_EQ(json.at("n").get<int>(), -3);
  EXPECT_EQ(json.at("u").get<std::size_t>(), 7U);
  EXPECT_EQ(json.at("u").get<double>(), 7.0);
  EXPECT_EQ(json.at("r").get<std::int64_t>(), 2);
  EXPECT_EQ(json.at("l").get<std::vector<int>>(), (std::vector{1, 2}));
  EXPECT_EQ(json.value("t", "none"), "x");
  EXPECT_EQ(json.value("absent", "none"), "none");
  EXPECT_EQ(json.value("absent", 4), 4);
  EXPECT_TRUE(json.at("u").is_number_unsigned());
  EXPECT_TRUE(json.at("n").is_number_integer());
  EXPECT_FALSE(json.at("n").is_number_unsigned());
  EXPECT_FALSE(json.at("r").is_number_integer());
  EXPECT_EQ(json.find("absent"), nullptr);
  EXPECT_EQ(json.at("t").find("absent"), nullptr);
  EXPECT_EQ(json.at("t").size(), 1U);
  EXPECT_TRUE(json.at("z").empty());
  EXPECT_THROW((void)json.at("absent"), JsonError);
  EXPECT_THROW((void)json.at("l").at(2), JsonError);
  EXPECT_THROW((void)json.at("big").get<std::int64_t>(), JsonError);
  EXPECT_THROW((void)json.at("t").get<int>(), JsonError);
  EXPECT_THROW((void)json.at("n").get<std::string>(), JsonError);
  EXPECT_THROW((void)json.at("l").value("x", 1), JsonError);
}

TEST(Json, EqualNumbersAreEqualWhateverTheirTypes) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(-1), Json(~std::uint64_t{0}));
  EXPECT_NE(Json(1), Json("1"));
  EXPECT_EQ(Json({{"a", {1, 2}}}), Json::parse(R"({"a":[1,2]})"));
}

TEST(Json, CopiesAndMovesAreIndependent) {
  Json one = {{"a", {1, 2}}};
  Json two = one;
  two["a"].push_back(3);
  EXPECT_EQ(one.dump(), R"({"a":[1,2]})");
  const Json three = std::move(two);
  EXPECT_EQ(three.dump(), R"({"a":[1,2,3]})");
  one = one["a"];  // a part of itself
  EXPECT_EQ(one.dump(), "[1,2]");
}

TEST(Json, FlattenNamesEachValueByItsPath) {
  const Json json = {{"a", {{"b", {1, 2}}, {"c/d~", "x"}}}, {"e", Json::array()}, {"f", nullptr}};
  EXPECT_EQ(json.flatten().dump(), R"({"/a/b/0":1,"/a/b/1":2,"/a/c~1d~0":"x","/e":null,"/f":null})");
}

TEST(Json, SaysWhereATextIsNoJson) {
  EXPECT_FALSE(error_of(R"({"a": 1})").has_value());
  for (const char* text : {"", "{", "[1,]", "{\"a\":}", "nul", "[1] 2", "\"\xff\"", "01", "+1"}) {
    ASSERT_TRUE(error_of(text).has_value()) << text;
    EXPECT_EQ(error_of(text)->kind(), JsonError::Kind::syntax) << text;
  }
  EXPECT_EQ(error_of("[1,x]")->byte(), 4U);
  EXPECT_THAT(error_of("[1,x]")->what(), testing::StartsWith("parse error at line 1, column 4"));
  EXPECT_EQ(error_of("[1e999]")->kind(), JsonError::Kind::number);
}

TEST(Json, RefusesToNestDeeperThanAsked) {
  EXPECT_FALSE(error_of("[[{\"a\":1}]]", 3).has_value());
  EXPECT_EQ(error_of("[[{\"a\":[]}]]", 3)->kind(), JsonError::Kind::depth);
  EXPECT_EQ(error_of(std::string(1000000, '['))->kind(), JsonError::Kind::depth);
}

class Chooser : public Json::Reader {
 public:
  std::vector<std::string> seen = {};

  [[nodiscard]] bool keeps_member(std::string_view name) override { return !name.starts_with("no"); }
  [[nodiscard]] bool keeps_element(std::string_view list, const Json& element) override {
    seen.push_back(std::string(list) + element.dump());
    return element.is_array();
  }
};

TEST(Json, AReaderLeavesPartsOut) {
  Chooser chooser;
  const Json json = Json::parse(
      R"({"no1":{"no":[{}],"x":1},"l":[1,{"no":2},[3],"4"],"no2":5,"o":{"no":[6],"l":[7]},"no3":[[8]],"z":9})",
      chooser);
  EXPECT_EQ(json.dump(), R"({"l":[[3]],"o":{"no":[6],"l":[7]},"z":9})");
  EXPECT_EQ(chooser.seen, (std::vector<std::string>{"l1", R"(l{"no":2})", "l[3]", R"(l"4")"}));
  Chooser none;
  EXPECT_EQ(Json::parse("[1,[2]]", none).dump(), "[1,[2]]");
  EXPECT_TRUE(none.seen.empty());
}

}  // namespace
}  // namespace papfft::app::io
