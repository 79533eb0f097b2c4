// SPDX-License-Identifier: MIT
#include "app/io/sample_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace papfft::app::io {
namespace {

using Component = SampleType::Component;

TEST(RawType, ReadsSigmfNames) {
  EXPECT_EQ(raw_type_from("cf32_le"), (SampleType{Component::floating, 4, true, false}));
  EXPECT_EQ(raw_type_from("rf64_be"), (SampleType{Component::floating, 8, false, true}));
  EXPECT_EQ(raw_type_from("ci16_le"), (SampleType{Component::signed_integer, 2, true, false}));
  EXPECT_EQ(raw_type_from("ri32_be"), (SampleType{Component::signed_integer, 4, false, true}));
  EXPECT_EQ(raw_type_from("cu8"), (SampleType{Component::unsigned_integer, 1, true, false}));
  EXPECT_EQ(raw_type_from("ri8"), (SampleType{Component::signed_integer, 1, false, false}));
}

TEST(RawType, RejectsEverythingElse) {
  for (const std::string_view name :
       {"", "c", "cf32", "cf32_xe", "cf32_le ", " cf32_le", "xf32_le", "f32_le", "cf16_le", "ci64_le",
        "ci8_le", "cu8_be", "ci16", "CF32_LE", "cf32_lecf32_le"}) {
    EXPECT_EQ(raw_type_from(name), std::nullopt) << name;
  }
}

TEST(RawType, EveryListedNameReadsAndPrintsAsItself) {
  const std::string list = raw_type_names();
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    const auto type = raw_type_from(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(raw_type_name(*type), name);
    begin = end + 2;
    ++count;
  }
  EXPECT_EQ(count, 28U);  // 6 types of several bytes, c and r, le and be; 2 of one byte, c and r
}

TEST(NpyType, ReadsAndPrintsDescriptors) {
  for (const std::string_view descr : {"<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16", "|i1", "|u1",
                                       "<i2", ">u2", "<i4", ">u4", "<i8", ">u8"}) {
    const auto type = npy_type_from(descr);
    ASSERT_TRUE(type) << descr;
    EXPECT_EQ(npy_descr(*type), descr);
  }
  EXPECT_EQ(npy_type_from("=f8"), sample_type_of<double>());
}

TEST(NpyType, RejectsEverythingElse) {
  for (const std::string_view descr :
       {"", "f8", "<f", "<f16", "<c32", "|b1", "|O", "<U5", "|f8", "?f8", "<M8[s]"}) {
    EXPECT_EQ(npy_type_from(descr), std::nullopt) << descr;
  }
}

template <typename T>
std::vector<T> decoded(const SampleType& type, const std::vector<unsigned char>& bytes) {
  std::vector<T> out(bytes.size() / type.component_bytes);
  decode(std::as_bytes(std::span(bytes)), type, std::span(out));
  return out;
}

// Expected values by two's complement and IEEE 754, worked out by hand.
TEST(Decode, KnowsEveryComponentInBothOrders) {
  using testing::ElementsAre;
  EXPECT_THAT(decoded<double>(*raw_type_from("ri8"), {0x80, 0xff, 0x7f}), ElementsAre(-128, -1, 127));
  EXPECT_THAT(decoded<double>(*raw_type_from("ru8"), {0x80, 0xff, 0x7f}), ElementsAre(128, 255, 127));
  EXPECT_THAT(decoded<float>(*raw_type_from("ri16_le"), {0x00, 0x80, 0xfe, 0xff}), ElementsAre(-32768, -2));
  EXPECT_THAT(decoded<float>(*raw_type_from("ri16_be"), {0x80, 0x00, 0xff, 0xfe}), ElementsAre(-32768, -2));
  EXPECT_THAT(decoded<float>(*raw_type_from("ru16_be"), {0x80, 0x00, 0xff, 0xfe}), ElementsAre(32768, 65534));
  EXPECT_THAT(decoded<double>(*raw_type_from("ri32_be"), {0x80, 0, 0, 0}), ElementsAre(-2147483648.0));
  EXPECT_THAT(decoded<double>(*raw_type_from("ru32_le"), {0, 0, 0, 0x80}), ElementsAre(2147483648.0));
  EXPECT_THAT(decoded<double>(*npy_type_from(">i8"), {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd}),
              ElementsAre(-3));
  EXPECT_THAT(decoded<double>(*npy_type_from("<u8"), {0, 0, 0, 0, 0, 0, 0, 0x80}), ElementsAre(0x1p63));
  EXPECT_THAT(decoded<double>(*raw_type_from("rf32_be"), {0xc0, 0x20, 0, 0}), ElementsAre(-2.5));
  EXPECT_THAT(decoded<float>(*raw_type_from("rf64_le"), {0, 0, 0, 0, 0, 0, 0x04, 0xc0}), ElementsAre(-2.5F));
  EXPECT_THAT(decoded<double>(*raw_type_from("cf32_le"), {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}),
              ElementsAre(1, -2));
}

TEST(SwapBytes, TwiceIsNothingAndOnceIsTheOtherOrder) {
  std::vector<float> values = {1.0F};
  swap_bytes(std::span(values));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(values[0]), 0x0000803fU);
  swap_bytes(std::span(values));
  EXPECT_EQ(values[0], 1.0F);
}

}  // namespace
}  // namespace papfft::app::io
