// SPDX-License-Identifier: MIT
#include "app/report/decision_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "app/io/errors.hpp"
#include "app/report/canvas.hpp"
#include "comm/choose/select.hpp"

namespace papfft::app::report {
namespace {

using Row = comm::DecisionTable::Row;
using Way = comm::DecisionTable::Way;

constexpr std::string_view kStock = "mpi";

bool is_stock(const Way& way) { return way.name == kStock || way.name.starts_with("mpi:"); }

/// Stock's time / that of the way that is taken. Nothing: one of them is not told.
std::optional<double> speed_up(const Row& row) {
  const auto stock = std::ranges::find(row.ways, kStock, &Way::name);
  if (stock == row.ways.end() || stock->us <= 0 || row.ways.front().us <= 0) return std::nullopt;
  return stock->us / row.ways.front().us;
}

std::string speed_up_text(const Row& row) {
  const auto ratio = speed_up(row);
  return ratio ? fmt::format("{:.2f}x", *ratio) : std::string("-");
}

/// "circulant" of "circulant/24", "mpi:3" of "mpi:3/64K": what a colour stands for.
std::string without_segments(const std::string& way) { return way.substr(0, way.find('/')); }

std::string group_text(const comm::GroupProfile& group) {
  return fmt::format("{} on {}", group.ranks, group.hosts);
}

/// Of the whole vector, so that all operations and groups share columns.
std::int64_t whole_bytes(const Row& row, int ranks) {
  constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(kMost, comm::vector_bytes(row.operation, row.bytes, ranks)));
}

/// The sizes of a map's columns. Blocks are whole elements, so vectors are a little shorter than was asked for: within 1 %, two sizes
/// are the same.
class Columns {
 public:
  void add(std::int64_t bytes) { sizes_.insert(bytes); }
  void join() {
    std::set<std::int64_t> apart;
    for (auto size = sizes_.rbegin(); size != sizes_.rend(); ++size) {
      if (apart.empty() || !are_alike(*size, *apart.begin())) apart.insert(*size);
    }
    sizes_ = std::move(apart);
  }
  [[nodiscard]] const std::set<std::int64_t>& sizes() const { return sizes_; }
  static bool are_alike(std::int64_t less, std::int64_t more) {
    return less <= more && static_cast<double>(less) >= 0.99 * static_cast<double>(more);
  }

 private:
  std::set<std::int64_t> sizes_;
};

/// Fills a map cell by cell, the lowest row first.
class MapMaker {
 public:
  explicit MapMaker(const std::set<std::string>& names) {
    map_.names.assign(names.begin(), names.end());
    map_.column_label = "size of the whole vector";
  }
  void set_columns(const Columns& columns) {
    for (const std::int64_t bytes : columns.sizes()) map_.columns.push_back(size_text(bytes));
  }
  void begin_row(const std::string& name) { map_.rows.push_back(name); }
  void add(const Row* row) {
    if (row == nullptr) {
      map_.cells.push_back(map_.names.size());
      map_.captions.emplace_back("not measured");
      return;
    }
    const Way& way = row->ways.front();
    const auto at = std::ranges::find(map_.names, without_segments(way.name));
    map_.cells.push_back(static_cast<std::size_t>(at - map_.names.begin()));
    map_.captions.push_back(speed_up_text(*row) + "\n" + way.name);
  }
  RegionMap take(const std::string& row_label) {
    map_.row_label = row_label;
    return std::move(map_);
  }

 private:
  RegionMap map_;
};

const Row* row_at(const comm::DecisionTable& table, comm::Operation operation, std::int64_t bytes) {
  const auto found = std::ranges::find_if(table.rows(), [&](const Row& row) {
    return row.operation == operation && Columns::are_alike(whole_bytes(row, table.group().ranks), bytes);
  });
  return found == table.rows().end() ? nullptr : &*found;
}

/// What all of a map's cells are about.
struct Extent {
  std::set<comm::Operation> operations;
  Columns columns;
  std::set<std::string> names;

  void add(const Row& row, int ranks) {
    operations.insert(row.operation);
    columns.add(whole_bytes(row, ranks));
    names.insert(without_segments(row.ways.front().name));
  }
};

const char* const kNote =
    "Each cell: time of stock MPI's default / time of the way that auto takes, and that way. mpi: stock's "
    "default, mpi:N: its "
    "algorithm N.";

Figure figure_of(std::string name, std::string title, RegionMap map) {
  return {.name = std::move(name), .title = std::move(title), .note = kNote, .plot = std::move(map)};
}

Figure map_of_operations(const Decisions& one, const std::string& prefix) {
  Extent extent;
  for (const Row& row : one.table.rows()) extent.add(row, one.table.group().ranks);
  extent.columns.join();
  MapMaker map(extent.names);
  map.set_columns(extent.columns);
  for (auto o = extent.operations.rbegin(); o != extent.operations.rend(); ++o) {  // the first on top
    map.begin_row(std::string(to_string(*o)));
    for (const std::int64_t bytes : extent.columns.sizes()) map.add(row_at(one.table, *o, bytes));
  }
  return figure_of(prefix + "-map", "What auto does: " + one.table.group().text(), map.take(""));
}

Figure map_of_groups(const std::vector<Decisions>& all, comm::Operation operation,
                     const std::string& prefix) {
  Extent extent;
  std::vector<const comm::DecisionTable*> tables;
  for (const Decisions& one : all) {
    bool has_any = false;
    for (const Row& row : one.table.rows()) {
      if (row.operation != operation) continue;
      extent.add(row, one.table.group().ranks);
      has_any = true;
    }
    if (has_any) tables.push_back(&one.table);
  }
  extent.columns.join();
  std::ranges::stable_sort(
      tables, {}, [](const comm::DecisionTable* t) { return std::pair(t->group().ranks, t->group().hosts); });
  MapMaker map(extent.names);
  map.set_columns(extent.columns);
  for (const comm::DecisionTable* table : tables) {
    map.begin_row(group_text(table->group()));
    for (const std::int64_t bytes : extent.columns.sizes()) map.add(row_at(*table, operation, bytes));
  }
  const std::string name(to_string(operation));
  return figure_of(prefix + "-" + name, "What auto does: " + name, map.take("ranks on hosts"));
}

}  // namespace

bool is_decisions(const std::string& text) { return text.starts_with("papfft-decisions "); }

Decisions parse_decisions(const std::string& path, const std::string& text) {
  try {
    Decisions decisions{path, comm::DecisionTable::parse(text)};
    if (decisions.table.rows().empty())
      throw io::DataError(path, "decides nothing; what would work: papfft tune --collectives");
    return decisions;
  } catch (const std::invalid_argument& e) {
    throw io::DataError(path, clean_text(e.what()));
  }
}

std::string answer_of(const std::vector<Decisions>& all) {
  std::size_t cells = 0;
  std::size_t own = 0;
  std::size_t stock_default = 0;
  std::vector<double> ratios;
  std::string best;
  for (const Decisions& one : all) {
    for (const Row& row : one.table.rows()) {
      ++cells;
      if (!is_stock(row.ways.front())) ++own;
      if (row.ways.front().name == kStock) ++stock_default;
      const auto ratio = speed_up(row);
      if (!ratio) continue;
      if (ratios.empty() || *ratio > *std::ranges::max_element(ratios)) {
        best = fmt::format("{} of {} by {} ({})", to_string(row.operation),
                           size_text(whole_bytes(row, one.table.group().ranks)), row.ways.front().name,
                           one.table.group().text());
      }
      ratios.push_back(*ratio);
    }
  }
  std::string text = fmt::format(
      "Of {} measured cells, auto takes an algorithm of this layer in {}, stock MPI's default in {}, and "
      "another algorithm of stock MPI "
      "in {}.",
      cells, own, stock_default, cells - own - stock_default);
  if (ratios.empty()) return text + " The times of stock MPI's default are not in the table.";
  double logarithms = 0;
  for (const double ratio : ratios) logarithms += std::log(ratio);
  return text + fmt::format(
                    " It is {:.2f} times as fast as stock MPI's default (geometric mean over {} cells). The "
                    "largest gain is {:.2f}x: {}.",
                    std::exp(logarithms / static_cast<double>(ratios.size())), ratios.size(),
                    *std::ranges::max_element(ratios), best);
}

std::vector<Figure> make_figures(const std::vector<Decisions>& all, const std::string& prefix) {
  if (all.size() == 1) return {map_of_operations(all.front(), prefix)};
  std::set<comm::Operation> operations;
  for (const Decisions& one : all) {
    for (const Row& row : one.table.rows()) operations.insert(row.operation);
  }
  std::vector<Figure> figures;
  for (const comm::Operation operation : operations) figures.push_back(map_of_groups(all, operation, prefix));
  return figures;
}

std::vector<std::vector<std::string>> make_table(const std::vector<Decisions>& all) {
  std::vector<std::vector<std::string>> table = {
      {"ranks", "hosts", "operation", "bytes", "auto takes", "us", "x stock", "next best", "us"}};
  const auto us = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : std::string("-"); };
  for (const Decisions& one : all) {
    for (const Row& row : one.table.rows()) {
      const Way next = row.ways.size() > 1 ? row.ways[1] : Way{.name = "-"};
      const auto ratio = speed_up(row);
      table.push_back({std::to_string(one.table.group().ranks), std::to_string(one.table.group().hosts),
                       std::string(to_string(row.operation)), std::to_string(row.bytes),
                       row.ways.front().name, us(row.ways.front().us),
                       ratio ? fmt::format("{:.2f}", *ratio) : std::string("-"), next.name, us(next.us)});
    }
  }
  return table;
}

}  // namespace papfft::app::report
