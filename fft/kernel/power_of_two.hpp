// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fft/kernel/instruction_set.hpp"
#include "fft/kernel/types.hpp"

namespace papfft::fft {

/// This project's own complex transforms of length 2^k, 4 <= k <= 24, unscaled, both directions. See kernel/README.md.
///
/// Short ones run whole, on one thread. Longer ones take two steps over memory, each of tiles that any
/// threads may do in any order, the second step's after all of the first's. The numbers depend on length, direction, T and
/// instruction set alone.
///
/// Holds tables only, so one object serves all threads.
template <typename T>
class PowerOfTwoFft {
 public:
  using Complex = std::complex<T>;
  static constexpr std::size_t kShortest = std::size_t{1} << 4U;
  static constexpr std::size_t kLongest = std::size_t{1} << 24U;

  [[nodiscard]] static bool supports(std::size_t length) noexcept;

  /// The same object for the same arguments as long as anybody keeps it.
  /// @throws std::invalid_argument  not supports(length), or an instruction set that is not there
  [[nodiscard]] static std::shared_ptr<const PowerOfTwoFft> get(std::size_t length, InstructionSet set);
  /// With the processor's best instruction set.
  [[nodiscard]] static std::shared_ptr<const PowerOfTwoFft> get(std::size_t length) {
    return get(length, instruction_sets().back());
  }

  PowerOfTwoFft(const PowerOfTwoFft&) = delete;
  PowerOfTwoFft& operator=(const PowerOfTwoFft&) = delete;

  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  /// Elements of work space, at a cache line's boundary, that `execute` needs.
  [[nodiscard]] std::size_t work_size() const noexcept { return shared_size() + tile_size(); }
  /// out[q] = sum_n in[n] exp(-+ 2 pi i nq/length). On the calling thread.
  /// @param in, out  any alignment; the same, or disjoint
  void execute(Direction direction, const Complex* in, Complex* out, Complex* work) const noexcept;

  // The same in parts, for several threads.

  /// Tiles of step 1 and of step 2; none for short transforms.
  [[nodiscard]] std::size_t tiles(int step) const noexcept;
  /// Work space for all threads together, and for each thread besides.
  [[nodiscard]] std::size_t shared_size() const noexcept;
  [[nodiscard]] std::size_t tile_size() const noexcept;
  /// in == out is allowed.
  void run_tiles(int step, std::size_t begin, std::size_t end, Direction direction, const Complex* in,
                 Complex* out, Complex* shared, Complex* tile) const noexcept;

  // The same for a vector that comes and goes in parts. It is a matrix of rows(1) rows, of which step 1 reads columns, and its
  // result is one of rows(2) rows, of which step 2 writes columns. A tile is tile_columns() of them.

  [[nodiscard]] std::size_t rows(int step) const noexcept {
    return step == 1 ? four_step_.first.rows : four_step_.second.rows;
  }
  [[nodiscard]] std::size_t tile_columns() const noexcept { return four_step_.columns; }
  /// @param in  row 0 of the tile's columns. @param pitch  elements from one row to the next
  /// @param between  length() elements, which each tile fills in part
  void first_step(std::size_t tile, Direction direction, const Complex* in, std::size_t pitch,
                  Complex* between, Complex* tile_space) const noexcept;
  /// After all first steps. @param out  row 0 of the tile's columns; perhaps those of `between`, with pitch rows(1)
  void second_step(std::size_t tile, Direction direction, const Complex* between, Complex* out,
                   std::size_t pitch, Complex* tile_space) const noexcept;

 private:
  PowerOfTwoFft(std::size_t length, InstructionSet set);
  void plan_passes();
  void plan_four_step();
  [[nodiscard]] kernel::Columns<T> plan_columns(std::size_t rows);

  std::size_t length_;
  const kernel::Kernels<T>& kernels_;
  bool whole_;
  std::size_t pitch_ = 0;  // of what is between the two steps, in work space
  kernel::Passes<T> passes_{};
  kernel::FourStep<T> four_step_{};
  std::vector<Buffer<T>> tables_;
  std::vector<std::vector<std::uint32_t>> orders_;
};

/// Real transforms of length 2^k, unscaled: complex ones of half the length, and one more pass over memory.
template <typename T>
class PowerOfTwoRealFft {
 public:
  using Complex = std::complex<T>;
  static constexpr std::size_t kShortest = std::size_t{1} << 7U;

  [[nodiscard]] static bool supports(std::size_t length) noexcept;

  /// @throws std::invalid_argument  not supports(length), or an instruction set that is not there
  explicit PowerOfTwoRealFft(std::size_t length, InstructionSet set = instruction_sets().back());

  [[nodiscard]] std::size_t length() const noexcept { return 2 * half_->length(); }
  [[nodiscard]] std::size_t work_size() const noexcept { return half_->length() + half_->work_size(); }
  /// n samples -> n/2+1 bins. Any alignment; disjoint.
  void forward(const T* in, Complex* out, Complex* work) const noexcept;
  /// n/2+1 bins -> n samples, n times as large. The imaginary parts of X[0] and X[n/2] are ignored.
  void inverse(const Complex* in, T* out, Complex* work) const noexcept;

 private:
  std::shared_ptr<const PowerOfTwoFft<T>> half_;
  const kernel::Kernels<T>& kernels_;
  Buffer<Complex> roots_;  // w_n^q, q <= n/4
};

}  // namespace papfft::fft
