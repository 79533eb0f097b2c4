// SPDX-License-Identifier: MIT
// For rooms that still use CLI11's classes; goes with the last of them.
#pragma once
#include <CLI/CLI.hpp>

#include "app/cli/command_line.hpp"

namespace papfft::app::cli {

class Bridge {
 public:
  [[nodiscard]] static CLI::App& app(Command& command);
  [[nodiscard]] static Command& command(CLI::App& app);
};

}  // namespace papfft::app::cli
