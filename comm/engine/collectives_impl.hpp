// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/choose/select.hpp"
#include "comm/engine/execution.hpp"
#include "comm/engine/layout.hpp"
#include "comm/engine/pending_calls.hpp"
#include "comm/engine/steady_clock.hpp"
#include "comm/engine/wait.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/transport/transport.hpp"
#include "papfft/collectives.hpp"
#include "papfft/observer.hpp"

namespace papfft::comm {

/// What must be the same on all ranks of a call. Compared and sent as bytes, hence without padding.
struct CallSignature {
  std::uint64_t bytes = 0;   ///< of one block, of the vector, or of all blocks together
  std::uint64_t blocks = 0;  ///< a hash of the blocks' sizes, where they differ
  std::uint64_t element_bytes = 0;
  std::int32_t operation = 0;
  std::int32_t root = 0;
  std::int32_t ordered = 0;
  std::int32_t background = 0;
  std::int32_t automatic = 0;  ///< "auto" chose
  std::int32_t segments = 0;   ///< that were asked for, or 0
  std::array<char, 24> algorithm{};

  [[nodiscard]] std::string text() const;
  friend bool operator==(const CallSignature&, const CallSignature&) = default;
};

/// How a call came about. A call of each kind may have the same number, and their messages never meet.
enum class CallKind : std::uint32_t {
  plain,
  expected,  ///< as what followed the call before the last time
  started    ///< by a handle
};

inline constexpr std::uint32_t kCallKinds = 3;

/// @return  what Execution wants as instance
[[nodiscard]] inline std::uint32_t instance_of(std::uint32_t call, CallKind kind) {
  return (kCallKinds + kOperationCount) * call + static_cast<std::uint32_t>(kind);
}

/// Of the call with number `call` among the pending ones of an operation.
[[nodiscard]] inline std::uint32_t instance_of_pending(std::uint32_t call, Operation operation) {
  return (kCallKinds + kOperationCount) * call + kCallKinds + static_cast<std::uint32_t>(operation);
}

/// What a call comes down to, before there are buffers.
struct PlannedCall {
  CallSignature signature;
  Choice choice;
  int segments = 1;
  std::string reducer = {};               ///< its name, where a copy of it can work in the background
  std::vector<std::size_t> offsets = {};  ///< of the ranks' blocks and of their end, in the whole vector
};

struct Collectives::Impl {
  Impl(Transport& transport, const Options& options);

  /// @param waits  the caller waits for its end, so that "auto" may leave it to the MPI library
  /// @throws std::invalid_argument  no such root or algorithm
  [[nodiscard]] PlannedCall plan(const CallArguments& arguments, bool waits = true) const;
  /// How long a segment takes to be sent and combined, by the link model.
  [[nodiscard]] std::int64_t round_ns(const PlannedCall& plan) const;
  /// The arrivals that a call shall be planned by: "auto" plans by none that may be too far off.
  [[nodiscard]] std::vector<std::int64_t> trusted(const PlannedCall& plan,
                                                  std::vector<std::int64_t> arrival_ns,
                                                  std::int64_t error_ns) const;
  /// This rank's part. @param arrival_ns  expected arrivals, or empty
  [[nodiscard]] RankSchedule part(const PlannedCall& plan, std::vector<std::int64_t> arrival_ns) const;
  /// Sizes always, pointers where send and recv have data.
  [[nodiscard]] Layout layout(const PlannedCall& plan, const Shape& shape, std::span<const std::byte> send,
                              std::span<std::byte> recv) const;

  /// A planned call from its beginning to its end, arrivals unknown. @throws as finish()
  void run(const PlannedCall& plan, std::span<const std::byte> send, std::span<std::byte> recv,
           const Reducer* reducer);
  /// Steps an execution that has arrived until it is done. @throws StuckError and what step() throws
  void finish(Execution& execution, const CallSignature& signature);
  /// Calls step(), which says whether anything happened, until done(). Moves pending calls on, too.
  /// @param idle_is_fine  never stuck
  /// @throws StuckError  with what() after a time without progress
  template <typename Step, typename Done, typename What>
  void wait(Step step, Done done, What what, bool idle_is_fine = false) {
    Waiter waiter(options.wait, options.longest_nap, crowded);
    const PendingCalls::Watch watch(pending);
    std::uint64_t before = pending.progress();
    while (!done()) {
      const bool any = step();
      pending.step();
      const std::uint64_t now = pending.progress();  // also by another thread
      if (std::exchange(before, now) != now || any) {
        waiter.progressed();
        continue;
      }
      waiter.pause();
      if (!idle_is_fine && options.stuck_after.count() > 0 && waiter.idle_for() > options.stuck_after) {
        throw_stuck(what());
      }
    }
  }

  /// For throw_stuck.
  [[nodiscard]] std::string waits_for_pending() const {
    return "rank " + std::to_string(transport.rank()) + " waits for " + pending.waits_for();
  }
  /// Now; without an observer, nobody asks the clock.
  [[nodiscard]] std::int64_t observed_now_ns() const { return observer != nullptr ? steady_now_ns() : 0; }
  /// A call that has just ended. @param ahead_ns  by how much the caller was expected later than it came
  void tell_observer(const PlannedCall& plan, std::int64_t arrival_ns,
                     std::optional<std::int64_t> ahead_ns = std::nullopt,
                     std::optional<std::int64_t> early_ns = std::nullopt);

  /// A collective of our own, by a fixed algorithm, on bytes.
  void internal(Operation operation, std::span<const std::byte> send, std::span<std::byte> recv,
                std::size_t bytes, const char* algorithm, Rank root = 0);
  /// @throws MismatchError on every rank
  void check(const CallSignature& mine);
  [[noreturn]] void throw_stuck(const std::string& mine);

  Transport& transport;
  Options options;
  CreditWindow credits;
  bool crowded;
  bool stock = false;       // stock_call works
  bool background = false;  // there is somebody to run what comes before a call
  std::uint32_t calls = 0;
  std::array<std::uint32_t, kOperationCount> pending_calls{};  // started so far
  PendingCalls pending;
  CallStatistics last;
  Observer* observer = nullptr;
  std::uint64_t observed = 0;  // calls
};

}  // namespace papfft::comm
