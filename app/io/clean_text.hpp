// SPDX-License-Identifier: MIT
// Text from the outside world (file names, headers, JSON, the environment) that is shown to somebody.
#pragma once
#include <string>
#include <string_view>

namespace papfft::app::io {

/// Well-formed UTF-8 without control characters: whatever a terminal, SVG or XML would take for a command, or for a line of its own, is
/// replaced by U+FFFD, byte by byte.
[[nodiscard]] std::string clean_text(std::string_view bytes);

}  // namespace papfft::app::io
