// SPDX-License-Identifier: MIT
// What an abandoned execution leaves behind: messages under way still use what it staged.
#include <gtest/gtest.h>

#include <algorithm>

#include "comm/engine/execution.hpp"
#include "comm/engine/layout.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {
namespace {

/// No message ever ends. At its own end the channel does what a network may: it writes to where receives go and reads
/// what is sent.
class EndlessChannel final : public Channel {
 public:
  explicit EndlessChannel(bool& kept) : kept_any_(kept) {}
  ~EndlessChannel() override {
    for (const std::span<std::byte> to : receives_) std::ranges::fill(to, std::byte{0xff});
    for (const std::span<const std::byte> from : sends_) sum_ += std::ranges::count(from, std::byte{1});
    kept_any_ = !take_kept().empty();
  }
  int isend(Rank /*target*/, int /*tag*/, std::span<const std::byte> data) override {
    sends_.push_back(data);
    return next_++;
  }
  int issend(Rank target, int tag, std::span<const std::byte> data) override {
    return isend(target, tag, data);
  }
  int irecv(Rank /*source*/, int /*tag*/, std::span<std::byte> data) override {
    receives_.push_back(data);
    return next_++;
  }
  bool poll(std::vector<int>& ended) override {
    if (!deliver_first_ || receives_.empty()) return false;
    deliver_first_ = false;
    ended.push_back(0);
    return true;
  }

 private:
  bool& kept_any_;
  bool deliver_first_ = true;  // so that an inner rank has something to pass on
  std::vector<std::span<std::byte>> receives_;
  std::vector<std::span<const std::byte>> sends_;
  std::ptrdiff_t sum_ = 0;
  int next_ = 0;
};

class EndlessTransport final : public Transport {
 public:
  explicit EndlessTransport(Rank rank) : rank_(rank) {}
  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return 4; }
  [[nodiscard]] int max_tag() const override { return 32767; }
  [[nodiscard]] int ranks_on_host() const override { return 1; }
  [[nodiscard]] bool threads_allowed() const override { return true; }
  [[nodiscard]] std::unique_ptr<Channel> open() override { return std::make_unique<EndlessChannel>(kept); }
  bool kept = false;

 private:
  Rank rank_;
};

TEST(AbandonedExecution, KeepsWhatItsMessagesUse) {
  constexpr std::size_t kBytes = 100000;
  for (const Algorithm* algorithm : algorithms()) {
    if (!moves_per_rank(algorithm->operation) || algorithm->operation == Operation::allgather ||
        is_reduction(algorithm->operation)) {
      continue;
    }
    for (Rank rank = 0; rank < 4; ++rank) {
      SCOPED_TRACE(std::string(to_string(algorithm->operation)) + " " + std::string(algorithm->name));
      EndlessTransport transport(rank);
      {
        RankSchedule part =
            make_rank_schedule(*algorithm, {.operation = algorithm->operation, .ranks = 4}, rank);
        std::vector<std::size_t> offsets = {0};
        for (int block = 0; block < part.shape.parts(); ++block) offsets.push_back(offsets.back() + kBytes);
        Layout sizes = make_layout(part.shape, rank, offsets, 1, {}, {}, {});
        Execution execution(std::move(part), std::move(sizes), transport, 0, {4, 4});
        while (execution.step()) {
        }
      }
      EXPECT_TRUE(transport.kept);
    }
  }
}

}  // namespace
}  // namespace papfft::comm
