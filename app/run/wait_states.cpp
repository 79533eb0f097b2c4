// SPDX-License-Identifier: MIT
#include "app/run/wait_states.hpp"

#include <algorithm>
#include <stdexcept>

namespace papfft::app {

using comm::Operation;

namespace {

using comm::Holder;

enum class Flow : std::uint8_t { from_root, to_root, among_all };

Flow flow_of(Operation operation) {
  if (traits(operation).before == Holder::root) return Flow::from_root;
  return traits(operation).after == Holder::root ? Flow::to_root : Flow::among_all;
}

}  // namespace

std::string_view to_string(WaitState state) {
  switch (state) {
    case WaitState::late_sender:
      return "Late Sender";
    case WaitState::late_receiver:
      return "Late Receiver";
    case WaitState::wait_at_nxn:
      break;
  }
  return "Wait at N x N";
}

std::vector<Wait> classify_waits(Operation operation, int root, std::span<const std::int64_t> arrival_ns,
                                 std::span<const std::int64_t> exit_ns) {
  const auto ranks = static_cast<int>(arrival_ns.size());
  if (exit_ns.size() != arrival_ns.size() || root < 0 || root >= ranks) {
    throw std::invalid_argument("waits: needs an arrival and an exit per rank, and a root among them");
  }
  const auto arrival = [&](int rank) { return arrival_ns[static_cast<std::size_t>(rank)]; };
  const auto exit = [&](int rank) { return exit_ns[static_cast<std::size_t>(rank)]; };
  /// The last to come; the first of these if there are several.
  const auto last_but = [&](int self) {
    int last = -1;
    for (int r = 0; r < ranks; ++r) {
      if (r != self && (last < 0 || arrival(r) > arrival(last))) last = r;
    }
    return last;
  };
  const Flow flow = flow_of(operation);
  std::vector<Wait> waits;
  for (int rank = 0; rank < ranks && ranks > 1; ++rank) {
    const bool is_root = rank == root && flow != Flow::among_all;
    const int partner = flow == Flow::among_all || is_root ? last_but(rank) : root;
    const bool receives = is_root ? flow == Flow::to_root : flow == Flow::from_root;
    const WaitState state = flow == Flow::among_all ? WaitState::wait_at_nxn
                            : receives              ? WaitState::late_sender
                                                    : WaitState::late_receiver;
    // Whoever was gone before its receiver came has not waited for it: its data lay elsewhere by then.
    if (state == WaitState::late_receiver && exit(rank) < arrival(partner)) continue;
    const std::int64_t end_ns = std::min(arrival(partner), exit(rank));
    if (end_ns <= arrival(rank)) continue;
    waits.push_back({rank, partner, state, arrival(rank), end_ns});
  }
  return waits;
}

}  // namespace papfft::app
