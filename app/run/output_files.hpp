// SPDX-License-Identifier: MIT
// Text files that a command writes beside its results.
#pragma once
#include <initializer_list>
#include <string>

namespace papfft::app {

/// The file appears only when complete. An empty path: nothing is written. @throws io::OutputError
void write_text(const std::string& path, const std::string& text);

/// Before long work: can each file be written, and are they different files? Empty paths are passed over.
/// @throws io::OutputError
void check_outputs(std::initializer_list<std::string> paths);

}  // namespace papfft::app
