// SPDX-License-Identifier: MIT
#include "app/io/wav.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "app/io/source.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::app::io {
namespace {

using test::file_text;
using test::ScratchFolder;
using testing::HasSubstr;

template <typename T>
class WavRoundTrip : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(WavRoundTrip, Precisions);

TYPED_TEST(WavRoundTrip, KeepsEveryChannelBeyondFullScaleToo) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.wav");
  constexpr std::uint64_t kLength = 70001;  // more than is written at once
  for (const std::uint64_t channels : {1U, 2U, 5U}) {
    std::vector<TypeParam> samples;
    for (std::uint64_t i = 0; i < channels * kLength; ++i)
      samples.push_back(static_cast<TypeParam>(3 * std::sin(0.1 * static_cast<double>(i))));
    samples[kLength / 2] = -7.5;
    EXPECT_EQ(write_wav<TypeParam>(path, samples, channels, 44100), 7.5);
    for (unsigned c = 0; c < channels; ++c) {
      const auto source = open_source(path, {.raw_type = {}, .channel = c});
      EXPECT_EQ(source->info().sample_rate_hz, 44100);
      EXPECT_EQ(source->info().channels, channels);
      const std::vector<float> read = read_all<float>(*source);
      ASSERT_EQ(read.size(), kLength);
      for (std::uint64_t i = 0; i < kLength; ++i)
        ASSERT_EQ(read[i], static_cast<float>(samples[c * kLength + i]))
            << "channel " << c << ", sample " << i;
    }
  }
}

TEST(Wav, HasTheSameBytesAtAnyTime) {
  const ScratchFolder folder;
  const std::vector<float> samples = {0, 0.5F, -0.25F};
  (void)write_wav<float>(folder.file("a.wav"), samples, 1, 8000);
  const std::string bytes = file_text(folder.file("a.wav"));
  EXPECT_EQ(bytes.substr(0, 4) + bytes.substr(8, 8), "RIFFWAVEfmt ");
  EXPECT_EQ(bytes.find("PEAK"), std::string::npos);  // the chunk that says when it was written
  EXPECT_TRUE(bytes.ends_with(std::string("data\x0c\0\0\0\0\0\0\0\0\0\0\x3f\0\0\x80\xbe", 20)));
}

TEST(Wav, PeaksOfWhatIsNoNumber) {
  const ScratchFolder folder;
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(write_wav<float>(folder.file("a.wav"), std::vector<float>{none, 0.5F, none}, 1, 8000), 0.5);
}

std::string refusal(const WavContent& content) {
  try {
    check_wav("a.wav", content);
  } catch (const OutputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("cannot write a.wav: "));
    EXPECT_THAT(e.what(), HasSubstr("what would work: "));
    return e.what();
  }
  return "none";
}

TEST(Wav, SaysWhatCannotBeOne) {
  const WavContent good{.channels = 2, .length = 1000, .sample_rate_hz = 48000};
  EXPECT_EQ(refusal(good), "none");
  WavContent content = good;
  content.is_complex = true;
  EXPECT_THAT(refusal(content), HasSubstr("complex"));
  content = good;
  content.sample_rate_hz = 0;
  EXPECT_THAT(refusal(content), HasSubstr("does not tell its sample rate"));
  for (const double rate_hz : {0.25, 3e9}) {
    content.sample_rate_hz = rate_hz;
    EXPECT_THAT(refusal(content), HasSubstr("samples per second"));
  }
  content = good;
  content.channels = 1025;
  EXPECT_THAT(refusal(content), HasSubstr("1025 channels"));
  content = good;
  content.length = std::uint64_t{1} << 29;  // 2 channels of 4 bytes each: 4 GiB
  EXPECT_THAT(refusal(content), HasSubstr("4 GiB"));
  content.length = (std::uint64_t{1} << 29) - 10000;
  EXPECT_EQ(refusal(content), "none");
}

TEST(Wav, OneThatCannotBeWrittenLeavesWhatWasThere) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.wav");
  const std::vector<float> samples = {0.5F};
  EXPECT_THROW((void)write_wav<float>(path, samples, 1, 0), OutputError);
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
  EXPECT_THROW((void)write_wav<float>(folder.file("none/a.wav"), samples, 1, 8000), OutputError);
  EXPECT_THROW((void)write_wav<float>("/dev/full", samples, 1, 8000), OutputError);
}

}  // namespace
}  // namespace papfft::app::io
