// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Finds the other end of each message: the k-th send from a to b meets the k-th receive of b from a.
class MessageMatcher {
 public:
  /// Numbers the next op of `rank` 0, 1, ... through all programs. Each rank's ops come in program order.
  void add(Rank rank, const Op& op);

  /// @return per op the number of the other end; -1 of local ops and of messages that nobody meets
  [[nodiscard]] std::vector<int> partners();

 private:
  struct End {
    Rank source = 0;
    Rank target = 0;
    int number = 0;
  };
  std::vector<End> sends_;
  std::vector<End> receives_;
  int count_ = 0;
};

}  // namespace papfft::comm
