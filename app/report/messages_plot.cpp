// SPDX-License-Identifier: MIT
#include "app/report/messages_plot.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace papfft::app::report {
namespace {

constexpr double kRoom = 1.02;       // what ends last does not end at the frame
constexpr double kNamedRoom = 1.12;  // and leaves room for the hosts' names

/// Host by host, in the order of their first ranks.
std::vector<std::size_t> ranks_by_host(const Messages& call) {
  std::vector<std::size_t> ranks(call.arrival_s.size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  if (call.host.empty()) return ranks;
  const auto first_of_host = [&](std::size_t rank) {
    return std::ranges::find(call.host, call.host[rank]) - call.host.begin();
  };
  std::ranges::stable_sort(ranks, {}, first_of_host);
  return ranks;
}

/// Nothing where every rank has a host of its own: a box around each row tells nothing.
std::vector<Gantt::Band> boxes(const Messages& call, const std::vector<std::size_t>& ranks) {
  std::vector<Gantt::Band> bands;
  if (std::set(call.host.begin(), call.host.end()).size() == call.host.size()) return bands;
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    const int host = call.host[ranks[row]];
    if (row > 0 && host == call.host[ranks[row - 1]]) {
      bands.back().last_row = row;
    } else {
      bands.push_back({row, row, "host " + std::to_string(host)});
    }
  }
  return bands;
}

bool takes_combining(const Messages::Message& message) { return message.combined_s > message.end_s; }

}  // namespace

Gantt messages_plot(const Messages& call, Axis time) {
  Gantt chart{.kinds = {{"in the call", kGrid}},
              .link_kinds = {{"message", kMuted}, {"on the critical path", palette_color(1)}},
              .row_label = "rank",
              .x = std::move(time)};
  // The legend names what is there.
  const auto kind = [&](bool is_there, const char* name, std::size_t color) {
    if (is_there) chart.kinds.push_back({name, palette_color(color)});
    return chart.kinds.size() - 1;
  };
  constexpr std::size_t kInCall = 0;
  const bool computes = std::ranges::max(call.arrival_s) > 0;
  const std::size_t computing = kind(computes, "computes", 5);
  const std::size_t combining = kind(std::ranges::any_of(call.messages, takes_combining), "combines", 2);
  const std::vector<std::size_t> ranks = ranks_by_host(call);
  chart.bands = boxes(call, ranks);
  std::vector<std::size_t> row_of(ranks.size());
  for (std::size_t row = 0; row < ranks.size(); ++row) {
    const std::size_t rank = ranks[row];
    row_of[rank] = row;
    chart.rows.push_back(std::to_string(rank));
    if (computes) chart.bars.push_back({row, {0, call.arrival_s[rank]}, computing});
    chart.bars.push_back({row, {call.arrival_s[rank], call.exit_s[rank]}, kInCall});
  }
  constexpr Range kLowerPart{0, 0.3};
  for (const Messages::Message& m : call.messages) {
    chart.links.push_back({row_of[m.from], m.begin_s, row_of[m.to], m.end_s, m.critical ? 1U : 0U});
    if (takes_combining(m)) {
      chart.bars.push_back({row_of[m.to], {m.end_s, m.combined_s}, combining, kLowerPart});
    }
  }
  chart.x.range = Range{0, (chart.bands.empty() ? kRoom : kNamedRoom) * std::ranges::max(call.exit_s)};
  return chart;
}

}  // namespace papfft::app::report
