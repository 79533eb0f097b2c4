// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/schedule/schedule.hpp"

namespace papfft::comm {

/// A message could not be sent or received, or came with another size than both sides must agree on.
/// what() names this rank, the peer and the cause. The group is unusable afterwards: end the job.
class TransportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Messages under way that one activity (a collective call, say) polls together. Used by one thread at a time.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Starts a message; `data` must stay alive and unchanged until its ticket has been returned by poll().
  /// @return a ticket, unique among this channel's unfinished messages. @throws TransportError.
  [[nodiscard]] virtual int isend(Rank target, int tag, std::span<const std::byte> data) = 0;
  /// Expects exactly data.size() bytes. Messages of one source and tag arrive in the order they were sent.
  [[nodiscard]] virtual int irecv(Rank source, int tag, std::span<std::byte> data) = 0;
  /// Appends the tickets of the messages that have ended since the last call, each once. Never blocks.
  /// @throws TransportError.
  virtual void poll(std::vector<int>& ended) = 0;
};

/// Non-blocking ordered messages of bytes among the P ranks of one group, apart from all other traffic.
/// Implementations: MpiTransport (production) and ThreadGroup's (ranks are threads; for tests).
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual Rank rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Tags are 0 .. max_tag().
  [[nodiscard]] virtual int max_tag() const = 0;
  /// How many ranks of the group share this rank's cores.
  [[nodiscard]] virtual int ranks_on_host() const = 0;
  /// Several threads may use channels of this transport at once.
  [[nodiscard]] virtual bool threads_allowed() const = 0;
  /// A channel's unfinished messages are abandoned when it is destroyed.
  [[nodiscard]] virtual std::unique_ptr<Channel> open() = 0;
};

}  // namespace papfft::comm
