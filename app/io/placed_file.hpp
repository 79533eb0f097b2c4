// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/io/atomic_file.hpp"

namespace papfft::app::io {

/// Numbers of a known shape in .npy or raw files, all of which hold the same. They are written at their places, in any order, by one
/// process or by several that see the same folder, and appear when they are finished, as AtomicFile's do.
template <typename Sample>
class PlacedFiles {
 public:
  /// Makes the files. @param shape  {length}, or {rows, length}
  /// @throws OutputError  as AtomicFile; a format that cannot be written so, a pipe
  PlacedFiles(const std::vector<std::string>& paths, std::span<const std::uint64_t> shape);
  /// Joins files that another process has made. @param temporaries  what it says that theirs are
  /// @throws OutputError  they are not to be seen from here
  PlacedFiles(const std::vector<std::string>& paths, std::span<const std::uint64_t> shape,
              const std::vector<std::string>& temporaries);

  /// Under which names the files are written.
  [[nodiscard]] std::vector<std::string> temporaries() const;
  /// Elements [first, first + samples.size()), counted over all rows.
  void write(std::uint64_t first, std::span<const Sample> samples);
  /// What this process has written is on the disk then. Their maker, who comes last, makes the files appear.
  /// @throws OutputError
  void finish();

 private:
  struct File {
    std::uint64_t data_offset = 0;
    std::unique_ptr<AtomicFile> file;
  };

  std::vector<File> files_;
};

/// Whether PlacedFiles can write all of these. @throws OutputError  an extension that is not known
[[nodiscard]] bool can_place(const std::vector<std::string>& paths);

}  // namespace papfft::app::io
