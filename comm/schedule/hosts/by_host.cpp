// SPDX-License-Identifier: MIT
// The flat algorithm with its ranks renamed host by host, whatever their order in the communicator. So a ring crosses each
// link once per step, and the near steps of a circulant graph stay inside hosts.
//
//   hosts A B A B    ranks play the parts 0 2 1 3: the ring is 0 -> 2 -> 1 -> 3, of which two steps cross a link
#include <algorithm>

#include "comm/schedule/core/composition.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::comm {

namespace {

/// Part v of the flat schedule is played by order[v].
std::vector<Rank> host_order(const Hosts& hosts, int ranks) {
  std::vector<Rank> order;
  order.reserve(static_cast<std::size_t>(ranks));
  for (int h = 0; h < hosts.count(); ++h)
    order.insert(order.end(), hosts.members(h).begin(), hosts.members(h).end());
  return order;
}

RankSchedule generate(const Algorithm& flat, const Request& request, Rank rank) {
  const std::vector<Rank> order = host_order(Hosts(request.ranks, request.host), request.ranks);
  const auto part_of = [&](Rank r) { return static_cast<Rank>(std::ranges::find(order, r) - order.begin()); };
  Request renamed = request;
  renamed.host.clear();
  renamed.root = part_of(request.root);
  for (std::size_t v = 0; v < renamed.arrival_ns.size(); ++v) {
    renamed.arrival_ns[v] = request.arrival_ns[static_cast<std::size_t>(order[v])];
  }
  return relabel(make_rank_schedule(flat, renamed, part_of(rank)), order);
}

}  // namespace

const Composition kByHost{.name = "byhost",
                          .summary = "the same among ranks renamed host by host",
                          .serves = [](const Algorithm& flat) { return !is_rooted(flat.operation); },
                          .local = generate};

}  // namespace papfft::comm
