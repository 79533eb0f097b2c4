// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// One op in a few characters: "send ->2 [1,3)", "recv_combine <-0 [0,1)", "copy 4 => [0,1)".
[[nodiscard]] std::string describe(const Op& op);

/// One line per op, ranks in order: index, round, op and, in braces, what it waits for.
[[nodiscard]] std::string to_text(const Schedule& schedule);

/// {"operation", "ranks", "root", "segments", "holder", "scratch", "credits", "single_port", "ordered",
///  "programs": [[{"kind", "peer", "blocks": [first, last], "round", "after": [...]}, ...], ...]};
/// local ops have "from" instead of "peer", combining ops "incoming_first", some empty messages "about", some ops "credit".
[[nodiscard]] std::string to_json(const Schedule& schedule);

}  // namespace papfft::comm
