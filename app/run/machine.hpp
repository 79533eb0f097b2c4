// SPDX-License-Identifier: MIT
#pragma once
#include "app/io/json.hpp"
#include "app/run/host_layout.hpp"
#include "app/run/job.hpp"

namespace papfft::app {

/// Which of the job's ranks share a host. Sends no message.
[[nodiscard]] HostLayout host_layout(Job& job);

/// Where the job runs: host, cores, kernel, MPI library, ranks, how these are spread over hosts. Sends no message.
[[nodiscard]] io::Json machine_json(Job& job);

}  // namespace papfft::app
