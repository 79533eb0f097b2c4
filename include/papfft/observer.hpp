// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "papfft/export.h"
#include "papfft/operation.hpp"

namespace papfft::comm {

/// One collective call of one rank, when it has ended. Times in ns of std::chrono::steady_clock.
struct CallRecord {
  Operation operation = Operation::scatter;
  std::string_view algorithm;  ///< its text lives as long as the program
  bool started = false;        ///< by Collectives::start, so the call went on beside its caller
  std::uint64_t number = 0;    ///< among the group's calls, or among the started calls of this operation
  int root = 0;
  std::size_t bytes = 0;                          ///< as CallArguments
  std::int64_t arrival_ns = 0;                    ///< the caller arrived
  std::int64_t exit_ns = 0;                       ///< the caller left; of a started call: it was done
  std::optional<std::int64_t> predicted_ns = {};  ///< when a session had expected the caller
  std::optional<std::int64_t> early_ns = {};  ///< when its first message began, if before the caller arrived
};

/// One message of one rank, when it has ended. Times in ns of std::chrono::steady_clock.
struct MessageRecord {
  bool sent = false;
  int peer = 0;
  int tag = 0;  ///< the same at both ends; used again after some hundred calls
  std::size_t bytes = 0;
  bool early = false;         ///< begun before the caller arrived
  std::int64_t begin_ns = 0;  ///< it was given to the transport
  std::int64_t end_ns = 0;    ///< the transport was seen to be done
};

/// Is told what happens in collective calls (Collectives::observe). Called by the callers' threads and by a session's
/// background thread, so it must be safe for that, and short.
class PAPFFT_API Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  virtual void call_ended(const CallRecord& call) = 0;
  /// Whether message_ended should be called. Asked once per call.
  [[nodiscard]] virtual bool wants_messages() const { return false; }
  virtual void message_ended(const MessageRecord& /*message*/) {}
};

}  // namespace papfft::comm
