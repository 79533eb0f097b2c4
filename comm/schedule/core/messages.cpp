// SPDX-License-Identifier: MIT
#include "comm/schedule/core/messages.hpp"

#include <algorithm>
#include <tuple>

namespace papfft::comm {

void MessageMatcher::add(Rank rank, const Op& op) {
  if (op.kind == OpKind::send) sends_.push_back({rank, op.peer, count_});
  if (is_receive(op.kind)) receives_.push_back({op.peer, rank, count_});
  ++count_;
}

std::vector<int> MessageMatcher::partners() {
  const auto by_pair = [](const End& a, const End& b) {
    return std::tie(a.source, a.target, a.number) < std::tie(b.source, b.target, b.number);
  };
  std::ranges::sort(sends_, by_pair);
  std::ranges::sort(receives_, by_pair);
  std::vector<int> partners(static_cast<std::size_t>(count_), -1);
  for (auto send = sends_.begin(), receive = receives_.begin();
       send != sends_.end() && receive != receives_.end();) {
    const auto sent = std::tie(send->source, send->target);
    const auto received = std::tie(receive->source, receive->target);
    if (sent == received) {
      partners[static_cast<std::size_t>(send->number)] = receive->number;
      partners[static_cast<std::size_t>(receive->number)] = send->number;
    }
    const bool send_is_unmet = sent < received;
    const bool receive_is_unmet = received < sent;
    if (!receive_is_unmet) ++send;
    if (!send_is_unmet) ++receive;
  }
  return partners;
}

}  // namespace papfft::comm
