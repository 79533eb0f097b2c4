// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <type_traits>

#include "app/io/clean_text.hpp"

namespace papfft::app {

/// Texts may be file names or words of the command line: a terminal escape or a newline in one must not reach the terminal.
template <typename Arg>
decltype(auto) as_told(const Arg& arg) {
  if constexpr (std::is_convertible_v<const Arg&, std::string_view>) {
    return io::clean_text(arg);
  } else {
    return (arg);
  }
}

/// To stderr. That it is closed or full is no error: the job itself can go on, and there is nobody who could be told.
template <typename... Args>
void tell(fmt::format_string<const Args&...> text, const Args&... args) {
  std::fputs(fmt::format(fmt::runtime(fmt::string_view(text)), as_told(args)...).c_str(), stderr);
}

}  // namespace papfft::app
