// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/choose/decision_table.hpp"

namespace papfft::comm {

/// The MPI library's name and version, in one line.
[[nodiscard]] std::string mpi_library();

/// The name of this process's host, with '#' for each number in it: what the hosts of a cluster have in common, in one word.
[[nodiscard]] std::string host_name_pattern();

/// Where the decisions for such a group may lie, in the order of the search. PAPFFT_DECISIONS names a file or a folder, and nothing
/// else is searched then ("off": nothing at all). Without it, the user's folder ($XDG_CONFIG_HOME/papfft or ~/.config/papfft), then
/// the site's (/etc/papfft).
[[nodiscard]] std::vector<std::filesystem::path> decisions_paths(int ranks, int hosts);

/// All files of decisions that the search may find, whatever the group.
[[nodiscard]] std::vector<std::filesystem::path> known_decisions();

/// @throws std::invalid_argument  with the file's name: it cannot be read or is no table
[[nodiscard]] DecisionTable read_decisions(const std::filesystem::path& path);

/// The text of the first file that is there and is for such a group, as rank 0 finds it; the same on all ranks. If there is none, a table
/// without rows that has the links of a group of another size on hosts with such names, of the nearest size. Empty: there is none of these either.
/// @throws std::invalid_argument  on all ranks, with the file's name: it cannot be read or is no table; or PAPFFT_DECISIONS names it,
/// and it is for another MPI library
[[nodiscard]] std::string shared_decisions(MPI_Comm comm, const GroupProfile& group);

}  // namespace papfft::comm
