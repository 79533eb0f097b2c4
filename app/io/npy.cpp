// SPDX-License-Identifier: MIT
#include "app/io/npy.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "app/io/errors.hpp"

namespace papfft::app::io {
namespace {

// numpy's own limit is 10000; version 1.0 can say at most 65535.
constexpr std::uint32_t kMostHeaderBytes = 65535;

struct Dictionary {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

// The one Python expression numpy writes: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryParser {
 public:
  DictionaryParser(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

  Dictionary parse() {
    Dictionary result;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        result.descr = descr();
      } else if (key == "fortran_order") {
        result.fortran_order = boolean();
      } else if (key == "shape") {
        result.shape = shape();
      } else {
        fail(fmt::format("unknown key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) fail("text after the dictionary");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(file_, fmt::format("its .npy header is damaged: {}", what));
  }
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' expected", c));
  }
  std::string quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) fail("unfinished string");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string descr() {
    skip_blanks();
    if (rest_.starts_with('[')) {
      throw DataError(file_,
                      fmt::format("holds records, not numbers; supported types are {}", npy_type_names()));
    }
    return quoted();
  }
  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    fail("True or False expected");
  }
  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> dimensions;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::uint64_t dimension = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dimension);
      if (error != std::errc()) fail("a shape that is not a tuple of sizes");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      (void)accept('L');  // Python 2 wrote its long integers so
      dimensions.push_back(dimension);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return dimensions;
  }

  const std::string& file_;
  std::string_view rest_;
};

// As Python prints a tuple.
std::string tuple(std::span<const std::uint64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

// Total bytes of the array. @throws DataError when they do not fit 64 signed bits.
std::uint64_t array_bytes(const std::string& file, const NpyHeader& header) {
  std::uint64_t bytes = header.type.sample_bytes();
  bool overflow = false;
  for (const std::uint64_t dimension : header.shape)
    overflow |= __builtin_mul_overflow(bytes, dimension, &bytes);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (overflow || bytes > kMost - header.data_offset) {
    throw DataError(file, fmt::format("its .npy header claims an impossible shape, {}", tuple(header.shape)));
  }
  return bytes;
}

template <std::size_t N>
std::array<unsigned char, N> read_exactly(ByteInput& input, std::uint64_t offset) {
  std::array<unsigned char, N> bytes{};
  if (input.read_at(offset, std::as_writable_bytes(std::span(bytes))) != N) {
    throw DataError(input.name(), "ends inside its .npy header");
  }
  return bytes;
}

void require_supported(const std::string& file, const Dictionary& dictionary, NpyHeader& header) {
  if (!dictionary.descr || !dictionary.fortran_order || !dictionary.shape) {
    throw DataError(file, "its .npy header is damaged: it must give descr, fortran_order and shape");
  }
  const auto type = npy_type_from(*dictionary.descr);
  if (!type) {
    throw DataError(file, fmt::format("holds samples of type '{}'; supported types are {}", *dictionary.descr,
                                      npy_type_names()));
  }
  header.type = *type;
  header.shape = *dictionary.shape;
  if (header.shape.empty()) throw DataError(file, "holds a single number; an array of samples is needed");
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end()) {
    throw DataError(file, fmt::format("holds no samples: its shape is {}", tuple(header.shape)));
  }
  const auto long_ones =
      std::ranges::count_if(header.shape, [](std::uint64_t dimension) { return dimension > 1; });
  header.column_order = *dictionary.fortran_order && long_ones > 1;
}

}  // namespace

NpyHeader read_npy_header(ByteInput& input) {
  const std::string& file = input.name();
  std::array<char, npy_magic.size()> magic{};
  const std::size_t magic_bytes = input.read_at(0, std::as_writable_bytes(std::span(magic)));
  if (std::string_view(magic.data(), magic_bytes) != npy_magic) {
    throw DataError(file, "is not a .npy file: it does not begin with \\x93NUMPY; raw samples need --format");
  }
  const auto version = read_exactly<2>(input, npy_magic.size());
  if (version[0] < 1 || version[0] > 3) {
    throw DataError(file, fmt::format("is a .npy file of version {}.{}; versions 1 to 3 are supported",
                                      version[0], version[1]));
  }
  std::uint64_t offset = npy_magic.size() + version.size();
  std::uint32_t header_bytes = 0;
  if (version[0] == 1) {
    const auto length = read_exactly<2>(input, offset);
    header_bytes = length[0] + 256U * length[1];
    offset += length.size();
  } else {
    const auto length = read_exactly<4>(input, offset);
    for (std::size_t i = length.size(); i-- > 0;) header_bytes = 256U * header_bytes + length[i];
    offset += length.size();
  }
  if (header_bytes > kMostHeaderBytes) {
    throw DataError(file,
                    fmt::format("its .npy header is damaged: it claims a length of {} bytes", header_bytes));
  }
  std::string text(header_bytes, '\0');
  if (input.read_at(offset, std::as_writable_bytes(std::span(text))) != text.size()) {
    throw DataError(file, "ends inside its .npy header");
  }

  NpyHeader header;
  header.data_offset = offset + header_bytes;
  require_supported(file, DictionaryParser(file, text).parse(), header);
  const std::uint64_t bytes = array_bytes(file, header);
  header.sample_count = bytes / header.type.sample_bytes();
  const auto size = input.size_bytes();
  if (size && *size - header.data_offset < bytes) {
    throw DataError(
        file, fmt::format("is truncated: its header promises {} samples, it holds {}", header.sample_count,
                          (*size - header.data_offset) / header.type.sample_bytes()));
  }
  return header;
}

std::string make_npy_header(const SampleType& type, std::span<const std::uint64_t> shape) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", npy_descr(type), tuple(shape));
  // numpy leaves room for the first dimension to grow to the longest 64-bit number, so that appending can rewrite it in place.
  constexpr std::size_t kLongestDimension = 21;
  text.append(kLongestDimension - fmt::formatted_size("{}", shape.front()), ' ');
  constexpr std::size_t kPrefixBytes = npy_magic.size() + 4;
  constexpr std::size_t kAlignment = 64;
  const std::size_t unpadded_bytes = kPrefixBytes + text.size() + 1;
  text.append((kAlignment - unpadded_bytes % kAlignment) % kAlignment, ' ');
  text.push_back('\n');
  return fmt::format("{}\x01{}{}{}{}", npy_magic, '\0', static_cast<char>(text.size() % 256),
                     static_cast<char>(text.size() / 256), text);
}

}  // namespace papfft::app::io
