// SPDX-License-Identifier: MIT
#include "app/io/wav.hpp"

#include <fmt/core.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "app/io/atomic_file.hpp"
#include "app/io/sound_bytes.hpp"

namespace papfft::app::io {
namespace {

class OutputBytes final : public SoundBytes {
 public:
  explicit OutputBytes(AtomicFile& file) : file_(file) {}

 private:
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  std::size_t write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    file_.write_at(offset, bytes);
    size_ = std::max(size_, offset + bytes.size());
    return bytes.size();
  }

  AtomicFile& file_;
  std::uint64_t size_ = 0;
};

SF_INFO info_of(std::uint64_t channels, double sample_rate_hz) {
  SF_INFO info{};
  info.channels = static_cast<int>(channels);
  info.samplerate = static_cast<int>(std::lround(sample_rate_hz));
  info.format = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
  return info;
}

}  // namespace

void check_wav(const std::string& path, const WavContent& content) {
  if (content.is_complex) {
    throw UnsuitableOutput(path, "complex samples are no sound; what would work: .npy, .raw or .csv");
  }
  if (!(content.sample_rate_hz > 0)) {
    throw UnsuitableOutput(
        path,
        "the input does not tell its sample rate, which a .wav needs; what would work: input "
        "from a sound or SigMF file, or output as .npy");
  }
  if (content.sample_rate_hz < 1 || content.sample_rate_hz > std::numeric_limits<int>::max()) {
    throw UnsuitableOutput(path, fmt::format("no .wav has {} samples per second; what would work: .npy",
                                             content.sample_rate_hz));
  }
  constexpr std::uint64_t kMostChannels = 1024;  // of libsndfile
  if (content.channels > kMostChannels) {
    throw UnsuitableOutput(
        path, fmt::format("{} channels are too many for a .wav, which has at most {}; what would "
                          "work: .npy",
                          content.channels, kMostChannels));
  }
  constexpr std::uint64_t kMostBytes = 0xffff0000;  // the header says their number in 32 bits
  if (content.length > kMostBytes / sizeof(float) / content.channels) {
    throw UnsuitableOutput(
        path, fmt::format("a .wav holds less than 4 GiB, and these are {} channels of {} samples "
                          "of 4 bytes; what would work: .npy",
                          content.channels, content.length));
  }
}

template <typename T>
double write_wav(const std::string& path, std::span<const T> samples, std::uint64_t channels,
                 double sample_rate_hz) {
  const std::uint64_t length = samples.size() / channels;
  check_wav(path, {.channels = channels, .length = length, .sample_rate_hz = sample_rate_hz});
  AtomicFile file(path);
  if (file.is_direct()) {
    throw UnsuitableOutput(
        path, "a .wav's beginning is written last, which a pipe does not allow; what would work: a file");
  }
  OutputBytes bytes(file);
  SF_INFO info = info_of(channels, sample_rate_hz);
  SoundFile sound = bytes.open(SFM_WRITE, info);
  if (!sound) throw OutputError(path, sf_strerror(nullptr));
  (void)sf_command(sound.get(), SFC_SET_ADD_PEAK_CHUNK, nullptr,
                   SF_FALSE);  // it has the time of writing in it

  constexpr std::size_t kBlockValues = 65536;
  const std::size_t block = std::max<std::size_t>(1, kBlockValues / channels);
  std::vector<float> frames;
  double peak = 0;
  for (std::uint64_t first = 0; first < length; first += block) {
    const std::uint64_t count = std::min<std::uint64_t>(block, length - first);
    frames.resize(count * channels);
    for (std::uint64_t i = 0; i < frames.size(); ++i) {
      const T value = samples[i % channels * length + first + i / channels];
      frames[i] = static_cast<float>(value);
      peak = std::max(peak, static_cast<double>(std::abs(value)));  // in this order NaN leaves it as it is
    }
    const auto frame_count = static_cast<sf_count_t>(count);
    const bool written = sf_writef_float(sound.get(), frames.data(), frame_count) == frame_count;
    bytes.rethrow();
    if (!written) throw OutputError(path, sf_strerror(sound.get()));
  }
  const int failed = sf_close(sound.release());
  bytes.rethrow();
  if (failed != 0) throw OutputError(path, sf_error_number(failed));
  file.commit();
  return peak;
}

template double write_wav(const std::string&, std::span<const float>, std::uint64_t, double);
template double write_wav(const std::string&, std::span<const double>, std::uint64_t, double);

}  // namespace papfft::app::io
