// SPDX-License-Identifier: MIT
// For links that one process cannot fill: as many leaders per host as the smallest host has ranks, each with a share of the data and
// a lane of its own. The i-th leaders of all hosts run the flat algorithm on the i-th share (two_levels.hpp). So all ranks of a host
// drive its link at once, and the work inside a host is spread over its ranks.
//
//   bcast       the root hands each leader of its host a share; lanes; in each host every leader hands its share to all
//   reduce      the reverse: in each host every leader sums its share; lanes; the leaders of the root's host hand theirs to the root
//   allreduce   every leader sums its share inside the host; lanes; every leader hands its share to all
//   allgather   lanes, each with the blocks of its leaders; in each host every leader hands to all what its lane has collected.
//               Reduce-scatter is the reverse.
//   scatter     the root hands each leader of its host the blocks of its lane; lanes. Gather is the reverse.
//
//   bcast, hosts {0 1} {2 3}, root 0, S = 1     0 -> 1: 1   0 -> 2: 0 | 1 -> 3: 1   0 -> 1: 0 | 2 -> 3: 0   3 -> 2: 1
//
// A rank beyond the number of lanes, on a larger host, has no lane. It contributes to every lane and gets from every lane as the
// leaders of other lanes do. Where the data are blocks per rank, its block goes by one of the lanes, in turn. Where some host has one
// rank there is one lane: NAME@hosts.
//
// Source: the full-lane collectives of Träff and Hunold, "Decomposing collectives for exploiting multi-lane communication",
// CLUSTER 2020, which take one lane after another level by level; here the levels overlap, and hosts may differ in size.
#include <limits>

#include "comm/schedule/core/composition.hpp"
#include "comm/schedule/hosts/two_levels.hpp"

namespace papfft::comm {

const Composition kInLanes{
    .name = "lanes",
    .summary =
        "the same among the i-th ranks of all hosts, for each i on a share of the data; shares are "
        "exchanged through memory",
    .among_leaders = true,
    .in_lanes = true,
    .serves = is_served_on_two_levels,
    .local = [](const Algorithm& flat, const Request& request, Rank rank) {
      return two_level_part(flat, request, rank, std::numeric_limits<int>::max());
    }};

}  // namespace papfft::comm
