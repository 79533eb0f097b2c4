// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "comm/transport/tags.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm::farm {

using Clock = std::chrono::steady_clock;

/// Tasks that one rank may have: one to work on, and one on its way.
inline constexpr int kPerRank = 2;

/// What the root says beside the tasks. kWait: a rank that gets no task shall not take the root for stuck.
enum Word : std::int64_t { kEnd, kWait };

/// Messages, each with what is to be done when it has ended.
class Messages {
 public:
  explicit Messages(Transport& transport) : max_tag_(transport.max_tag()), channel_(transport.open()) {}
  void send(Rank to, Service service, std::span<const std::byte> data, std::function<void()> then) {
    then_[channel_->isend(to, service_tag(max_tag_, service), data)] = std::move(then);
  }
  void receive(Rank from, Service service, std::span<std::byte> data, std::function<void()> then) {
    then_[channel_->irecv(from, service_tag(max_tag_, service), data)] = std::move(then);
  }
  bool poll() {
    if (then_.empty()) return false;
    ended_.clear();
    const bool any = channel_->poll(ended_);
    std::vector<std::function<void()>>
        calls;  // these may start messages, which may get the same tickets again
    for (const int ticket : ended_) calls.push_back(std::move(then_.at(ticket)));
    for (const int ticket : ended_) then_.erase(ticket);
    for (const auto& call : calls) call();
    return any;
  }
  [[nodiscard]] bool all_ended() const { return then_.empty(); }

 private:
  int max_tag_;
  std::unique_ptr<Channel> channel_;
  std::map<int, std::function<void()>> then_;
  std::vector<int> ended_;
};

/// True at most once in a while.
class Seldom {
 public:
  bool due() {
    const auto now = Clock::now();
    if (now < next_) return false;
    next_ = now + kEvery;
    return true;
  }

 private:
  static constexpr auto kEvery = std::chrono::microseconds(50);
  Clock::time_point next_;
};

}  // namespace papfft::comm::farm
