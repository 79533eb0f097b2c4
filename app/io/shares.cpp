// SPDX-License-Identifier: MIT
#include "app/io/shares.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <complex>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "app/io/json.hpp"
#include "app/io/known_inputs.hpp"

namespace papfft::app::io {
namespace {

/// Which elements of a row a file has: by_number(0), by_number(1), ..., rising.
struct Share {
  std::uint64_t file = 0;
  std::uint64_t files = 1;
  Layout layout = Layout::round_robin;
  std::uint64_t part = 0;  ///< of Layout::contiguous: elements of a file, but of the last one

  [[nodiscard]] std::uint64_t by_number(std::uint64_t number) const {
    if (layout == Layout::contiguous) return file * part + number;
    const bool is_mirrored = layout == Layout::folded && number % 2 == 1 && file > 0;
    return run() * (files * (number / run()) + (is_mirrored ? files - file : file)) + number % run();
  }
  /// How many of them are below k.
  [[nodiscard]] std::uint64_t below(std::uint64_t k) const {
    if (layout == Layout::contiguous) {
      const std::uint64_t begin = file * part;
      return file + 1 == files ? k - std::min(k, begin) : std::clamp(k, begin, begin + part) - begin;
    }
    const std::uint64_t number = k / (run() * files) * run();
    const std::uint64_t begin = by_number(number);
    return number + std::clamp(k, begin, begin + run()) - begin;
  }

 private:
  /// How many elements after each other a file has, before it is the next file's turn.
  [[nodiscard]] std::uint64_t run() const { return layout == Layout::pairs ? 2 : 1; }
};

/// Reads from the files in turn what they have of a range.
class SharedSource final : public Source {
 public:
  /// @param of_first  the first file's. @param parts  nullptr: the row is so short that there is nothing in it
  SharedSource(const std::string& name, SignalInfo info, const Share& of_first,
               std::vector<std::unique_ptr<Source>> parts)
      : Source(name, std::move(info)), of_first_(of_first), parts_(std::move(parts)) {}

 private:
  std::size_t read_components(std::uint64_t first, Components out) override {
    return read_samples(out, [&](auto samples) { return read_rows(first, samples); });
  }

  template <typename Sample>
  std::size_t read_rows(std::uint64_t first, std::span<Sample> out) {
    const std::uint64_t length = *info().length;
    std::size_t done = 0;
    while (done < out.size()) {
      const std::uint64_t row = (first + done) / length;
      const std::uint64_t begin = (first + done) % length;
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(length - begin, out.size() - done));
      for (std::size_t r = 0; r < parts_.size(); ++r) read_share(r, row, begin, out.subspan(done, count));
      done += count;
    }
    return done;
  }

  /// Of elements [begin, begin + out.size()) of a row, those that a file has.
  template <typename Sample>
  void read_share(std::size_t part, std::uint64_t row, std::uint64_t begin, std::span<Sample> out) {
    Share share = of_first_;
    share.file = part;
    const std::uint64_t number = share.below(begin);
    std::vector<Sample> samples(static_cast<std::size_t>(share.below(begin + out.size()) - number));
    if (samples.empty()) return;
    (void)parts_[part]->read<Sample>(row * share.below(*info().length) + number, samples);
    for (std::size_t i = 0; i < samples.size(); ++i) out[share.by_number(number + i) - begin] = samples[i];
  }

  Share of_first_;
  std::vector<std::unique_ptr<Source>> parts_;
};

struct Index {
  std::uint64_t rows = 0;
  std::uint64_t length = 0;
  double sample_rate_hz = 0;
  SampleType type;
  Layout layout = Layout::round_robin;
  std::uint64_t part = 0;
  std::vector<std::string> files;
};

/// A file that an index names. An index from elsewhere must not choose which of the user's files are read, and one that names an index
/// could name itself.
std::string neighbour(const std::string& index, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || name.ends_with(shares_suffix))
    throw DataError(index, fmt::format("'{}' is no name of a data file in the same folder", name));
  return name;
}

Index read_index(const std::string& path) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 26U;
  const std::map<std::string, SampleType> types = {{"float32", sample_type_of<float>()},
                                                   {"float64", sample_type_of<double>()},
                                                   {"complex64", sample_type_of<std::complex<float>>()},
                                                   {"complex128", sample_type_of<std::complex<double>>()}};
  const auto input = open_bytes(path);
  const auto bytes = read_rest(*input, 0, kMostBytes);
  try {
    const Json json =
        Json::parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    Index index;
    index.rows = json.at("rows").get<std::uint64_t>();
    index.length = json.at("length").get<std::uint64_t>();
    index.sample_rate_hz = json.at("sample_rate_hz").get<double>();
    const auto type = types.find(json.at("element").text());
    if (type != types.end()) index.type = type->second;
    constexpr std::array kLayouts = {Layout::round_robin, Layout::folded, Layout::pairs, Layout::contiguous,
                                     Layout::everywhere};
    const auto* const layout =
        std::ranges::find(kLayouts, json.at("layout").text(), [](Layout each) { return to_string(each); });
    if (layout != kLayouts.end()) index.layout = *layout;
    if (index.layout == Layout::contiguous) index.part = json.at("part").get<std::uint64_t>();
    for (const Json& file : json.at("files")) index.files.push_back(neighbour(path, file.text()));
    constexpr std::uint64_t kMost = std::uint64_t{1} << 58U;
    const bool is_good = type != types.end() && layout != kLayouts.end() && index.rows > 0 &&
                         index.length > 0 && !index.files.empty() && index.length <= kMost / index.rows &&
                         index.part <= kMost / index.files.size();
    if (!is_good)
      throw DataError(
          path,
          "is no index of what ranks have: its sizes, its element, its layout or its files make no sense");
    for (const std::string& file : index.files)
      know_input(std::filesystem::path(path).replace_filename(file).string());
    return index;
  } catch (const JsonError& error) {
    throw DataError(path, fmt::format("is no index of what ranks have: {}", error.what()));
  }
}

std::unique_ptr<Source> open_part(const std::filesystem::path& path, const SampleType& type,
                                  std::uint64_t samples) {
  const bool is_raw = path.extension() == ".raw" || path.extension() == ".bin";
  auto part = open_source(path.string(),
                          {.raw_type = is_raw ? std::optional(type) : std::nullopt, .channel = std::nullopt});
  if (part->sample_count() != samples || part->info().is_complex != type.is_complex) {
    throw DataError(part->name(), fmt::format("has not the {} samples that the index promises", samples));
  }
  return part;
}

}  // namespace

std::string_view to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::folded:
      return "element k of a row is element k / ranks of the same row in files[k % ranks] where k / ranks is "
             "even, and "
             "in files[(ranks - k % ranks) % ranks] where it is odd";
    case Layout::pairs:
      return "element k of a row is element k / (2 * ranks) * 2 + k % 2 of the same row in files[k / 2 % "
             "ranks]";
    case Layout::contiguous:
      return "element k of a row is element k - i * part of the same row in files[i], where i is the lesser "
             "of "
             "k / part and ranks - 1";
    case Layout::everywhere:
      return "each file holds everything";
    case Layout::round_robin:
      break;
  }
  return "element k of a row is element k / ranks of the same row in files[k % ranks]";
}

std::unique_ptr<Source> open_shares(const std::string& index_path) {
  const Index index = read_index(index_path);
  Share of_file{.files = index.files.size(), .layout = index.layout, .part = index.part};
  if (index.layout == Layout::everywhere) of_file = {};
  const Share of_first = of_file;
  std::vector<std::unique_ptr<Source>> parts;
  bool two_dimensional = index.rows > 1;
  for (std::size_t r = 0; r < of_first.files; ++r) {
    of_file.file = r;
    const std::uint64_t share = of_file.below(index.length);
    if (share == 0) {
      parts.push_back(nullptr);
      continue;
    }
    const auto path = std::filesystem::path(index_path).parent_path() / index.files[r];
    parts.push_back(open_part(path, index.type, index.rows * share));
    two_dimensional = two_dimensional || parts.back()->info().two_dimensional;
  }
  SignalInfo info;
  info.kind = "shares of " + npy_descr(index.type);
  info.two_dimensional = two_dimensional;
  info.rows = index.rows;
  info.length = index.length;
  info.is_complex = index.type.is_complex;
  info.sample_rate_hz = index.sample_rate_hz;
  return std::make_unique<SharedSource>(index_path, info, of_first, std::move(parts));
}

}  // namespace papfft::app::io
