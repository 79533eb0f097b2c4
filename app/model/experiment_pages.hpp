// SPDX-License-Identifier: MIT
// Paper versus ours, for people: a page for each experiment, one that lists them, and one as text.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/model/experiment_outcome.hpp"

namespace papfft::app {

using ExperimentOutcomes = std::vector<std::pair<const Experiment*, Outcome>>;

/// index.html and a page for each experiment.
void write_pages(const ExperimentOutcomes& outcomes, const std::filesystem::path& folder);

/// A line for each experiment, then its statements. @param from  the folder of the measurements
[[nodiscard]] std::string markdown_page(const ExperimentOutcomes& outcomes, const std::string& from);

}  // namespace papfft::app
