// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace papfft::comm {

/// What all ranks together saw, each number a sum over the ranks.
struct GuardReport {
  std::int64_t incumbent_ns = 0;   ///< in a pair's call by the way in use
  std::int64_t challenger_ns = 0;  ///< in its call by the other way
  std::int64_t overhead_ns = 0;    ///< that the guard itself took since the last report
};

/// Two ways for calls of one kind and about one size: the one that "auto" chose, and the MPI library's. One of them is in use, the
/// incumbent. The other, the challenger, gets a call now and then, next to one by the incumbent: a pair. Whoever loses the
/// pairs is dropped, and becomes the challenger.
///
/// What a challenger may lose is bounded (kBudget), so that a slow one is tried seldom. One that neither wins nor loses is tried at
/// intervals that grow.
///
/// Pure: no clock, no messages. All ranks count the calls alike and are given the same reports, so all go the same way.
class Guard {
 public:
  /// What the next call is.
  struct Turn {
    bool is_stock = false;       ///< goes by the MPI library
    bool is_challenger = false;  ///< goes by the way that is not in use
    bool is_timed = false;       ///< is one of a pair
    bool reports = false;        ///< goes together with a report
  };

  /// Of the time in all calls, what trials may cost. Beside that, what the first two pairs lose.
  static constexpr double kBudget = 0.005;
  /// Less than this ratio is no gain.
  static constexpr double kWorth = 1.03;
  /// The challenger takes over after as many pairs as these ...
  static constexpr std::size_t kFewestPairs = 3;
  /// ... if it has won all the last n of them by more than the n-th root of this: 3 by 2, 5 by 1.52, or 9 by 1.26;
  static constexpr double kClearWin = 8;
  /// or after as many as these, if chance would let it win so often less often than this, and if the median gain is worth it.
  static constexpr std::size_t kPairs = 10;
  static constexpr double kChance = 0.01;
  static constexpr std::size_t kPairsKept = 20;
  /// Most calls between two pairs, unless the budget says more.
  static constexpr std::int64_t kLongestPause = 1000;

  [[nodiscard]] Turn turn() const;
  /// That call has ended. @param all  of all ranks, if it reported
  void call_ended(const GuardReport& all = {});

  [[nodiscard]] std::int64_t calls() const { return calls_; }
  [[nodiscard]] std::int64_t pairs() const { return pairs_made_; }
  [[nodiscard]] std::int64_t changes() const { return changes_; }
  [[nodiscard]] bool is_stock_in_use() const { return is_stock_in_use_; }

 private:
  enum class Step : std::uint8_t { plain, first, second, report };
  struct Pair {
    std::int64_t incumbent_ns;
    std::int64_t challenger_ns;
    /// How many times as long the incumbent took.
    [[nodiscard]] double gain() const;
  };

  [[nodiscard]] bool challenger_is_first() const;
  void learn(const GuardReport& all);
  [[nodiscard]] bool challenger_wins_clearly() const;
  [[nodiscard]] bool challenger_wins_often() const;
  void change();
  /// So many calls until the next pair, so that the challenger keeps to its budget.
  [[nodiscard]] std::int64_t pause_by_budget() const;

  Step step_ = Step::plain;
  std::int64_t plain_calls_left_ = 1;  // the first calls set up connections and memory
  bool has_begun_ = false;             // all ranks have reported once
  bool is_stock_in_use_ = false;
  std::int64_t calls_ = 0;
  std::int64_t reported_calls_ = 0;
  std::int64_t pairs_made_ = 0;
  std::int64_t changes_ = 0;
  std::int64_t pause_ = 0;    // plain calls between two pairs, by what the challenger won
  double spent_ns_ = 0;       // in all calls
  double lost_ns_ = 0;        // by the challenger's calls and the guard's own messages
  double typical_ns_ = 0;     // of a call by the incumbent
  std::vector<Pair> last_{};  // the oldest first
};

}  // namespace papfft::comm
