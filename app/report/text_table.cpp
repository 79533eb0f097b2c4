// SPDX-License-Identifier: MIT
#include "app/report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace papfft::app::report {

namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && (cell == "-" || cell.find_first_not_of("0123456789.+-e%") == std::string::npos);
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headings) { rows_.push_back(std::move(headings)); }

void TextTable::add(std::vector<std::string> cells) {
  if (cells.size() != rows_.front().size())
    throw std::invalid_argument("a table's rows have one cell per heading");
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> width(columns, 0);
  std::vector<char> numeric(columns, 1);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      width[c] = std::max(width[c], rows_[r][c].size());
      if (r > 0 && !is_number(rows_[r][c])) numeric[c] = 0;
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      line += numeric[c] != 0 ? fmt::format("{:>{}}  ", row[c], width[c])
                              : fmt::format("{:<{}}  ", row[c], width[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string TextTable::csv() const {
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c > 0 ? "," : "") + quoted(row[c]);
    text += "\n";
  }
  return text;
}

}  // namespace papfft::app::report
