// SPDX-License-Identifier: MIT
// What a batch system has given to this job, in words.
#pragma once
#include <functional>
#include <string>

namespace papfft::app {

/// By Slurm's variables: "Slurm job 12 of partition batch: 8 hosts (h[0-7]), 16 ranks, 2(x8) per host, started again 3 times". Per
/// host in Slurm's own notation: 2(x8) is 2 on each of 8 hosts. Of a task of a job array: "Slurm job 12, task 3 of array 9". Empty:
/// this is no job of Slurm.
/// @param variable  the value of an environment variable, or nullptr
[[nodiscard]] std::string allocation_text(const std::function<const char*(const char*)>& variable);

}  // namespace papfft::app
