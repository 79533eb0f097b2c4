// SPDX-License-Identifier: MIT
#include "fft/kernel/column_dft.hpp"

#include <algorithm>
#include <stdexcept>

#include "fft/kernel/twiddle.hpp"

namespace papfft::fft {
namespace {

/// Radices whose product is n: eights first, then the odd primes in rising order.
std::vector<std::size_t> factor(std::size_t n) {
  std::vector<std::size_t> radices;
  for (const std::size_t radix : {std::size_t{8}, std::size_t{4}, std::size_t{2}}) {
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  }
  for (std::size_t p = 3; p * p <= n; p += 2) {
    for (; n % p == 0; n /= p) radices.push_back(p);
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

}  // namespace

template <typename T>
ColumnDft<T>::ColumnDft(std::size_t rows) : row_of_(rows) {
  if (rows == 0) throw std::invalid_argument("ColumnDft: there must be at least one row");
  std::size_t length = rows;
  for (const std::size_t radix : factor(rows)) {
    const std::size_t stride = length / radix;
    stages_.push_back({.radix = radix, .stride = stride, .twiddles = table_.size(), .odd_matrix = 0});
    for (std::size_t k = 0; k < stride; ++k) {
      for (std::size_t i = 0; i < radix; ++i) {
        const auto w = twiddle<T>(k * i, length);
        table_.insert(table_.end(), {w.real(), w.imag()});
      }
    }
    if (radix % 2 == 1) {
      scratch_rows_ = std::max(scratch_rows_, radix);
      stages_.back().odd_matrix = table_.size();
      for (std::size_t i = 1; i <= radix / 2; ++i) {
        for (std::size_t j = 1; j <= radix / 2; ++j) {
          const auto w = twiddle<T>(i * j, radix);
          table_.insert(table_.end(), {w.real(), -w.imag()});
        }
      }
    }
    length = stride;
  }
  // Row = sum of (position in each stage) * stride; the output's index has the same digits, least significant first.
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t rest = row;
    std::size_t output = 0;
    std::size_t weight = 1;
    for (const auto& stage : stages_) {
      output += rest / stage.stride * weight;
      rest %= stage.stride;
      weight *= stage.radix;
    }
    row_of_[output] = row;
  }
}

template class ColumnDft<float>;
template class ColumnDft<double>;

}  // namespace papfft::fft
