// SPDX-License-Identifier: MIT
#include "app/model/host_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "app/cli/exit_code.hpp"

namespace papfft::app {

namespace {

constexpr int kMostRanks = 1 << 20;

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Nothing if the text is no "8x4" or "8x4:cyclic".
std::optional<std::vector<int>> regular(std::string_view text) {
  constexpr std::string_view kCyclic = ":cyclic";
  const bool cyclic = text.ends_with(kCyclic);
  if (cyclic) text.remove_suffix(kCyclic.size());
  const std::size_t times = text.find('x');
  if (times == std::string_view::npos) return std::nullopt;
  const auto hosts = whole_number(text.substr(0, times));
  const auto ranks = whole_number(text.substr(times + 1));
  if (!hosts || !ranks || *hosts < 1 || *ranks < 1 || *hosts > kMostRanks / *ranks) return std::nullopt;
  std::vector<int> layout;
  const int count = *hosts * *ranks;
  layout.reserve(static_cast<std::size_t>(count));
  for (int r = 0; r < count; ++r) layout.push_back(cyclic ? r % *hosts : r / *ranks);
  return layout;
}

}  // namespace

std::vector<int> parse_hosts(const std::string& text) {
  if (text.empty()) return {};
  if (auto layout = regular(text)) return *layout;
  std::vector<int> layout;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto host = whole_number(std::string_view(text).substr(begin, end - begin));
    if (!host || layout.size() == kMostRanks) {
      throw UsageError(fmt::format(
          "--hosts {}: no layout of hosts; what would work: 0,0,1,1, or 8x4, or 8x4:cyclic", text));
    }
    layout.push_back(*host);
    begin = end + 1;
  }
  return layout;
}

}  // namespace papfft::app
