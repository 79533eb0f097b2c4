// SPDX-License-Identifier: MIT
#include "app/io/row_files.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace papfft::app::io {
namespace {

using Row = std::array<float, 3>;
constexpr std::array<Row, 4> kRows = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

RowJournal journal(const std::string& content, const std::string& how = "by one") {
  return {.content = content + "\n", .how = how, .sync_every = std::chrono::hours(1)};
}

/// The machine of a journal has started again.
void reboot(const std::string& journal_path) {
  std::string text = bytes_of(journal_path);
  text = text.substr(0, text.rfind(" since boot ")) + " since boot another\n";
  std::ofstream(journal_path, std::ios::binary) << text;
}

class RowFilesTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  /// What all rows make when they are written at once.
  [[nodiscard]] std::string whole() const {
    write_npy<float>(path("whole.npy"), std::span(kRows.front().data(), 12), kRows.size());
    return bytes_of(path("whole.npy"));
  }
  test::ScratchFolder folder_;
};

TEST_F(RowFilesTest, AreAsIfWrittenAtOnceWhetherTheNumberOfRowsWasKnownOrNot) {
  for (const std::optional<std::uint64_t> rows :
       {std::optional<std::uint64_t>(4), std::optional<std::uint64_t>(), std::optional<std::uint64_t>(9)}) {
    RowFiles<float> files({path("a.npy"), path("a.raw")}, 3, rows, {});
    for (const Row& row : kRows) files.write(row.data());
    std::filesystem::remove(path("a.npy"));  // of the turn before
    EXPECT_EQ(files.finish(), 4U);
    EXPECT_EQ(bytes_of(path("a.npy")), whole());
    EXPECT_EQ(bytes_of(path("a.raw")),
              std::string(reinterpret_cast<const char*>(kRows.data()), sizeof kRows));
  }
}

TEST_F(RowFilesTest, LongRowsFollowOneAnother) {
  constexpr std::size_t kLength = 100000;
  std::vector<float> all(3 * kLength);
  std::iota(all.begin(), all.end(), 0.0F);
  RowFiles<float> files({path("a.npy"), path("a.raw")}, kLength, {}, {});
  for (std::size_t row = 0; row < 3; ++row) files.write(all.data() + row * kLength);
  EXPECT_EQ(files.finish(), 3U);
  EXPECT_EQ(bytes_of(path("a.raw")),
            std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(float)));
  write_npy<float>(path("whole.npy"), all, 3);
  EXPECT_EQ(bytes_of(path("a.npy")), bytes_of(path("whole.npy")));
}

TEST_F(RowFilesTest, GoOnWhereTheyWere) {
  for (const std::size_t cut_bytes : {0U, 5U, 12U, 100U}) {  // of what a killed process had written
    {
      RowFiles<float> files({path("a.npy"), path("b.raw")}, 3, 4, journal("the same"));
      EXPECT_EQ(files.rows_before(), 0U);
      for (int i = 0; i < 3; ++i) files.write(kRows[static_cast<std::size_t>(i)].data());
      files.flush();
    }
    const std::string partial = path("b.raw.partial");
    std::filesystem::resize_file(
        partial, std::filesystem::file_size(partial) -
                     std::min<std::uintmax_t>(cut_bytes, std::filesystem::file_size(partial)));
    RowFiles<float> files({path("a.npy"), path("b.raw")}, 3, 4, journal("the same"));
    EXPECT_EQ(files.rows_before(), cut_bytes == 0 ? 3U : cut_bytes <= 12 ? 2U : 0U);
    for (std::size_t i = files.rows_before(); i < 4; ++i) files.write(kRows[i].data());
    EXPECT_EQ(files.finish(), 4U);
    EXPECT_EQ(bytes_of(path("a.npy")), whole());
    EXPECT_EQ(bytes_of(path("b.raw")).size(), sizeof kRows);
    EXPECT_FALSE(std::filesystem::exists(path("a.npy.journal")));
    EXPECT_FALSE(std::filesystem::exists(partial));
  }
}

TEST_F(RowFilesTest, OnlyFilesCanBeResumed) {
  try {
    RowFiles<float>({path("a.npy"), "/dev/null"}, 3, 4, journal("a job"));
    FAIL() << "a device was taken";
  } catch (const OutputError& e) {
    EXPECT_NE(std::string(e.what()).find("only a file can be resumed"), std::string::npos) << e.what();
  }
}

TEST_F(RowFilesTest, AfterABootOnlyWhatWasSurelyOnTheDiskCounts) {
  constexpr std::size_t kLength = 100000;  // rows that are written at once
  std::vector<float> all(4 * kLength);
  std::iota(all.begin(), all.end(), 0.0F);
  const auto write = [&](RowFiles<float>& files, std::size_t rows) {
    files.write(all.data() + files.rows_before() * kLength, rows);
  };
  {
    RowFiles<float> files({path("a.raw")}, kLength, 4, journal("a job"));
    write(files, 1);
    files.flush();
    files.write(all.data() + kLength, 2);
  }
  EXPECT_EQ(RowFiles<float>({path("a.raw")}, kLength, 4, journal("a job", "by two")).rows_before(), 3U);
  {
    RowFiles<float> files({path("a.raw")}, kLength, 4, journal("a job", "by two"));
    write(files, 1);
  }
  reboot(path("a.raw.journal"));
  RowFiles<float> files({path("a.raw")}, kLength, 4, journal("a job", "by three"));
  EXPECT_EQ(files.rows_before(),
            3U);  // which were there, and were brought to the disk, when the second job began
  EXPECT_EQ(files.made_otherwise(), "by two");
  write(files, 1);
  files.finish();
  EXPECT_EQ(bytes_of(path("a.raw")),
            std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(float)));
}

TEST_F(RowFilesTest, RowsOfAnotherBootThatMayBeHolesAreMadeAgain) {
  constexpr std::size_t kLength = 100000;
  const std::vector<float> all(4 * kLength, 1.0F);
  {
    RowFiles<float> files({path("a.raw")}, kLength, 4, journal("a job"));
    files.write(all.data());
    files.flush();
    files.write(all.data(), 2);
  }
  reboot(path("a.raw.journal"));
  EXPECT_EQ(RowFiles<float>({path("a.raw")}, kLength, 4, journal("a job")).rows_before(), 1U);
}

TEST_F(RowFilesTest, AnotherJobsRowsAreRefusedAndKept) {
  {
    RowFiles<float> files({path("a.npy")}, 3, 4, journal("one job"));
    files.write(kRows[0].data());
    files.flush();
  }
  const std::string before = bytes_of(path("a.npy.partial"));
  EXPECT_THROW(RowFiles<float>({path("a.npy")}, 3, 4, journal("another")), OutputError);
  EXPECT_EQ(bytes_of(path("a.npy.partial")), before);
}

TEST_F(RowFilesTest, WhatDiffersFromTheOldJournalIsNamed) {
  { RowFiles<float> files({path("a.npy")}, 3, 4, journal("same\nlength: 4\nmore")); }
  try {
    RowFiles<float>({path("a.npy")}, 3, 4, journal("same\nlength: 5\nmore"));
    FAIL() << "nothing thrown";
  } catch (const OutputError& e) {
    EXPECT_NE(std::string(e.what()).find("length: 4 then, length: 5 now"), std::string::npos) << e.what();
  }
}

TEST_F(RowFilesTest, RowsMayBeMadeOtherwiseFromSomeRowOn) {
  const auto write_one = [&](const std::string& how) {
    RowFiles<float> files({path("a.raw")}, 3, 4, journal("a job", how));
    files.write(kRows[files.rows_before()].data());
    files.flush();
    return files.made_otherwise();
  };
  EXPECT_EQ(write_one("by one"), std::nullopt);
  EXPECT_EQ(write_one("by two"), "by one");
  EXPECT_EQ(write_one("by two"), std::nullopt);
  const std::string text = bytes_of(path("a.raw.journal"));
  EXPECT_EQ(text.substr(0, text.find(" since")),
            "a job\nfrom row 0: by one\nfrom row 1: by two\non disk: 3 rows");
  RowFiles<float> files({path("a.raw")}, 3, 4, journal("a job", "by one"));
  EXPECT_EQ(files.made_otherwise(), "by two");
  EXPECT_EQ(files.rows_before(), 3U);
  files.write(kRows[3].data());
  EXPECT_EQ(files.finish(), 4U);
  EXPECT_EQ(bytes_of(path("a.raw")), std::string(reinterpret_cast<const char*>(kRows.data()), sizeof kRows));
}

TEST_F(RowFilesTest, OneWriterAtATime) {
  RowFiles<float> files({path("a.npy")}, 3, 4, journal("a job"));
  EXPECT_THROW(RowFiles<float>({path("a.npy")}, 3, 4, journal("a job")), OutputError);
}

TEST_F(RowFilesTest, APartialFileWithoutAJournalIsBegunAnewAndOneWithTooMuchIsCut) {
  std::ofstream(path("a.raw.partial")) << std::string(500, 'x');
  {
    RowFiles<float> files({path("a.raw")}, 3, 4, journal("a job"));
    EXPECT_EQ(files.rows_before(), 0U);
  }
  std::ofstream(path("a.raw.partial")) << std::string(500, 'x');
  EXPECT_EQ(RowFiles<float>({path("a.raw")}, 3, 4, journal("a job")).rows_before(), 4U);
}

TEST_F(RowFilesTest, AHeaderThatCannotBeMendedIsAnError) {
  RowFiles<float> files({"/dev/null"}, 3, 9, {});
  for (const Row& row : kRows) files.write(row.data());
  EXPECT_THROW(files.finish(), OutputError);
}

TEST_F(RowFilesTest, RefuseWhatCannotGrow) {
  EXPECT_FALSE(RowFiles<float>::can_grow({path("a.npy"), path("b.csv")}));
  EXPECT_THROW(RowFiles<float>({path("b.png")}, 3, 4, {}), OutputError);
  EXPECT_THROW(RowFiles<float>({"/dev/stdout"}, 3, {}, {}), OutputError);  // its header would come too late
  EXPECT_THROW(RowFiles<float>({"/dev/stdout"}, 3, 4, journal("a job")),
               OutputError);  // cannot be gone on with
}

}  // namespace
}  // namespace papfft::app::io
