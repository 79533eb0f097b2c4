// SPDX-License-Identifier: MIT
#include "app/model/simulate_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/cli/exit_code.hpp"
#include "app/model/host_layout.hpp"
#include "app/model/reduction_formulas.hpp"
#include "app/report/byte_count.hpp"
#include "app/run/job_options.hpp"
#include "comm/choose/select.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::app {

namespace {

/// "auto", "4" or "2:8". @return nothing for auto. @throws UsageError
std::optional<comm::Window> parse_window(std::string_view text) {
  if (text == "auto") return std::nullopt;
  constexpr int kMost = 1024;
  const auto number = [&](std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 1 || value > kMost) {
      throw UsageError(
          fmt::format("--window {}: auto, a number from 1 to {}, or two with a colon between, sends:receives",
                      text, kMost));
    }
    return value;
  };
  const std::size_t colon = text.find(':');
  const int sends = number(text.substr(0, colon));
  const int receives = colon == std::string_view::npos ? sends : number(text.substr(colon + 1));
  return comm::Window{sends, receives, sends, receives};
}

/// A number of segments; or "best", "auto". @throws UsageError, std::invalid_argument
int parse_segments(const std::string& text) {
  if (text == "best") return kBestSegments;
  if (text == "auto") return kChosenSegments;
  const auto segments = static_cast<int>(std::min<std::uint64_t>(report::parse_byte_count(text), 1 << 20));
  if (segments == 0) throw UsageError("--segments: at least 1, or best, or auto");
  return segments;
}

comm::Ticks ticks_of(double ns) { return std::llround(ns * static_cast<double>(kTicksPerNs)); }

comm::Combining parse_combining(const std::string& text) {
  if (text == "overlapped") return comm::Combining::overlapped;
  return text == "exclusive" ? comm::Combining::exclusive : comm::Combining::in_message;
}

}  // namespace

SimulateSettings::SimulateSettings(const SimulateOptions& o)
    : operation(comm::parse_operation(o.operation)),
      hosts(parse_hosts(o.hosts)),
      ranks(hosts.empty() ? o.ranks : std::vector<int>{static_cast<int>(hosts.size())}),
      machine{.alpha = parse_duration_ns(o.alpha) * kTicksPerNs,
              .beta = ticks_of(o.beta_ns),
              .gamma = ticks_of(o.gamma_ns),
              .duplex = o.ports == "bi",
              .combining = parse_combining(o.combining),
              .host_of_rank = hosts,
              .inside = {.alpha = parse_duration_ns(o.inside_alpha) * kTicksPerNs,
                         .beta = ticks_of(o.inside_beta_ns),
                         .gamma = ticks_of(o.gamma_ns)},
              .card_ports = o.card_ports},
      window(parse_window(o.window)),
      prediction_error_ns(parse_duration_ns(o.prediction_error)) {
  for (const std::string& name : o.algorithms) add_algorithm(name, o);
  for (const std::string& text : o.bytes) bytes.push_back(report::parse_byte_count(text));
  for (const std::string& text : o.segments) segments.push_back(parse_segments(text));
  for (const std::string& text : o.arrivals) patterns.push_back(parse_arrivals(text, o.seed));
  if (o.platform.empty()) return;
  platform =
      open_platform(o.platform, o.network == "tcp" ? comm::NetworkModel::tcp : comm::NetworkModel::plain);
  const comm::LinkModel link = platform->link();
  const comm::LinkModel inside = platform->inside_link();
  machine.alpha = ticks_of(link.alpha_ns);
  machine.beta = ticks_of(link.beta_ns_per_byte);
  machine.inside.alpha = ticks_of(inside.alpha_ns);
  machine.inside.beta = ticks_of(inside.beta_ns_per_byte);
}

bool SimulateSettings::wants_bound() const {
  return !hosts.empty() || std::ranges::find(algorithms, kBoundName) != algorithms.end();
}

void SimulateSettings::add_algorithm(const std::string& name, const SimulateOptions& o) {
  if (name == "all") {
    for (const comm::Algorithm* a : comm::algorithms()) {
      if (a->operation == operation && (a->can_be_ordered || !o.ordered)) algorithms.emplace_back(a->name);
    }
    return;
  }
  if (is_formula(name)) {
    const char* combining_there = is_uni_greedy(name) ? "exclusive" : "in-message";
    if (operation != comm::Operation::reduce || !o.platform.empty() || o.combining != combining_there ||
        !hosts.empty() || o.arrivals != std::vector<std::string>{"none"}) {
      throw UsageError(fmt::format(
          "{}: the paper computes it for --op reduce, --combining {}, one rank per host and no arrivals",
          name, combining_there));
    }
    require_formula(name, o.ports == "bi");
  } else if (name != kBoundName && comm::choose(operation, name, 2, 0, o.ordered).algorithm == nullptr) {
    throw UsageError("simulate: the MPI library's own collectives are not schedules");
  }
  algorithms.push_back(name);
}

}  // namespace papfft::app
