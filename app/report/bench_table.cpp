// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/report/bench_figures.hpp"
#include "app/report/bench_rows.hpp"

namespace papfft::app::report {
namespace {

struct Column {
  bool shown;
  const char* heading;
  std::function<std::string(const BenchRow&)> cell;
};

std::string cell(const std::optional<double>& value, int decimals) {
  return value && std::isfinite(*value) ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

/// How many times as long a peer took.
Column gain_over(const std::string& peer, const Rows& rows) {
  const auto peer_of = [peer, rows](const BenchRow& row) { return row_of(peer, row, rows); };
  return {std::ranges::any_of(rows, [&](const BenchRow* row) { return peer_of(*row) != nullptr; }),
          peer == "mpi" ? "gain over mpi" : "gain over mpi-best", [peer_of](const BenchRow& row) {
            const BenchRow* other = peer_of(row);
            return other == nullptr ? "-" : cell(other->run.center / row.run.center, 2);
          }};
}

std::vector<Column> columns_of(const RunGroup& group) {
  const auto any = [&](auto has) { return std::ranges::any_of(group.rows, has); };
  Rows all;
  for (const BenchRow& row : group.rows) all.push_back(&row);
  return {
      {true, "algorithm", [](const BenchRow& r) { return r.algorithm + (r.correct ? "" : " WRONG DATA"); }},
      {true, "ranks", [](const BenchRow& r) { return std::to_string(r.ranks); }},
      {any([](const BenchRow& r) { return r.bytes > 0; }), "size",
       [](const BenchRow& r) { return size_text(r.bytes); }},
      {any([](const BenchRow& r) { return r.segments > 0; }), "segments",
       [](const BenchRow& r) { return std::to_string(r.segments); }},
      {any([](const BenchRow& r) { return !r.pattern.empty(); }), "arrivals",
       [](const BenchRow& r) { return r.pattern; }},
      {true, "time", [](const BenchRow& r) { return time_text(r.run.center); }},
      {true, "low", [](const BenchRow& r) { return time_text(r.run.low); }},
      {true, "high", [](const BenchRow& r) { return time_text(r.run.high); }},
      {any([](const BenchRow& r) { return r.elapsed.has_value(); }), "elapsed",
       [](const BenchRow& r) { return r.elapsed ? time_text(r.elapsed->center) : "-"; }},
      {any([](const BenchRow& r) { return r.efficiency.has_value(); }), "share of bound",
       [](const BenchRow& r) { return cell(r.efficiency, 3); }},
      {any([](const BenchRow& r) { return r.promise.has_value(); }), "peer's time",
       [](const BenchRow& r) { return r.promise ? time_text(r.promise->peer.center) : "-"; }},
      {any([](const BenchRow& r) { return r.promise.has_value(); }), "auto / peer",
       [](const BenchRow& r) { return r.promise ? cell(r.promise->ratio, 2) : "-"; }},
      {any([](const BenchRow& r) { return r.promise.has_value(); }), "p",
       [](const BenchRow& r) { return r.promise ? fmt::format("{:.2g}", r.promise->p) : "-"; }},
      {any([](const BenchRow& r) { return r.promise.has_value(); }), "verdict",
       [](const BenchRow& r) { return r.promise ? r.promise->verdict : "-"; }},
      gain_over("mpi", all),
      gain_over("mpi-best", all),
      {any([](const BenchRow& r) { return r.over_best.has_value(); }), "over best",
       [](const BenchRow& r) { return cell(r.over_best, 3); }},
      {any([](const BenchRow& r) { return r.vectors_per_s.has_value(); }), "vectors/s",
       [](const BenchRow& r) { return cell(r.vectors_per_s, 1); }},
      {any([](const BenchRow& r) { return r.memory_bytes.has_value(); }), "memory",
       [](const BenchRow& r) { return r.memory_bytes ? size_text(std::llround(*r.memory_bytes)) : "-"; }},
  };
}

}  // namespace

std::vector<std::vector<std::string>> make_table(const RunGroup& group) {
  const std::vector<Column> columns = columns_of(group);
  std::vector<std::vector<std::string>> table(1);
  for (const Column& column : columns) {
    if (column.shown) table.front().emplace_back(column.heading);
  }
  for (const BenchRow& row : group.rows) {
    table.emplace_back();
    for (const Column& column : columns) {
      if (column.shown) table.back().push_back(column.cell(row));
    }
  }
  return table;
}

}  // namespace papfft::app::report
