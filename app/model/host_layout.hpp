// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

namespace papfft::app {

/// What --hosts means: "0,0,1,1" names the host of each rank by any number; "8x4" is 8 hosts of 4 ranks, host by host;
/// "8x4:cyclic" is the same with the ranks dealt out in turn.
/// @return the host of each rank; empty for ""
/// @throws UsageError  the text is none of these, or names more than 2^20 ranks
[[nodiscard]] std::vector<int> parse_hosts(const std::string& text);

/// For --help.
inline constexpr const char* kHostsHelp =
    "which ranks share a host: the host of each rank by any number (0,0,1,1), 8x4 for 8 hosts of 4 ranks, or "
    "8x4:cyclic";

}  // namespace papfft::app
