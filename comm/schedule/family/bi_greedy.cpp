// SPDX-License-Identifier: MIT
#include "comm/schedule/family/bi_greedy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "comm/schedule/core/index.hpp"

namespace papfft::comm {

namespace {

using Word = std::uint64_t;
constexpr int kBits = 64;

Word bit(int i) { return Word{1} << (i % kBits); }
std::size_t words_for(int bits) { return (idx(bits) + kBits - 1) / kBits; }

/// @tparam kCounts  the processor can; those of before 2008, for which we are compiled by default, call a library for it
template <bool kCounts>
int count(Word x) {
  if constexpr (kCounts) return std::popcount(x);
  x -= (x >> 1) & 0x5555555555555555U;
  x = (x & 0x3333333333333333U) + ((x >> 2) & 0x3333333333333333U);
  return static_cast<int>(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fU) * 0x0101010101010101U >> 56);
}

/// Rows of bits, each a column per rank that is here, into which columns can be inserted.
class Columns {
 public:
  explicit Columns(int rows) : rows_(rows) {}

  [[nodiscard]] Word* row(int r) { return bits_.data() + idx(r) * words_; }
  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool has_room(int columns) const { return words_for(size_ + columns) <= words_; }

  /// Keeps the columns that `kept` tells, and makes room for some more.
  template <typename Kept>
  void shrink(Kept kept, int room) {
    for (int c = size_ - 1; c >= 0; --c) {
      if (kept(c)) continue;
      for (int r = 0; r < rows_; ++r) erase_from(row(r), c);
      --size_;
    }
    const std::size_t words = words_for(size_ + room);
    std::vector<Word> bits(idx(rows_) * words);
    for (int r = 0; r < rows_; ++r) {
      std::copy_n(row(r), std::min(words, words_),
                  bits.begin() + static_cast<std::ptrdiff_t>(idx(r) * words));
    }
    bits_ = std::move(bits);
    words_ = words;
  }

  /// Columns of ones at c, c+1, ..., for which there is room; those from c on move up.
  void insert(int c, int columns) {
    if (c == size_) {
      for (int r = 0; r < rows_; ++r) {
        for (int k = c; k < c + columns; ++k) row(r)[idx(k) / kBits] |= bit(k);
      }
    } else {
      for (int k = 0; k < columns; ++k) {
        for (int r = 0; r < rows_; ++r) insert_into(row(r), c);
      }
    }
    size_ += columns;
  }

 private:
  void insert_into(Word* row, int c) const {
    const std::size_t first = idx(c) / kBits;
    for (std::size_t w = words_ - 1; w > first; --w) row[w] = row[w] << 1 | row[w - 1] >> (kBits - 1);
    const Word below = bit(c) - 1;
    row[first] = (row[first] & below) | bit(c) | (row[first] & ~below) << 1;
  }
  void erase_from(Word* row, int c) const {
    const std::size_t first = idx(c) / kBits;
    const Word below = bit(c) - 1;
    row[first] = (row[first] & below) | (row[first] >> 1 & ~below);
    for (std::size_t w = first + 1; w < words_; ++w) {
      row[w - 1] |= row[w] << (kBits - 1);
      row[w] >>= 1;
    }
  }

  int rows_;
  int size_ = 0;
  std::size_t words_ = 0;  // of a row
  std::vector<Word> bits_;
};

/// Ranks go by positions: the root has position 0, the others follow in the order of ranks. Of those that are here, each has
/// a column, in the order of positions; sets of them are bit masks over the columns.
template <bool kCounts>
class Planner {
 public:
  Planner(int ranks, int segments, Rank root, std::span<const std::int64_t> first_round)
      : root_(root),
        segments_(segments),
        segment_words_(words_for(segments)),
        stride_((segment_words_ + kLookAhead - 1) / kLookAhead * kLookAhead),
        left_(idx(ranks), segments),
        unsent_(idx(ranks) * stride_, ~Word{0}),
        own_(segments),
        here_(idx(segments)),
        open_(stride_),
        ahead_(stride_),
        due_(idx(ranks)),
        from_(idx(ranks)),
        to_(idx(ranks)) {
    for (int position = 0; position < ranks; ++position) {
      due_[idx(position)] = {first_round.empty() ? 0 : first_round[idx(rank_of(position))], position};
    }
    std::ranges::stable_sort(due_, {}, &Due::round);
    transfers_.reserve(idx(ranks));
  }

  void run(const TransferSink& sink) {
    auto next = due_.begin();
    for (std::int64_t round = 0; next != due_.end() || open_count_ > 0; ++round) {
      if (open_count_ == 0) round = std::max(round, next->round);
      auto absent = next;
      while (absent != due_.end() && absent->round <= round) ++absent;
      if (absent != next) admit({next, absent});
      next = absent;
      if (open_count_ == 0) continue;
      plan_round(round, std::make_index_sequence<8>());
      sink(transfers_);
    }
  }

 private:
  /// How many words of segments are looked at at a time, and to how many free ports a look costs as much as trying a
  /// segment.
  static constexpr std::size_t kLookAhead = 8;
  static constexpr int kPortsPerTry = 3;

  struct Due {
    std::int64_t round = 0;
    int position = 0;
  };

  [[nodiscard]] Rank rank_of(int position) const {
    return position == 0 ? root_ : position <= root_ ? position - 1 : position;
  }

  /// Who comes holds a part of every segment. @param who  by position
  void admit(std::span<const Due> who) {
    const int newcomers = static_cast<int>(who.size());
    if (!own_.has_room(newcomers)) {
      own_.shrink([this](int c) { return is_active(c); }, newcomers);
      std::erase_if(positions_, [this](int position) { return left_[idx(position)] == 0; });
    }
    while (!who.empty()) {
      const auto place = std::ranges::lower_bound(positions_, who.front().position);
      const auto c = static_cast<int>(place - positions_.begin());
      std::size_t run = 1;  // of newcomers between two that are here
      while (run < who.size() && (place == positions_.end() || who[run].position < *place)) ++run;
      std::vector<int> together;
      for (const Due& due : who.first(run)) together.push_back(due.position);
      positions_.insert(place, together.begin(), together.end());
      own_.insert(c, static_cast<int>(run));
      who = who.subspan(run);
    }
    words_ = own_.words();
    active_.assign(words_, 0);
    for (int c = 0; c < own_.size(); ++c) {
      if (is_active(c)) active_[idx(c) / kBits] |= bit(c);
    }
    for (int j = 0; j < segments_; ++j) {
      here_[idx(j)] += newcomers;
      if (here_[idx(j)] < 2 || (open_[idx(j) / kBits] & bit(j)) != 0) continue;
      open_[idx(j) / kBits] |= bit(j);
      ++open_count_;
    }
  }

  [[nodiscard]] bool is_active(int column) const { return left_[idx(positions_[idx(column)])] > 0; }

  /// The compiler shall know how long short sets are.
  template <std::size_t... W>
  void plan_round(std::int64_t round, std::index_sequence<W...> /*words - 1*/) {
    const bool is_short = ((words_ == W + 1 && (plan_round<W + 1>(round), true)) || ...);
    if (!is_short) plan_round<0>(round);
  }

  /// @tparam W  words_, or 0: not known
  template <std::size_t W>
  [[nodiscard]] std::size_t words() const {
    return W > 0 ? W : words_;
  }

  template <std::size_t W>
  void plan_round(std::int64_t round) {
    transfers_.clear();
    send_free_ = active_;
    receive_free_ = active_;
    if (positions_.front() == 0) send_free_[0] &= ~Word{1};  // the root never sends
    int senders = 0;                                         // with a free port to send
    for (const Word word : send_free_) senders += count<kCounts>(word);
    int receivers = senders + (positions_.front() == 0 ? 1 : 0);
    std::size_t looked_ahead = 0;  // below it, ahead_ holds what was possible when we looked
    int in_vain = 0;               // segments tried since
    for (std::size_t w = 0; w < segment_words_; ++w) {
      Word ahead = w < looked_ahead ? ahead_[w] : open_[w];
      while (ahead != 0) {
        if (senders == 0 || (receivers == 1 && is_alone())) return;
        const int j = static_cast<int>(w) * kBits + std::countr_zero(ahead);
        ahead &= ahead - 1;
        const int pairs = plan_segment<W>(round, j);
        senders -= pairs;
        receivers -= pairs;
        if (pairs > 0 || ++in_vain * kPortsPerTry < senders + receivers) continue;
        looked_ahead = look_ahead(w);
        ahead &= ahead_[w];
        in_vain = 0;
      }
    }
  }

  /// Finds out in ahead_ which segments can be handed over with the free ports: those of as many words as are
  /// looked at at a time, word w among them. @return  the end of these words
  std::size_t look_ahead(std::size_t w) {
    using Some = std::array<Word, kLookAhead>;
    const std::size_t first = w / kLookAhead * kLookAhead;
    const auto over = [&](auto ports, auto add) {
      for (std::size_t c = 0; c < words_; ++c) {
        for (Word word = ports(c); word != 0; word &= word - 1) {
          const int position = positions_[c * kBits + idx(std::countr_zero(word))];
          const Word* unsent = unsent_.data() + idx(position) * stride_ + first;
          for (std::size_t k = 0; k < kLookAhead; ++k) add(k, unsent[k]);
        }
      }
    };
    Some send{};  // what those hold that can only send
    Some receive{};
    Some either{};
    Some two{};  // what two that can do either hold
    over([&](std::size_t c) { return send_free_[c] & ~receive_free_[c]; },
         [&](std::size_t k, Word unsent) { send[k] |= unsent; });
    over([&](std::size_t c) { return receive_free_[c] & ~send_free_[c]; },
         [&](std::size_t k, Word unsent) { receive[k] |= unsent; });
    over([&](std::size_t c) { return receive_free_[c] & send_free_[c]; },
         [&](std::size_t k, Word unsent) {
           two[k] |= either[k] & unsent;
           either[k] |= unsent;
         });
    for (std::size_t k = 0; k < kLookAhead; ++k) {
      ahead_[first + k] =
          open_[first + k] & ((send[k] & receive[k]) | (either[k] & (send[k] | receive[k])) | two[k]);
    }
    return first + kLookAhead;
  }

  /// The last free ports, one to send and one to receive, are of one rank.
  [[nodiscard]] bool is_alone() const {
    bool alone = false;
    for (std::size_t w = 0; w < words_; ++w) alone = alone || (send_free_[w] & receive_free_[w]) != 0;
    return alone;
  }

  /// The ranks that hold a part of the segment being planned and can send it, can receive it, can do only one, or both.
  [[nodiscard]] Word senders(std::size_t w) const { return own_of_[w] & send_free_[w]; }
  [[nodiscard]] Word receivers(std::size_t w) const { return own_of_[w] & receive_free_[w]; }
  [[nodiscard]] Word anyone(std::size_t w) const { return own_of_[w] & (send_free_[w] | receive_free_[w]); }
  [[nodiscard]] Word only_senders(std::size_t w) const { return senders(w) & ~receive_free_[w]; }
  [[nodiscard]] Word only_receivers(std::size_t w) const { return receivers(w) & ~send_free_[w]; }
  [[nodiscard]] Word either(std::size_t w) const { return senders(w) & receive_free_[w]; }

  /// Of those that can do either, the first receive and the last send, so that both sides become as equal as they can.
  /// @return how many transfers
  template <std::size_t W>
  int plan_segment(std::int64_t round, int j) {
    own_of_ = own_.row(j);
    Word any_sender = 0;
    Word any_receiver = 0;
    Word anyone_before = 0;
    Word several = 0;
    for (std::size_t w = 0; w < words<W>(); ++w) {
      const Word here = anyone(w);
      any_sender |= senders(w);
      any_receiver |= receivers(w);
      several |= (here & (here - 1)) | (here != 0 ? anyone_before : 0);
      anyone_before |= here;
    }
    // One jump, not three, as each would be hard to predict.
    if ((static_cast<int>(any_sender == 0) | static_cast<int>(any_receiver == 0) |
         static_cast<int>(several == 0)) != 0) {
      return 0;
    }
    int senders = 0;
    int receivers = 0;
    int all = 0;
    for (std::size_t w = 0; w < words<W>(); ++w) {
      senders += count<kCounts>(this->senders(w));
      receivers += count<kCounts>(this->receivers(w));
      all += count<kCounts>(anyone(w));
    }
    const int pairs = std::min({senders, receivers, all / 2});
    if (pairs == 1) {
      const int from =
          all > receivers ? first<W>([this](std::size_t w) { return only_senders(w); }) : last_either<W>();
      const int to = all > senders ? first<W>([this](std::size_t w) { return only_receivers(w); })
                                   : first<W>([this](std::size_t w) { return either(w); });
      hand_over(round, j, from, to);
    } else {
      pair_up<W>(senders, receivers, all, pairs);
      for (int i = 0; i < pairs; ++i) hand_over(round, j, from_[idx(i)], to_[idx(i)]);
    }
    if ((here_[idx(j)] -= pairs) < 2) {
      open_[idx(j) / kBits] &= ~bit(j);
      --open_count_;
    }
    return pairs;
  }

  /// @param from, to  columns
  void hand_over(std::int64_t round, int j, int from, int to) {
    send_free_[idx(from) / kBits] &= ~bit(from);
    receive_free_[idx(to) / kBits] &= ~bit(to);
    own_of_[idx(from) / kBits] &= ~bit(from);
    const int sender = positions_[idx(from)];
    unsent_[idx(sender) * stride_ + idx(j) / kBits] &= ~bit(j);
    if (--left_[idx(sender)] == 0) active_[idx(from) / kBits] &= ~bit(from);
    transfers_.push_back(
        {.round = round, .from = rank_of(sender), .to = rank_of(positions_[idx(to)]), .segment = j});
  }

  /// The column of the first element of a set that is not empty.
  template <std::size_t W, typename Set>
  [[nodiscard]] int first(Set set) const {
    std::size_t w = words<W>() - 1;
    for (std::size_t k = w; k-- > 0;) w = set(k) != 0 ? k : w;  // without a jump that nobody could predict
    return static_cast<int>(w) * kBits + std::countr_zero(set(w));
  }
  template <std::size_t W>
  [[nodiscard]] int last_either() const {
    std::size_t w = 0;
    for (std::size_t k = 1; k < words<W>(); ++k) w = either(k) != 0 ? k : w;
    return static_cast<int>(w) * kBits + kBits - 1 - std::countl_zero(either(w));
  }

  /// Fills from_ and to_.
  template <std::size_t W>
  void pair_up(int senders, int receivers, int all, int pairs) {
    const int f = senders + receivers - all;
    const int m = std::min(f, std::abs(receivers - senders));
    const int x = (f - m) / 2;
    const int more_senders = senders < receivers ? m + x : x;
    senders_ = receivers_ = 0;
    take<W>([&](std::size_t w) { return only_senders(w); }, 0, pairs, from_, senders_);
    take<W>([&](std::size_t w) { return either(w); }, f - more_senders, pairs, from_, senders_);
    take<W>([&](std::size_t w) { return only_receivers(w); }, 0, pairs, to_, receivers_);
    take<W>([&](std::size_t w) { return either(w); }, 0, pairs, to_, receivers_);
  }

  /// Appends the elements of a set but the first `skip` to a list, until it has `enough`.
  template <std::size_t W, typename Set>
  void take(Set set, int skip, int enough, std::vector<int>& columns, int& size) const {
    for (std::size_t w = 0; w < words<W>(); ++w) {
      Word word = set(w);
      if (word == 0) continue;
      if (const int n = skip == 0 ? 1 : count<kCounts>(word); n <= skip) {
        skip -= n;
        continue;
      }
      for (; skip > 0; --skip) word &= word - 1;
      for (; word != 0; word &= word - 1) {
        if (size == enough) return;
        columns[idx(size++)] = static_cast<int>(w) * kBits + std::countr_zero(word);
      }
    }
  }

  Rank root_;
  int segments_;
  std::size_t segment_words_;
  std::size_t stride_;          // of unsent_
  std::vector<int> left_;       // per position: how many segments it has not sent
  std::vector<Word> unsent_;    // per position: which
  std::vector<int> positions_;  // per column; who has sent all keeps its column until the room is needed
  Columns own_;                 // a row per segment: who is here and has not sent it
  std::size_t words_ = 0;       // of a set of columns
  std::vector<Word> active_;    // who is here and has not sent all
  std::vector<int> here_;       // per segment: how many of those that are here hold a part of it
  std::vector<Word> open_;      // the segments of which at least two do
  int open_count_ = 0;
  std::vector<Word> ahead_;  // see look_ahead
  std::vector<Due> due_;     // by round, then position
  // Of the round and the segment being planned; kept for their memory.
  std::vector<Word> send_free_;  // who can still send, receive
  std::vector<Word> receive_free_;
  Word* own_of_ = nullptr;
  std::vector<int> from_;  // columns, of which the first senders_ count
  std::vector<int> to_;
  int senders_ = 0;
  int receivers_ = 0;
  std::vector<Transfer> transfers_;
};

#if defined(__x86_64__)
// Flat, so that all of the planner is compiled for these processors.
[[gnu::target("avx2,bmi,popcnt"), gnu::flatten]] void plan_avx2(int ranks, int segments, Rank root,
                                                                std::span<const std::int64_t> first_round,
                                                                const TransferSink& sink) {
  Planner<true>(ranks, segments, root, first_round).run(sink);
}
#endif

}  // namespace

void plan_bi_greedy(int ranks, int segments, Rank root, std::span<const std::int64_t> first_round,
                    const TransferSink& sink, BitWidth width) {
#if defined(__x86_64__)
  if (width != BitWidth::portable && supports(BitWidth::avx2)) {
    plan_avx2(ranks, segments, root, first_round, sink);
    return;
  }
#endif
  Planner<false>(ranks, segments, root, first_round).run(sink);
}

}  // namespace papfft::comm
