// SPDX-License-Identifier: MIT
// Pipelined binary tree: an inner rank combines what its two children send and hands the sum on, segment after segment.
//
// The ranks stand in a line, and the middle one of each stretch is the parent of the middle ones of its two halves; so a
// rank combines stretches that lie on either side of it, which keeps the order, and a rank finds its place in O(log P).
// Unless the order matters, the line is turned so that the root is in the middle of all.
//
//     P = 7, root 3          3
//                        1       5
//                       0 2     4 6
#include <bit>

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

/// Where a position of the line 0 .. size-1 is in the tree. Children and parent: -1 if there is none.
struct Place {
  int parent = -1;
  int left = -1;
  int right = -1;
  int depth = 0;
};

int middle(int first, int last) { return first + (last - first) / 2; }

/// @param top  the position that is the root of all
Place find(int size, int top, int position) {
  Place place;
  int first = 0;
  int last = size;
  int at = top;
  while (at != position) {
    place.parent = at;
    ++place.depth;
    (position < at ? last : first) = position < at ? at : at + 1;
    at = middle(first, last);
  }
  if (first < at) place.left = middle(first, at);
  if (at + 1 < last) place.right = middle(at + 1, last);
  return place;
}

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int turn = request.ordered ? 0 : (middle(0, p) - request.root + p) % p;
  const auto player = [&](int position) { return (position - turn + p) % p; };
  const Place place = find(p, (request.root + turn) % p, (rank + turn) % p);
  // Of a root in the middle; at an end of the line it makes one more.
  const int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(p))) + (request.ordered ? 1 : 0);
  const int round = 2 * (levels - 2 - place.depth);  // in which its left child sends the first segment
  RankBuilder builder(request, rank);
  for (int j = 0; j < request.segments; ++j) {
    const BlockRange blocks{j, j + 1};
    if (place.left >= 0) {
      builder.add({.kind = OpKind::recv_combine,
                   .incoming_first = true,
                   .peer = player(place.left),
                   .blocks = blocks,
                   .round = round + 2 * j});
    }
    if (place.right >= 0) builder.recv_combine(player(place.right), blocks, round + 2 * j + 1);
    if (place.parent >= 0) {
      const int second = (rank + turn) % p > place.parent ? 1 : 0;
      builder.send(player(place.parent), blocks, round + 2 + 2 * j + second);
    }
  }
  return builder.take_part();
}

/// ceil(log2(P+1)) levels; two rounds for each but the first, and for each further segment.
std::int64_t rounds(int ranks, int segments) {
  const auto levels = std::int64_t{std::bit_width(static_cast<unsigned>(ranks))};
  return ranks == 1 ? 0 : 2 * (levels + segments - 2);
}

}  // namespace

const Algorithm reduce_binary{.operation = Operation::reduce,
                              .name = "binary",
                              .summary = "a pipeline through a binary tree, segment after segment",
                              .rounds = "2(ceil(log2(P+1))+S-2) (2 more if ordered and the root at an end)",
                              .bytes = "2m",
                              .source = "GRD Sect. IV; Open MPI in-order binary",
                              .can_be_ordered = true,
                              .local = generate,
                              .round_count = rounds};

}  // namespace papfft::comm
