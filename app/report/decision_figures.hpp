// SPDX-License-Identifier: MIT
// What `papfft tune --collectives` has found, as maps: which way of a call is fastest where, and how much faster than stock MPI's default.
#pragma once
#include <string>
#include <vector>

#include "app/report/figure.hpp"
#include "comm/choose/decision_table.hpp"

namespace papfft::app::report {

/// A file of decisions.
struct Decisions {
  std::string file;
  comm::DecisionTable table;
};

/// Whether a text claims to be a table of decisions.
[[nodiscard]] bool is_decisions(const std::string& text);
/// @param path  for messages. @throws io::DataError  it is no such table, or has no rows
[[nodiscard]] Decisions parse_decisions(const std::string& path, const std::string& text);

/// What "auto" does by these tables, and how much faster than stock MPI's default that is. Some sentences.
[[nodiscard]] std::string answer_of(const std::vector<Decisions>& all);

/// Of one table a map of operations and sizes; of several a map of groups and sizes for each operation.
[[nodiscard]] std::vector<Figure> make_figures(const std::vector<Decisions>& all, const std::string& prefix);

/// Each cell's way and the next best, headings first.
[[nodiscard]] std::vector<std::vector<std::string>> make_table(const std::vector<Decisions>& all);

}  // namespace papfft::app::report
