// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::app {

/// Draws a schedule into a file: ranks as rows, the ranks of a host in a box, messages as lines. All ranks come together, each has one
/// message under way each way, and a slot takes a unit of time between hosts and a quarter of one inside a host. So lengths show
/// the order and not the time that a network would need.
/// @param path          its extension is .png or .svg
/// @param host_of_rank  empty: each rank has a host of its own
/// @throws UsageError       the extension is another one, or there are more messages than a picture can show
/// @throws io::OutputError  the file cannot be written
void draw_schedule(const std::string& path, const std::string& title, const comm::Schedule& schedule,
                   std::span<const int> host_of_rank);

}  // namespace papfft::app
