// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "papfft/operation.hpp"

namespace papfft::app {

/// Why a rank waits in a collective call, by the names that performance tools use (Scalasca's patterns).
enum class WaitState : std::uint8_t {
  late_sender,    ///< it came before the rank whose data it takes
  late_receiver,  ///< it came before the rank that takes its data, and could not leave before that came
  wait_at_nxn     ///< everybody needs everybody's data, and somebody came later
};
[[nodiscard]] std::string_view to_string(WaitState state);

struct Wait {
  int rank = 0;
  int for_rank = 0;
  WaitState state = WaitState::late_sender;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  friend bool operator==(const Wait&, const Wait&) = default;
};

/// What each rank waited for in one call, from when the ranks came and left on one clock. Of an operation with a root: the
/// others wait for the root, and it for the last of them; who hands on what in a tree is not looked at. What a rank does in
/// a call after everybody whom it needs has come is the transfer, not waiting.
/// @param arrival_ns, exit_ns  one per rank
/// @return  at most one per rank, none of them empty. @throws std::invalid_argument  unless they are as many, with a root
[[nodiscard]] std::vector<Wait> classify_waits(comm::Operation operation, int root,
                                               std::span<const std::int64_t> arrival_ns,
                                               std::span<const std::int64_t> exit_ns);

}  // namespace papfft::app
