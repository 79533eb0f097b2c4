// SPDX-License-Identifier: MIT
// From a job's timeline to figures.
#pragma once
#include <string>
#include <vector>

#include "app/report/figure.hpp"
#include "app/report/trace.hpp"

namespace papfft::app::report {

/// "timeline of transform": a heading.
[[nodiscard]] std::string title_of(const Trace& trace);
/// Command, machine and what is missing, as sentences for small print.
[[nodiscard]] std::string conditions_of(const Trace& trace);

/// What every rank did when, all of it and its first calls with their messages; and for how long in all.
/// @param prefix  of the figures' names
[[nodiscard]] std::vector<Figure> make_figures(const Trace& trace, const std::string& prefix);

/// How long each rank did what, headings first.
[[nodiscard]] std::vector<std::vector<std::string>> make_table(const Trace& trace);

}  // namespace papfft::app::report
