// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <filesystem>

namespace papfft::app {

/// Where a file or folder that comes with the program may be: beside the program where it was built, or in ../KIND/papfft of an
/// installed one. @param kind  "libexec" for programs and modules, "share" for data
inline std::array<std::filesystem::path, 2> companion_places(const std::filesystem::path& name,
                                                             const char* kind) {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return {folder / name, folder.parent_path() / kind / "papfft" / name};
}

}  // namespace papfft::app
