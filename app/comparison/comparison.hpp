// SPDX-License-Identifier: MIT
// Planners that exist only so that ours can be compared with them, in a library of its own (papfft_comparison): one of them
// needs Boost.Heap, which no program that embeds the collective layer should have to install.
#pragma once
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

extern const Algorithm reduce_clv_linear;
extern const Algorithm reduce_clv_heap;

/// Adds them to the registry. At the beginning of a program, once or several times.
void register_comparison_algorithms();

}  // namespace papfft::comm
