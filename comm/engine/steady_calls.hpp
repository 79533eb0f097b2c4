// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/engine/call_planner.hpp"
#include "comm/engine/execution.hpp"

namespace papfft::comm {

/// A call as it was planned and run before.
struct SteadyCall {
  PlannedCall plan;
  std::unique_ptr<Execution> execution = nullptr;  ///< that of the last run, to be restarted
};

/// The calls that a group has made of late, so that what a program repeats is planned once: no schedule, no look-up by name, no
/// allocation the next time. For calls that are waited for, of one thread at a time; dropped with the group.
class SteadyCalls {
 public:
  /// Of the calls made longest ago, plan and execution are dropped.
  static constexpr std::size_t kMost = 16;

  /// That call, planned anew if it is none of those kept. Valid until the next call of this function or of clear().
  /// @throws as CallPlanner::plan
  [[nodiscard]] SteadyCall& find(const CallPlanner& planner, const CallArguments& arguments);
  /// What plans depend on has changed.
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    CallArguments arguments;  // of its buffers, only whether and how long they are; its names are below
    std::string algorithm;
    std::vector<std::size_t> block_bytes;
    std::vector<std::size_t> recv_block_bytes;
    bool is_ordered = false;
    bool is_stock = false;
    SteadyCall call;
    std::uint64_t used = 0;
  };

  static bool is_same(const Entry& entry, const CallArguments& arguments);

  std::vector<std::unique_ptr<Entry>> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace papfft::comm
