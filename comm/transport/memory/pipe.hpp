// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace papfft::comm {

/// A ring of bytes in memory that two ranks of a host share. One message at a time goes through it: its sender writes while its
/// receiver reads, so that both copy at once and what they copy stays in the cache.
class Pipe {
 public:
  /// The longer the ring, the fewer of its lines the receiver still has in its cache when the sender writes them again, which costs
  /// a message between the cores. As much as fits into a core's second cache.
  static constexpr std::size_t kBytes = std::size_t{1} << 20U;

  /// For the sender, while no message is in the pipe.
  void begin() {
    written_.store(0, std::memory_order_relaxed);
    read_.store(0, std::memory_order_relaxed);
    rest_tag_.store(kWhole, std::memory_order_relaxed);
  }
  /// For the sender: writes as much of `rest` as there is room for, or nothing where the receiver reads no more. @return how much is done
  std::size_t write(std::span<const std::byte> rest);
  /// For the sender: it writes no more; what is missing is sent with this tag. Until then no message is, so kWhole.
  void leave(int tag) { rest_tag_.store(tag, std::memory_order_release); }
  /// For the sender, who wrote so many bytes: whether the pipe is free again.
  [[nodiscard]] bool is_free(std::size_t bytes) const {
    const std::uint64_t read = read_.load(std::memory_order_acquire);
    return read == bytes || read == kDropped;
  }

  /// For the receiver: what can be read. It may end at the end of the ring, where more follows at the beginning.
  [[nodiscard]] std::span<const std::byte> readable() const;
  /// For the receiver: so many bytes can be read.
  [[nodiscard]] std::size_t filled() const {
    return written_.load(std::memory_order_acquire) - read_.load(std::memory_order_relaxed);
  }
  /// For the receiver: reads to.size() bytes across the end of the ring. @return false  there are not so many yet
  bool copy(std::span<std::byte> to);
  /// For the receiver: the tag with which the rest comes after what can be read, or kWhole.
  static constexpr int kWhole = -1;
  [[nodiscard]] int rest_tag() const { return rest_tag_.load(std::memory_order_acquire); }
  /// For the receiver: it reads no more.
  void drop() { read_.store(kDropped, std::memory_order_release); }
  /// For the receiver: so many bytes are no longer needed.
  void release(std::size_t bytes) {
    read_.store(read_.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kPage = 4096;
  static constexpr std::uint64_t kDropped = std::uint64_t{1} << 63U;
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock would not hold between processes");

  alignas(kCacheLine) std::atomic<std::uint64_t> written_{0};
  std::atomic<int> rest_tag_{kWhole};
  alignas(kCacheLine) std::atomic<std::uint64_t> read_{0};
  alignas(kPage) std::array<std::byte, kBytes> ring_;
};

}  // namespace papfft::comm
