// SPDX-License-Identifier: MIT
#include "app/jobs/row_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/repository.hpp"
#include "tests/support/scratch_folder.hpp"

namespace papfft::app {
namespace {

using Reader = RowReader<double>;
constexpr auto kLong = std::chrono::seconds(60);
constexpr std::size_t kMany = 1000000;

/// A pipe of doubles.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void write(const std::vector<double>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    ASSERT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void close() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  [[nodiscard]] std::shared_ptr<io::Source> source() const {
    return io::open_source("/dev/fd/" + std::to_string(ends_[0]),
                           {.raw_type = io::raw_type_from("rf64_le"), .channel = {}});
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(RowReaderTest, GivesRowsAsTheyComeAndThenTheRest) {
  Pipe pipe;
  pipe.write({1, 2, 3});
  Reader reader(pipe.source(), 2, 0);
  auto next = reader.next(kLong);
  ASSERT_EQ(next.state, Reader::State::row);
  EXPECT_EQ(next.row[1], 2);
  EXPECT_EQ(reader.next().state, Reader::State::later);
  pipe.write({4, 5});
  pipe.close();
  next = reader.next(kLong);
  ASSERT_EQ(next.state, Reader::State::row);
  EXPECT_EQ(next.row[0], 3);
  EXPECT_EQ(reader.next(kLong).state, Reader::State::end);
  ASSERT_EQ(reader.left_over().size(), 1U);
  EXPECT_EQ(reader.left_over()[0], 5);
}

TEST(RowReaderTest, NeedNotWaitForAPipeThatStaysOpen) {
  Pipe pipe;
  pipe.write({1, 2, 3});
  Reader reader(pipe.source(), 2, 0);
  EXPECT_EQ(reader.next(kLong).state, Reader::State::row);
  EXPECT_EQ(reader.next(std::chrono::milliseconds(1)).state, Reader::State::later);
}  // which returns

TEST(RowReaderTest, RowsThatWereDoneBeforeMustBeThere) {
  for (const std::size_t first : {2U, 3U}) {
    Pipe pipe;
    pipe.write({1, 2, 3, 4});
    pipe.close();
    Reader reader(pipe.source(), 2, first);
    if (first == 2) {
      EXPECT_EQ(reader.next(kLong).state, Reader::State::end);
    } else {
      EXPECT_THROW((void)reader.next(kLong), io::DataError);
    }
  }
}

TEST(RowReaderTest, AFilesShortRowsComeInRuns) {
  const test::ScratchFolder folder;
  std::vector<double> values(300001);
  std::iota(values.begin(), values.end(), 0.0);
  const auto source = [&]() -> std::shared_ptr<io::Source> {
    return io::open_source(folder.file("rows.raw", test::bytes_of(values)),
                           {.raw_type = io::raw_type_from("rf64_le"), .channel = {}});
  };
  for (const std::uint64_t first : {0U, 7U}) {
    Reader reader(source(), 3, first);
    std::size_t rows = first;
    std::size_t runs = 0;
    for (Reader::Next run; (run = reader.next(kLong, kMany)).state == Reader::State::row; ++runs) {
      ASSERT_TRUE(run.count > 0 && run.count <= Reader::longest_run(3));
      ASSERT_TRUE(std::equal(run.row, run.row + 3 * run.count, values.begin() + 3 * static_cast<int>(rows)));
      rows += run.count;
    }
    EXPECT_EQ(rows, values.size() / 3);
    EXPECT_LT(runs, 100U);
    ASSERT_EQ(reader.left_over().size(), values.size() % 3);
    EXPECT_EQ(reader.left_over()[0], values.back());
  }
  // One by one and in runs, in turns.
  Reader reader(source(), 3, 0);
  for (std::size_t row = 0; row < 1000; row += 10) {
    auto next = reader.next(kLong);
    ASSERT_EQ(next.state, Reader::State::row);
    ASSERT_EQ(next.row[0], values[3 * row]);
    for (std::size_t i = 1; i < 10; ++i) ASSERT_EQ(reader.next(kLong).row[0], values[3 * (row + i)]);
  }
  const Reader::Next rest = reader.next(kLong, kMany);
  ASSERT_EQ(rest.state, Reader::State::row);
  EXPECT_EQ(rest.row[0], values[3000]);
}

TEST(RowReaderTest, TheRowsBeforeWhatIsWrongCome) {
  const test::ScratchFolder folder;
  const std::string path = folder.file("rows.raw", std::string(8000, 'x'));
  const std::shared_ptr<io::Source> source =
      io::open_source(path, {.raw_type = io::raw_type_from("rf64_le"), .channel = {}});
  ASSERT_EQ(::truncate(path.c_str(), 4200), 0);
  Reader reader(source, 10, 0);
  std::size_t rows = 0;
  EXPECT_THROW(
      {
        while (reader.next(kLong).state == Reader::State::row) ++rows;
      },
      io::DataError);
  EXPECT_EQ(rows, 52U);
}

TEST(RowReaderTest, ALengthThatNoMemoryHasIsRefused) {
  Pipe pipe;
  pipe.write({1});
  pipe.close();
  for (const int bits : {60, 61, 62, 63}) {
    EXPECT_THROW(Reader(pipe.source(), std::uint64_t{1} << bits, 0), std::bad_alloc);
  }
}

}  // namespace
}  // namespace papfft::app
