// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace papfft::app {

/// How a child ended.
struct ChildResult {
  int code = 0;            ///< exit code, or 128 + signal
  bool timed_out = false;  ///< it was asked to end, and killed 10 s later if it had not
};

/// Runs this program itself with other arguments and waits. stdin is empty; stdout and stderr go to `log`, which is appended to.
/// @throws io::OutputError  the log cannot be opened; std::runtime_error  no process can be started
[[nodiscard]] ChildResult run_self(const std::vector<std::string>& arguments, const std::string& log,
                                   std::chrono::seconds limit);

/// The same for another program, which is words[0].
[[nodiscard]] ChildResult run_program(std::vector<std::string> words, const std::string& log,
                                      std::chrono::seconds limit);

}  // namespace papfft::app
