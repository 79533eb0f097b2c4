// SPDX-License-Identifier: MIT
#include "app/io/placed_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "app/io/errors.hpp"
#include "app/io/shares.hpp"
#include "app/io/source.hpp"
#include "app/io/writer.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::app::io {
namespace {

class PlacedFilesTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()),
                                                  std::filesystem::directory_iterator()));
  }
  [[nodiscard]] static std::vector<double> read(const std::string& file) {
    return read_all<double>(*open_source(file));
  }
  void expect_one_signal(const std::vector<std::size_t>& owner, Layout layout, const std::string& more = "");

  test::ScratchFolder folder_;
  const std::array<std::uint64_t, 1> shape_ = {6};
  const std::array<double, 6> values_ = {1, 2, 3, 4, 5, 6};
};

TEST_F(PlacedFilesTest, PartsOfTwoWritersInAnyOrder) {
  const std::vector<std::string> paths = {path("a.npy"), path("b.raw")};
  PlacedFiles<double> maker(paths, shape_);
  PlacedFiles<double> other(paths, shape_, maker.temporaries());
  other.write(4, std::span(values_).subspan(4));
  maker.write(1, std::span(values_).subspan(1, 3));
  other.write(0, std::span(values_).first(1));
  other.finish();
  EXPECT_FALSE(std::filesystem::exists(paths[0])) << "the maker has not finished";
  maker.finish();
  EXPECT_EQ(read(paths[0]), std::vector<double>(values_.begin(), values_.end()));
  EXPECT_EQ(std::filesystem::file_size(paths[1]), 6 * sizeof(double));
  EXPECT_EQ(files(), 2U);
}

TEST_F(PlacedFilesTest, NothingIsLeftUnlessFinished) {
  {
    PlacedFiles<double> maker({path("a.npy")}, shape_);
    PlacedFiles<double> other({path("a.npy")}, shape_, maker.temporaries());
    maker.write(0, values_);
    other.finish();
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(PlacedFilesTest, SaysWhatCannotBeWrittenSo) {
  EXPECT_THROW(PlacedFiles<double>({path("a.csv")}, shape_), OutputError);
  EXPECT_THROW(PlacedFiles<double>({path("a.npy")}, shape_, {path("not-there")}), OutputError);
  EXPECT_TRUE(can_place({"a.npy", "b.bin"}));
  EXPECT_FALSE(can_place({"a.npy", "-"}));
  EXPECT_FALSE(can_place({"a.png"}));
}

/// Two rows, whose element k the file owner[k] has, are read as one signal. @param more  of the index
void PlacedFilesTest::expect_one_signal(const std::vector<std::size_t>& owner, Layout layout,
                                        const std::string& more) {
  std::vector<double> rows(2 * owner.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::string names;
  for (std::size_t r = 0; r < 3; ++r) {
    std::vector<double> share;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (owner[i % owner.size()] == r) share.push_back(rows[i]);
    }
    if (!share.empty()) write_npy<double>(path("x.rank" + std::to_string(r) + ".npy"), share, 2);
    names += std::string(r > 0 ? "," : "") + "\"x.rank" + std::to_string(r) + ".npy\"";
  }
  AtomicFile index(path("x.index.json"));
  index.write(R"({"rows": 2, "length": )" + std::to_string(owner.size()) +
              R"(, "element": "float64", "sample_rate_hz": 8000, "ranks": 3, "layout": ")" +
              std::string(to_string(layout)) + R"(", )" + more + R"("files": [)" + names + "]}");
  index.commit();
  const auto source = open_source(path("x.index.json"));
  EXPECT_EQ(source->info().rows, 2U);
  EXPECT_EQ(source->info().sample_rate_hz, 8000);
  EXPECT_EQ(read_all<double>(*source), rows);
  for (std::uint64_t first = 0; first < rows.size(); ++first) {  // any range
    for (std::size_t count = 1; first + count <= rows.size(); ++count) {
      std::vector<double> some(count);
      ASSERT_EQ(source->read<double>(first, some), count);
      EXPECT_EQ(some, std::vector<double>(rows.begin() + static_cast<std::ptrdiff_t>(first),
                                          rows.begin() + static_cast<std::ptrdiff_t>(first + count)));
    }
  }
}

TEST_F(PlacedFilesTest, SharesAreReadAsOneSignal) { expect_one_signal({0, 1, 2, 0, 1}, Layout::round_robin); }

TEST_F(PlacedFilesTest, FoldedSharesAreReadAsOneSignal) {
  expect_one_signal({0, 1, 2, 0, 2, 1, 0, 1, 2, 0, 2}, Layout::folded);
}

TEST_F(PlacedFilesTest, PairsAreReadAsOneSignal) {
  expect_one_signal({0, 0, 1, 1, 2, 2, 0, 0, 1, 1}, Layout::pairs);
  expect_one_signal({0, 0, 1, 1, 2, 2, 0}, Layout::pairs);  // half a pair at the end
}

TEST_F(PlacedFilesTest, ContiguousPartsAreReadAsOneSignal) {
  expect_one_signal({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}, Layout::contiguous, R"("part": 4, )");
  // The last one may be longer, or there may be nothing left for it.
  expect_one_signal({0, 0, 0, 1, 1, 1, 2, 2, 2, 2}, Layout::contiguous, R"("part": 3, )");
  expect_one_signal({0, 0, 0, 0, 1}, Layout::contiguous, R"("part": 4, )");
}

TEST_F(PlacedFilesTest, PartsOfNoSensibleLengthAreRefused) {
  for (const char* const more : {"", R"("part": 288230376151711745, )"}) {
    EXPECT_THROW(expect_one_signal({0, 1, 2}, Layout::contiguous, more), DataError);
  }
}

}  // namespace
}  // namespace papfft::app::io
