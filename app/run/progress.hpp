// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace papfft::app {

/// Says on stderr how far a job is: on a terminal by a bar that is rewritten in place,
///
///     transform [#########.....................]  30 %  3/10
///
/// elsewhere (if asked for) by lines of plain text.
class Progress {
 public:
  enum class When { automatic, always, never };

  /// @param when  automatic: only if stderr is a terminal of known width (a launcher may pretend one).
  Progress(When when, bool quiet, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shown at most ten times a second, and at the end.
  void show(std::size_t done, std::size_t total);

 private:
  bool shows_;
  bool in_place_;  // a terminal: rewrite the line
  bool open_ = false;
  std::string what_;
  std::chrono::steady_clock::time_point last_{};
};

/// What the user says for each Progress::When, in the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kProgressNames = {"auto", "always", "never"};

/// @throws std::invalid_argument  unless it is one of kProgressNames
[[nodiscard]] Progress::When parse_progress(const std::string& name);

}  // namespace papfft::app
