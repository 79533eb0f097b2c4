// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "comm/schedule/core/schedule.hpp"
#include "comm/transport/cores.hpp"
#include "papfft/errors.hpp"

namespace papfft::comm {

/// Takes what a message brings, by pieces while it is still under way, or at once.
class Pieces {
 public:
  Pieces() = default;
  virtual ~Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  /// Pieces are whole units of so many bytes.
  [[nodiscard]] virtual std::size_t unit_bytes() const = 0;
  /// The next piece of the message with this key; it stays where it is for the time of the call. The first has offset 0.
  virtual void take(int key, std::size_t offset, std::span<const std::byte> piece) = 0;
  /// The message comes at once: where to.
  [[nodiscard]] virtual std::span<std::byte> place(int key) = 0;
};

/// Messages under way that one activity (a collective call, say) polls together. Used by one thread at a time.
///
/// Destroying it abandons the messages that have not ended. A receive then writes no more, unless its data are on their
/// way already; a send may be read until its receiver takes it, long after: keep() is for the memory of both.
class Channel {
 public:
  Channel() = default;
  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Starts a message; `data` must stay alive and unchanged until its ticket has been returned by poll().
  /// @return a ticket, unique among this channel's unfinished messages. @throws TransportError.
  [[nodiscard]] virtual int isend(Rank target, int tag, std::span<const std::byte> data) = 0;
  /// The same, but the ticket is not returned before the receiver has begun to receive: costs an answer, and bounds what
  /// is in the network's and the library's buffers, where isend's data may wait after they have left `data`.
  [[nodiscard]] virtual int issend(Rank target, int tag, std::span<const std::byte> data) = 0;
  /// Expects exactly data.size() bytes. Messages of one source and tag arrive in the order they were sent.
  [[nodiscard]] virtual int irecv(Rank source, int tag, std::span<std::byte> data) = 0;
  /// The same for a receiver that can make use of pieces: poll() gives it either those, until the message ends, or its place.
  /// @param pieces  must outlive the message
  [[nodiscard]] virtual int irecv_pieces(Rank source, int tag, std::size_t bytes, Pieces& pieces, int key) {
    const std::span<std::byte> place = pieces.place(key);
    if (place.size() != bytes)
      throw std::invalid_argument("channel: the place of a message has another size");
    return irecv(source, tag, place);
  }
  /// Appends the tickets of the messages that have ended since the last call, each once. Never blocks.
  /// @return whether anything has ended or moved @throws TransportError.
  virtual bool poll(std::vector<int>& ended) = 0;
  /// Moves on what the process has under way elsewhere in the library below. poll() does that by itself while this channel has messages.
  virtual void move_on() {}

  /// Shares the ownership of memory that messages use: it lives until the channel and its abandoned messages have ended.
  void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }

 protected:
  using Memory = std::vector<std::shared_ptr<const void>>;
  [[nodiscard]] Memory take_kept() { return std::move(kept_); }

 private:
  Memory kept_;  // freed after the implementation's destructor has run
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
  /// How many ranks of the group are on this rank's host.
  [[nodiscard]] virtual int ranks_on_host() const = 0;
  /// How many cores these may use together, whichever of them each is bound to.
  [[nodiscard]] virtual int cores_on_host() const { return count(own_cores()); }
  /// The host of each rank, by any number, the same on all ranks; empty: each has a host of its own.
  [[nodiscard]] virtual std::span<const int> host_of_rank() const { return {}; }
  /// Some ranks are on other hosts.
  [[nodiscard]] bool has_network() const { return ranks_on_host() < size(); }
  /// A rank that waits here takes a core from another that could use it.
  [[nodiscard]] bool is_crowded() const { return ranks_on_host() > cores_on_host(); }
  /// Some ranks share cores; all ranks know that alike. As it is, for ranks that are threads of one process.
  [[nodiscard]] virtual bool is_any_crowded() const { return size() > cores_on_host(); }
  /// A poll that finds nothing has let other processes of the host run already.
  [[nodiscard]] virtual bool polls_yield() const { return false; }
  /// Long messages between ranks of this host go through memory of ours; all ranks of the host know that alike.
  [[nodiscard]] virtual bool has_pipes() const { return false; }
  /// Several threads may use channels of this transport at once.
  [[nodiscard]] virtual bool threads_allowed() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Channel> open() = 0;
};

}  // namespace papfft::comm
