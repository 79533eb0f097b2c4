// SPDX-License-Identifier: MIT
// Reductions that are not simulated but computed as the greedy reduction paper (GRD) does: by the formulas of its Tables I and
// III, or by its Algorithm 1.
#pragma once
#include <cstdint>
#include <string_view>

#include "comm/model/simulator.hpp"

namespace papfft::app {

/// "table-binary", ...
[[nodiscard]] bool is_formula(std::string_view name);
/// Of these, by Algorithm 1: for segments that are equal but for the last, or any.
[[nodiscard]] bool is_uni_greedy(std::string_view name);
/// @throws UsageError  the paper has no such formula for links of this kind
void require_formula(std::string_view name, bool duplex);

struct ComputedReduction {
  int segments = 1;
  comm::Ticks time = 0;
};

/// @param segments  0 or less: the best number up to most_segments
[[nodiscard]] ComputedReduction by_formula(std::string_view name, const comm::Machine& machine, int ranks,
                                           std::uint64_t bytes, int segments, int most_segments);

/// The best way to cut the vector for uni-greedy (GRD section VIII): into segments of ceil(m/q) bytes, of which the last may be
/// smaller, or in any of 2^(m-1) ways. @throws UsageError  there are too many ways
[[nodiscard]] ComputedReduction by_uni_greedy(std::string_view name, const comm::Machine& machine, int ranks,
                                              int root, std::uint64_t bytes, int most_segments);

}  // namespace papfft::app
