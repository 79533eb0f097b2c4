// SPDX-License-Identifier: MIT
#pragma once
#include "app/report/bench_run.hpp"
#include "app/report/plot.hpp"

namespace papfft::app::report {

/// What each rank does during one call, and the messages from rank to rank. The ranks of a host stand together, in a box.
/// @param call  has at least one rank; at most one host per rank, or none
/// @param time  of its times: label and unit; the range is chosen here
[[nodiscard]] Gantt messages_plot(const Messages& call, Axis time);

}  // namespace papfft::app::report
