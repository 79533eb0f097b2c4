// SPDX-License-Identifier: MIT
#include "comm/choose/decision_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "comm/choose/select.hpp"
#include "comm/choose/text_words.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

constexpr std::string_view kHeading = "papfft-decisions 1";

DecisionTable::Way parse_way(Operation operation, std::string_view word) {
  const std::size_t equals = word.find('=');
  DecisionTable::Way way{std::string(word.substr(0, equals))};
  if (equals != std::string_view::npos)
    way.us = number(word.substr(equals + 1), "time", DecisionTable::kLeastUs, DecisionTable::kMostUs);
  if (way.name == "auto") throw std::invalid_argument("'auto' is what the table is for");
  (void)choose(operation, way.name, 2, 0, false);  // throws for what nobody knows
  return way;
}

DecisionTable::Row parse_row(Operation operation, std::string_view rest) {
  DecisionTable::Row row{operation, number<std::size_t>(next_word(rest), "number of bytes", 0)};
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    row.ways.push_back(parse_way(operation, word));
  }
  if (row.ways.empty()) throw std::invalid_argument("names no algorithm");
  return row;
}

const double kLogReach = std::log(DecisionTable::kReach) + 1e-9;  // so that the reach itself is within it

bool is_timed(const std::vector<DecisionTable::Way>& ways) {
  return std::ranges::all_of(ways, [](const DecisionTable::Way& way) { return way.us > 0; });
}

double log_size(std::size_t bytes) { return std::log(static_cast<double>(bytes) + 1); }

bool is_default(const DecisionTable::Way& way) { return way.name == "mpi"; }

std::vector<DecisionTable::Way> default_first(std::vector<DecisionTable::Way> ways) {
  const auto stock = std::ranges::find_if(ways, is_default);
  if (stock != ways.end()) std::rotate(ways.begin(), stock, stock + 1);
  return ways;
}

/// Measured again, what gained less than this may lose: then the MPI library's default comes first.
constexpr double kWorthLeavingDefault = 1.03;

std::vector<DecisionTable::Way> default_first_if_close(std::vector<DecisionTable::Way> ways) {
  const auto stock = std::ranges::find_if(ways, is_default);
  const bool is_close =
      stock != ways.end() && is_timed(ways) && stock->us <= kWorthLeavingDefault * ways.front().us;
  return is_close ? default_first(std::move(ways)) : ways;
}

/// @param share    of the way from `below` to `above`, in logarithms
/// @param nearest  the ways of the nearer of the two
std::vector<DecisionTable::Way> between(const DecisionTable::Row& below, const DecisionTable::Row& above,
                                        double share, const std::vector<DecisionTable::Way>& nearest) {
  std::vector<DecisionTable::Way> timed;
  for (const DecisionTable::Way& low : below.ways) {
    const auto high = std::ranges::find(above.ways, low.name, &DecisionTable::Way::name);
    if (high == above.ways.end() || low.us <= 0 || high->us <= 0) continue;
    timed.push_back({low.name, std::exp((1 - share) * std::log(low.us) + share * std::log(high->us))});
  }
  const auto is_in_both = [&](const DecisionTable::Way& way) {
    return std::ranges::find(timed, way.name, &DecisionTable::Way::name) != timed.end();
  };
  if (!is_in_both(nearest.front())) {
    // It overtakes the default somewhere between the two, and nobody knows where.
    const std::vector<DecisionTable::Way>& other = &nearest == &below.ways ? above.ways : below.ways;
    const bool overtakes = is_timed(nearest) && is_default(default_first_if_close(other).front());
    return overtakes ? default_first(nearest) : nearest;
  }
  std::ranges::stable_sort(timed, {}, &DecisionTable::Way::us);
  std::vector<DecisionTable::Way> all = timed;
  std::ranges::copy_if(nearest, std::back_inserter(all),
                       std::not_fn(is_in_both));  // if none of the others can be gone
  return all;
}

const std::array<std::string_view, 2> kYesOrNo = {"no", "yes"};

}  // namespace

std::string GroupProfile::text() const {
  return std::to_string(ranks) + " ranks on " + std::to_string(hosts) + (hosts == 1 ? " host" : " hosts") +
         (is_crowded ? ", more than cores" : "") + ", with " + library;
}

DecisionTable DecisionTable::parse(std::string_view text) {
  DecisionTable table;
  const auto read = [&](std::string_view line) {
    std::string_view rest = line;
    const std::string_view word = next_word(rest);
    if (word == "library") {
      rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
      table.group_.library = rest;
    } else if (word == "ranks") {
      table.group_.ranks = number(next_word(rest), "number of ranks", 1);
    } else if (word == "hosts") {
      table.group_.hosts = number(next_word(rest), "number of hosts", 1);
    } else if (word == "crowded") {
      const auto* const found = std::ranges::find(kYesOrNo, next_word(rest));
      if (found == kYesOrNo.end()) throw std::invalid_argument("crowded is yes or no");
      table.group_.is_crowded = found != kYesOrNo.begin();
    } else if (word == "arrivals") {
      if (next_word(rest) != "unknown") throw std::invalid_argument("arrivals are unknown, or not named");
      table.set_for_unknown_arrivals();
    } else if (!table.machine_.read(word, rest)) {
      table.set(parse_row(parse_operation(word), rest));
    }
  };
  int count = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++count;
    if (count == 1 && line != kHeading) throw std::invalid_argument("no table of decisions of version 1");
    if (count == 1 || line.empty() || line.front() == '#') continue;
    try {
      read(line);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument("line " + std::to_string(count) + ": " + e.what());
    }
  }
  if (count == 0) throw std::invalid_argument("the file is empty");
  return table;
}

std::string DecisionTable::text() const {
  std::string text =
      std::string(kHeading) + "\nlibrary " + group_.library + "\nranks " + std::to_string(group_.ranks) +
      "\nhosts " + std::to_string(group_.hosts) + "\ncrowded " +
      std::string(kYesOrNo.at(group_.is_crowded ? 1 : 0)) + "\n" +
      (is_for_unknown_arrivals_ ? "arrivals unknown\n" : "") + machine_.text() +
      "# operation, bytes of a block or of the vector, ways with their microseconds, the fastest first\n";
  for (const Row& row : rows_) {
    text += std::string(to_string(row.operation)) + " " + std::to_string(row.bytes);
    for (const Way& way : row.ways) {
      text += " " + way.name;
      std::array<char, 32> us{};
      if (way.us > 0)
        text.append(us.data(), static_cast<std::size_t>(std::snprintf(
                                   us.data(), us.size(), "=%.1f", std::clamp(way.us, kLeastUs, kMostUs))));
    }
    text += "\n";
  }
  return text;
}

void DecisionTable::set(Row row) {
  if (is_timed(row.ways)) std::ranges::stable_sort(row.ways, {}, &Way::us);
  const auto key = [](const Row& r) { return std::tuple(r.operation, r.bytes); };
  const auto at = std::ranges::lower_bound(rows_, key(row), {}, key);
  if (at != rows_.end() && key(*at) == key(row)) {
    *at = std::move(row);
  } else {
    rows_.insert(at, std::move(row));
  }
}

std::vector<DecisionTable::Way> DecisionTable::ways(Operation operation, std::size_t bytes) const {
  const Row* below = nullptr;
  const Row* above = nullptr;
  for (const Row& row : rows_) {  // in the order of their sizes
    if (row.operation != operation) continue;
    if (row.bytes <= bytes) below = &row;
    if (row.bytes >= bytes && above == nullptr) above = &row;
  }
  if (below == nullptr && above == nullptr) return {};
  const double at = log_size(bytes);
  const double from_below =
      below == nullptr ? std::numeric_limits<double>::infinity() : at - log_size(below->bytes);
  const double to_above =
      above == nullptr ? std::numeric_limits<double>::infinity() : log_size(above->bytes) - at;
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a missing row is infinitely far away
  const Row& nearest = from_below <= to_above ? *below : *above;
  if (std::min(from_below, to_above) > kLogReach) return {};
  if (below == above || from_below + to_above > 2 * kLogReach) return default_first_if_close(nearest.ways);
  return default_first_if_close(between(*below, *above, from_below / (from_below + to_above), nearest.ways));
}

}  // namespace papfft::comm
