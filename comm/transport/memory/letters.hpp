// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace papfft::comm {

/// What a letter says of its message.
struct LetterHead {
  static constexpr int kEnclosed = -2;  ///< the message is in the letter
  static constexpr int kFollows = -1;   ///< it comes over the channel below

  std::uint64_t bytes = 0;        ///< of the whole message
  std::int32_t tag = 0;           ///< of the message
  std::int32_t pipe = kEnclosed;  ///< which of the sender's pipes has the bytes, or one of the above
  std::int32_t rest_tag = -1;     ///< of what follows, there
};

/// Letters from one rank of a host to another, through memory that both see. A process's view of them; used by one thread at a time.
/// The first letter that was put in comes out first.
class Letters {
 public:
  static constexpr std::size_t kPage = 4096;
  /// As long as MPI's own short messages inside a host are.
  static constexpr std::size_t kMostBytes = kPage - sizeof(LetterHead);
  static constexpr std::uint64_t kCells = 8;

  /// Shared, side by side for all pairs of ranks, so that they take few pages.
  struct Counters {
    static constexpr std::size_t kCacheLine = 64;
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock would not hold between processes");
    alignas(kCacheLine) std::atomic<std::uint64_t> written{0};
    alignas(kCacheLine) std::atomic<std::uint64_t> read{0};
  };
  struct Cell {
    LetterHead head;
    std::array<std::byte, kMostBytes> bytes;
  };
  static_assert(sizeof(Cell) == kPage);

  /// @param cells  kCells of them
  Letters(Counters& counters, Cell* cells) : counters_(counters), cells_(cells) {}

  /// For the sender. @param enclosed  at most kMostBytes @return false: there is no room
  [[nodiscard]] bool put(const LetterHead& head, std::span<const std::byte> enclosed);

  /// For the receiver: the first letter, or nullptr.
  [[nodiscard]] const Cell* first() const;
  /// For the receiver: the first letter is no longer needed.
  void remove_first();

 private:
  [[nodiscard]] Cell& cell(std::uint64_t n) const { return cells_[n % kCells]; }

  Counters& counters_;
  Cell* cells_;
  std::uint64_t seen_read_ = 0;  // by the sender: to look again costs it a message between the cores
};

}  // namespace papfft::comm
