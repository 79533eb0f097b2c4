// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>

#include "app/run/job.hpp"

namespace papfft::app {

/// Where the job runs: host, cores, kernel, MPI library, ranks.
[[nodiscard]] nlohmann::ordered_json machine_json(Job& job);

}  // namespace papfft::app
