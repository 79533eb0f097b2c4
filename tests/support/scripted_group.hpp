// SPDX-License-Identifier: MIT
// A group whose ranks all live in one thread. A test says when a message moves. Nothing is buffered.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm/transport/transport.hpp"

namespace papfft::comm::test {

class ScriptedGroup {
 public:
  explicit ScriptedGroup(int size) {
    for (Rank r = 0; r < size; ++r) transports_.push_back(std::make_unique<RankTransport>(*this, r));
  }

  [[nodiscard]] Transport& of(Rank r) { return *transports_[static_cast<std::size_t>(r)]; }

  /// Moves one of the messages that both ends have posted. @return false if there is none.
  bool move_one(std::mt19937& rng) {
    std::vector<std::pair<std::size_t, std::size_t>> ready;
    for (std::size_t s = 0; s < posts_.size(); ++s) {
      for (std::size_t r = 0; r < posts_.size(); ++r) {
        if (posts_[s].sends && !posts_[r].sends && posts_[s].message == posts_[r].message)
          ready.emplace_back(s, r);
      }
    }
    if (ready.empty()) return false;
    const auto [s, r] = ready[rng() % ready.size()];
    if (posts_[s].from.size() != posts_[r].to.size()) throw TransportError("two sizes of one message");
    std::ranges::copy(posts_[s].from, posts_[r].to.begin());
    for (const std::size_t k : {std::max(s, r), std::min(s, r)}) {
      posts_[k].ended->push_back(posts_[k].ticket);
      posts_.erase(posts_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return true;
  }

  int sent = 0;

 private:
  struct Message {
    Rank source = 0;
    Rank target = 0;
    int tag = 0;
    friend bool operator==(const Message&, const Message&) = default;
  };
  struct Post {
    Message message;
    bool sends = false;
    std::span<const std::byte> from = {};
    std::span<std::byte> to = {};
    int ticket = 0;
    std::vector<int>* ended = nullptr;
  };

  class RankChannel final : public Channel {
   public:
    RankChannel(ScriptedGroup& group, Rank rank) : group_(group), rank_(rank) {}
    ~RankChannel() override {
      std::erase_if(group_.posts_, [&](const Post& post) { return post.ended == &ended_; });
    }
    int isend(Rank target, int tag, std::span<const std::byte> data) override {
      ++group_.sent;
      group_.posts_.push_back({{rank_, target, tag}, true, data, {}, next_, &ended_});
      return next_++;
    }
    int issend(Rank target, int tag, std::span<const std::byte> data) override {
      return isend(target, tag, data);
    }
    int irecv(Rank source, int tag, std::span<std::byte> data) override {
      group_.posts_.push_back({{source, rank_, tag}, false, {}, data, next_, &ended_});
      return next_++;
    }
    bool poll(std::vector<int>& ended) override {
      ended.insert(ended.end(), ended_.begin(), ended_.end());
      ended_.clear();
      return !ended.empty();
    }

   private:
    ScriptedGroup& group_;
    Rank rank_;
    std::vector<int> ended_;
    int next_ = 0;
  };

  class RankTransport final : public Transport {
   public:
    RankTransport(ScriptedGroup& group, Rank rank) : group_(group), rank_(rank) {}
    [[nodiscard]] Rank rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(group_.transports_.size()); }
    [[nodiscard]] int max_tag() const override { return 32767; }
    [[nodiscard]] int ranks_on_host() const override { return 1; }
    [[nodiscard]] bool threads_allowed() const override { return false; }
    [[nodiscard]] std::unique_ptr<Channel> open() override {
      return std::make_unique<RankChannel>(group_, rank_);
    }

   private:
    ScriptedGroup& group_;
    Rank rank_;
  };

  std::vector<std::unique_ptr<RankTransport>> transports_;
  std::vector<Post> posts_;
};

}  // namespace papfft::comm::test
