// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

namespace papfft::comm {

/// Which calls of an operation do without predicted arrivals because those of earlier calls were not worth planning by. To tell, gather
/// and decide arrivals costs such calls time for nothing.
///
/// All ranks count the same calls and decisions, so they agree without a message.
class ArrivalDoubt {
 public:
  static constexpr int kPatience =
      4;  ///< decisions in a row that were not planned by, before the first silence
  static constexpr int kShortestSilence = 4;  ///< calls
  static constexpr int kLongestSilence = 64;  ///< after which a program that has changed is noticed again

  /// The next call does without.
  [[nodiscard]] bool is_silent() const { return left_ > 0; }
  /// A call has done without.
  void pass() { --left_; }
  /// A decision has been made, and all arrivals were known. @param is_planned_by  they are good enough
  void decided(bool is_planned_by) {
    if (is_planned_by) {
      doubted_ = 0;
      silence_ = kShortestSilence;
    } else if (++doubted_ >= kPatience) {
      left_ = silence_;
      silence_ = std::min(2 * silence_, kLongestSilence);
    }
  }

 private:
  int doubted_ = 0;
  int silence_ = kShortestSilence;
  int left_ = 0;
};

}  // namespace papfft::comm
