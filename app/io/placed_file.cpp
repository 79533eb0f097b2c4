// SPDX-License-Identifier: MIT
#include "app/io/placed_file.hpp"

#include <algorithm>
#include <complex>

#include "app/io/npy.hpp"
#include "app/io/writer.hpp"

namespace papfft::app::io {
namespace {

template <typename Sample>
std::string header_of(const std::string& path, std::span<const std::uint64_t> shape) {
  return format_of(path) == OutputFormat::npy ? make_npy_header(sample_type_of<Sample>(), shape) : "";
}

}  // namespace

bool can_place(const std::vector<std::string>& paths) {
  return std::ranges::all_of(paths, [](const std::string& path) {
    const OutputFormat format = format_of(path);
    return path != "-" && !path.starts_with("/dev/") &&
           (format == OutputFormat::npy || format == OutputFormat::raw);
  });
}

template <typename Sample>
PlacedFiles<Sample>::PlacedFiles(const std::vector<std::string>& paths,
                                 std::span<const std::uint64_t> shape) {
  for (const std::string& path : paths) {
    const std::string header = header_of<Sample>(path, shape);
    auto file = std::make_unique<AtomicFile>(path, AtomicFile::Temporary::named);
    if (!can_place({path}) || file->is_direct()) {
      throw UnsuitableOutput(path, "its parts are not written in order; what would work: a .npy or raw file");
    }
    file->write(header);
    files_.push_back({.data_offset = header.size(), .file = std::move(file)});
  }
}

template <typename Sample>
PlacedFiles<Sample>::PlacedFiles(const std::vector<std::string>& paths, std::span<const std::uint64_t> shape,
                                 const std::vector<std::string>& temporaries) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    files_.push_back({.data_offset = header_of<Sample>(paths[i], shape).size(),
                      .file = AtomicFile::join(paths[i], temporaries.at(i))});
  }
}

template <typename Sample>
std::vector<std::string> PlacedFiles<Sample>::temporaries() const {
  std::vector<std::string> names;
  for (const File& f : files_) names.push_back(f.file->temporary());
  return names;
}

template <typename Sample>
void PlacedFiles<Sample>::write(std::uint64_t first, std::span<const Sample> samples) {
  for (const File& f : files_)
    f.file->write_at(f.data_offset + first * sizeof(Sample), std::as_bytes(samples));
}

template <typename Sample>
void PlacedFiles<Sample>::finish() {
  for (const File& f : files_) f.file->commit();
}

template class PlacedFiles<float>;
template class PlacedFiles<double>;
template class PlacedFiles<std::complex<float>>;
template class PlacedFiles<std::complex<double>>;

}  // namespace papfft::app::io
