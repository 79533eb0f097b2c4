// SPDX-License-Identifier: MIT
#include "app/io/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "app/io/npy.hpp"

namespace papfft::app::io {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 7> kExtensions = {
    {{".npy", OutputFormat::npy},
     {".raw", OutputFormat::raw},
     {".bin", OutputFormat::raw},
     {".csv", OutputFormat::csv},
     {".wav", OutputFormat::wav},
     {".png", OutputFormat::png},
     {".svg", OutputFormat::svg}}};

std::size_t row_length(std::size_t sample_count, std::size_t rows) {
  if (rows == 0 || sample_count % rows != 0) {
    throw std::invalid_argument(fmt::format("{} samples do not make {} equal rows", sample_count, rows));
  }
  return sample_count / rows;
}

template <typename T>
void append_value(fmt::memory_buffer& line, const T& value) {
  fmt::format_to(std::back_inserter(line), "{}", value);
}
template <typename T>
void append_value(fmt::memory_buffer& line, const std::complex<T>& value) {
  fmt::format_to(std::back_inserter(line), "{},{}", value.real(), value.imag());
}

template <typename Sample>
void write_shaped(const std::string& path, std::span<const Sample> samples,
                  std::span<const std::size_t> shape) {
  constexpr SampleType kType = sample_type_of<Sample>();
  AtomicFile file(path);
  file.write(make_npy_header(kType, std::vector<std::uint64_t>(shape.begin(), shape.end())));
  write_samples(file, samples, kType.big_endian);
  file.commit();
}

}  // namespace

OutputFormat format_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string known;
  for (const auto& [name, format] : kExtensions) {
    if (extension == name) return format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  if (path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/")) return OutputFormat::npy;
  throw UnsuitableOutput(path, fmt::format("its extension does not name a format; known are {}", known));
}

bool is_picture(const std::string& path) {
  const OutputFormat format = format_of(path);
  return format == OutputFormat::png || format == OutputFormat::svg;
}

template <typename Sample>
void write_samples(AtomicFile& file, std::span<const Sample> samples, bool big_endian) {
  if (big_endian == sample_type_of<Sample>().big_endian) {
    file.write(std::as_bytes(samples));
    return;
  }
  constexpr std::size_t kBlock = 16384;
  std::vector<Sample> block;
  while (!samples.empty()) {
    const auto part = samples.first(std::min(kBlock, samples.size()));
    block.assign(part.begin(), part.end());
    swap_bytes(components_of(std::span(block)));
    file.write(std::as_bytes(std::span(block)));
    samples = samples.subspan(part.size());
  }
}

template <typename Sample>
void write_npy(const std::string& path, std::span<const Sample> samples, std::optional<std::size_t> rows) {
  const std::size_t length = row_length(samples.size(), rows.value_or(1));
  std::vector<std::size_t> shape = {length};
  if (rows) shape.insert(shape.begin(), *rows);
  write_shaped(path, samples, shape);
}

template <typename Sample>
void write_raw(const std::string& path, std::span<const Sample> samples, bool big_endian) {
  AtomicFile file(path);
  write_samples(file, samples, big_endian);
  file.commit();
}

template <typename Sample>
void write_csv(const std::string& path, std::span<const Sample> samples, const std::optional<CsvAxis>& axis,
               std::optional<std::size_t> rows) {
  const std::size_t length = row_length(samples.size(), rows.value_or(1));
  if (axis && axis->values.size() != length) {
    throw std::invalid_argument(
        fmt::format("an axis of {} values for rows of {}", axis->values.size(), length));
  }
  constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
  AtomicFile file(path);
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}{}{}{}\n", rows ? "row," : "", axis ? axis->name : "", axis ? "," : "",
                 is_complex_v<Sample> ? "re,im" : "value");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (rows) fmt::format_to(out, "{},", i / length);
    if (axis) fmt::format_to(out, "{},", axis->values[i % length]);
    append_value(text, samples[i]);
    text.push_back('\n');
    if (text.size() >= kPieceBytes) {
      file.write(std::string_view(text.data(), text.size()));
      text.clear();
    }
  }
  file.write(std::string_view(text.data(), text.size()));
  file.commit();
}

template <typename Sample>
void write_numbers(const std::string& path, std::span<const Sample> samples, std::optional<std::size_t> rows,
                   const std::string& axis_name, const std::function<std::vector<double>()>& axis_values) {
  switch (format_of(path)) {
    case OutputFormat::npy:
      return write_npy<Sample>(path, samples, rows);
    case OutputFormat::raw:
      return write_raw<Sample>(path, samples);
    case OutputFormat::csv: {
      const std::vector<double> values = axis_values();
      return write_csv<Sample>(path, samples, CsvAxis{axis_name, values}, rows);
    }
    case OutputFormat::wav:
    case OutputFormat::png:
    case OutputFormat::svg:
      break;
  }
  throw std::invalid_argument(path + ": neither a picture nor a sound is written as numbers");
}

template <typename Sample>
void write_array(const std::string& path, std::span<const Sample> samples,
                 std::span<const std::size_t> shape) {
  const OutputFormat format = format_of(path);
  if (format == OutputFormat::npy) return write_shaped(path, samples, shape);
  if (format == OutputFormat::raw) return write_raw<Sample>(path, samples);
  if (format != OutputFormat::csv || shape.size() > 2) {
    throw UnsuitableOutput(path, "cannot hold this array; what would work: a .npy or raw file");
  }
  write_csv<Sample>(path, samples, {}, shape.size() == 2 ? std::optional(shape.front()) : std::nullopt);
}

#define PAPFFT_INSTANTIATE(Sample)                                                                      \
  template void write_npy(const std::string&, std::span<const Sample>, std::optional<std::size_t>);     \
  template void write_raw(const std::string&, std::span<const Sample>, bool);                           \
  template void write_csv(const std::string&, std::span<const Sample>, const std::optional<CsvAxis>&,   \
                          std::optional<std::size_t>);                                                  \
  template void write_numbers(const std::string&, std::span<const Sample>, std::optional<std::size_t>,  \
                              const std::string&, const std::function<std::vector<double>()>&);         \
  template void write_array(const std::string&, std::span<const Sample>, std::span<const std::size_t>); \
  template void write_samples(AtomicFile&, std::span<const Sample>, bool);
PAPFFT_INSTANTIATE(float)
PAPFFT_INSTANTIATE(double)
PAPFFT_INSTANTIATE(std::complex<float>)
PAPFFT_INSTANTIATE(std::complex<double>)
#undef PAPFFT_INSTANTIATE

}  // namespace papfft::app::io
