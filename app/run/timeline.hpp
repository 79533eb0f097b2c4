// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "app/io/json.hpp"
#include "app/run/timeline_layout.hpp"

namespace papfft::app {

/// Writes a job's timeline as Chrome trace events, for ui.perfetto.dev and chrome://tracing. A process per rank, with
/// threads: its computation and phases; its collective calls, with what it waited for in each; calls begun in the background
/// before it came; calls that went on beside it; messages sent and received, in as many threads as overlap, with an arrow
/// from each send to its receive. Times in us from the first event.
/// @param hosts  name of each rank's. @param about  goes to otherData. @throws io::OutputError
void write_timeline(const std::string& path, const comm::Timeline& timeline,
                    const std::vector<std::string>& hosts, const io::Json& about);

}  // namespace papfft::app
