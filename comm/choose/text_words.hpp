// SPDX-License-Identifier: MIT
// For the parsers of what was measured.
#pragma once
#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace papfft::comm {

/// Takes the next word from the front of a line; empty at the line's end.
inline std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

/// @throws std::invalid_argument  "'x' is no WHAT", if the word is no number or not from `least` to `most`
template <typename Number>
[[nodiscard]] Number number(std::string_view word, const char* what, Number least,
                            Number most = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !(value >= least && value <= most))
    throw std::invalid_argument("'" + std::string(word) + "' is no " + what);
  return value;
}

}  // namespace papfft::comm
