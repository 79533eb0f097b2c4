// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "app/run/job.hpp"

namespace papfft::app {

/// The root's strings on every rank, such as the names under which it writes files. Collective. @param mine  looked at on the root alone
[[nodiscard]] std::vector<std::string> names_of_root(Job& job, const std::vector<std::string>& mine);

}  // namespace papfft::app
