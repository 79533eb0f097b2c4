// SPDX-License-Identifier: MIT
// How `papfft simulate` writes its rows.
#pragma once
#include <string>
#include <vector>

#include "app/io/json.hpp"
#include "app/model/simulation.hpp"

namespace papfft::app {

[[nodiscard]] std::string simulation_table(const SimulateSettings& settings,
                                           const std::vector<SimulatedRow>& rows);
[[nodiscard]] std::string simulation_csv(const SimulateSettings& settings,
                                         const std::vector<SimulatedRow>& rows);
[[nodiscard]] io::Json simulation_document(const SimulateOptions& options, const SimulateSettings& settings,
                                           const std::vector<SimulatedRow>& rows);

}  // namespace papfft::app
