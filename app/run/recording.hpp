// SPDX-License-Identifier: MIT
// What a job writes about itself: --record and --timeline.
#pragma once
#include <functional>

#include "app/run/job.hpp"
#include "app/run/job_options.hpp"

namespace papfft::app {

/// Runs a job's work and then writes what its options want to have recorded of it. Collective.
/// @throws as work() and Job::at_root
void run_recorded(Job& job, const JobOptions& options, const std::function<void()>& work);

}  // namespace papfft::app
