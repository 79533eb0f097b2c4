// SPDX-License-Identifier: MIT
// Clairvoyant reduction: in each round every rank that is there takes, in turn, the first segment that it can get from
// somebody who has not sent yet. Rules and worked example: app/comparison/reduce_clv_linear.cpp. This planner makes the same schedule in
// about a fiftieth of the time for 512 ranks and segments.
//
// What a rank holds is a column of N bits, and a segment tree over the columns holds at each node the union of those below it
// that may still be sent in this round (CLV 5.4). So the segment that a rank gets is the lowest bit of root AND column, and
// who sends it is the leftmost leaf with that bit:
//
//   segment 2 of P = 6 ranks, x may send it       looking from rank 3 on: right of the path up from 3 there is
//                  union                          nothing, so from the root down to the left: rank 1
//            x                  -
//        -       x          -       -             One leaf stands for two ranks.
//       0 1     2 3        4 5
//
// Improvements over the paper:
//   order     Columns are in order of arrival modulo d. The order of G is this one begun at the first of G, so the search wraps
//             around instead of having each column twice (CLV 5.4.3).
//   senders   A rank that has sent leaves the tree, not its column: its own search still needs it, and nothing is saved and
//             restored (CLV Listing 8, lines 11 and 33).
//   unions    All changes stop climbing where the union stays the same, in most cases at once; there is no rebuilding.
//   alone     Only if a rank turns out to be the only one that has the segment found is the union of all others made
//             (CLV Listing 3).
//
// Time  O(rounds G N/256 log P) at worst.   Memory  2 bits per rank and segment, and O(P): P columns and P nodes, each of 64
// bits or a multiple of 256.
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "comm/schedule/core/index.hpp"
#include "comm/schedule/family/clairvoyant.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

// What works on bits is inlined into the functions at the end, each compiled for a processor of its own. With what a sanitizer adds
// that would take a minute to compile.
#ifdef PAPFFT_SANITIZED
#define PAPFFT_INLINE inline
#else
#define PAPFFT_INLINE [[gnu::always_inline]] inline
#endif

struct Bits64 {
  std::uint64_t value;
};
struct alignas(32) Bits256 {
  [[gnu::vector_size(32)]] std::uint64_t value;
};

PAPFFT_INLINE bool is_empty(const Bits64& bits) { return bits.value == 0; }
PAPFFT_INLINE bool is_empty(const Bits256& bits) {
  return (bits.value[0] | bits.value[1] | bits.value[2] | bits.value[3]) == 0;
}
/// Of a set that is not empty.
PAPFFT_INLINE int lowest(const Bits64& bits) { return std::countr_zero(bits.value); }
PAPFFT_INLINE int lowest(const Bits256& bits) {
  int w = 0;
  while (bits.value[w] == 0) ++w;
  return 64 * w + std::countr_zero(bits.value[w]);
}

/// Rows of as many bits as there are segments.
/// @tparam kBlocks  of which a row consists; 0: any number
template <typename Bits, int kBlocks>
class BitRows {
 public:
  BitRows(int rows, int bits)
      : blocks_((bits + kBits - 1) / kBits), data_(idx(rows) * idx(blocks()), Bits{}) {}

  [[nodiscard]] PAPFFT_INLINE int blocks() const { return kBlocks > 0 ? kBlocks : blocks_; }
  [[nodiscard]] PAPFFT_INLINE Bits* row(int r) { return data_.data() + idx(r) * idx(blocks()); }
  [[nodiscard]] PAPFFT_INLINE const Bits* row(int r) const { return data_.data() + idx(r) * idx(blocks()); }
  [[nodiscard]] PAPFFT_INLINE bool test(int r, int bit) const {
    return (words(r)[bit / 64] >> (static_cast<unsigned>(bit) % 64) & 1U) != 0;
  }
  PAPFFT_INLINE void set(int r, int bit) { words(r)[bit / 64] |= mask(bit); }
  PAPFFT_INLINE void clear(int r, int bit) { words(r)[bit / 64] &= ~mask(bit); }

 private:
  static constexpr int kBits = 8 * static_cast<int>(sizeof(Bits));
  PAPFFT_INLINE static std::uint64_t mask(int bit) {
    return std::uint64_t{1} << (static_cast<unsigned>(bit) % 64);
  }
  // Compilers let a vector's elements be read one by one, as an array's.
  PAPFFT_INLINE std::uint64_t* words(int r) { return reinterpret_cast<std::uint64_t*>(row(r)); }
  PAPFFT_INLINE const std::uint64_t* words(int r) const {
    return reinterpret_cast<const std::uint64_t*>(row(r));
  }

  int blocks_;
  std::vector<Bits> data_;
};

/// What a rank gets in a round; no sender: nothing.
struct Choice {
  int segment = -1;
  int sender = -1;
};

/// What each rank holds, and who may still send what. Ranks go by their positions 0 .. P-1.
template <typename Bits, int kBlocks>
class SegmentTree {
 public:
  SegmentTree(int positions, int segments)
      : positions_(positions),
        segments_(segments),
        pairs_((positions + 1) / 2),
        deepest_(static_cast<int>(std::bit_ceil(static_cast<unsigned>(pairs_)))),
        columns_(positions, segments),
        unions_(2 * pairs_, segments),
        sends_(idx(2 * pairs_), 0) {}

  [[nodiscard]] PAPFFT_INLINE bool holds(int position, int segment) const {
    return columns_.test(position, segment);
  }
  [[nodiscard]] PAPFFT_INLINE bool may_send(int position) const { return sends_[idx(position)] != 0; }

  /// Takes in a rank that has arrived and holds all.
  PAPFFT_INLINE void join(int position) {
    for (int segment = 0; segment < segments_; ++segment) columns_.set(position, segment);
    enter(position);
  }

  /// The rank may send, from now on.
  PAPFFT_INLINE void enter(int position) {
    sends_[idx(position)] = 1;
    const Bits* column = columns_.row(position);
    for (int node = leaf(position);; node /= 2) {
      Bits* here = unions_.row(node);
      Bits added{};
      for (int b = 0; b < columns_.blocks(); ++b) {
        added.value |= column[b].value & ~here[b].value;
        here[b].value |= column[b].value;
      }
      if (is_empty(added) || node == 1) return;
    }
  }

  /// The rank may not send any more, until it enters again.
  PAPFFT_INLINE void leave(int position) {
    sends_[idx(position)] = 0;
    int node = leaf(position);
    const int partner = position ^ 1;
    bool changed = may_send(partner) ? assign_union(node, columns_.row(partner), columns_.row(partner))
                                     : assign_union(node, nullptr, nullptr);
    while (changed && node > 1) {
      node /= 2;
      changed = assign_union(node, unions_.row(2 * node), unions_.row(2 * node + 1));
    }
  }

  PAPFFT_INLINE void add(int position, int segment) {
    columns_.set(position, segment);
    if (!may_send(position)) return;
    for (int node = leaf(position); node > 0 && !unions_.test(node, segment); node /= 2) {
      unions_.set(node, segment);
    }
  }

  PAPFFT_INLINE void drop(int position, int segment) {
    columns_.clear(position, segment);
    if (!may_send(position) || sends(position ^ 1, segment)) return;
    int node = leaf(position);
    unions_.clear(node, segment);
    while (node > 1 && !unions_.test(node ^ 1, segment)) {
      node /= 2;
      unions_.clear(node, segment);
    }
  }

  /// The smallest segment that another rank may send, and that the receiver itself holds unless it takes any; of those
  /// that may send it the first from position `start` on, around the end.
  [[nodiscard]] PAPFFT_INLINE Choice choose(int receiver, bool takes_any, int start) const {
    int segment = first_segment(receiver, takes_any);
    if (segment < 0) return {};
    int sender = first_sender(segment, start, receiver);
    if (sender < 0) {  // the receiver is the only one that has it
      segment = first_segment_of_others(receiver, takes_any);
      if (segment < 0) return {};
      sender = first_sender(segment, start, receiver);
    }
    return {segment, sender};
  }

 private:
  static constexpr int kBits = 8 * static_cast<int>(sizeof(Bits));

  /// The tree is a heap: 1 is the root, 2k and 2k+1 are below k, and pairs_ .. 2 pairs_ - 1 are leaves. Those of the
  /// deepest level come first from left to right.
  [[nodiscard]] PAPFFT_INLINE int leaf(int position) const {
    const int node = position / 2 + deepest_;
    return node < 2 * pairs_ ? node : node - pairs_;
  }
  [[nodiscard]] PAPFFT_INLINE int first_of_leaf(int node) const {
    return 2 * (node < deepest_ ? node + pairs_ - deepest_ : node - deepest_);
  }
  [[nodiscard]] PAPFFT_INLINE bool sends(int position, int segment) const {
    return may_send(position) && columns_.test(position, segment);
  }

  /// Or -1. The rank may be the only one that has it.
  [[nodiscard]] PAPFFT_INLINE int first_segment(int position, bool takes_any) const {
    const Bits* all = unions_.row(1);
    const Bits* column = columns_.row(position);
    for (int b = 0; b < columns_.blocks(); ++b) {
      const Bits common{takes_any ? all[b].value : all[b].value & column[b].value};
      if (!is_empty(common)) return b * kBits + lowest(common);
    }
    return -1;
  }

  /// The same among the segments that others may send (CLV Listing 3).
  [[nodiscard]] PAPFFT_INLINE int first_segment_of_others(int position, bool takes_any) const {
    const int partner = position ^ 1;
    for (int b = 0; b < columns_.blocks(); ++b) {
      Bits others{};
      if (may_send(partner)) others.value = columns_.row(partner)[b].value;
      for (int node = leaf(position); node > 1; node /= 2) others.value |= unions_.row(node ^ 1)[b].value;
      if (!takes_any) others.value &= columns_.row(position)[b].value;
      if (!is_empty(others)) return b * kBits + lowest(others);
    }
    return -1;
  }

  /// The first rank from `start` on, around the end, other than `except`, that may send the segment; or -1.
  [[nodiscard]] PAPFFT_INLINE int first_sender(int segment, int start, int except) const {
    int found = sender_from(start, segment);
    if (found >= 0 && found == except) found = sender_from(except + 1, segment);
    if (found >= 0) return found;
    found = sender_from(0, segment);
    if (found >= 0 && found == except) found = sender_from(except + 1, segment);
    return found;
  }

  /// @param left, right  may be null: the empty set. @return whether it changed
  PAPFFT_INLINE bool assign_union(int node, const Bits* left, const Bits* right) {
    Bits* here = unions_.row(node);
    Bits difference{};
    for (int b = 0; b < columns_.blocks(); ++b) {
      Bits value{};
      if (left != nullptr) value.value = left[b].value | right[b].value;
      difference.value |= here[b].value ^ value.value;
      here[b] = value;
    }
    return !is_empty(difference);
  }

  /// The first rank from `start` on, to the last, that may send the segment; or -1 (CLV Listings 4 and 5).
  [[nodiscard]] PAPFFT_INLINE int sender_from(int start, int segment) const {
    if (start >= positions_) return -1;
    if (sends(start, segment)) return start;
    if (start % 2 == 0 && sends(start + 1, segment)) return start + 1;
    int node = leaf(start);
    while (node > 1 && (node % 2 == 1 || !unions_.test(node + 1, segment))) node /= 2;
    if (node <= 1) return -1;
    ++node;
    while (node < pairs_) {
      node *= 2;
      node += unions_.test(node, segment) ? 0 : 1;
    }
    const int first = first_of_leaf(node);
    return sends(first, segment) ? first : first + 1;
  }

  int positions_;
  int segments_;
  int pairs_;    ///< leaves
  int deepest_;  ///< first node of the deepest level
  BitRows<Bits, kBlocks> columns_;
  BitRows<Bits, kBlocks> unions_;
  std::vector<char> sends_;  ///< a last rank without partner has one that never sends
};

/// The same for up to 64 ranks and segments, where all holders of a segment are one word and need no tree.
class WordTable {
 public:
  WordTable(int /*positions*/, int segments)
      : all_segments_(~std::uint64_t{0} >> (64U - static_cast<unsigned>(segments))) {}

  [[nodiscard]] PAPFFT_INLINE bool holds(int position, int segment) const {
    return (columns_[idx(position)] & bit(segment)) != 0;
  }
  PAPFFT_INLINE void join(int position) {
    columns_[idx(position)] = all_segments_;
    for (std::uint64_t& row : rows_) row |= bit(position);
    enter(position);
  }
  PAPFFT_INLINE void enter(int position) {
    senders_ |= bit(position);
    sendable_ = all_segments_;
  }
  PAPFFT_INLINE void leave(int position) { senders_ &= ~bit(position); }
  PAPFFT_INLINE void add(int position, int segment) {
    columns_[idx(position)] |= bit(segment);
    rows_[idx(segment)] |= bit(position);
  }
  PAPFFT_INLINE void drop(int position, int segment) {
    columns_[idx(position)] &= ~bit(segment);
    rows_[idx(segment)] &= ~bit(position);
  }

  [[nodiscard]] PAPFFT_INLINE Choice choose(int receiver, bool takes_any, int start) {
    std::uint64_t segments = takes_any ? sendable_ : sendable_ & columns_[idx(receiver)];
    for (; segments != 0; segments &= segments - 1) {
      const int segment = std::countr_zero(segments);
      const std::uint64_t senders = rows_[idx(segment)] & senders_;
      if (senders == 0) sendable_ &= ~bit(segment);  // nobody else need look in this round
      const std::uint64_t others = senders & ~bit(receiver);
      if (others != 0) return {segment, (start + std::countr_zero(std::rotr(others, start))) % 64};
    }
    return {};
  }

 private:
  PAPFFT_INLINE static std::uint64_t bit(int i) { return std::uint64_t{1} << static_cast<unsigned>(i); }

  std::uint64_t all_segments_;
  std::array<std::uint64_t, 64> columns_{};  ///< what each rank holds
  std::array<std::uint64_t, 64> rows_{};     ///< who holds each segment
  std::uint64_t senders_ = 0;                ///< ranks that may send
  std::uint64_t sendable_ = 0;               ///< without those segments that are known to have no sender left
};

/// @tparam Table  SegmentTree or WordTable
template <typename Table>
class Planner {
 public:
  Planner(const Request& request, const TransferSink& sink, const RoundTimes& times)
      : sink_(sink),
        rank_at_(by_phase(times)),
        root_(static_cast<int>(std::ranges::find(rank_at_, request.root) - rank_at_.begin())),
        active_(at_positions(times, rank_at_)),
        table_(request.ranks, request.segments),
        left_(idx(request.ranks), request.segments),
        unfinished_(request.ranks - 1) {
    transfers_.reserve(idx(request.ranks));
  }

  PAPFFT_INLINE void run() {
    while (unfinished_ > 0) {
      for (const int newcomer : active_.begin_round()) {
        table_.join(newcomer);
        root_is_there_ = root_is_there_ || newcomer == root_;
      }
      const std::span<const int> group = active_.members();
      first_ = group.front();
      const int head = root_is_there_ ? root_ : first_;
      receive(head, true);
      for (const int position : group) {
        if (position != head) receive(position, false);
      }
      end_round();
    }
  }

 private:
  /// The ranks by arrival modulo the round's length, ties by rank.
  static std::vector<Rank> by_phase(const RoundTimes& times) {
    std::vector<Rank> ranks(times.arrival_ns.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::ranges::sort(ranks, {},
                      [&](Rank r) { return std::pair(times.arrival_ns[idx(r)] % times.round_ns, r); });
    return ranks;
  }

  static RoundTimes at_positions(const RoundTimes& times, std::span<const Rank> rank_at) {
    RoundTimes result;
    result.round_ns = times.round_ns;
    result.arrival_ns.reserve(rank_at.size());
    for (const Rank r : rank_at) result.arrival_ns.push_back(times.arrival_ns[idx(r)]);
    return result;
  }

  PAPFFT_INLINE void receive(int receiver, bool is_head) {
    const auto [segment, sender] = table_.choose(receiver, is_head, first_);
    if (sender < 0) return;
    const bool combine = table_.holds(receiver, segment);
    transfers_.push_back(
        {.round = active_.round(), .from = sender, .to = receiver, .segment = segment, .combine = combine});
    table_.leave(sender);
    table_.drop(sender, segment);
    --left_[idx(sender)];
    if (combine) {
      table_.drop(receiver, segment);  // P': back at the end of the round
    } else {
      ++left_[idx(receiver)];
    }
  }

  PAPFFT_INLINE void end_round() {
    for (Transfer& transfer : transfers_) table_.add(transfer.to, transfer.segment);
    for (Transfer& transfer : transfers_) {
      const int sender = transfer.from;
      table_.enter(sender);
      if (left_[idx(sender)] == 0 && sender != root_) --unfinished_;
      transfer.from = rank_at_[idx(transfer.from)];
      transfer.to = rank_at_[idx(transfer.to)];
    }
    sink_(transfers_);
    transfers_.clear();
    active_.end_round([this](int position) { return left_[idx(position)] == 0 && position != root_; });
  }

  const TransferSink& sink_;
  std::vector<Rank> rank_at_;  ///< by position
  int root_;                   ///< position
  ActiveRanks active_;         ///< positions
  Table table_;
  std::vector<int> left_;  ///< segments that a position holds
  int unfinished_;         ///< ranks other than the root that hold any
  bool root_is_there_ = false;
  int first_ = 0;                    ///< of the group of this round
  std::vector<Transfer> transfers_;  ///< of this round, of positions until it ends
};

PAPFFT_INLINE void plan_by_size(const Request& request, const TransferSink& sink) {
  const int n = request.segments;
  const RoundTimes times = round_times(request);
  if (n <= 64 && request.ranks <= 64) return Planner<WordTable>(request, sink, times).run();
  if (n <= 64) return Planner<SegmentTree<Bits64, 1>>(request, sink, times).run();
  if (n <= 256) return Planner<SegmentTree<Bits256, 1>>(request, sink, times).run();
  if (n <= 512) return Planner<SegmentTree<Bits256, 2>>(request, sink, times).run();
  Planner<SegmentTree<Bits256, 0>>(request, sink, times).run();
}

void plan_portable(const Request& request, const TransferSink& sink) { plan_by_size(request, sink); }

#if defined(__x86_64__)
[[gnu::target("avx2,bmi")]] void plan_avx2(const Request& request, const TransferSink& sink) {
  plan_by_size(request, sink);
}
#else
void plan_avx2(const Request& request, const TransferSink& sink) { plan_portable(request, sink); }
#endif

void plan(const Request& request, const TransferSink& sink) {
  plan_clairvoyant(request, sink, BitWidth::widest);
}

}  // namespace

void plan_clairvoyant(const Request& request, const TransferSink& sink, BitWidth width) {
  const bool wide = width != BitWidth::portable && supports(BitWidth::avx2);
  wide ? plan_avx2(request, sink) : plan_portable(request, sink);
}

const Algorithm reduce_clv{
    .operation = Operation::reduce,
    .name = "clv",
    .summary = "Clairvoyant: ranks that are there give each segment to the first who can take it",
    .rounds = "S-1+q (at times one more) after all have come",
    .bytes = "m(S-1+q)/S, or (P-1)m if each comes alone",
    .source = "CLV Listing 8, corrected",
    .uses_arrival = true,
    .transfers = plan,
    .round_count = least_rounds};

}  // namespace papfft::comm
