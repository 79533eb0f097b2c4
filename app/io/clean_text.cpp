// SPDX-License-Identifier: MIT
#include "app/io/clean_text.hpp"

#include <array>
#include <cstddef>

namespace papfft::app::io {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `s` that XML allows as a character, or 0.
std::size_t printable_sequence_bytes(std::string_view s) {
  const auto byte = [s](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || s.size() < length) return 0;
  unsigned code = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  static constexpr std::array<unsigned, 5> kLeast = {0, 0, 0xa0, 0x800, 0x10000};  // 0x80..0x9f are controls
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool noncharacter = (code & 0xfffeU) == 0xfffe;
  return code >= kLeast[length] && code <= 0x10ffff && !surrogate && !noncharacter ? length : 0;
}

}  // namespace

std::string clean_text(std::string_view bytes) {
  std::string clean;
  clean.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = printable_sequence_bytes(bytes);
    clean += length == 0 ? std::string_view("\ufffd") : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

}  // namespace papfft::app::io
