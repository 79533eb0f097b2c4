// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "fft/engines/timer.hpp"
#include "fft/kernel/types.hpp"
#include "fft/local/axis_fft.hpp"
#include "papfft/collectives.hpp"

namespace papfft::fft {

/// Indices [begin, end) of an axis.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t count() const { return end - begin; }
};

/// Rank r's of n indices that P ranks share: as many for each, but for one; any P will do.
[[nodiscard]] Stretch stretch_of(std::size_t n, std::size_t rank, std::size_t ranks);

struct AxisStep {
  std::size_t axis = 0;
  LinePlan lines;
};

/// Transforms of an array along some of its axes, which the ranks share as slabs: rank r has the rows stretch_of(shape[0], r, P), of
/// the array before and after. Lines along other axes than the first lie within a slab. For those along the first axis, one
/// all-to-all gives each rank all rows of some columns, and another one gives the rows back. All elements are complex.
template <typename T>
class ArrayFft {
 public:
  using Complex = std::complex<T>;

  /// @param comm   must outlive this object; nullptr: this process is alone
  /// @param shape  of the whole array, as it comes. @param steps  in the order in which they are done, each of another axis
  /// @throws std::invalid_argument  there is no such axis; as AxisFft
  ArrayFft(comm::Collectives* comm, std::vector<std::size_t> shape, std::span<const AxisStep> steps);

  /// Of the whole array, after all steps.
  [[nodiscard]] std::vector<std::size_t> shape_after() const;
  /// This rank's rows, before and after.
  [[nodiscard]] Stretch rows() const { return stretch_of(shape_.front(), rank_, ranks_); }
  [[nodiscard]] Stretch rows_after() const { return stretch_of(shape_after().front(), rank_, ranks_); }
  /// What a rank needs at most, about.
  [[nodiscard]] std::size_t memory_bytes() const;

  /// Collective. @param slab  rows() of the array. @return rows_after() of the result
  [[nodiscard]] Buffer<Complex> execute(Buffer<Complex> slab);

  /// Where this rank's time went: compute_s, and scatter_s for the all-to-alls.
  [[nodiscard]] const PhaseTimes& times() const { return times_; }

 private:
  /// The ranks' shares, while it is worked on.
  struct State {
    std::vector<std::size_t> shape;
    bool has_columns = false;  ///< else rows
    Buffer<Complex> data;
    [[nodiscard]] std::size_t columns() const;  ///< of the whole array
  };
  void apply(State& state, std::size_t axis, AxisFft<T>& fft);
  void to_columns(State& state);
  void to_rows(State& state);

  comm::Collectives* comm_;
  std::size_t rank_ = 0;
  std::size_t ranks_ = 1;
  std::vector<std::size_t> shape_;
  std::vector<std::size_t> axes_;
  std::vector<AxisFft<T>> steps_;  // of these axes
  PhaseTimes times_;
};

}  // namespace papfft::fft
