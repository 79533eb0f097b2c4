// SPDX-License-Identifier: MIT
// What `papfft transform` is asked for, and which engine does it.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "app/jobs/input_options.hpp"
#include "app/run/job_options.hpp"
#include "fft/engines/sharing_model.hpp"
#include "fft/engines/slices_fft.hpp"
#include "fft/kernel/types.hpp"

namespace papfft::app {

struct TransformOptions {
  JobOptions job;
  InputOptions io;
  bool inverse = false;
  bool real = false;
  bool full = false;
  bool batch = false;
  bool leave_distributed = false;
  bool everywhere = false;
  bool parts = false;
  bool resume = false;
  std::uint64_t length = 0;
  std::string engine = "auto";
  std::string read = "auto";
  std::string norm = "backward";
  static constexpr const char* kLastAxis = "-1";
  std::string axes = kLastAxis;
  int dct = 0;                ///< type of the cosine transform; 0: a Fourier transform
  bool fftw_kernels = false;  ///< rank 0 alone uses FFTW's kernels even where others are faster

  /// Each rank writes a file, by engine dif if not by slices.
  [[nodiscard]] bool distributed() const { return leave_distributed || everywhere; }
  /// The same by engine slices.
  [[nodiscard]] bool file_per_rank() const { return leave_distributed || parts; }
  /// Whether nothing but engine slices will do.
  [[nodiscard]] bool asks_for_slices() const { return engine == "slices" || read == "parallel" || parts; }
  [[nodiscard]] fft::Direction direction() const {
    return inverse ? fft::Direction::inverse : fft::Direction::forward;
  }
};

/// How the ranks share vectors.
///   alone   rank 0 transforms them by itself
///   dif     all ranks share each vector, one vector after another (decimation in frequency)
///   stream  the same, with several vectors under way
///   farm    each vector is transformed by one rank, whichever is free
///   slices  all ranks share each vector; each reads its slice of the input itself, and writes its part of the result
enum class Engine : std::int32_t { alone, dif, stream, farm, slices };

[[nodiscard]] const char* to_string(Engine engine) noexcept;
/// What --engine takes: auto, and the engines.
[[nodiscard]] std::vector<std::string> engine_words();

/// What would work where engine slices does not.
[[nodiscard]] std::string way_without_slices(const TransformOptions& options);
/// Before any work. @throws UsageError  options that do not fit together
void check_transform(const TransformOptions& options);

/// In all vectors of a job together. As bytes, too, so many can still be counted.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 58U;
constexpr std::uint64_t kUnknownRows = ~std::uint64_t{0};

/// What the root finds out and every rank must know. Without padding: it is sent as bytes.
struct TransformPlan {
  std::uint64_t length = 0;  ///< N, of each vector in the time domain
  std::uint64_t rows = 1;    ///< vectors; kUnknownRows: known when the input ends
  std::uint64_t stored = 0;  ///< engine slices: samples of each vector in the input
  double rate_hz = 0;        ///< 0: unknown
  std::int32_t matrix = 0;   ///< the result has rows, even if it is one
  Engine engine = Engine::alone;
  std::int32_t split_real = 0;  ///< a shared real vector costs half: it is not shared as a complex one
  std::int32_t row_by_row = 0;  ///< vectors are read and written as they are worked on

  [[nodiscard]] bool many() const { return row_by_row != 0 || rows != 1; }
  /// For Progress; 0: unknown.
  [[nodiscard]] std::uint64_t known_rows() const { return rows == kUnknownRows ? 0 : rows; }
};

/// How many of the ranks share one vector, where the options leave that to `auto`: all, if they can; else the most that divide it;
/// all again if none do, as rank 0 then does it alone.
/// @param length  N, of the only vector; nothing: there are several, or it is not known yet
[[nodiscard]] int sharing_ranks(const TransformOptions& options, std::optional<std::uint64_t> length,
                                bool real, int ranks);

struct EngineChoice {
  Engine engine = Engine::alone;
  bool split_real = false;
  std::string why;
};

/// @param work  the vectors, the ranks and their network. @param name  the input's, for the message
/// @throws UsageError  the ranks cannot share a vector, and the options leave no other way
[[nodiscard]] EngineChoice choose_engine(const TransformOptions& options, const TransformPlan& plan,
                                         const fft::SharedWork& work, const std::string& name);

/// Samples of kind In become samples of kind Out; each is T or std::complex<T>, and not both are T. Real samples stand for N
/// complex ones, or their N/2+1 bins do.
template <typename In, typename Out>
struct TransformShape {
  static constexpr bool kRealIn = std::is_floating_point_v<In>;
  static constexpr bool kRealOut = std::is_floating_point_v<Out>;
  using Complex = std::conditional_t<kRealIn, Out, In>;
  using Real = typename Complex::value_type;
  static_assert(!kRealIn || !kRealOut);

  [[nodiscard]] static constexpr std::uint64_t bins(std::uint64_t length) { return length / 2 + 1; }
  /// Samples of a vector as it comes in and goes out.
  [[nodiscard]] static constexpr std::uint64_t in(std::uint64_t length) {
    return kRealOut ? bins(length) : length;
  }
  [[nodiscard]] static constexpr std::uint64_t out(std::uint64_t length) {
    return kRealIn ? bins(length) : length;
  }
};

/// What results are multiplied by, as scipy.fft's `norm` has it, on top of the inverse's 1/N.
[[nodiscard]] double norm_factor(const TransformOptions& options, std::uint64_t length);

/// Whether the vectors are real, and the ranks can share them as such, at half the traffic and memory.
[[nodiscard]] bool can_share_real(const fft::SharedWork& work);

/// What is known before an input is read, by rank 0 or by all.
struct SlicesCase {
  std::uint64_t vector_bytes = 0;
  std::uint64_t root_bytes = 0;       ///< what rank 0 needs if it reads the vector
  std::uint64_t available_bytes = 0;  ///< what rank 0 has
};

/// Whether `auto` has the ranks transform slices, if all of them can read the input. @return why; nothing: rank 0 shall read it
[[nodiscard]] std::optional<std::string> why_slices(const TransformOptions& options,
                                                    const TransformPlan& plan, const fft::SharedWork& work,
                                                    const SlicesCase& known);

/// Where engine slices is asked for. @throws UsageError  the ranks cannot share a vector
void check_slices(const TransformOptions& options, const TransformPlan& plan, int ranks,
                  const std::string& name);

/// "8 ranks with as much each": the fewest that divide the length and have room for it.
template <typename T>
[[nodiscard]] std::string enough_ranks(std::uint64_t length, std::uint64_t available_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;
  for (std::uint64_t ranks = 2; ranks <= std::min(length, kMost); ++ranks) {
    if (length % ranks == 0 && fft::SlicesFft<T>::memory_bytes(length, ranks) <= available_bytes) {
      return fmt::format("--engine slices by {} ranks with as much each", ranks);
    }
  }
  return "more memory";
}

/// What a user could do to halve the memory.
template <typename T>
[[nodiscard]] constexpr const char* precision_hint() {
  return sizeof(T) == sizeof(double) ? ", or --precision float" : "";
}

}  // namespace papfft::app
