// SPDX-License-Identifier: MIT
#include "fft/engines/array_fft.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace papfft::fft {
namespace {

std::size_t product(std::span<const std::size_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace

Stretch stretch_of(std::size_t n, std::size_t rank, std::size_t ranks) {
  const std::size_t least = n / ranks;
  const std::size_t longer = n % ranks;  // the first ranks have one more
  const std::size_t begin = rank * least + std::min(rank, longer);
  return {begin, begin + least + (rank < longer ? 1 : 0)};
}

template <typename T>
std::size_t ArrayFft<T>::State::columns() const {
  return product(std::span(shape).subspan(1));
}

template <typename T>
ArrayFft<T>::ArrayFft(comm::Collectives* comm, std::vector<std::size_t> shape,
                      std::span<const AxisStep> steps)
    : comm_(comm), shape_(std::move(shape)) {
  if (comm_ != nullptr) {
    rank_ = static_cast<std::size_t>(comm_->rank());
    ranks_ = static_cast<std::size_t>(comm_->size());
  }
  for (const AxisStep& step : steps) {
    if (step.axis >= shape_.size()) throw std::invalid_argument("ArrayFft: there is no such axis");
    axes_.push_back(step.axis);
    steps_.emplace_back(step.lines);
  }
}

template <typename T>
std::vector<std::size_t> ArrayFft<T>::shape_after() const {
  std::vector<std::size_t> shape = shape_;
  for (std::size_t i = 0; i < axes_.size(); ++i) shape[axes_[i]] = steps_[i].plan().out();
  return shape;
}

template <typename T>
std::size_t ArrayFft<T>::memory_bytes() const {
  const bool exchanges = ranks_ > 1 && std::ranges::count(axes_, std::size_t{0}) > 0;
  const bool changes = shape_after() != shape_;
  const std::size_t most = std::max(product(shape_), product(shape_after()));
  // What an exchange, or a step that changes the shape, makes exists beside what it is made of.
  const std::size_t copies = exchanges || changes ? 2 : 1;
  return copies * (most / ranks_ + most / shape_.front()) * sizeof(Complex);
}

template <typename T>
Buffer<std::complex<T>> ArrayFft<T>::execute(Buffer<Complex> slab) {
  State state{.shape = shape_, .data = std::move(slab)};
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    axes_[i] == 0 ? to_columns(state) : to_rows(state);
    const Timer timer(times_.compute_s);
    apply(state, axes_[i], steps_[i]);
  }
  to_rows(state);
  return std::move(state.data);
}

template <typename T>
void ArrayFft<T>::apply(State& state, std::size_t axis, AxisFft<T>& fft) {
  const std::size_t have = state.shape[axis];
  std::size_t outer = 1;
  std::size_t inner = product(std::span(state.shape).subspan(axis + 1));
  if (axis == 0) {
    inner = stretch_of(state.columns(), rank_, ranks_).count();
  } else {
    outer = stretch_of(state.shape.front(), rank_, ranks_).count() *
            product(std::span(state.shape).subspan(1, axis - 1));
  }
  const std::size_t out = fft.plan().out();
  if (out == have) {
    fft.execute(state.data.data(), state.data.data(), outer, have, inner);
    return;
  }
  Buffer<Complex> result(outer * out * inner);
  fft.execute(state.data.data(), result.data(), outer, have, inner);
  state.data = std::move(result);
  state.shape[axis] = out;
}

/// Each rank's columns of my rows are packed for it. What comes from the ranks in turn are all rows in order.
template <typename T>
void ArrayFft<T>::to_columns(State& state) {
  if (std::exchange(state.has_columns, true) || ranks_ == 1) return;
  const Timer timer(times_.scatter_s);
  const std::size_t columns = state.columns();
  const std::size_t rows = stretch_of(state.shape.front(), rank_, ranks_).count();
  const std::size_t mine = stretch_of(columns, rank_, ranks_).count();
  std::vector<std::size_t> to;
  std::vector<std::size_t> from;
  Buffer<Complex> packed(rows * columns);
  Complex* next = packed.data();
  for (std::size_t r = 0; r < ranks_; ++r) {
    const Stretch theirs = stretch_of(columns, r, ranks_);
    for (std::size_t row = 0; row < rows; ++row) {
      next = std::copy_n(state.data.data() + row * columns + theirs.begin, theirs.count(), next);
    }
    to.push_back(rows * theirs.count());
    from.push_back(stretch_of(state.shape.front(), r, ranks_).count() * mine);
  }
  state.data = {};  // before there is room for what comes
  state.data = Buffer<Complex>(state.shape.front() * mine);
  comm_->alltoallv<Complex>(std::span<const Complex>(packed.data(), packed.size()), to,
                            std::span(state.data.data(), state.data.size()), from);
}

/// A rank's rows of my columns lie one after another. What comes from each rank are its columns of my rows.
template <typename T>
void ArrayFft<T>::to_rows(State& state) {
  if (!std::exchange(state.has_columns, false) || ranks_ == 1) return;
  const Timer timer(times_.scatter_s);
  const std::size_t columns = state.columns();
  const std::size_t rows = stretch_of(state.shape.front(), rank_, ranks_).count();
  const std::size_t mine = stretch_of(columns, rank_, ranks_).count();
  std::vector<std::size_t> to;
  std::vector<std::size_t> from;
  for (std::size_t r = 0; r < ranks_; ++r) {
    to.push_back(stretch_of(state.shape.front(), r, ranks_).count() * mine);
    from.push_back(rows * stretch_of(columns, r, ranks_).count());
  }
  Buffer<Complex> packed(rows * columns);
  comm_->alltoallv<Complex>(std::span<const Complex>(state.data.data(), state.data.size()), to,
                            std::span(packed.data(), packed.size()), from);
  state.data = {};
  state.data = Buffer<Complex>(rows * columns);
  const Complex* next = packed.data();
  for (std::size_t r = 0; r < ranks_; ++r) {
    const Stretch theirs = stretch_of(columns, r, ranks_);
    for (std::size_t row = 0; row < rows; ++row, next += theirs.count()) {
      std::copy_n(next, theirs.count(), state.data.data() + row * columns + theirs.begin);
    }
  }
}

template class ArrayFft<float>;
template class ArrayFft<double>;

}  // namespace papfft::fft
