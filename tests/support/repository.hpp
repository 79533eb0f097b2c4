// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

namespace papfft::test {

/// The source tree, for tests that read committed files.
inline std::filesystem::path repository() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

}  // namespace papfft::test
