// SPDX-License-Identifier: MIT
#include "comm/choose/machine_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "comm/choose/text_words.hpp"

namespace papfft::comm {

namespace {

constexpr double kMostNs = 1e9;  // as the environment's variables

struct Cost {
  std::string_view name;
  double LinkModel::*value;
  bool is_needed;
};

constexpr std::array kCosts = {Cost{"alpha_ns", &LinkModel::alpha_ns, true},
                               Cost{"beta_ns_per_byte", &LinkModel::beta_ns_per_byte, true},
                               Cost{"gamma_ns_per_byte", &LinkModel::gamma_ns_per_byte, false},
                               Cost{"latency_ns", &LinkModel::latency_ns, false}};
constexpr std::string_view kEager = "eager_bytes";
constexpr std::string_view kDuplex = "duplex";

std::string number_text(double value) {
  std::array<char, 32> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.6g", value))};
}

double positive(std::string_view word, const char* what) { return number(word, what, 0.0, kMostNs); }

void read_cost(LevelProfile& level, std::string_view name, std::string_view value) {
  if (name == kEager) {
    level.eager_bytes = number<std::size_t>(value, "number of bytes", 0);
    return;
  }
  if (name == kDuplex) {
    if (value != "yes" && value != "no") throw std::invalid_argument("duplex is yes or no");
    level.is_duplex = value == "yes";
    return;
  }
  const auto* const cost = std::ranges::find(kCosts, name, &Cost::name);
  if (cost == kCosts.end()) {
    throw std::invalid_argument("a link has no '" + std::string(name) +
                                "'; known: alpha_ns, beta_ns_per_byte, gamma_ns_per_byte, latency_ns, "
                                "eager_bytes, duplex");
  }
  level.link.*(cost->value) = positive(value, "time in ns");
}

LevelProfile read_level(std::string_view rest) {
  LevelProfile level;
  for (const Cost& cost : kCosts) {
    if (cost.is_needed) level.link.*(cost.value) = -1;
  }
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const std::size_t equals = std::min(word.find('='), word.size());
    read_cost(level, word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
  }
  for (const Cost& cost : kCosts) {
    if (level.link.*(cost.value) < 0)
      throw std::invalid_argument("a link needs its " + std::string(cost.name));
  }
  return level;
}

std::string level_text(std::string_view name, const std::optional<LevelProfile>& level) {
  if (!level) return "";
  std::string text = "link " + std::string(name);
  for (const Cost& cost : kCosts)
    text += " " + std::string(cost.name) + "=" + number_text(level->link.*(cost.value));
  if (level->eager_bytes > 0) text += " " + std::string(kEager) + "=" + std::to_string(level->eager_bytes);
  return text + " " + std::string(kDuplex) + "=" + (level->is_duplex ? "yes" : "no") + "\n";
}

}  // namespace

bool MachineProfile::read(std::string_view word, std::string_view rest) {
  if (word == "hosts-named") {
    hosts_named = next_word(rest);
    return true;
  }
  if (word == "cores-per-rank") {
    cores_per_rank = positive(next_word(rest), "number of cores");
    return true;
  }
  if (word != "link") return false;
  const std::string_view level = next_word(rest);
  if (level != "inside" && level != "between")
    throw std::invalid_argument("a link is inside a host or between hosts, not '" + std::string(level) + "'");
  (level == "inside" ? inside : between) = read_level(rest);
  return true;
}

std::string MachineProfile::text() const {
  std::string text;
  if (!hosts_named.empty()) text += "hosts-named " + hosts_named + "\n";
  if (cores_per_rank > 0) text += "cores-per-rank " + number_text(cores_per_rank) + "\n";
  return text + level_text("inside", inside) + level_text("between", between);
}

}  // namespace papfft::comm
