// SPDX-License-Identifier: MIT
#include "app/io/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "app/io/source.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::app::io {
namespace {

using test::file_text;
using test::ScratchFolder;

TEST(FormatOf, GoesByTheExtension) {
  EXPECT_EQ(format_of("a.npy"), OutputFormat::npy);
  EXPECT_EQ(format_of("folder.csv/a.b.NPY"), OutputFormat::npy);
  EXPECT_EQ(format_of("a.raw"), OutputFormat::raw);
  EXPECT_EQ(format_of("a.bin"), OutputFormat::raw);
  EXPECT_EQ(format_of("a.csv"), OutputFormat::csv);
  EXPECT_EQ(format_of("a.WAV"), OutputFormat::wav);
  EXPECT_EQ(format_of("a.Png"), OutputFormat::png);
  EXPECT_EQ(format_of("a.svg"), OutputFormat::svg);
  EXPECT_EQ(format_of("-"), OutputFormat::npy);
  EXPECT_EQ(format_of("/dev/stdout"), OutputFormat::npy);
  EXPECT_EQ(format_of("/dev/shm/a.csv"), OutputFormat::csv);
  for (const std::string path : {"", "a", "a.txt", ".npy", "a.npy.gz", "folder.npy/a"}) {
    try {
      (void)format_of(path);
      ADD_FAILURE() << path;
    } catch (const OutputError& error) {
      EXPECT_EQ(
          error.what(),
          "cannot write " + path +
              ": its extension does not name a format; known are .npy, .raw, .bin, .csv, .wav, .png, .svg");
    }
  }
}

template <typename Sample>
class RawRoundTrip : public testing::Test {};
using Samples = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(RawRoundTrip, Samples);

TYPED_TEST(RawRoundTrip, KeepsEverySampleInBothOrders) {
  const ScratchFolder folder;
  std::vector<TypeParam> samples(40000);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<TypeParam>(1) / static_cast<TypeParam>(static_cast<float>(i + 3));
    if constexpr (is_complex_v<TypeParam>) samples[i] *= TypeParam(1, -2);
  }
  const std::string path = folder.file("a.raw");
  for (const bool big_endian : {false, true}) {
    SampleType type = sample_type_of<TypeParam>();
    type.big_endian = big_endian;
    write_raw<TypeParam>(path, samples, big_endian);
    const auto source = open_source(path, {.raw_type = type, .channel = {}});
    EXPECT_EQ(read_all<TypeParam>(*source), samples) << raw_type_name(type);
  }
}

TEST(Raw, HasTheBytesOfItsType) {
  const ScratchFolder folder;
  write_raw<float>(folder.file("a"), std::vector<float>{1});
  EXPECT_EQ(file_text(folder.file("a")), std::string("\0\0\x80\x3f", 4));
  write_raw<float>(folder.file("a"), std::vector<float>{1}, true);
  EXPECT_EQ(file_text(folder.file("a")), std::string("\x3f\x80\0\0", 4));
}

TEST(Csv, GoldenFiles) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.csv");
  write_csv<float>(path, std::vector<float>{0.1F, -2, 1e20F});
  EXPECT_EQ(file_text(path), "value\n0.1\n-2\n1e+20\n");
  write_csv<std::complex<double>>(path, std::vector<std::complex<double>>{{1, 0.5}, {-0.0, 1e-300}});
  EXPECT_EQ(file_text(path), "re,im\n1,0.5\n-0,1e-300\n");
  const std::vector<double> axis = {0, 62.5};
  write_csv<double>(path, std::vector<double>{3, 4}, CsvAxis{"frequency_hz", axis});
  EXPECT_EQ(file_text(path), "frequency_hz,value\n0,3\n62.5,4\n");
  write_csv<double>(path, std::vector<double>{1, 2, 3, 4}, CsvAxis{"frequency_hz", axis}, 2);
  EXPECT_EQ(file_text(path), "row,frequency_hz,value\n0,0,1\n0,62.5,2\n1,0,3\n1,62.5,4\n");
  EXPECT_THROW(write_csv<double>(path, std::vector<double>{1, 2, 3}, CsvAxis{"x", axis}),
               std::invalid_argument);
  EXPECT_THROW(write_csv<double>(path, std::vector<double>{1, 2, 3}, {}, 2), std::invalid_argument);
}

TEST(Csv, EveryNumberReadsBackAsItself) {
  const ScratchFolder folder;
  std::vector<double> values = {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(),
                                1.0 / 3};
  for (int i = 0; i < 20000; ++i) values.push_back(std::sin(i) * std::pow(10, i % 600 - 300));
  write_csv<double>(folder.file("a.csv"), values);
  std::istringstream lines(file_text(folder.file("a.csv")));
  std::string line;
  std::getline(lines, line);
  for (const double value : values) {
    ASSERT_TRUE(std::getline(lines, line));
    ASSERT_EQ(std::strtod(line.c_str(), nullptr), value) << line;
  }
  EXPECT_FALSE(std::getline(lines, line));
}

}  // namespace
}  // namespace papfft::app::io
