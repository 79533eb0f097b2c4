// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/forwarding_transport.hpp"

namespace papfft::comm::test {

/// Counts some of the messages that a rank sends and receives.
class MessageCounter final : public ForwardingTransport {
 public:
  struct Message {
    bool is_sent = false;
    int tag = 0;
    std::size_t bytes = 0;
  };
  using Counts = std::function<bool(const Message&)>;

  /// @param counts  which messages; called by any thread
  MessageCounter(Transport& of, Counts counts) : ForwardingTransport(of), counts_(std::move(counts)) {}
  [[nodiscard]] std::unique_ptr<Channel> open() override {
    return std::make_unique<Counter>(*this, ForwardingTransport::open());
  }
  std::atomic<int> messages = 0;

 private:
  class Counter final : public Channel {
   public:
    Counter(MessageCounter& by, std::unique_ptr<Channel> of) : by_(by), of_(std::move(of)) {}
    [[nodiscard]] int isend(Rank target, int tag, std::span<const std::byte> data) override {
      count({true, tag, data.size()});
      return of_->isend(target, tag, data);
    }
    [[nodiscard]] int issend(Rank target, int tag, std::span<const std::byte> data) override {
      count({true, tag, data.size()});
      return of_->issend(target, tag, data);
    }
    [[nodiscard]] int irecv(Rank source, int tag, std::span<std::byte> data) override {
      count({false, tag, data.size()});
      return of_->irecv(source, tag, data);
    }
    bool poll(std::vector<int>& ended) override { return of_->poll(ended); }
    void move_on() override { of_->move_on(); }

   private:
    void count(const Message& message) { by_.messages += by_.counts_(message) ? 1 : 0; }
    MessageCounter& by_;
    std::unique_ptr<Channel> of_;
  };

  Counts counts_;
};

}  // namespace papfft::comm::test
