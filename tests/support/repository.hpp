// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

namespace papfft::test {

/// The source tree, for tests that read committed files. CMake names it: __FILE__ may be relative, to a folder of the build.
inline std::filesystem::path repository() { return PAPFFT_REPOSITORY; }

}  // namespace papfft::test
