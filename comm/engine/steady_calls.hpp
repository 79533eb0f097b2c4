// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/engine/call_planner.hpp"
#include "comm/engine/execution.hpp"
#include "comm/engine/pending_calls.hpp"

namespace papfft::comm {

/// A call as it was planned and run before.
struct SteadyCall {
  std::shared_ptr<const PlannedCall> plan = nullptr;
  std::shared_ptr<const PlannedCall> stock =
      nullptr;  ///< the same by the MPI library, once it has been asked for
  std::unique_ptr<Execution> execution = nullptr;  ///< of the last run that was waited for, to be restarted
  std::vector<std::shared_ptr<PendingCall>> ended = {};  ///< that were started and are over, to be restarted

  [[nodiscard]] const std::shared_ptr<const PlannedCall>& stock_plan() {
    if (stock == nullptr) stock = std::make_shared<const PlannedCall>(as_stock(*plan));
    return stock;
  }
};

/// The calls that a group has made of late, so that what a program repeats is planned once: no schedule, no look-up by name, no
/// allocation the next time. For calls of one thread at a time; dropped with the group.
class SteadyCalls {
 public:
  /// Of the calls made longest ago, plan and execution are dropped. Whoever asks before a call who will serve it (preload/) asks for another one.
  static constexpr std::size_t kMost = 32;

  /// That call, planned anew if it is none of those kept. @param waits  its caller waits for its end @throws as CallPlanner::plan
  [[nodiscard]] std::shared_ptr<SteadyCall> find(const CallPlanner& planner, const CallArguments& arguments,
                                                 bool waits);
  /// Who keeps that plan, or nullptr.
  [[nodiscard]] std::shared_ptr<SteadyCall> holder_of(const PlannedCall& plan) const;
  /// What plans depend on has changed.
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    CallArguments arguments;  // of its buffers, only whether and how long they are; its names are below
    std::string algorithm;
    std::vector<std::size_t> block_bytes;
    std::vector<std::size_t> recv_block_bytes;
    bool waits = true;
    bool is_ordered = false;
    bool is_stock = false;
    SteadyCall call;
    std::uint64_t used = 0;
  };

  static bool is_same(const Entry& entry, const CallArguments& arguments);

  std::vector<std::shared_ptr<Entry>> entries_;
  std::uint64_t clock_ = 0;
};

}  // namespace papfft::comm
