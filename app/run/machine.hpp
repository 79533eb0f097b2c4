// SPDX-License-Identifier: MIT
#pragma once
#include "app/io/json.hpp"
#include "app/run/job.hpp"

namespace papfft::app {

/// Where the job runs: host, cores, kernel, MPI library, ranks.
[[nodiscard]] io::Json machine_json(Job& job);

}  // namespace papfft::app
