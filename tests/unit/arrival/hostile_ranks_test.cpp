// SPDX-License-Identifier: MIT
// Messages about arrivals and clocks that no rank of this version sends: the job ends with a line that names the sender.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "comm/arrival/arrival_exchange.hpp"
#include "comm/arrival/clock_sync.hpp"
#include "tests/support/hostile_transport.hpp"

namespace papfft::comm {
namespace {

using test::HostileTransport;
using test::Script;
using testing::HasSubstr;

/// A script of messages of numbers, one per poll.
class Messages {
 public:
  template <typename... Numbers>
  Messages& add(Numbers... numbers) {
    bytes_.push_back(std::byte{0});
    for (const std::int64_t number : {static_cast<std::int64_t>(numbers)...}) {
      const auto bytes = std::as_bytes(std::span(&number, 1));
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// What rank `rank` of two says when it steps until it throws.
template <typename Task, typename... Arguments>
std::string said_by(const Messages& messages, Rank rank, Arguments... arguments) {
  Script script(messages.bytes());
  HostileTransport transport(script, rank, 2);
  try {
    Task task(transport, arguments...);
    while (true) (void)task.step();
  } catch (const TransportError& error) {
    return error.what();
  }
}

std::string said_of_arrivals(const Messages& messages, Rank rank) {
  return said_by<ArrivalExchange>(
      messages, rank, Rank{0}, [] { return std::int64_t{0}; }, ArrivalExchange::Settings{}, 8);
}

TEST(HostileRanks, ADecisionAboutAnEarlierCallIsRefused) {
  const auto decision = [](Messages& to, std::int64_t call) -> Messages& {
    return to.add(call, 1, 0, 0, 0, 0);
  };
  Messages messages;
  decision(decision(messages, 5), 3);
  EXPECT_THAT(said_of_arrivals(messages, 1), HasSubstr("rank 0 decides too late about call 3"));
  Messages in_order;
  decision(decision(in_order, 3), 5);
  EXPECT_THAT(said_of_arrivals(in_order, 1), HasSubstr("have gone"));
}

TEST(HostileRanks, AReportAboutNoCallIsRefused) {
  EXPECT_THAT(said_of_arrivals(Messages().add(-2, 0, 0, 0, 0), 0),
              HasSubstr("rank 1 reports an arrival at call -2"));
  EXPECT_THAT(said_of_arrivals(Messages().add(0, 0, 0, 0, 0), 0), HasSubstr("have gone"));
}

TEST(HostileRanks, ATimeThatNoClockShowsIsRefused) {
  const auto local = [ns = std::int64_t{0}]() mutable { return ns += 1000; };
  const ClockSync::Settings settings{.period = std::chrono::microseconds(1)};
  for (const std::int64_t ns : {std::numeric_limits<std::int64_t>::max(), -kFarthestNs - 1}) {
    EXPECT_THAT(said_by<ClockSync>(Messages().add(0, ns), 1, ClockSource(local), settings, 1),
                HasSubstr("rank 0's clock shows " + std::to_string(ns)));
  }
  EXPECT_THAT(
      said_by<ClockSync>(Messages().add(kFarthestNs, -kFarthestNs), 1, ClockSource(local), settings, 1),
      HasSubstr("have gone"));
}

}  // namespace
}  // namespace papfft::comm
