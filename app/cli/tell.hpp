// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/core.h>

#include <cstdio>
#include <utility>

namespace papfft::app {

/// To stderr. That it is closed or full is no error: the job itself can go on, and there is nobody who could be told.
template <typename... Args>
void tell(fmt::format_string<Args...> text, Args&&... args) {
  std::fputs(fmt::format(text, std::forward<Args>(args)...).c_str(), stderr);
}

}  // namespace papfft::app
