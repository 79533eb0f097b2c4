// SPDX-License-Identifier: MIT
#include "comm/schedule/bi_greedy.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace papfft::comm {

namespace {

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// std::popcount is a call into a library on processors of before 2008, for which we are compiled by default.
int count(std::uint64_t x) {
  x -= (x >> 1) & 0x5555555555555555U;
  x = (x & 0x3333333333333333U) + ((x >> 2) & 0x3333333333333333U);
  return static_cast<int>(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fU) * 0x0101010101010101U >> 56);
}

/// Sets of ranks are bit masks over positions: the root has position 0, the others follow in the order of ranks.
class Planner {
 public:
  Planner(int ranks, int segments, Rank root, std::span<const std::int64_t> first_round)
      : root_(root),
        segments_(segments),
        words_((idx(ranks) + 63) / 64),
        active_(words_),
        left_(idx(ranks), segments),
        own_(words_ * idx(segments), ~Word{0}),
        here_(idx(segments)),
        due_(idx(ranks)) {
    for (int position = 0; position < ranks; ++position) {
      due_[idx(position)] = {first_round.empty() ? 0 : first_round[idx(rank_of(position))], position};
    }
    std::ranges::stable_sort(due_, {}, &Due::round);
  }

  void run(const TransferSink& sink) {
    auto next = due_.begin();
    for (std::int64_t round = 0; next != due_.end() || !open_.empty(); ++round) {
      if (open_.empty()) round = std::max(round, next->round);
      const auto absent = std::find_if(next, due_.end(), [&](const Due& due) { return due.round > round; });
      if (absent != next) admit({next, absent});
      next = absent;
      if (open_.empty()) continue;
      plan_round(round);
      sink(transfers_);
    }
  }

 private:
  using Word = std::uint64_t;
  struct Due {
    std::int64_t round = 0;
    int position = 0;
  };

  [[nodiscard]] Rank rank_of(int position) const {
    return position == 0 ? root_ : position <= root_ ? position - 1 : position;
  }
  static Word bit(int position) { return Word{1} << (position % 64); }

  /// Who comes holds a part of every segment.
  void admit(std::span<const Due> who) {
    for (const Due& due : who) active_[idx(due.position) / 64] |= bit(due.position);
    open_.clear();
    for (int j = 0; j < segments_; ++j) {
      here_[idx(j)] += static_cast<int>(who.size());
      if (here_[idx(j)] >= 2) open_.push_back(j);
    }
  }

  void plan_round(std::int64_t round) {
    transfers_.clear();
    can_send_.assign(words_, 0);
    can_receive_.assign(words_, 0);
    can_do_either_ = active_;
    can_receive_[0] = active_[0] & 1;  // the root never sends
    can_do_either_[0] &= ~Word{1};
    int senders = 0;  // with a free port to send
    for (const Word word : can_do_either_) senders += count(word);
    int receivers = senders + static_cast<int>(can_receive_[0]);
    for (const int j : open_) {
      if (senders == 0 || (receivers == 1 && is_alone())) break;
      const int pairs = plan_segment(round, j);
      senders -= pairs;
      receivers -= pairs;
    }
    std::erase_if(open_, [&](int j) { return here_[idx(j)] < 2; });
  }

  /// The last free ports, one to send and one to receive, are of one rank.
  [[nodiscard]] bool is_alone() const {
    return std::ranges::any_of(can_do_either_, [](Word word) { return word != 0; });
  }

  /// The ranks that hold a part of the segment being planned and can only send it, can only receive it, or either.
  [[nodiscard]] Word senders(std::size_t w) const { return own_of_[w] & can_send_[w]; }
  [[nodiscard]] Word receivers(std::size_t w) const { return own_of_[w] & can_receive_[w]; }
  [[nodiscard]] Word either(std::size_t w) const { return own_of_[w] & can_do_either_[w]; }

  /// A rank's port is taken: it goes from `either` to `other`, or out of `only`.
  void take_port(int position, std::vector<Word>& only, std::vector<Word>& other) {
    const std::size_t w = idx(position) / 64;
    only[w] &= ~bit(position);
    other[w] |= can_do_either_[w] & bit(position);
    can_do_either_[w] &= ~bit(position);
  }

  /// @return how many transfers
  int plan_segment(std::int64_t round, int j) {
    own_of_ = own_.data() + idx(j) * words_;
    Word s = 0;
    Word r = 0;
    Word f = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      s |= senders(w);
      r |= receivers(w);
      f |= either(w);
    }
    if ((s | f) == 0 || (r | f) == 0) return 0;
    from_.clear();
    to_.clear();
    if (f == 0 || is_single(f)) {
      pair_in_turn();
    } else {
      pair_by_number();
    }
    const int pairs = static_cast<int>(std::min(from_.size(), to_.size()));
    for (int i = 0; i < pairs; ++i) {
      const int from = from_[idx(i)];
      const int to = to_[idx(i)];
      take_port(from, can_send_, can_receive_);
      take_port(to, can_receive_, can_send_);
      own_of_[from / 64] &= ~bit(from);
      if (--left_[idx(from)] == 0) active_[idx(from) / 64] &= ~bit(from);
      transfers_.push_back({.round = round, .from = rank_of(from), .to = rank_of(to), .segment = j});
    }
    here_[idx(j)] -= pairs;
    return pairs;
  }

  /// @param f  all words of either(), or-ed
  [[nodiscard]] bool is_single(Word f) const {
    int words = 0;
    for (std::size_t w = 0; w < words_; ++w) words += either(w) != 0 ? 1 : 0;
    return words == 1 && (f & (f - 1)) == 0;
  }

  /// Of those that can do either, the first receive and the last send, so that both sides become as equal as they can.
  void pair_by_number() {
    int s = 0;
    int r = 0;
    int f = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      s += count(senders(w));
      r += count(receivers(w));
      f += count(either(w));
    }
    const int m = std::min(f, std::abs(r - s));
    const int x = (f - m) / 2;
    const int more_senders = s < r ? m + x : x;
    const int more_receivers = s > r ? m + x : x;
    const int pairs = std::min(s + more_senders, r + more_receivers);
    take([&](std::size_t w) { return senders(w); }, 0, pairs, from_);
    take([&](std::size_t w) { return either(w); }, f - more_senders, pairs, from_);
    take([&](std::size_t w) { return receivers(w); }, 0, pairs, to_);
    take([&](std::size_t w) { return either(w); }, 0, pairs, to_);
  }

  /// The same where at most one can do either: it joins the shorter side, so nobody needs to be counted. In most rounds
  /// that is all but the first segment.
  void pair_in_turn() {
    std::size_t at_sender = 0;
    std::size_t at_receiver = 0;
    Word s = senders(0);
    Word r = receivers(0);
    while (true) {
      while (s == 0 && ++at_sender < words_) s = senders(at_sender);
      while (r == 0 && ++at_receiver < words_) r = receivers(at_receiver);
      if (s == 0 && r == 0) return;
      if (s != 0) from_.push_back(static_cast<int>(at_sender * 64) + std::countr_zero(s));
      if (r != 0) to_.push_back(static_cast<int>(at_receiver * 64) + std::countr_zero(r));
      if (s == 0 || r == 0) {
        take([&](std::size_t w) { return either(w); }, 0,
             1 + static_cast<int>(std::min(from_.size(), to_.size())), s == 0 ? from_ : to_);
        return;
      }
      s &= s - 1;
      r &= r - 1;
    }
  }

  /// Appends the elements of a set but the first `skip`, until `positions` has `enough`.
  template <typename Set>
  void take(Set set, int skip, int enough, std::vector<int>& positions) const {
    for (std::size_t w = 0; w < words_; ++w) {
      Word word = set(w);
      if (word == 0) continue;
      if (const int n = skip == 0 ? 1 : count(word); n <= skip) {
        skip -= n;
        continue;
      }
      for (; skip > 0; --skip) word &= word - 1;
      for (; word != 0; word &= word - 1) {
        if (static_cast<int>(positions.size()) == enough) return;
        positions.push_back(static_cast<int>(w * 64) + std::countr_zero(word));
      }
    }
  }

  Rank root_;
  int segments_;
  std::size_t words_;
  std::vector<Word> active_;
  std::vector<int> left_;  // per position: how many segments it has not sent
  std::vector<Word> own_;  // of segment j from j * words_ on: who has not sent it, arrived or not
  std::vector<int> here_;  // per segment: how many of those have arrived
  std::vector<int> open_;  // segments of which at least two ranks here hold a part, ascending
  std::vector<Due> due_;   // by round, then position
  // Of the round and the segment being planned; kept for their memory.
  std::vector<Word> can_send_;  // only
  std::vector<Word> can_receive_;
  std::vector<Word> can_do_either_;
  Word* own_of_ = nullptr;
  std::vector<int> from_;
  std::vector<int> to_;
  std::vector<Transfer> transfers_;
};

}  // namespace

void plan_bi_greedy(int ranks, int segments, Rank root, std::span<const std::int64_t> first_round,
                    const TransferSink& sink) {
  Planner(ranks, segments, root, first_round).run(sink);
}

std::int64_t bi_greedy_rounds(int ranks, int segments) {
  if (ranks == 1) return 0;
  return static_cast<std::int64_t>(std::bit_width(static_cast<unsigned>(ranks - 1))) + segments - 1;
}

}  // namespace papfft::comm
