// SPDX-License-Identifier: MIT
#pragma once
#include "comm/record/arrival_trace.hpp"

namespace papfft::test {

/// Of two ranks: a scatter before which nobody computed, a gather before which both did, and a reduction, by whichever
/// algorithm, before which one did. Predictions are there, absent and below zero; a root is not the first rank; one size is
/// the greatest that a file may hold.
inline comm::ArrivalRecording sample_recording() {
  using comm::Operation;
  return {.ranks = 2,
          .dropped = 3,
          .calls = {{.operation = Operation::scatter,
                     .algorithm = "sln",
                     .root = 1,
                     .bytes = 800,
                     .ranks = {{.compute_ns = 0, .arrival_ns = 0, .predicted_ns = {}, .exit_ns = 90},
                               {.compute_ns = 0, .arrival_ns = 7, .predicted_ns = -5, .exit_ns = 95}}},
                    {.operation = Operation::gather,
                     .algorithm = "bsls",
                     .root = 0,
                     .bytes = std::uint64_t{1} << 60,
                     .ranks = {{.compute_ns = 30, .arrival_ns = 140, .predicted_ns = 139, .exit_ns = 150},
                               {.compute_ns = 1, .arrival_ns = 100, .predicted_ns = 180, .exit_ns = 100}}},
                    {.operation = Operation::reduce,
                     .algorithm = "",
                     .root = 0,
                     .bytes = 0,
                     .ranks = {{.compute_ns = 0, .arrival_ns = 200, .predicted_ns = {}, .exit_ns = 300},
                               {.compute_ns = 9, .arrival_ns = 260, .predicted_ns = {}, .exit_ns = 300}}}}};
}

}  // namespace papfft::test
