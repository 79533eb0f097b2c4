// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>
#include <string>

namespace papfft::app {

/// The program's exit codes; BSD's sysexits.h where it has one.
enum ExitCode : int {
  kOk = 0,
  kUsage = 64,          ///< the command line, or a combination of job and data, makes no sense
  kBadData = 65,        ///< an input file cannot be used
  kInternal = 70,       ///< a fault of this program, or out of memory
  kCannotWrite = 73,    ///< an output file cannot be written
  kCommunication = 74,  ///< a message failed, or the ranks are stuck
  kStopped = 75,        ///< stopped on request with work left
  kViolated = 76        ///< what was measured is worse than the user takes (bench guidelines --fail-over)
};

/// What was asked for makes no sense (exit code 64). what() is one line that says what would work.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ends a command on this rank with a code; whatever there was to say has been said by another rank.
struct Quit {
  int code = kOk;
};

}  // namespace papfft::app
