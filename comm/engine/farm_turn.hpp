// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

#include "comm/engine/farm_messages.hpp"

namespace papfft::comm::farm {

/// What a farm's root knows of another rank when it looks for one to deal the next task to.
struct Candidate {
  int host = 0;             ///< 0: the root's own; the others in any order, without gaps
  int tasks = 0;            ///< that it has or that are on their way to it
  bool first_sent = false;  ///< the only one that it has is on its way
};

/// Tasks that are on their way over the root's link to ranks that have no other. Messages within the root's host use no link.
[[nodiscard]] inline std::size_t first_sends_over_link(std::span<const Candidate> others) {
  std::size_t count = 0;
  for (const Candidate& c : others) count += c.first_sent && c.host != 0 ? 1U : 0U;
  return count;
}

/// Which of the others gets the next task, by its place in the list; nothing (the list's size): the root itself. Ranks without
/// a task come first; a second one is sent ahead when every rank has one. Among equals a rank of the root's host comes first,
/// because it needs no link, and then one of the host to which the fewest are on their way, because ranks of a host share its
/// link.
/// @param sends_at_once  so many first tasks may be on their way over the root's link, which they share
[[nodiscard]] inline std::size_t next_rank(std::span<const Candidate> others, std::size_t sends_at_once) {
  int hosts = 1;
  for (const Candidate& c : others) hosts = c.host < hosts ? hosts : c.host + 1;
  std::vector<int> sends_to(static_cast<std::size_t>(hosts));
  for (const Candidate& c : others) sends_to[static_cast<std::size_t>(c.host)] += c.first_sent ? 1 : 0;
  const auto rank_of = [&](const Candidate& c) {
    const bool needs_link = c.host != 0;
    return std::tuple(c.tasks, needs_link, needs_link ? sends_to[static_cast<std::size_t>(c.host)] : 0);
  };
  std::size_t best = others.size();
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (best == others.size() || rank_of(others[i]) < rank_of(others[best])) best = i;
  }
  if (best == others.size() || others[best].tasks >= kPerRank) return others.size();
  const bool waits_for_link =
      others[best].host != 0 && others[best].tasks == 0 && first_sends_over_link(others) >= sends_at_once;
  return waits_for_link ? others.size() : best;
}

}  // namespace papfft::comm::farm
