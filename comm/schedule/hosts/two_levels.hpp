// SPDX-License-Identifier: MIT
#pragma once
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

/// One rank's part of a schedule on two levels. Some ranks of each host, its leaders, run the flat algorithm, the outer one, with the
/// leaders of the other hosts. The other ranks of a host, its members, exchange with their leaders through memory.
///
/// With several leaders the data are cut into a share per lane: a vector into equal ones, blocks per rank by who they belong to. The
/// i-th leaders of all hosts run the outer algorithm on the i-th share. Their schedules differ by nothing but share and players. So all
/// ranks of a host know when any of its leaders needs or gets what.
///
///   up      members hand their contributions to the leaders, before these send them on: gathers, reductions, allgathers
///   down    leaders hand on what has come: broadcasts, scatters, allgathers, results of allreduce and reduce-scatter
///   root    it leads the first lane of its host. It hands the other leaders there their shares, or gets them.
///
/// All go unit by unit, a unit being what the outer algorithm takes for one slot, in the order in which a leader needs it or gets
/// it. So the segments of a vector flow through both levels at once.
///
/// Arrivals compose, too. A host comes to a broadcast or a scatter with its first ranks, which then lead it, and to anything else with
/// its last; that one leads a reduction, at the end of a chain along which those who came before it have been combined.
///
/// Where every rank is alone on its host, this is the flat schedule.
/// @param most_lanes  how many leaders a host may have; there are no more than the smallest host has ranks
[[nodiscard]] RankSchedule two_level_part(const Algorithm& flat, const Request& request, Rank rank,
                                          int most_lanes);

/// Whether an algorithm can be the outer one.
[[nodiscard]] bool is_served_on_two_levels(const Algorithm& flat);

}  // namespace papfft::comm
