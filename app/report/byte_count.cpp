// SPDX-License-Identifier: MIT
#include "app/report/byte_count.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>

namespace papfft::app::report {

namespace {
constexpr std::string_view kUnits = "KMG";
}

std::uint64_t parse_byte_count(std::string_view text) {
  const auto fail = [&] {
    throw std::invalid_argument(
        "'" + std::string(text) +
        "' is no number of bytes; expected a whole number, as in 4096, 64K, 8M or 2G");
  };
  std::uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc()) fail();
  if (rest == end) return count;
  const std::size_t unit = kUnits.find(*rest);
  if (rest + 1 != end || unit == std::string_view::npos) fail();
  const auto shift = static_cast<unsigned>(10 * (unit + 1));
  if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) >> shift) fail();
  return count << shift;
}

std::string byte_count_text(std::uint64_t bytes) {
  std::string unit;
  for (const char next : kUnits) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes) + unit;
}

}  // namespace papfft::app::report
