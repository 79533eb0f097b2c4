// SPDX-License-Identifier: MIT
#include "app/io/sound.hpp"

#include <fmt/core.h>
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/io/sound_bytes.hpp"
#include "app/io/source.hpp"

namespace papfft::app::io {
namespace {

class InputBytes final : public SoundBytes {
 public:
  explicit InputBytes(std::unique_ptr<ByteInput> input) : input_(std::move(input)) {}
  [[nodiscard]] ByteInput& input() { return *input_; }

 private:
  [[nodiscard]] std::uint64_t size() const override { return *input_->size_bytes(); }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    return input_->read_at(offset, out);
  }

  std::unique_ptr<ByteInput> input_;
};

// Bytes that the sample chunk of a WAV or AIFF file claims beyond the end of the file; libsndfile passes over it in silence.
std::uint64_t missing_chunk_bytes(ByteInput& input) {
  std::array<unsigned char, 12> head{};
  (void)input.read_at(0, std::as_writable_bytes(std::span(head)));
  const std::string_view id(reinterpret_cast<const char*>(head.data()), 4);
  const bool aiff = id == "FORM";
  if (!aiff && id != "RIFF") return 0;
  const std::uint64_t size = *input.size_bytes();
  for (std::uint64_t offset = head.size(); offset < size;) {
    std::array<unsigned char, 8> chunk{};
    if (input.read_at(offset, std::as_writable_bytes(std::span(chunk))) < chunk.size()) return 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < 4; ++i) bytes = 256 * bytes + chunk[aiff ? 4 + i : 7 - i];
    offset += chunk.size();
    const std::string_view chunk_id(reinterpret_cast<const char*>(chunk.data()), 4);
    if (chunk_id == (aiff ? "SSND" : "data")) {
      // Programs that write to a pipe do not know the length and claim about the most that can be said.
      constexpr std::uint64_t kUnknown = 0x7fff0000;
      return bytes >= kUnknown ? 0 : bytes - std::min(bytes, size - offset);
    }
    offset += bytes + bytes % 2;
  }
  return 0;
}

class SoundSource final : public Source {
 public:
  using Channels = SourceOptions::Channels;

  SoundSource(std::unique_ptr<InputBytes> bytes, SoundFile file, SignalInfo info, std::size_t channels,
              const SourceOptions& options)
      : Source(bytes->input().name(), std::move(info)),
        bytes_(std::move(bytes)),
        file_(std::move(file)),
        channels_(channels),
        how_(options.channels),
        channel_(options.channel) {}

 private:
  std::size_t read_components(std::uint64_t first, Components out) override {
    return std::visit([&](auto span) { return read_rows(first, span); }, out);
  }

  template <typename T>
  std::size_t read_rows(std::uint64_t first, std::span<T> out) {
    if (how_ != Channels::rows) return read_as(first, out);
    const std::uint64_t length = *info().length;
    std::size_t done = 0;
    while (done < out.size()) {
      channel_ = static_cast<unsigned>((first + done) / length);
      const std::uint64_t begin = (first + done) % length;
      const auto wanted =
          static_cast<std::size_t>(std::min<std::uint64_t>(length - begin, out.size() - done));
      const std::size_t got = read_as(begin, out.subspan(done, wanted));
      done += got;
      if (got < wanted) break;
    }
    return done;
  }

  template <typename T>
  std::size_t read_as(std::uint64_t first, std::span<T> out) {
    go_to(first);
    constexpr std::size_t kBlockValues = 65536;
    const std::size_t values = how_ == Channels::parts ? 2 : 1;  // of a sample
    const std::size_t block_frames = std::max<std::size_t>(1, kBlockValues / channels_);
    std::vector<double> frames(std::min(block_frames, out.size()) * channels_);
    std::size_t done = 0;
    while (done < out.size()) {
      const std::size_t wanted = std::min(block_frames, (out.size() - done) / values);
      const sf_count_t got = sf_readf_double(file_.get(), frames.data(), static_cast<sf_count_t>(wanted));
      bytes_->rethrow();
      if (got <= 0) break;
      const auto count = static_cast<std::size_t>(got);
      if (how_ == Channels::parts) {
        std::transform(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(2 * count),
                       out.begin() + static_cast<std::ptrdiff_t>(done),
                       [](double value) { return static_cast<T>(value); });
      } else {
        for (std::size_t i = 0; i < count; ++i) {
          out[done + i] = static_cast<T>(mixed(std::span(frames).subspan(i * channels_, channels_)));
        }
      }
      done += values * count;
      position_ += count;
    }
    return done;
  }

  void go_to(std::uint64_t first) {
    if (first == position_) return;
    const sf_count_t now = sf_seek(file_.get(), static_cast<sf_count_t>(first), SEEK_SET);
    bytes_->rethrow();
    if (now < 0)
      throw DataError(name(),
                      fmt::format("sample {} cannot be reached: {}", first, sf_strerror(file_.get())));
    position_ = first;
  }

  [[nodiscard]] double mixed(std::span<const double> frame) const {
    if (channel_) return frame[*channel_];
    double sum = 0;
    for (const double value : frame) sum += value;
    return sum / static_cast<double>(frame.size());
  }

  std::unique_ptr<InputBytes> bytes_;  // outlives file_, which reads from it
  SoundFile file_;
  std::size_t channels_;
  Channels how_;
  std::optional<unsigned> channel_;
  std::uint64_t position_ = 0;
};

std::string format_name(int format) {
  SF_FORMAT_INFO description{.format = format & SF_FORMAT_TYPEMASK, .name = nullptr, .extension = nullptr};
  const int failed = sf_command(nullptr, SFC_GET_FORMAT_INFO, &description, sizeof description);
  return failed == 0 && description.name != nullptr ? description.name : "sound";
}

}  // namespace

bool is_sound(std::string_view head) {
  if (head.starts_with("fLaC") || head.starts_with("OggS")) return true;
  if (head.size() < 12) return false;
  const std::string_view form = head.substr(8, 4);
  if (head.starts_with("RIFF") || head.starts_with("RF64")) return form == "WAVE";
  return head.starts_with("FORM") && (form == "AIFF" || form == "AIFC");
}

std::unique_ptr<Source> open_sound(std::unique_ptr<ByteInput> input, const SourceOptions& options) {
  // libsndfile knows dozens of rare formats, and reads by content: hand it only those that are promised.
  std::array<char, 12> head{};
  const std::size_t got = input->read_at(0, std::as_writable_bytes(std::span(head)));
  if (!is_sound(std::string_view(head.data(), got))) {
    throw DataError(input->name(), "is not sound: it does not begin as a WAV, FLAC, Ogg or AIFF file does");
  }
  const std::uint64_t missing_bytes = missing_chunk_bytes(*input);

  auto bytes = std::make_unique<InputBytes>(std::move(input));
  const std::string& name = bytes->input().name();
  SF_INFO sound{};
  SoundFile file = bytes->open(SFM_READ, sound);
  if (!file) throw DataError(name, fmt::format("cannot be decoded: {}", sf_strerror(nullptr)));
  if (sound.channels < 1 || sound.samplerate < 1 || sound.frames < 0) {
    throw DataError(name, fmt::format("its header is damaged: {} channels, {} samples per second, {} samples",
                                      sound.channels, sound.samplerate, sound.frames));
  }
  if (missing_bytes > 0) {
    throw DataError(name, fmt::format("is truncated: {} bytes of samples are missing, it holds {} samples",
                                      missing_bytes, sound.frames));
  }
  if (options.channel && *options.channel >= static_cast<unsigned>(sound.channels)) {
    throw DataError(
        name, fmt::format("has no channel {}: it has {}, counted from 0", *options.channel, sound.channels));
  }
  using Channels = SourceOptions::Channels;
  if (options.channels == Channels::parts && sound.channels != 2) {
    throw DataError(name, fmt::format("has {} channels; I and Q are two", sound.channels));
  }
  SignalInfo info;
  info.kind = format_name(sound.format);
  info.is_sound = true;
  info.length = static_cast<std::uint64_t>(sound.frames);
  info.sample_rate_hz = sound.samplerate;
  info.channels = static_cast<std::uint64_t>(sound.channels);
  info.from_threads = false;
  // A stream whose header was written before its length was known: SF_COUNT_MAX says so.
  if (sound.frames == SF_COUNT_MAX) info.length = std::nullopt;
  const auto channels = static_cast<std::size_t>(sound.channels);
  if (options.channels == Channels::rows) {
    if (!info.length || sound.frames == 0) {
      throw DataError(name, "does not say how long its channels are; what would work: --channel");
    }
    info.two_dimensional = true;
    info.rows = channels;
  }
  if (options.channels == Channels::parts) {
    info.is_complex = true;
    info.channels = 1;
  }
  return std::make_unique<SoundSource>(std::move(bytes), std::move(file), std::move(info), channels, options);
}

}  // namespace papfft::app::io
