// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// The other end of each message, per rank and op; nothing of local ops.
using Partners = std::vector<std::vector<OpRef>>;

/// What can be said of a schedule without running it: everything that find_violation() checks, but for deadlocks, data and the
/// order in which credits are served.
/// @param partners  set if there is no violation
[[nodiscard]] std::optional<std::string> find_structural_violation(const Schedule& schedule,
                                                                   Partners& partners);

/// "rank 2 op 3 (send ->1 [0,1)): what"
[[nodiscard]] std::string at_op(const Schedule& schedule, OpRef where, std::string_view what);

}  // namespace papfft::comm
