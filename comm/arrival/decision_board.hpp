// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "comm/arrival/prediction_judge.hpp"
#include "comm/choose/select.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// How a rank knows the arrival that it reports. In the order of how much it is worth.
enum class Basis : std::int32_t {
  history,  ///< earlier iterations
  edge,     ///< the progress of this one
  arrived,  ///< it is there; nobody loses by deciding later
  waiting,  ///< it is there, and loses time until the decision is made
  alone,    ///< the same, but the decider alone goes by the decision: nobody is told
};

/// How many positions in a program's sequence of calls are told apart.
inline constexpr std::int32_t kPositions = 64;

/// A call at which a rank was expected, and when it came. Both on the reference clock.
struct PastArrival {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  std::int64_t predicted_ns = kNone;  ///< kNone: nothing was predicted
  std::int64_t arrived_ns = 0;
};

/// No clock shows a time beyond 63 years. Whatever other ranks send is taken for a time within, so that sums and differences of times fit
/// into 64 bits.
inline constexpr std::int64_t kFarthestNs = 2'000'000'000'000'000'000;
[[nodiscard]] constexpr std::int64_t within_reach(std::int64_t ns) {
  return std::clamp(ns, -kFarthestNs, kFarthestNs);
}

/// What one rank says about its arrival at one call. Sent as bytes, hence without padding.
struct ArrivalReport {
  std::int64_t iteration = 0;
  std::int64_t arrival_ns = 0;  ///< reference clock
  PastArrival past = {};        ///< the last time at this position
  Basis basis = Basis::history;
  /// In the program's sequence of calls, the same on all ranks: in [0, kPositions).
  std::int32_t position = 0;
};

/// Of arrivals that are no predictions, as all ranks have come.
inline constexpr PredictionError kNoError = {.error_ns = 0, .together_ns = kUnknownErrorNs};

/// What all ranks of a call know about everybody's arrival: either the same vector, or alike nothing.
struct Decision {
  std::int64_t iteration = 0;
  std::vector<std::int64_t> arrival_ns;  ///< one per rank, or empty: use an arrival-oblivious algorithm
  PredictionError error = {};            ///< of such a vector
  bool is_for_all = true;                ///< or the decider alone goes by it
  [[nodiscard]] bool oblivious() const { return arrival_ns.empty(); }
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// The decider's table: collects the ranks' reports and says when a decision must be made, and which.
///
/// Reports of one rank come in order, so that one place per rank is enough: a rank that reports about iteration i + 1
/// has left call i, hence knows its decision or had no use for it.
///
/// It judges predictions per position by what the reports say about the last time, hence also those that nobody has used.
class DecisionBoard {
 public:
  /// @param lead_ns  a full table of mere predictions is decided so long before the first predicted arrival.
  /// @throws std::invalid_argument unless ranks >= 1 and `decider` is one of them.
  DecisionBoard(int ranks, Rank decider, std::int64_t lead_ns);

  /// The newest report of a rank replaces its last; one about an iteration that is decided already is dropped.
  void report(Rank rank, const ArrivalReport& report);

  /// The next decision that is due at now_ns, if any; each iteration is decided once, in ascending order:
  /// - once every rank has reported about it with a basis better than history, or
  /// - lead_ns before the earliest arrival, if every rank has reported at all, or
  /// - at once when some rank waits for it, or the decider itself has arrived: with the vector if every rank has
  ///   reported, otherwise oblivious.
  [[nodiscard]] std::optional<Decision> decide(std::int64_t now_ns);

  /// When the next decision may be due, as far as the reports tell: lead_ns before the earliest reported arrival.
  [[nodiscard]] std::optional<std::int64_t> due_ns() const;

 private:
  [[nodiscard]] PredictionError judge();
  /// The iteration that every rank's report is about and that is not decided.
  [[nodiscard]] std::optional<std::int64_t> complete() const;

  struct Place {
    ArrivalReport report;
    bool used = false;
  };
  std::vector<Place> places_;
  Rank decider_;
  std::int64_t lead_ns_;
  std::optional<std::int64_t> decided_;  // the newest
  std::vector<PredictionJudge> judges_;  // by position, as far as there are any
};

/// How a call may use predicted arrivals without anybody waiting longer than the collective would make it wait anyway.
enum class ArrivalUse : std::uint8_t {
  none,     ///< run an arrival-oblivious algorithm without asking
  patient,  ///< the decision may come as late as the decider's own arrival (Basis::arrived)
  urgent,   ///< a rank that is there needs the decision now (Basis::waiting)
  alone     ///< the decider needs it now, and goes by it alone (Basis::alone)
};

/// A rule on values that are the same on all ranks, so that all choose alike without a message.
/// @param root              ignored for operations without a root
/// @param decider_has_thread  the decider answers while its caller computes
/// @param block_bytes       of one rank's block, or of the vector. Of blocks whose sizes only their owners know: the longest that this
///                          rank knows. So the root asks if any other rank tells its arrival.
/// @param eager_bytes       messages up to this size leave their sender before the receiver is ready
[[nodiscard]] ArrivalUse arrival_use(Operation operation, Rank root, Rank decider, bool decider_has_thread,
                                     std::size_t block_bytes, std::size_t eager_bytes);

}  // namespace papfft::comm
