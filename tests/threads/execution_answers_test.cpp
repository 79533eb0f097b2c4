// SPDX-License-Identifier: MIT
// Which sends wait for their receiver's answer, so that the window bounds what is in the network.
#include <gtest/gtest.h>

#include "comm/choose/select.hpp"
#include "comm/engine/execution.hpp"
#include "comm/engine/layout.hpp"
#include "comm/schedule/core/registry.hpp"
#include "papfft/reducer.hpp"

namespace papfft::comm {
namespace {

/// Counts sends; no message ever ends.
class CountingTransport final : public Transport {
 public:
  explicit CountingTransport(int ranks_on_host = 1) : ranks_on_host_(ranks_on_host) {}
  [[nodiscard]] Rank rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 8; }
  [[nodiscard]] int max_tag() const override { return 32767; }
  [[nodiscard]] int ranks_on_host() const override { return ranks_on_host_; }
  [[nodiscard]] bool threads_allowed() const override { return true; }
  [[nodiscard]] std::unique_ptr<Channel> open() override { return std::make_unique<Counting>(*this); }
  int plain = 0;
  int answered = 0;

 private:
  int ranks_on_host_;

  class Counting final : public Channel {
   public:
    explicit Counting(CountingTransport& count) : count_(count) {}
    int isend(Rank /*target*/, int /*tag*/, std::span<const std::byte> /*data*/) override {
      ++count_.plain;
      return next_++;
    }
    int issend(Rank /*target*/, int /*tag*/, std::span<const std::byte> /*data*/) override {
      ++count_.answered;
      return next_++;
    }
    int irecv(Rank /*source*/, int /*tag*/, std::span<std::byte> /*data*/) override { return next_++; }
    bool poll(std::vector<int>& /*ended*/) override { return false; }

   private:
    CountingTransport& count_;
    int next_ = 0;
  };
};

/// The root's or rank 0's sends of an arrived execution that hears nothing.
CountingTransport sends_of(Operation operation, std::string_view algorithm, std::size_t bytes, int segments,
                           int ranks_on_host = 1) {
  CountingTransport transport(ranks_on_host);
  RankSchedule part = make_rank_schedule(find_algorithm(operation, algorithm),
                                         {.operation = operation, .ranks = 8, .segments = segments}, 0);
  std::vector<std::byte> data(bytes);
  const std::vector<std::size_t> offsets = {0, bytes};
  Layout layout = make_layout(part.shape, 0, offsets, 1, {}, data, data);
  const ElementReducer<std::byte, std::bit_or<>> reducer({}, true);
  const Window window = select_window(part.shape, bytes, Options{});
  Execution execution(std::move(part), std::move(layout), transport, 0, window, &reducer, nullptr,
                      answered_from_bytes(operation, bytes, LinkModel{}));
  execution.arrive();
  while (execution.step()) {
  }
  return transport;
}

TEST(AnsweredSends, BoundWhatABroadcastHasUnderWay) {
  for (const char* algorithm : {"circulant", "chain"}) {
    const CountingTransport root = sends_of(Operation::bcast, algorithm, 1'600'000, 160);
    EXPECT_EQ(root.answered, 2) << algorithm;
    EXPECT_EQ(root.plain, 0) << algorithm;
  }
}

TEST(AnsweredSends, AreThoseOfAllreduces) {
  const CountingTransport rank = sends_of(Operation::allreduce, "ring", 1'048'576, 1);
  EXPECT_GT(rank.answered, 0);
  EXPECT_EQ(rank.plain, 0);
}

TEST(AnsweredSends, AreNotWorthItInsideAHost) {
  const CountingTransport root = sends_of(Operation::bcast, "chain", 1'600'000, 160, 8);
  EXPECT_EQ(root.answered, 0);
  EXPECT_EQ(root.plain, 2);
}

/// A message of 10 000 bytes takes as long as the latency.
TEST(AnsweredSends, AreNotWorthItForShortMessages) {
  const CountingTransport root = sends_of(Operation::bcast, "circulant", 1'599'840, 160);
  EXPECT_EQ(root.answered, 0);
  EXPECT_EQ(root.plain, 2);
}

TEST(AnsweredSends, AreNotWorthItForShortVectors) {
  const CountingTransport root = sends_of(Operation::bcast, "circulant", 320'000, 16);
  EXPECT_EQ(root.answered, 0);
  EXPECT_EQ(root.plain, 2);
}

}  // namespace
}  // namespace papfft::comm
