// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace papfft::app::io {

/// The input cannot be used (exit code 65). what() is one printable line: "FILE: what is wrong; what would work".
class DataError : public std::runtime_error {
 public:
  DataError(std::string_view file, std::string_view problem);
};

/// The output cannot be written (exit code 73). what() is one printable line: "cannot write FILE: why".
class OutputError : public std::runtime_error {
 public:
  OutputError(std::string_view file, std::string_view problem);
};

/// The output's name makes no sense, or its format cannot hold what is to be written (exit code 64).
class UnsuitableOutput : public OutputError {
 public:
  using OutputError::OutputError;
};

/// The system's words for an errno value. Thread-safe, unlike strerror.
[[nodiscard]] std::string errno_text(int error);

}  // namespace papfft::app::io
