// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "comm/choose/decision_table.hpp"

namespace papfft::app {

/// Finds the fastest of many ways to carry out a call with few calls: all ways get a first call, those that are near the best get more,
/// in turns, and so on. Pure but for what measures.
class WayRace {
 public:
  /// Time of one call in s, the same on all ranks; nothing: this way does not work here.
  using Timer = std::function<std::optional<double>(const std::string& way)>;

  /// @param budget_s  of measured time, after which only the ways that are kept in any case get a call, if they have had none
  WayRace(Timer time_of, double budget_s) : time_of_(std::move(time_of)), budget_s_(budget_s) {}

  /// @param keep  it stays in the race, however slow it is
  void add(const std::string& way, bool keep = false);
  /// Calls each way that is still in the race so often, in turns. Drops those whose least time is more than `factor` times the best.
  /// @return what it dropped
  std::vector<std::string> round(int calls, double factor);
  [[nodiscard]] bool has_time() const { return spent_s_ <= budget_s_; }

  /// Whoever wins a race of many has had luck as well. So the best few and the usual way meet again, and these new times replace the
  /// old ones. From then on no other way counts as faster than the usual one.
  /// @param budget_s  of measured time; if it does not suffice, what was known stays
  void confirm(const std::string& usual, int calls, double budget_s);

  /// The ways that are still in the race, the fastest first, by their typical times. Of many ways that are equally fast, some come
  /// out ahead by chance. So a way that is not surely faster than the usual one, by kLeastGain with p < kMostDoubt, is given the
  /// usual one's time.
  /// @param usual  its name; one that is not in the race changes nothing
  [[nodiscard]] std::vector<comm::DecisionTable::Way> ways(const std::string& usual = {}) const;

  static constexpr double kMostDoubt = 0.01;
  static constexpr double kLeastGain = 0.05;  // less is not worth leaving what everybody uses
  static constexpr std::size_t kConfirmed = 3;
  /// Calls: no fewer can give such a p. Calls that get fewer are long and vary little.
  static constexpr std::size_t kFewestToTell = 5;

 private:
  struct Runner {
    std::string name;
    bool keep = false;
    std::vector<double> times_s = {};
    bool is_confirmed = false;  // its times are from when the best met again
    [[nodiscard]] double least() const;
    /// The median; of few calls the least, as one that something else delayed would decide.
    [[nodiscard]] double typical() const;
  };
  [[nodiscard]] Runner* find(const std::string& way);
  [[nodiscard]] static bool is_surely_faster(const Runner& way, const Runner& usual);

  Timer time_of_;
  double budget_s_;
  double spent_s_ = 0;
  std::vector<Runner> runners_;
  std::mt19937_64 random_{1};  // the same on all ranks
};

}  // namespace papfft::app
