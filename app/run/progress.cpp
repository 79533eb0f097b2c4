// SPDX-License-Identifier: MIT
#include "app/run/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "app/cli/tell.hpp"

namespace papfft::app {

namespace {

/// mpirun makes isatty() true even where nobody looks; only a real terminal has a width.
bool is_terminal() {
  winsize size{};
  return isatty(STDERR_FILENO) == 1 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
}

}  // namespace

Progress::Progress(When when, bool quiet, std::string what)
    : shows_(!quiet && (when == When::always || (when == When::automatic && is_terminal()))),
      in_place_(is_terminal()),
      what_(std::move(what)) {}

Progress::~Progress() {
  if (open_) std::fputs("\n", stderr);
}

void Progress::show(std::size_t done, std::size_t total) {
  if (!shows_ || total == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (done < total && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  if (in_place_) {
    constexpr std::size_t kWidth = 30;
    const std::size_t full = done * kWidth / total;
    tell("\r{} [{:#<{}}{:.<{}}] {:3} %  {}/{}", what_, "", full, "", kWidth - full, done * 100 / total, done,
         total);
  } else {
    tell("{}  {}/{}  {} %\n", what_, done, total, done * 100 / total);
  }
  std::fflush(stderr);
  open_ = in_place_;
}

Progress::When parse_progress(const std::string& name) {
  const auto* found = std::ranges::find(kProgressNames, name);
  if (found == kProgressNames.end()) {
    throw std::invalid_argument(
        fmt::format("--progress {}: expected one of {}", name, fmt::join(kProgressNames, ", ")));
  }
  return static_cast<Progress::When>(found - kProgressNames.begin());
}

}  // namespace papfft::app
