// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>

namespace papfft::comm::farm {

/// A message that is longer on its way is for a rank that is late: it does not use the link.
inline constexpr auto kLongestOnTheWay = std::chrono::seconds(1);

/// Whether dealing out makes the whole faster, which depends on more than can be reckoned (copies, messages, caches, cores
/// that ranks share): the rates with and without are measured in turns, each when what was under way before has ended, and
/// the better way is kept for many times as long.
class Trials {
  using Clock = std::chrono::steady_clock;

 public:
  [[nodiscard]] bool deal() const { return deal_; }

  /// The source had nothing: what has been measured means nothing.
  void disturbed() { steady_ = false; }

  /// @param here  by the root. @param away  tasks that others have now
  void task_done(bool here, std::size_t away) {
    const auto now = Clock::now();
    if (state_ == State::kept) {
      if (now < until_) return;
      change(State::with, now);
    }
    if (!steady_) {
      const bool ready = state_ == State::with ? !here : away == 0 || now - began_ > kLongestOnTheWay;
      if (ready) {
        steady_ = true;
        steady_since_ = now;
        tasks_ = returned_ = 0;
      }
      return;
    }
    ++tasks_;
    if (!here) ++returned_;
    const auto taken = now - steady_since_;
    if (tasks_ < kTasksOfTrial || taken < kLeastTrial) return;
    if (state_ == State::with) {
      if (returned_ < kReturnedOfTrial) return;
      rate_with_ = rate(taken);
      change(State::without, now);
      return;
    }
    const bool better_with = rate_with_ >= rate(taken);
    keep_for_ = better_with == kept_before_ ? std::min(2 * keep_for_, kMostKept) : kLeastKept;
    kept_before_ = better_with;
    until_ = now + keep_for_ * (now - first_began_);
    change(State::kept, now);
    deal_ = better_with;
  }

 private:
  enum class State { with, without, kept };
  static constexpr int kTasksOfTrial = 12;
  static constexpr int kReturnedOfTrial = 4;
  static constexpr auto kLeastTrial = std::chrono::milliseconds(10);
  static constexpr int kLeastKept = 16;  // times as long as both trials took
  static constexpr int kMostKept = 128;

  void change(State to, Clock::time_point now) {
    state_ = to;
    deal_ = to == State::with;
    steady_ = false;
    began_ = now;
    if (to == State::with) first_began_ = now;
  }
  [[nodiscard]] double rate(Clock::duration taken) const {
    return tasks_ / std::chrono::duration<double>(taken).count();
  }

  State state_ = State::with;
  bool deal_ = true;
  bool steady_ = false;
  int tasks_ = 0;
  int returned_ = 0;
  double rate_with_ = 0;
  int keep_for_ = kLeastKept;
  bool kept_before_ = true;
  Clock::time_point began_ = Clock::now();
  Clock::time_point first_began_ = began_;
  Clock::time_point steady_since_;
  Clock::time_point until_;
};

}  // namespace papfft::comm::farm
