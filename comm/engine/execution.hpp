// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/choose/select.hpp"
#include "comm/engine/credit_window.hpp"
#include "comm/engine/layout.hpp"
#include "comm/progress/progress.hpp"
#include "comm/schedule/core/schedule.hpp"
#include "comm/transport/transport.hpp"
#include "papfft/observer.hpp"
#include "papfft/reducer.hpp"

namespace papfft::comm {

/// One run of one rank's program over a transport: starts what may start (progress.hpp) and hears what has ended. It has no thread
/// and never waits.
///
/// Payload moves as bytes, directly between the caller's buffers where a message is contiguous there, else through
/// staging. Memory held, for a vector of m bytes: an inner rank stages what it hands on, at most m, and up to window.receives
/// messages of a reduction before they are combined; a root combines in the caller's buffer. Slots apart (combine_own_last)
/// are another m, into which the caller's contribution is combined in place, or from which into the root's buffer.
class Execution {
 public:
  /// @param instance  number of this call on the transport; the same on all ranks.
  /// @param reducer   needed by combining schedules; must outlive the execution.
  /// @param credits   of schedules with credits; must outlive the execution. None: one of its own.
  /// @param answered_from_bytes  a send between hosts of so many bytes ends when its receiver has begun to receive
  /// @throws std::invalid_argument  if the part, the layout, the transport and the reducer do not fit together.
  Execution(RankSchedule part, Layout layout, Transport& transport, std::uint32_t instance, Window window,
            const Reducer* reducer = nullptr, CreditWindow* credits = nullptr,
            std::size_t answered_from_bytes = kNoAnswers);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// The caller has come: its input is ready. Until then only ops run that do not need it (background.hpp).
  void arrive();
  /// The same, where the caller's buffers were not all known before: what has no place yet was staged.
  /// @throws std::invalid_argument  unless the layout has one entry per slot.
  void arrive(Layout where);
  /// The same for one that has been restarted.
  void arrive(const std::byte* send, std::byte* recv);

  /// Starts and ends what can be; never blocks. @return true if anything happened. @throws TransportError.
  bool step();

  /// Before the first step: it will be restarted.
  void keep_for_restart();
  /// After it is done: the same call again, on buffers of the same sizes (nullptr: not known yet). Nothing is allocated that an earlier run
  /// has allocated.
  void restart(std::uint32_t instance, const std::byte* send, std::byte* recv, const Reducer* reducer);

  /// Before the first step: `observer` is told of every message, if it wants that. Must outlive the execution.
  void observe(Observer* observer);
  /// Before the first step: `observer` is told of every op. Must outlive the execution.
  void observe(ProgressObserver* observer);
  /// When the first message began, if before arrive(), by steady_clock. Only known with an observer of messages.
  [[nodiscard]] std::optional<std::int64_t> early_ns() const;

  /// Whether sends remain that have not been started.
  [[nodiscard]] bool has_more_to_send() const;
  /// Messages with data that are still to come.
  [[nodiscard]] int receives_left() const;
  /// All ops have ended and the result is in place.
  [[nodiscard]] bool done() const;

  /// What this rank waits for now: "rank 1 (recv <-1 [0,4), 4096 bytes)", or "its caller", or "nothing".
  [[nodiscard]] std::string waits_for() const;

  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] std::uint64_t bytes_sent() const;
  /// Received into memory of the layer, because the caller's place was not known, not contiguous or not final.
  [[nodiscard]] std::uint64_t bytes_staged() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace papfft::comm
