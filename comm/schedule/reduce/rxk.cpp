// SPDX-License-Identifier: MIT
// Radix-K reduction: as Rabenseifner's (butterfly.hpp), in groups of up to eight instead of pairs. Fewer rounds, whose
// messages are all under way at once. Group sizes are the largest up to 8 that divide what is left of P, or its least prime
// factor: P = 48 is 8 6, P = 7 one group, P = 22 is 2 11. The vector is cut into P pieces whatever the segments.
#include <algorithm>

#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/butterfly.hpp"

namespace papfft::comm {

namespace {

constexpr int kLargestGroup = 8;

std::vector<int> group_sizes(int ranks) {
  std::vector<int> sizes;
  while (ranks > 1) {
    int size = std::min(kLargestGroup, ranks);
    while (size > 1 && ranks % size != 0) --size;
    for (int factor = kLargestGroup + 1; size == 1; ++factor) {
      if (ranks % factor == 0) size = factor;
      if (factor * factor > ranks) size = std::max(size, ranks);
    }
    sizes.push_back(size);
    ranks /= size;
  }
  return sizes;
}

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(shape_of(request, request.ranks), rank);
  Butterfly{group_sizes(request.ranks)}.write(builder, rank, request.root, request.ordered, 0,
                                              [](int player) { return player; });
  return builder.take_part();
}

}  // namespace

const Algorithm reduce_rxk{.operation = Operation::reduce,
                           .name = "rxk",
                           .summary = "Radix-K: exchanges in groups of up to 8, then the pieces to the root",
                           .rounds = "2 sum(k-1) over the group sizes k",
                           .bytes = "2m(P-1)/P",
                           .source = "Peterka et al., SC 2009; CLV's RXK",
                           .segmentation = Segmentation::whole,
                           .can_be_ordered = true,
                           .local = generate};

}  // namespace papfft::comm
