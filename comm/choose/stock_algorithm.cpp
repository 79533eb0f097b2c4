// SPDX-License-Identifier: MIT
#include "comm/choose/stock_algorithm.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace papfft::comm {

namespace {

struct Unit {
  char name;
  std::uint64_t bytes;
};
constexpr std::array<Unit, 3> kUnits = {{{'G', 1U << 30U}, {'M', 1U << 20U}, {'K', 1U << 10U}}};

template <typename Number>
bool read_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1;
}

}  // namespace

StockAlgorithm StockAlgorithm::parse(std::string_view text) {
  const auto fail = [&](const std::string& why) {
    throw std::invalid_argument(std::string(kStockPrefix) + std::string(text) + why);
  };
  StockAlgorithm algorithm;
  const std::size_t slash = text.find('/');
  if (!read_whole(text.substr(0, slash), algorithm.number))
    fail(" names no algorithm; what would work: mpi:3, or mpi:3/64K with segments of 64 KiB");
  if (slash == std::string_view::npos) return algorithm;
  std::string_view size = text.substr(slash + 1);
  std::uint64_t unit = 1;
  for (const Unit& known : kUnits) {
    if (!size.ends_with(known.name)) continue;
    unit = known.bytes;
    size.remove_suffix(1);
    break;
  }
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (!read_whole(size, algorithm.segment_bytes) || algorithm.segment_bytes > kMost / unit)
    fail(": a segment has 1 to 2G bytes, such as 64K");
  algorithm.segment_bytes *= unit;
  return algorithm;
}

std::string StockAlgorithm::text() const {
  std::string text = std::to_string(number);
  if (segment_bytes == 0) return text;
  for (const Unit& unit : kUnits) {
    if (segment_bytes % unit.bytes == 0)
      return text + "/" + std::to_string(segment_bytes / unit.bytes) + unit.name;
  }
  return text + "/" + std::to_string(segment_bytes);
}

}  // namespace papfft::comm
