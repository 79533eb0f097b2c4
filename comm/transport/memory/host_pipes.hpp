// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/schedule/core/schedule.hpp"
#include "comm/transport/memory/pipe.hpp"
#include "comm/transport/memory/pipe_speed.hpp"

namespace papfft::comm {

/// From here on a message goes through a pipe: for a shorter one, the header costs as much as the pipe saves.
inline constexpr std::size_t kPipedFromBytes = std::size_t{32} << 10U;

/// The pipes of the ranks of one host, as one of these ranks sees them. Each rank writes into its own few, to whichever rank, so the
/// memory grows with the ranks and not with the pairs of them: 4 MiB each, of which only what is used is ever touched.
class HostPipes {
 public:
  static constexpr int kPerRank = 4;

  [[nodiscard]] static std::size_t bytes_for(int ranks) {
    return static_cast<std::size_t>(ranks) * kPerRank * sizeof(Pipe);
  }
  /// One rank does this for all, before any of them uses its pipes. @param memory  bytes_for(ranks), at a page's beginning
  static void prepare(void* memory, int ranks);

  /// @param memory  as prepared, shared by the ranks
  /// @param place_of_rank  of each rank of the group its number among those of this host, -1: on another
  /// @param from_bytes  shorter messages are not for pipes; at least 1
  HostPipes(std::shared_ptr<void> memory, std::vector<int> place_of_rank, Rank own,
            std::size_t from_bytes = kPipedFromBytes);

  /// Whether a message to or from this rank should go through a pipe. Both ends say the same.
  [[nodiscard]] bool serves(Rank peer, std::size_t bytes) const {
    return bytes >= from_bytes_ && peer != own_ && place(peer) >= 0;
  }
  [[nodiscard]] Rank rank() const { return own_; }
  /// Takes one of this rank's pipes for a message of so many bytes, until all of these have been read. @return its number;
  /// nothing: all are in use, or a pipe to this peer does not pay at the moment. Any thread.
  [[nodiscard]] std::optional<int> take(Rank peer, std::size_t bytes);
  /// What writing a message into an own pipe has cost. Any thread.
  void wrote(Rank peer, int number, std::size_t bytes, std::int64_t ns);
  /// How many messages of this rank have followed a header. Any thread.
  [[nodiscard]] std::uint32_t next_follower() { return followers_++; }
  [[nodiscard]] Pipe& own(int number) { return at(own_, number); }
  /// A pipe into which `writer` writes. @throws std::out_of_range
  [[nodiscard]] Pipe& at(Rank writer, int number);

 private:
  [[nodiscard]] int place(Rank rank) const { return place_of_rank_[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<void> memory_;
  std::vector<int> place_of_rank_;
  Rank own_;
  std::size_t from_bytes_;
  std::atomic<std::uint32_t> followers_{0};
  std::mutex mutex_;
  std::array<std::size_t, kPerRank> bytes_{};    // of the last message in each own pipe
  std::array<std::size_t, kPerRank> touched_{};  // of each own pipe: so many bytes have been written before
  std::vector<PipeSpeed> speed_;                 // per place
};

}  // namespace papfft::comm
