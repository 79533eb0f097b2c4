// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/engine/call_planner.hpp"
#include "papfft/reducer.hpp"

namespace papfft::comm {

/// Which call comes next: the one that came after the present call the last time. Keeps copies of the reductions'
/// operations too, as a call that begins before its caller comes needs one.
class CallForecast {
 public:
  /// A call is under way. @param by_handle  a persistent call; its handle says itself when it can begin
  void note(const std::shared_ptr<const PlannedCall>& plan, bool by_handle);
  /// What came after the call under way the last time. nullptr: nothing is known, or a handle made it.
  [[nodiscard]] std::shared_ptr<const PlannedCall> next() const;

  /// A number for the call under way, and so for what comes after it: calls that differ are numbered in the order of their first
  /// appearance. The last number stands for all that are left. In [0, kPositions), the same on all ranks.
  [[nodiscard]] std::int32_t position() const;

  /// Keeps a copy of the operation, if it can be kept.
  void keep(const PlannedCall& plan, const Reducer* given);
  /// The kept copy of that name, or nullptr.
  [[nodiscard]] const Reducer* kept(const std::string& name) const;
  /// Names do not tell types of two unnamed namespaces apart.
  /// @throws std::invalid_argument  another operation than `given` was kept by this name
  void require_same(const std::string& name, const Reducer& given) const;

 private:
  static constexpr std::size_t kMostCalls = 4096;  // a program with more of them does not repeat any
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Place {
    std::shared_ptr<const PlannedCall> plan;  // the latest
    std::size_t after = kNone;                // the place of the call that came next
    bool is_after_by_handle = false;
  };
  [[nodiscard]] std::size_t place_of(const PlannedCall& plan);

  std::vector<Place> places_;
  std::map<std::string, std::size_t> place_by_call_;
  std::size_t last_ = kNone;                                        // the place of the call under way
  std::map<std::string, std::shared_ptr<const Reducer>> reducers_;  // by name; they outlive their calls
};

}  // namespace papfft::comm
