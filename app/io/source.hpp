// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/io/byte_input.hpp"
#include "app/io/errors.hpp"
#include "app/io/sample_type.hpp"

namespace papfft::app::io {

/// What is known of a signal before its samples are read: rows of equal length, one after another.
struct SignalInfo {
  std::string kind;  ///< for messages: "npy <c16", "raw cf32_le", "FLAC (Free Lossless Audio Codec)"
  bool two_dimensional = false;  ///< it has rows, `rows` of them, even if that is one
  std::uint64_t rows = 1;
  std::vector<std::uint64_t> shape;  ///< of a .npy file; all dimensions but the last are rows
  std::optional<std::uint64_t>
      length;  ///< samples per row; nothing: raw samples from a pipe, known at its end
  bool is_complex = false;
  double sample_rate_hz = 0;  ///< 0: unknown
  bool is_sound = false;
  std::uint64_t channels = 1;  ///< as stored; what is read is one channel or the mean of all
  bool any_order = true;       ///< false: a pipe; the samples must be read once, in order
  bool from_threads = true;    ///< false: only one thread at a time may read
};

/// Numbers in either precision.
using Components = std::variant<std::span<float>, std::span<double>>;

/// Samples to be read in ranges, so that callers can stream them or share the reading.
class Source {
 public:
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const SignalInfo& info() const { return info_; }
  /// rows x length. @return nothing when the length is not known yet.
  [[nodiscard]] std::optional<std::uint64_t> sample_count() const {
    return info_.length ? std::optional(info_.rows * *info_.length) : std::nullopt;
  }

  /// Reads samples [first, first + out.size()), counted over all rows. Sample: float, double or std::complex of these; real
  /// samples read as complex get imaginary parts of zero. Integers of raw and .npy files keep their values; sound is scaled to
  /// +-1. Not-a-number and infinity pass (count_non_finite).
  /// @return samples read, fewer than out.size() only at the end.
  /// @throws DataError when the file is damaged or holds less than promised, or complex samples are read as real ones. What a
  /// pipe has before its bad end is returned first; the next read throws.
  template <typename Sample>
  [[nodiscard]] std::size_t read(std::uint64_t first, std::span<Sample> out);

  /// As ByteInput's: what a pipe has given by then counts as all that there is.
  virtual void give_up() noexcept {}
  [[nodiscard]] virtual bool given_up() const noexcept { return false; }

 protected:
  Source(std::string name, SignalInfo info) : name_(std::move(name)), info_(std::move(info)) {}

  /// Of a source made of others, whose samples it reads whole. @param read  as read(), of a span of samples @return components
  template <typename Read>
  [[nodiscard]] std::size_t read_samples(Components out, Read read) const {
    return std::visit(
        [&]<typename T>(std::span<T> span) -> std::size_t {
          if (!info_.is_complex) return read(span);
          using Complex = std::complex<T>;
          return 2 * read(std::span(reinterpret_cast<Complex*>(span.data()), span.size() / 2));
        },
        out);
  }

 private:
  // As read(), in components (two per complex sample); `first` counts samples, and the range lies within sample_count().
  virtual std::size_t read_components(std::uint64_t first, Components out) = 0;

  std::string name_;
  SignalInfo info_;
};

struct SourceOptions {
  std::optional<SampleType> raw_type;  ///< the file holds nothing but samples of this type
  std::optional<unsigned> channel;     ///< which channel of a sound to read, from 0; nothing: the mean of all
  /// What else can be made of a sound's channels: a row of each; or, of two, the real and imaginary parts of complex samples.
  enum class Channels : std::uint8_t { one, rows, parts } channels = Channels::one;
  bool any_dimensions = false;  ///< .npy files of more than two dimensions are welcome
};

/// Opens .npy, sound (.wav .flac .ogg .oga .aiff .aif), SigMF (either of its files), raw samples (options.raw_type), what
/// ranks have left in files of their own (by its .index.json), or "-".
/// Other names, pipes and standard input are known by their first bytes.
/// @throws DataError naming the file, what is wrong and what would work.
[[nodiscard]] std::unique_ptr<Source> open_source(const std::string& path, const SourceOptions& options = {});

/// The parts of open_source, over any bytes.
/// An array in Fortran's order is read at once, and is in memory then.
[[nodiscard]] std::unique_ptr<Source> open_npy(std::unique_ptr<ByteInput> input, bool any_dimensions = false);
[[nodiscard]] std::unique_ptr<Source> open_raw(std::unique_ptr<ByteInput> input, const SampleType& type,
                                               double sample_rate_hz = 0);
/// Sound by libsndfile. `input` must have a size. Not thread-safe.
[[nodiscard]] std::unique_ptr<Source> open_sound(std::unique_ptr<ByteInput> input,
                                                 const SourceOptions& options);

/// The same rows, each cut or padded with zeros to so many samples. A pipe's are read in order as before.
/// @pre the length of the rows is known
[[nodiscard]] std::unique_ptr<Source> resize_rows(std::shared_ptr<Source> source, std::uint64_t length);

/// Every sample of every row. Memory grows with what is really there, not with what a header claims.
/// @throws DataError as Source::read, and when there is no sample at all.
template <typename Sample>
[[nodiscard]] std::vector<Sample> read_all(Source& source);

/// Samples that are not a number or infinite (in either part).
template <typename Sample>
[[nodiscard]] std::uint64_t count_non_finite(std::span<const Sample> samples);

}  // namespace papfft::app::io
