// SPDX-License-Identifier: MIT
#include "app/report/messages_plot.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "app/report/host_rows.hpp"

namespace papfft::app::report {
namespace {

constexpr double kRoom = 1.02;       // what ends last does not end at the frame
constexpr double kNamedRoom = 1.12;  // and leaves room for the hosts' names

std::vector<std::string> names_of(const std::vector<int>& hosts) {
  std::vector<std::string> names;
  for (const int host : hosts) names.push_back("host " + std::to_string(host));
  return names;
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
  const HostRows rows = rows_by_host(call.arrival_s.size(), names_of(call.host));
  chart.rows = rows.labels;
  chart.bands = rows.boxes;
  for (std::size_t row = 0; row < rows.ranks.size(); ++row) {
    const std::size_t rank = rows.ranks[row];
    if (computes) chart.bars.push_back({row, {0, call.arrival_s[rank]}, computing});
    chart.bars.push_back({row, {call.arrival_s[rank], call.exit_s[rank]}, kInCall});
  }
  constexpr Range kLowerPart{0, 0.3};
  for (const Messages::Message& m : call.messages) {
    chart.links.push_back({rows.row_of[m.from], m.begin_s, rows.row_of[m.to], m.end_s, m.critical ? 1U : 0U});
    if (takes_combining(m)) {
      chart.bars.push_back({rows.row_of[m.to], {m.end_s, m.combined_s}, combining, kLowerPart});
    }
  }
  chart.x.range = Range{0, (chart.bands.empty() ? kRoom : kNamedRoom) * std::ranges::max(call.exit_s)};
  return chart;
}

}  // namespace papfft::app::report
