// SPDX-License-Identifier: MIT
// One leader per host runs a flat algorithm; the other ranks of a host exchange with their leader through memory (two_levels.hpp). So
// each link carries what the algorithm needs among as many ranks as there are hosts. What is the same for all members goes along a
// tree (InsideTree), what is each one's own directly.
//
//   bcast, hosts {0 1} {2 3}, root 0, S = 2     0 -> 2: 0   0 -> 1: 0 | 2 -> 3: 0   0 -> 2: 1   0 -> 1: 1 | 2 -> 3: 1
//
// In an all-to-all, leaders send all blocks from one host to another as one message (pair_levels.hpp).
#include "comm/schedule/core/composition.hpp"
#include "comm/schedule/hosts/pair_levels.hpp"
#include "comm/schedule/hosts/two_levels.hpp"

namespace papfft::comm {

const Composition kAmongLeaders{
    .name = "hosts",
    .summary =
        "the same among one leader per host; the others of a host exchange with their leader through memory",
    .among_leaders = true,
    .serves =
        [](const Algorithm& flat) { return is_served_on_two_levels(flat) || is_served_on_pair_levels(flat); },
    .local =
        [](const Algorithm& flat, const Request& request, Rank rank) {
          return traits(flat.operation).is_per_pair() ? pair_level_part(flat, request, rank)
                                                      : two_level_part(flat, request, rank, 1);
        }};

}  // namespace papfft::comm
