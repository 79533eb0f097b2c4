// SPDX-License-Identifier: MIT
#include "app/report/bench_rows.hpp"

#include <limits>

namespace papfft::app::report {
namespace {

template <typename Key>
std::vector<std::pair<Key, Rows>> split(const Rows& rows, const std::function<Key(const BenchRow&)>& key) {
  std::vector<std::pair<Key, Rows>> parts;  // in the order of the file
  for (const BenchRow* row : rows) {
    const Key k = key(*row);
    const auto found = std::ranges::find(parts, k, &std::pair<Key, Rows>::first);
    if (found == parts.end())
      parts.push_back({k, {row}});
    else
      found->second.push_back(row);
  }
  return parts;
}

}  // namespace

std::vector<std::pair<std::int64_t, Rows>> split_by(const Rows& rows, std::int64_t BenchRow::*member) {
  auto parts = split<std::int64_t>(rows, [&](const BenchRow& row) { return row.*member; });
  std::ranges::sort(parts, {}, &std::pair<std::int64_t, Rows>::first);
  return parts;
}

std::vector<std::pair<std::string, Rows>> split_by(const Rows& rows, std::string BenchRow::*member) {
  return split<std::string>(rows, [&](const BenchRow& row) { return row.*member; });
}

const BenchRow* row_of(std::string_view algorithm, const BenchRow& row, const Rows& rows) {
  for (const BenchRow* other : rows) {
    if (other->algorithm == algorithm && other->ranks == row.ranks && other->bytes == row.bytes &&
        other->pattern == row.pattern) {
      return other;
    }
  }
  return nullptr;
}

std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const BenchRow* row : rows) names.push_back(row->algorithm);
  return names;
}

Value gain_over_stock(const Rows& rows) {
  return [rows](const BenchRow& row) {
    const BenchRow* stock = row_of("mpi", row, rows);
    return stock == nullptr || row.run.center <= 0 ? std::numeric_limits<double>::quiet_NaN()
                                                   : stock->run.center / row.run.center;
  };
}

}  // namespace papfft::app::report
