// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <span>
#include <string>

namespace papfft::comm {

/// Text as a rank sends it, in a field that it need not fill: up to the first 0. Whatever came can be shown in one line, as what is no
/// printable ASCII becomes '?'.
[[nodiscard]] inline std::string wire_text(std::span<const char> field) {
  std::string text(field.begin(), std::ranges::find(field, '\0'));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace papfft::comm
