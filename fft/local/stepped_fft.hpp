// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fft/kernel/power_of_two.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/local.hpp"
#include "fft/local/real.hpp"
#include "fft/split/dif.hpp"

namespace papfft::fft {

/// A transform whose vector comes in parts and whose result goes in parts, so that it can go on beside the messages that bring and
/// take them. Unscaled; the numbers are LocalFft's, to the last bit.
///
/// The vector stands in a matrix, row by row, and comes by columns. So does the result, in a matrix of its own. Our own kernels take two
/// steps over memory, each by columns: the first is done as columns come, and the second as they go. Other kernels
/// transform the whole vector in between; their matrices have P rows, where P is how many ranks send and take parts.
///
/// Holds the vector once; and once more for other kernels, and for those who use vector().
template <typename T>
class SteppedFft {
 public:
  using Complex = std::complex<T>;

  /// Element j of row i is number i * columns + j of the vector, or padding beyond its end.
  struct Matrix {
    std::size_t rows = 1;  ///< a multiple of P
    std::size_t columns = 1;
    std::size_t grain = 1;  ///< ranges of columns begin and end at multiples of this
  };

  /// @param kernel  nothing: as `rigor` says. @throws std::invalid_argument  as LocalFft
  SteppedFft(std::size_t length, std::size_t parts, Direction direction, Rigor rigor,
             std::optional<LocalKernel> kernel = std::nullopt);

  [[nodiscard]] const Matrix& in() const noexcept { return in_; }
  [[nodiscard]] const Matrix& out() const noexcept { return out_; }
  [[nodiscard]] LocalKernel kernel() const noexcept { return kernel_; }

  /// Takes columns of the vector; all of them, each once, before the result is asked for.
  /// @param part  row 0 of these columns. @param pitch  elements from one row to the next
  void put(Columns columns, const Complex* part, std::size_t pitch);
  /// Gives columns of the result. @param part, pitch  as put()
  void get(Columns columns, Complex* part, std::size_t pitch);
  /// The whole result in its natural order; what is missing of the transform is done now. Shape: length. Valid until the next put().
  [[nodiscard]] std::span<Complex> result();

  /// Whether it goes on as columns come and go; else between put() and get() alone.
  [[nodiscard]] bool goes_in_steps() const noexcept { return own_ != nullptr; }
  /// The vector, to be filled as a whole by other means than put(). Shape: length. Valid until the result is asked for.
  [[nodiscard]] std::span<Complex> vector();

 private:
  /// Calls body(tile, its work space) for the kernel's tiles of these columns, on all threads.
  template <typename Body>
  void for_each_tile(Columns columns, const Body& body);
  /// What vector() was filled with, if it was.
  void take_whole();
  void run_second_step(Columns columns, Complex* part, std::size_t pitch);
  void finish();

  std::size_t length_;
  Direction direction_;
  LocalKernel kernel_;
  std::shared_ptr<const PowerOfTwoFft<T>> own_;  // if it takes two steps
  std::optional<LocalFft<T>> local_;             // else
  Matrix in_;
  Matrix out_;
  bool is_finished_ = false;  // the result stands in vector_
  bool is_whole_ = false;     // what whole_ holds is to be put
  Buffer<Complex> vector_;
  Buffer<Complex> whole_;  // the first step's columns do not go to where they come from
  Buffer<Complex> tile_space_;
};

/// What PackedRealFft is to LocalFft: rank 0's part of a real transform, in one direction, whose samples come or go in parts. The
/// numbers are PackedRealFft's, to the last bit.
///
/// Samples travel as columns of the matrix that a SteppedFft of the same length has, with v[n] + i v[n + M] as element n; but ranges of
/// columns begin and end at multiples of twice the grain, where that is more than 1.
template <typename T>
class SteppedRealFft {
 public:
  using Complex = std::complex<T>;

  /// As SteppedFft; length is M.
  SteppedRealFft(std::size_t length, std::size_t parts, Direction direction, Rigor rigor,
                 std::optional<LocalKernel> kernel = std::nullopt);

  [[nodiscard]] const typename SteppedFft<T>::Matrix& in() const noexcept { return fft_.in(); }
  [[nodiscard]] const typename SteppedFft<T>::Matrix& out() const noexcept { return fft_.out(); }
  [[nodiscard]] LocalKernel kernel() const noexcept { return fft_.kernel(); }

  /// Forward, both as SteppedFft. The result is {V[0], V[M]}, V[1], ..., V[M-1].
  void put(Columns columns, const Complex* part, std::size_t pitch);
  [[nodiscard]] std::span<Complex> result();

  /// Inverse, both as SteppedFft. The vector is {V[0], V[M]}, V[1], ..., V[M-1].
  [[nodiscard]] std::span<Complex> vector();
  void get(Columns columns, Complex* part, std::size_t pitch);

 private:
  void put_pairs(Columns columns, const Complex* part, std::size_t pitch);
  void get_pairs(Columns columns, Complex* part, std::size_t pitch);

  SteppedFft<T> fft_;  // of the pairs v[2k] + i v[2k+1]
  PackedRoots<T> roots_;
  std::vector<Complex> pairs_;  // some columns of them
  bool is_turned_ = false;      // from the pairs' bins to v's, or back
};

}  // namespace papfft::fft
