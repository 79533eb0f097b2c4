// SPDX-License-Identifier: MIT
#pragma once
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

/// One rank's part of an all-to-all on two levels. The members of a host hand their leader what they have for ranks elsewhere. The
/// leaders run the flat algorithm, in which all blocks from one host to another are one message. Then they hand out what has come. What
/// stays inside a host goes from rank to rank meanwhile.
///
/// So a host sends one message to each other host, where the ranks of the flat algorithm would send as many as there are pairs of
/// ranks. It pays for short blocks: each block passes memory twice more at either end.
///
/// Where every rank is alone on its host, this is the flat schedule.
[[nodiscard]] RankSchedule pair_level_part(const Algorithm& flat, const Request& request, Rank rank);

/// Whether an algorithm can be the outer one: blocks go straight from host to host. What passes through a third host would have there
/// the size of another pair of hosts.
[[nodiscard]] bool is_served_on_pair_levels(const Algorithm& flat);

}  // namespace papfft::comm
