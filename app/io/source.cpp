// SPDX-License-Identifier: MIT
#include "app/io/source.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/io/npy.hpp"
#include "app/io/shares.hpp"
#include "app/io/sigmf.hpp"
#include "app/io/sound.hpp"

namespace papfft::app::io {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

[[noreturn]] void throw_truncated(const std::string& name, std::uint64_t promised, std::uint64_t found) {
  throw DataError(name, fmt::format("is truncated: {} samples were promised, it holds {}", promised, found));
}

// Samples lying one after another from some byte on: .npy, raw and SigMF.
class PackedSource final : public Source {
 public:
  PackedSource(std::unique_ptr<ByteInput> input, SignalInfo info, const SampleType& type,
               std::uint64_t data_offset)
      : Source(input->name(), std::move(info)),
        input_(std::move(input)),
        type_(type),
        data_offset_(data_offset) {}

  void give_up() noexcept override { input_->give_up(); }
  [[nodiscard]] bool given_up() const noexcept override { return input_->given_up(); }

 private:
  std::size_t read_components(std::uint64_t first, Components out) override {
    return std::visit([&](auto span) { return read_as(first, span); }, out);
  }

  template <typename T>
  std::size_t read_as(std::uint64_t first, std::span<T> out) {
    if (torn_bytes_ > 0) throw_torn();
    const std::uint64_t offset = data_offset_ + first * type_.sample_bytes();
    const SampleType here = sample_type_of<T>();
    if (type_.component == here.component && type_.component_bytes == here.component_bytes) {
      const std::size_t done = whole_samples(input_->read_at(offset, std::as_writable_bytes(out)));
      if (type_.big_endian != here.big_endian) swap_bytes(out.first(done));
      if (done == 0 && torn_bytes_ > 0) throw_torn();
      return done;
    }
    std::vector<std::byte> block(std::min(kBlockBytes, out.size() * type_.component_bytes));
    std::size_t done = 0;
    while (done < out.size()) {
      const std::size_t wanted = std::min(block.size(), (out.size() - done) * type_.component_bytes);
      const std::size_t got =
          input_->read_at(offset + done * type_.component_bytes, std::span(block).first(wanted));
      const std::size_t components = whole_samples(got);
      decode(std::span<const std::byte>(block).first(components * type_.component_bytes), type_,
             out.subspan(done, components));
      done += components;
      if (got < wanted) break;
    }
    if (done == 0 && torn_bytes_ > 0) throw_torn();
    return done;
  }

  // Components in the bytes read; only the end of the input, or giving it up, can leave part of a sample.
  // Then the samples before it come first, and the next read says what is wrong.
  [[nodiscard]] std::size_t whole_samples(std::size_t bytes) {
    if (!info().any_order && !given_up()) torn_bytes_ = bytes % type_.sample_bytes();
    return bytes / type_.sample_bytes() * type_.components();
  }

  [[noreturn]] void throw_torn() const {
    throw DataError(name(), fmt::format("ends inside a sample: {} bytes are left for one of {} bytes ({})",
                                        torn_bytes_, type_.sample_bytes(), raw_type_name(type_)));
  }

  std::unique_ptr<ByteInput> input_;
  SampleType type_;
  std::uint64_t data_offset_;
  std::size_t torn_bytes_ = 0;  // of a pipe's last sample
};

// What a file is, by its name or its first bytes.
enum class InputKind { npy, sound, sigmf, unknown };

InputKind kind_by_name(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".npy") return InputKind::npy;
  if (extension == ".sigmf-meta" || extension == ".sigmf-data") return InputKind::sigmf;
  constexpr std::array kSound = {".wav", ".flac", ".ogg", ".oga", ".aiff", ".aif"};
  if (std::find(kSound.begin(), kSound.end(), extension) != kSound.end()) return InputKind::sound;
  return InputKind::unknown;
}

InputKind kind_by_content(ByteInput& input) {
  std::array<char, ByteInput::head_bytes> head{};
  const std::size_t got = input.read_at(0, std::as_writable_bytes(std::span(head)));
  const std::string_view text(head.data(), got);
  if (text.starts_with(npy_magic)) return InputKind::npy;
  return is_sound(text) ? InputKind::sound : InputKind::unknown;
}

std::unique_ptr<ByteInput> with_size(std::unique_ptr<ByteInput> input) {
  if (input->size_bytes()) return input;
  // Decoders seek. Sound comes compressed; what exceeds this is better saved first.
  constexpr std::uint64_t kMostPipedSoundBytes = std::uint64_t{1} << 30;
  auto bytes = read_rest(*input, 0, kMostPipedSoundBytes);
  return memory_bytes(input->name(), std::move(bytes));
}

std::unique_ptr<Source> open_sigmf(const std::string& path) {
  constexpr std::uint64_t kMostMetaBytes = std::uint64_t{1} << 26;
  const auto base = std::filesystem::path(path).replace_extension();
  const std::string meta_path = base.string() + ".sigmf-meta";
  const auto meta_input = open_bytes(meta_path);
  const auto text = read_rest(*meta_input, 0, kMostMetaBytes);
  const SigmfMeta meta =
      parse_sigmf_meta(meta_path, std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
  const std::string data_path =
      meta.dataset.empty() ? base.string() + ".sigmf-data" : (base.parent_path() / meta.dataset).string();
  return open_raw(open_bytes(data_path), meta.type, meta.sample_rate_hz);
}

/// Of an array in Fortran's order.
std::unique_ptr<ByteInput> in_row_order(ByteInput& input, const NpyHeader& header) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const std::size_t bytes = header.type.sample_bytes();
  const std::uint64_t total = header.sample_count * bytes;
  std::vector<std::byte> columns;  // which grows with what is really there
  while (columns.size() < total) {
    const std::size_t done = columns.size();
    columns.resize(std::min<std::uint64_t>(total, done + std::max(kPieceBytes, done)));
    const std::size_t got = input.read_at(header.data_offset + done, std::span(columns).subspan(done));
    if (done + got < columns.size()) throw_truncated(input.name(), header.sample_count, (done + got) / bytes);
  }
  std::vector<std::uint64_t> stride(header.shape.size(), bytes);
  for (std::size_t d = 1; d < stride.size(); ++d) stride[d] = stride[d - 1] * header.shape[d - 1];
  std::vector<std::uint64_t> index(stride.size(), 0);
  std::vector<std::byte> rows(columns.size());
  std::uint64_t from = 0;
  for (std::size_t to = 0; to < rows.size(); to += bytes) {
    std::copy_n(columns.data() + from, bytes, rows.data() + to);
    for (std::size_t d = index.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < header.shape[d]) break;
      from -= stride[d] * std::exchange(index[d], 0);
    }
  }
  return memory_bytes(input.name(), std::move(rows));
}

// Samples known to be there. The headers of sound and pipes may claim anything: 0, so that memory grows as samples come.
std::size_t checked_sample_count(const Source& source) {
  const bool checked = source.info().any_order && source.info().from_threads;
  return checked ? static_cast<std::size_t>(source.sample_count().value_or(0)) : 0;
}

template <typename T>
bool is_finite(const T& value) {
  return std::isfinite(value);
}
template <typename T>
bool is_finite(const std::complex<T>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

}  // namespace

template <typename Sample>
std::size_t Source::read(std::uint64_t first, std::span<Sample> out) {
  const auto total = sample_count();
  if (total)
    out = out.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), *total - std::min(first, *total))));
  if (out.empty()) return 0;
  const auto components = components_of(out);
  std::size_t done = 0;
  if constexpr (is_complex_v<Sample>) {
    if (info_.is_complex) {
      done = read_components(first, components) / 2;
    } else {
      // Into the upper half, then spread upwards from the front: the part that is written never passes the part still to be read.
      const auto real = components.last(out.size());
      done = read_components(first, real);
      for (std::size_t i = 0; i < done; ++i) out[i] = Sample(real[i], 0);
    }
  } else {
    if (info_.is_complex) {
      throw DataError(name_,
                      fmt::format("holds complex samples ({}) where real ones are needed", info_.kind));
    }
    done = read_components(first, components);
  }
  if (total && done < out.size() && !given_up() && (info_.any_order || done == 0)) {
    throw_truncated(name_, *total, first + done);
  }
  return done;
}

std::unique_ptr<Source> open_npy(std::unique_ptr<ByteInput> input, bool any_dimensions) {
  NpyHeader header = read_npy_header(*input);
  if (header.shape.size() > 2 && !any_dimensions) {
    throw DataError(input->name(),
                    fmt::format("has shape ({}); one dimension, or two (rows of samples), are supported",
                                fmt::join(header.shape, ", ")));
  }
  SignalInfo info;
  info.kind = "npy " + npy_descr(header.type);
  info.two_dimensional = header.shape.size() > 1;
  info.length = header.shape.back();
  info.rows = header.sample_count / *info.length;
  info.shape = header.shape;
  info.is_complex = header.type.is_complex;
  if (header.column_order) {
    input = in_row_order(*input, header);
    header.data_offset = 0;
  }
  info.any_order = info.from_threads = input->size_bytes().has_value();
  return std::make_unique<PackedSource>(std::move(input), info, header.type, header.data_offset);
}

std::unique_ptr<Source> open_raw(std::unique_ptr<ByteInput> input, const SampleType& type,
                                 double sample_rate_hz) {
  SignalInfo info;
  info.kind = "raw " + raw_type_name(type);
  info.is_complex = type.is_complex;
  info.sample_rate_hz = sample_rate_hz;
  const auto size = input->size_bytes();
  info.any_order = info.from_threads = size.has_value();
  if (size) {
    if (*size % type.sample_bytes() != 0) {
      throw DataError(input->name(),
                      fmt::format("has {} bytes, which is no multiple of the {} bytes of a {} sample", *size,
                                  type.sample_bytes(), raw_type_name(type)));
    }
    info.length = *size / type.sample_bytes();
  }
  return std::make_unique<PackedSource>(std::move(input), info, type, 0);
}

std::unique_ptr<Source> open_source(const std::string& path, const SourceOptions& options) {
  InputKind kind = kind_by_name(path);
  if (path.ends_with(shares_suffix) && !options.raw_type) return open_shares(path);
  if (options.raw_type && kind != InputKind::unknown) {
    throw DataError(path, "names its own sample format; leave --format out");
  }
  if (kind == InputKind::sigmf) return open_sigmf(path);
  auto input = open_bytes(path);
  if (options.raw_type) return open_raw(std::move(input), *options.raw_type);
  if (kind == InputKind::unknown) kind = kind_by_content(*input);
  switch (kind) {
    case InputKind::npy:
      return open_npy(std::move(input), options.any_dimensions);
    case InputKind::sound:
      return open_sound(with_size(std::move(input)), options);
    default:
      throw DataError(
          input->name(),
          fmt::format(
              "is no .npy, .wav, .flac, .ogg, .aiff or SigMF file; raw samples need --format, one of {}",
              raw_type_names()));
  }
}

template <typename Sample>
std::vector<Sample> read_all(Source& source) {
  constexpr std::size_t kBlock = kBlockBytes / sizeof(Sample);
  const std::uint64_t most = source.sample_count().value_or(std::numeric_limits<std::uint64_t>::max());
  std::vector<Sample> samples(checked_sample_count(source));
  std::size_t done = 0;
  while (done < most) {
    if (done == samples.size()) samples.resize(std::min<std::uint64_t>(done + std::max(kBlock, done), most));
    const std::size_t got = source.read(done, std::span(samples).subspan(done));
    if (got == 0) break;
    done += got;
  }
  if (done == 0) throw DataError(source.name(), "holds no samples");
  samples.resize(done);
  return samples;
}

template <typename Sample>
std::uint64_t count_non_finite(std::span<const Sample> samples) {
  return static_cast<std::uint64_t>(
      std::count_if(samples.begin(), samples.end(), [](const Sample& value) { return !is_finite(value); }));
}

#define PAPFFT_INSTANTIATE(Sample)                                               \
  template std::size_t Source::read(std::uint64_t first, std::span<Sample> out); \
  template std::vector<Sample> read_all(Source& source);                         \
  template std::uint64_t count_non_finite(std::span<const Sample> samples);
PAPFFT_INSTANTIATE(float)
PAPFFT_INSTANTIATE(double)
PAPFFT_INSTANTIATE(std::complex<float>)
PAPFFT_INSTANTIATE(std::complex<double>)
#undef PAPFFT_INSTANTIATE

}  // namespace papfft::app::io
