// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "comm/transport/transport.hpp"

namespace papfft::comm::test {

/// Bytes that are used one after another. Who asks for more is told that the other ranks have gone.
class Script {
 public:
  explicit Script(std::span<const std::byte> bytes) : bytes_(bytes) {}
  unsigned next() {
    if (bytes_.empty()) throw TransportError("the other ranks have gone");
    const auto byte = std::to_integer<unsigned>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  /// @param to  gets what there is, then zeros
  void fill(std::span<std::byte> to) {
    const std::size_t count = std::min(to.size(), bytes_.size());
    std::ranges::copy(bytes_.first(count), to.begin());
    std::ranges::fill(to.subspan(count), std::byte{0});
    bytes_ = bytes_.subspan(count);
  }
  template <typename T>
  T take() {
    T value;
    fill(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
};

/// A rank among others that send whatever a script says. Its messages have the size that their receiver expects, as any transport sees to
/// that. Each poll takes a byte, which says what happens: 0xff: nothing comes; else which of the receives that are posted ends, and the
/// bytes that follow are its message. Sends end at the next poll. For one thread.
class HostileTransport final : public Transport {
 public:
  static constexpr unsigned kNothing = 0xff;
  static constexpr int kMaxTag = 32767;

  /// @param script  must outlive this object
  HostileTransport(Script& script, Rank rank, int size) : script_(script), rank_(rank), size_(size) {}
  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int max_tag() const override { return kMaxTag; }
  [[nodiscard]] int ranks_on_host() const override { return 1; }
  [[nodiscard]] bool threads_allowed() const override { return false; }
  [[nodiscard]] std::unique_ptr<Channel> open() override { return std::make_unique<HostileChannel>(script_); }

 private:
  class HostileChannel final : public Channel {
   public:
    explicit HostileChannel(Script& script) : script_(script) {}
    int isend(Rank /*target*/, int /*tag*/, std::span<const std::byte> data) override {
      // What is sent must be readable: the sum is of no use, but a sanitizer looks.
      for (const std::byte byte : data) sum_ ^= byte;
      sent_.push_back(next_);
      return next_++;
    }
    int issend(Rank target, int tag, std::span<const std::byte> data) override {
      return isend(target, tag, data);
    }
    int irecv(Rank /*source*/, int /*tag*/, std::span<std::byte> data) override {
      receives_.emplace_back(next_, data);
      return next_++;
    }
    bool poll(std::vector<int>& ended) override {
      const unsigned what = script_.next();
      ended.insert(ended.end(), sent_.begin(), sent_.end());
      bool any = !std::exchange(sent_, {}).empty();
      if (what != kNothing && !receives_.empty()) {
        const auto which = receives_.begin() + static_cast<std::ptrdiff_t>(what % receives_.size());
        script_.fill(which->second);
        ended.push_back(which->first);
        receives_.erase(which);
        any = true;
      }
      return any;
    }

   private:
    Script& script_;
    std::vector<int> sent_;
    std::vector<std::pair<int, std::span<std::byte>>> receives_;  // tickets, and where to
    int next_ = 0;
    std::byte sum_{};
  };

  Script& script_;
  Rank rank_;
  int size_;
};

}  // namespace papfft::comm::test
