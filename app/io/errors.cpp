// SPDX-License-Identifier: MIT
#include "app/io/errors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>

namespace papfft::app::io {
namespace {

// File names and header fields are the outside world's: a newline or a terminal escape in one must not reach the terminal.
std::string printable_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

}  // namespace

DataError::DataError(std::string_view file, std::string_view problem)
    : std::runtime_error(printable_line(fmt::format("{}: {}", file, problem))) {}

OutputError::OutputError(std::string_view file, std::string_view problem)
    : std::runtime_error(printable_line(fmt::format("cannot write {}: {}", file, problem))) {}

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace papfft::app::io
