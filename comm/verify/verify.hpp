// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// How many messages a rank may have under way. The windows are counted in program order: a send may start when
/// its dependencies have ended and fewer than `sends` earlier sends of its program are unfinished (receives
/// alike). Empty messages and those under credits are not counted. The executor keeps to the same rule.
struct Window {
  int sends = 1;
  int receives = 1;
  friend bool operator==(const Window&, const Window&) = default;
};

/// Runs all programs symbolically: moves sets of contributors, never bytes.
///
/// Checks: indices in range and dependencies backwards; every send meets a receive of as many blocks; no two ops
/// of a rank touch a slot, one of them writing, without a dependency between them (race); no deadlock, although
/// no message is ever buffered (a send ends when its receive has started) and although no more than `window`
/// messages are under way; nobody sends data it lacks, mixes blocks or gets what it has; no contribution is
/// counted twice; at the end every rank holds what contract.hpp promises; the promises of the shape (single_port, ordered).
///
/// Credits: every take has its give, and the schedule ends correctly with a single credit, whichever peer's takes are
/// served first: all orders of up to 4 peers are run, pseudo-random ones of more. With one credit each answer comes
/// back without another having been asked for, so with more credits none of them can wait for another either.
///
/// Apart from that one execution decides for all interleavings: what may start depends only on the set of ops that have ended,
/// and more ended ops never forbid a start, so every maximal execution ends the same set; without races all of
/// them move the same values. For the same reason a schedule that passes with a window passes with any larger.
///
/// @return nullopt if correct, else the first violation found, e.g. "rank 2 op 3 (send 1->2) ...".
/// @note Source: the pre- and postcondition check of MSCCL (microsoft/msccl-tools), FFTW's mpi/testsched.c.
[[nodiscard]] std::optional<std::string> find_violation(const Schedule& schedule, Window window = {});

}  // namespace papfft::comm
