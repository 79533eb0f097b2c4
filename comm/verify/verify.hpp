// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "comm/progress/progress.hpp"
#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Under which conditions a schedule is verified.
struct Conditions {
  /// The strictest by default. What ends under these rules ends with larger windows, and with messages that land aside.
  Rules rules = {.landing = Landing::in_place};
  /// The size of each slot; empty: no slot is empty. A schedule without credits that is right stays right where slots are empty.
  std::span<const std::int64_t> slot_bytes = {};
  /// Of all ranks, in the first run. Must outlive the call.
  ProgressObserver* observer = nullptr;
};

/// Runs all programs symbolically: moves sets of contributors, never bytes.
///
/// Checks: indices in range and dependencies backwards; every send meets a receive of as many blocks; no two ops
/// of a rank touch a slot, one of them writing, without a dependency between them (race); no deadlock, although
/// no message is ever buffered (a send ends when its receive has started) and although no more than `window`
/// messages are under way; nobody sends data it lacks, mixes blocks or gets what it has; no contribution is
/// counted twice; at the end every rank holds what contract.hpp promises; the promises of the shape (single_port, ordered).
///
/// Credits: every take has its give, which does not end before the take has started. No take starts before its peer has arrived. With
/// a single credit in the whole group, every answer comes back without another having been asked for; so with more credits none can
/// wait for another either. Who asks first depends on the order of events: a fixed one and 24 pseudo-random ones are run. An
/// announcement is an empty send to a rank that asks for credits on hearing it.
///
/// Apart from credits, one execution decides for all interleavings (progress.hpp): every execution ends the same ops, and without
/// races all of them move the same values. For the same reason a schedule that passes with a window passes with any larger.
///
/// @return nullopt if correct, else the first violation found, e.g. "rank 2 op 3 (send 1->2) ...".
/// @note Source: the pre- and postcondition check of MSCCL (microsoft/msccl-tools), FFTW's mpi/testsched.c.
[[nodiscard]] std::optional<std::string> find_violation(const Schedule& schedule,
                                                        const Conditions& conditions = {});

}  // namespace papfft::comm
