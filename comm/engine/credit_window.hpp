// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>

namespace papfft::comm {

/// How many answers the receiver of a schedule with credits keeps under way, found out while it runs.
///
/// Too few, and the link idles while a grant travels and its sender wakes up; too many, and a buffer on the way overflows,
/// which costs retransmissions. The receiver sees both: all that it granted has landed before it looked again although
/// there was more to grant (drained), or an answer took very long (stalled). One more after a drain; half after a stall,
/// and then only seldom as many again. Kept from call to call.
class CreditWindow {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr int kLeast = 2;
  /// 4 chunks of 63 KiB: what 1 Gb/s carries in 2 ms, several wake-ups; and less than a small switch port holds.
  static constexpr int kFirst = 4;
  static constexpr int kMost = 128;

  /// @param fixed  so many for ever; 0: adapts.
  explicit CreditWindow(int fixed = 0) : fixed_(fixed > 0), size_(fixed > 0 ? fixed : kFirst) {}

  [[nodiscard]] int size() const { return size_; }

  /// An answer has landed, so long after its grant.
  void landed(Duration since_grant) {
    if (fixed_) return;
    const bool stalled = usual_ > Duration::zero() && since_grant > std::max(kStall, kStallFactor * usual_);
    if (!stalled) usual_ = usual_ > Duration::zero() ? usual_ + (since_grant - usual_) / 16 : since_grant;
    if (unsettled_ > 0) {
      --unsettled_;
    } else if (stalled) {
      ceiling_ = size_;
      unsettled_ = size_;
      size_ = std::max(kLeast, size_ / 2);
      probes_ = 0;
    }
  }

  /// Nothing was under way although more was to be granted.
  void drained() {
    if (fixed_ || size_ == kMost) return;
    if (size_ + 1 >= ceiling_) {
      if (++probes_ < kDrainsPerProbe) return;
      probes_ = 0;
      ceiling_ = size_ + 2;
    }
    ++size_;
  }

 private:
  // A lost packet shows after milliseconds (tail-loss probe) or hundreds of them (time-out); a sender that has to wait for
  // a core takes some milliseconds, too.
  static constexpr Duration kStall = std::chrono::milliseconds(15);
  static constexpr int kStallFactor = 5;
  static constexpr int kDrainsPerProbe = 100;

  bool fixed_;
  int size_;
  int ceiling_ = kMost + 1;  // so many stalled
  int probes_ = 0;           // drains since that are worth no more than a doubt
  int unsettled_ = 0;        // answers granted before the last change
  Duration usual_{0};
};

}  // namespace papfft::comm
