// SPDX-License-Identifier: MIT
#include "comm/model/port_times.hpp"

#include <algorithm>

namespace papfft::comm {

void PortTimes::add(Rank rank, const Program& program, const SlotSizes& sizes) {
  const int host = hosts_.of(rank);
  Busy mine;
  Busy& card = cards_[host];
  for (const Op& op : program.ops()) {
    if (is_local(op.kind)) continue;
    const std::int64_t bytes = sizes.of(op.blocks);
    const bool is_empty = op.blocks.count() == 0;
    // Messages of slots that hold nothing are never sent, and others without data may be free.
    if (bytes == 0 && (!is_empty || machine_.empty_is_free)) continue;
    const bool is_inside = hosts_.of(op.peer) == host;
    const Ticks time = is_inside ? machine_.inside.alpha + machine_.inside.beta * bytes
                                 : machine_.alpha + machine_.beta * bytes;
    const bool is_send = op.kind == OpKind::send;
    (is_send ? mine.out : mine.in) += time;
    if (!is_inside) (is_send ? card.out : card.in) += time;
  }
  least_ = std::max({least_, time_of(mine, 1), time_of(card, machine_.card_ports)});
}

Ticks PortTimes::time_of(const Busy& busy, int ports) const {
  return (machine_.duplex ? std::max(busy.out, busy.in) : busy.out + busy.in) / ports;
}

}  // namespace papfft::comm
