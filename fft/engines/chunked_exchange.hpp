// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "fft/kernel/types.hpp"
#include "fft/local/stepped_fft.hpp"
#include "fft/split/dif.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// All-to-alls of long blocks that are made and taken in chunks. While some chunks are under way, the rank prepares the next one and
/// takes what has come.
template <typename T>
class ChunkedExchange {
 public:
  using Complex = std::complex<T>;
  using Matrix = typename SteppedFft<T>::Matrix;

  /// How blocks travel: as columns of a matrix.
  struct Route {
    Matrix matrix;
    std::size_t rows = 1;         ///< of the matrix that go to one rank, or come from one
    std::vector<Columns> chunks;  ///< that travel together, the same on all ranks
  };
  /// @param blocks  Shape: P x rows x chunk.count()
  using Step = std::function<void(Columns chunk, Complex* blocks)>;

  /// Not collective. @param comm  must outlive this object. @param chunk_bytes  of a rank's chunk; 0: a part of its share
  ChunkedExchange(comm::Collectives& comm, std::string algorithm, std::size_t chunk_bytes);

  /// Bytes that a rank needs whose share passes two exchanges: the block, work space of kernels that need it and tables; chunks, and a
  /// piece of the result.
  [[nodiscard]] static std::size_t memory_bytes(std::size_t share_bytes, std::size_t ranks);

  /// @param matrix  the rank's share; its rows are a multiple of P
  [[nodiscard]] Route route_of(const Matrix& matrix) const;
  /// Before run(): makes room for these.
  void reserve(std::initializer_list<const Route*> routes);

  /// Collective. Prepares each chunk for all ranks, exchanges it, and takes what has come. @param waiting_s  grows by the time without work
  void run(const Route& route, const Step& prepare, const Step& take, double& waiting_s);

  /// Moves messages on, if there was enough work since the last time.
  void worked_on(std::size_t elements);

  /// Does the work on some columns of a chunk at a time, and moves messages on in between.
  template <typename Work>
  void in_passes(Columns chunk, const Matrix& matrix, const Work& work) {
    const std::size_t grain = matrix.grain;
    const std::size_t step = std::max(grain, kPassBytes / (matrix.rows * sizeof(Complex)) / grain * grain);
    for (std::size_t begin = chunk.begin; begin < chunk.end; begin += step) {
      const Columns some{begin, std::min(begin + step, chunk.end)};
      work(some);
      worked_on(matrix.rows * some.count());
    }
  }

  /// Makes the blocks of a chunk out of this rank's slice of them, some elements at a time; what is beyond the slice is padding.
  /// @param make  called as make(elements, pointers): puts these elements of each block to where the P pointers say
  template <typename Make>
  void fill(const Route& route, Columns slice, Columns chunk, Complex* blocks, const Make& make) {
    const std::size_t width = chunk.count();
    const std::size_t step = std::max<std::size_t>(1, kPassBytes / (ranks_ * sizeof(Complex)));
    std::vector<Complex*> to(ranks_);
    for (std::size_t i = 0; i < route.rows; ++i) {
      const std::size_t row = slice.begin + i * route.matrix.columns;
      const Columns mine{std::min(row + chunk.begin, slice.end), std::min(row + chunk.end, slice.end)};
      const auto place = [&](std::size_t r, std::size_t n) {
        return blocks + (r * route.rows + i) * width + (n - mine.begin);
      };
      for (std::size_t n = mine.begin; n < mine.end; n += step) {
        const Columns some{n, std::min(n + step, mine.end)};
        for (std::size_t r = 0; r < ranks_; ++r) to[r] = place(r, n);
        make(some, to);
        worked_on(ranks_ * some.count());
      }
      for (std::size_t r = 0; r < ranks_ && mine.count() < width; ++r) {
        std::fill_n(place(r, mine.end), width - mine.count(), Complex{});
      }
    }
  }

  /// fill() backwards: takes what has come of this rank's slice of the blocks, some elements at a time.
  /// @param take  called as take(elements, pointers): these elements of each block are where the P pointers say
  template <typename Take>
  void empty(const Route& route, Columns slice, Columns chunk, const Complex* blocks, const Take& take) {
    const std::size_t width = chunk.count();
    const std::size_t step = std::max<std::size_t>(1, kPassBytes / (ranks_ * sizeof(Complex)));
    std::vector<const Complex*> from(ranks_);
    for (std::size_t i = 0; i < route.rows; ++i) {
      const std::size_t row = slice.begin + i * route.matrix.columns;
      const Columns mine{std::min(row + chunk.begin, slice.end), std::min(row + chunk.end, slice.end)};
      for (std::size_t n = mine.begin; n < mine.end; n += step) {
        const Columns some{n, std::min(n + step, mine.end)};
        for (std::size_t r = 0; r < ranks_; ++r) {
          from[r] = blocks + (r * route.rows + i) * width + (n - mine.begin);
        }
        take(some, from);
        worked_on(ranks_ * some.count());
      }
    }
  }

 private:
  static constexpr std::size_t kUnderWay = 3;
  /// Messages are moved on after so many bytes of a pass.
  static constexpr std::size_t kPassBytes = std::size_t{1} << 18U;

  comm::Collectives& comm_;
  std::size_t ranks_;
  std::string algorithm_;
  std::size_t chunk_bytes_;
  std::array<Buffer<Complex>, kUnderWay> outgoing_;  // P blocks of a chunk
  std::array<Buffer<Complex>, kUnderWay> incoming_;
  std::array<comm::Pending, kUnderWay> pending_;
  std::size_t unmoved_bytes_ = 0;  // worked on since messages were moved on
};

}  // namespace papfft::fft
