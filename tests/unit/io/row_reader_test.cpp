// SPDX-License-Identifier: MIT
#include "app/row_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace papfft::app {
namespace {

using Reader = RowReader<double>;
constexpr auto kLong = std::chrono::seconds(60);

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

}  // namespace
}  // namespace papfft::app
