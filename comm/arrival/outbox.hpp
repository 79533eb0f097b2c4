// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// Keeps small messages alive until they have left. For one channel.
class Outbox {
 public:
  void send(Channel& channel, Rank target, int tag, std::span<const std::byte> data) {
    if (messages_ == nullptr) channel.keep(messages_ = std::make_shared<Messages>());
    std::vector<std::byte> copy(data.begin(), data.end());
    const int ticket = channel.isend(target, tag, copy);
    messages_->emplace(ticket, std::move(copy));  // moving a vector leaves its bytes where they are
  }
  /// @return true if the ticket was one of this outbox.
  bool ended(int ticket) { return messages_ != nullptr && messages_->erase(ticket) > 0; }
  [[nodiscard]] bool empty() const { return messages_ == nullptr || messages_->empty(); }

 private:
  using Messages = std::unordered_map<int, std::vector<std::byte>>;
  std::shared_ptr<Messages> messages_;
};

}  // namespace papfft::comm
