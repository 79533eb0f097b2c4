// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "comm/choose/stock_algorithm.hpp"
#include "papfft/operation.hpp"

namespace papfft::app {

/// The MPI library's own fastest way for one operation and size.
struct StockDecision {
  comm::Operation operation = comm::Operation::scatter;
  std::uint64_t bytes = 0;              ///< of the whole vector
  comm::StockAlgorithm algorithm = {};  ///< number 0: the library's own choice
};

/// The file that Open MPI's coll_tuned_dynamic_rules_filename names, for communicators of this size. Open MPI takes the rule with the
/// largest size that a call reaches; each measured size speaks for those that are nearer to it by ratio than to the next, and the
/// smallest one for calls from half its size on. Below that, Open MPI chooses.
/// @param decisions  sorted by operation and size
/// Format: coll_tuned_dynamic_file.c of Open MPI 4.1, where a line per size has bytes, algorithm, fan-in/out (0) and segment.
[[nodiscard]] std::string openmpi_rules(int ranks, std::span<const StockDecision> decisions);

}  // namespace papfft::app
