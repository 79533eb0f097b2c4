// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "comm/schedule/core/schedule.hpp"
#include "comm/transport/memory/letters.hpp"
#include "comm/transport/memory/pipe.hpp"
#include "comm/transport/memory/pipe_speed.hpp"

namespace papfft::comm {

/// From here on a message goes through a pipe; a shorter one is enclosed in its letter.
inline constexpr std::size_t kPipedFromBytes = Letters::kMostBytes + 1;

/// Who awaits letters.
class LetterReader {
 public:
  LetterReader() = default;
  virtual ~LetterReader() = default;
  LetterReader(const LetterReader&) = delete;
  LetterReader& operator=(const LetterReader&) = delete;
  /// @param enclosed  stays where it is for the time of the call @return whether the letter is for this reader
  virtual bool take_letter(Rank source, const LetterHead& head, std::span<const std::byte> enclosed) = 0;
};

/// The memory that the ranks of one host share, as one of these ranks sees it: pipes for long messages, and letters, which say where
/// each message is or enclose it.
///
/// Each rank writes into its own few pipes, to whichever rank, so their memory grows with the ranks: 4 MiB each. Letters have a place for
/// each pair of ranks, 32 KiB each way. Only what is used is ever touched.
class HostPipes {
 public:
  static constexpr int kPerRank = 4;

  [[nodiscard]] static std::size_t bytes_for(int ranks);
  /// One rank does this for all, before any of them uses its pipes. @param memory  bytes_for(ranks), at a page's beginning
  static void prepare(void* memory, int ranks);

  /// @param memory  as prepared, shared by the ranks
  /// @param place_of_rank  of each rank of the group its number among those of this host, -1: on another
  /// @param from_bytes  shorter messages are enclosed in their letters; at least 1, at most kPipedFromBytes
  HostPipes(std::shared_ptr<void> memory, std::vector<int> place_of_rank, Rank own,
            std::size_t from_bytes = kPipedFromBytes);

  /// Whether this is another rank of the host.
  [[nodiscard]] bool is_near(Rank peer) const { return peer != own_ && place(peer) >= 0; }
  [[nodiscard]] bool encloses(std::size_t bytes) const { return bytes < from_bytes_; }
  [[nodiscard]] Rank rank() const { return own_; }

  /// Takes one of this rank's pipes for a message of so many bytes, until all of these have been read. @return its number;
  /// nothing: all are in use, or a pipe to this peer does not pay at the moment. Any thread.
  [[nodiscard]] std::optional<int> take(Rank peer, std::size_t bytes);
  /// What writing a message into an own pipe has cost. Any thread.
  void wrote(Rank peer, int number, std::size_t bytes, std::int64_t ns);
  /// How many messages of this rank have followed a letter. Any thread.
  [[nodiscard]] std::uint32_t next_follower() { return followers_++; }
  [[nodiscard]] Pipe& own(int number) { return at(own_, number); }
  /// A pipe into which `writer` writes. @throws std::out_of_range
  [[nodiscard]] Pipe& at(Rank writer, int number);

  /// To a rank that is near. @return false: there is no room now. Any thread.
  [[nodiscard]] bool post(Rank target, const LetterHead& head, std::span<const std::byte> enclosed);
  /// The same for a sender that cannot wait for room: the letter is copied, and goes when a thread of this rank posts or collects.
  void post_later(Rank target, const LetterHead& head, std::span<const std::byte> enclosed);

  /// Shows the letters of a rank that is near in the order in which they were posted. Those that are not taken are kept for whoever collects
  /// next. Any thread. @return whether any was taken @throws what the reader throws
  bool collect(Rank source, LetterReader& reader);

 private:
  struct Kept {  // a letter outside of shared memory
    Rank target = 0;
    LetterHead head;
    std::vector<std::byte> enclosed = {};
  };
  struct Peer {
    Letters from;
    Letters to;
    std::vector<Kept> kept = {};  // that came and nobody has taken
    PipeSpeed speed = {};
  };

  [[nodiscard]] int place(Rank rank) const { return place_of_rank_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Peer& peer(Rank rank) { return peers_[static_cast<std::size_t>(place(rank))]; }
  [[nodiscard]] static std::span<const std::byte> enclosed_in(const LetterHead& head,
                                                              const Letters::Cell& letter);
  void post_left();
  void keep(std::vector<Kept>& where, const LetterHead& head, std::span<const std::byte> enclosed);
  void discard(std::vector<Kept>& where, std::size_t i);

  std::shared_ptr<void> memory_;
  std::vector<int> place_of_rank_;
  Rank own_;
  std::size_t from_bytes_;
  std::atomic<std::uint32_t> followers_{0};
  std::mutex mutex_;
  std::array<std::size_t, kPerRank> bytes_{};    // of the last message in each own pipe
  std::array<std::size_t, kPerRank> touched_{};  // of each own pipe: so many bytes have been written before
  std::vector<Peer> peers_;                      // per place
  std::vector<Kept> left_;                       // to be posted when there is room
  std::vector<std::vector<std::byte>> spare_;    // memory of letters that were kept
};

}  // namespace papfft::comm
