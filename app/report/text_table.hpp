// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

namespace papfft::app::report {

/// Rows of cells under headings.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings);

  /// @throws std::invalid_argument  not one cell per heading
  void add(std::vector<std::string> cells);

  /// For reading: columns two spaces apart; those that hold numbers flush right, others flush left. Ends with a newline.
  [[nodiscard]] std::string text() const;
  /// RFC 4180, but for newlines alone at the ends of lines: cells with commas, quotes or newlines are quoted.
  [[nodiscard]] std::string csv() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the headings first
};

}  // namespace papfft::app::report
