// SPDX-License-Identifier: MIT
#include "app/jobs/row_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/io/errors.hpp"
#include "tests/support/repository.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::app {
namespace {

using Files = io::RowFiles<double>;

TEST(RowWriterTest, WritesRunsOfAnyLengthInOrder) {
  const test::ScratchFolder folder;
  const std::string path = folder.path() / "rows.raw";
  Files files({path}, 3, std::nullopt, std::nullopt);
  std::vector<double> expected;
  {
    RowWriter<double> writer(files, 3, 5);
    for (std::size_t run = 0; run < 100; ++run) {
      const std::size_t rows = 1 + run % 5;
      double* const room = writer.room();
      for (std::size_t i = 0; i < 3 * rows; ++i) {
        expected.push_back(static_cast<double>(expected.size()));
        room[i] = expected.back();
      }
      writer.pass(rows);
    }
    writer.finish();
  }
  EXPECT_EQ(files.finish(), expected.size() / 3);
  EXPECT_EQ(test::file_text(path), test::bytes_of(expected));
}

TEST(RowWriterTest, AFullDiskIsSaidToWhoeverAsksForRoom) {
  const test::ScratchFolder folder;
  const auto path = folder.path() / "full.raw";
  std::filesystem::create_symlink("/dev/full", path);
  Files files({path}, 1000, std::nullopt, std::nullopt);
  RowWriter<double> writer(files, 1000, 1);
  const auto write_on = [&] {
    for (int row = 0; row < 1000; ++row) {
      std::fill_n(writer.room(), 1000, 1.0);
      writer.pass(1);
    }
    writer.finish();
  };
  EXPECT_THROW(write_on(), io::OutputError);
}

TEST(RowWriterTest, MayEndWithRowsUnwritten) {
  const test::ScratchFolder folder;
  Files files({folder.path() / "rows.raw"}, 1000, std::nullopt, std::nullopt);
  RowWriter<double> writer(files, 1000, 1);
  for (int row = 0; row < 2; ++row) {
    std::fill_n(writer.room(), 1000, 1.0);
    writer.pass(1);
  }
}

}  // namespace
}  // namespace papfft::app
