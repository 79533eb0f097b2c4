// SPDX-License-Identifier: MIT
#include "app/run/output_files.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "app/io/atomic_file.hpp"

namespace papfft::app {

void write_text(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

void check_outputs(std::initializer_list<std::string> paths) {
  std::vector<std::string> wanted;
  std::ranges::copy_if(paths, std::back_inserter(wanted), [](const auto& path) { return !path.empty(); });
  std::ranges::for_each(wanted, io::check_writable);
  io::require_distinct(wanted);
}

}  // namespace papfft::app
