// SPDX-License-Identifier: MIT
#include "comm/engine/call_watch.hpp"

#include <algorithm>
#include <utility>

namespace papfft::comm {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestPause{500};  // of a process that runs, on a busy machine
constexpr milliseconds kLookEvery{100};

}  // namespace

Patience::Clock::duration Patience::look() {
  const auto now = Clock::now();
  waited_ += std::min<Clock::duration>(now - last_, kLongestPause);
  last_ = now;
  return waited_;
}

CallWatch::CallWatch(std::chrono::nanoseconds limit, std::function<void()> alarm)
    : limit_(limit), alarm_(std::move(alarm)), thread_([this] { watch(); }) {}

CallWatch::~CallWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CallWatch::begins() noexcept {
  const std::lock_guard lock(mutex_);
  is_under_way_ = true;
  ++calls_;
}

void CallWatch::ends() noexcept {
  const std::lock_guard lock(mutex_);
  is_under_way_ = false;
}

void CallWatch::watch() {
  const auto step = std::min<std::chrono::nanoseconds>(kLookEvery, limit_ / 2);
  Patience patience;
  std::uint64_t watched = 0;  // the number of that call
  std::uint64_t told = 0;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, step, [&] { return stopping_; })) {
    if (!is_under_way_ || std::exchange(watched, calls_) != calls_) patience = {};
    if (patience.look() < limit_ || std::exchange(told, watched) == watched) continue;
    alarm_();
  }
}

}  // namespace papfft::comm
