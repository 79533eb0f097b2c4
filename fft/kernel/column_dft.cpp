// SPDX-License-Identifier: MIT
#include "fft/kernel/column_dft.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "fft/kernel/twiddle.hpp"

namespace papfft::fft {
namespace {

constexpr std::size_t kWidth = ColumnDft<float>::kColumns;

// Explicit vectors: the compilers' own vectorisers give up on the butterflies' arrays of registers.
#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif

template <typename T>
struct Simd {
  typedef T Vector __attribute__((vector_size(kVectorBytes), may_alias));
};

/// Position i of a radix-2^k butterfly holds output bit_reverse(i).
constexpr std::size_t bit_reverse(std::size_t i, std::size_t radix) {
  std::size_t reversed = 0;
  for (std::size_t bit = 1; bit < radix; bit *= 2) reversed = 2 * reversed + ((i & bit) != 0 ? 1 : 0);
  return reversed;
}

/// (re, im) *= w_R^I, for the eighths of the circle that R <= 8 needs.
template <std::size_t R, std::size_t I, typename T, typename Vector>
[[gnu::always_inline]] inline void rotate(Vector& re, Vector& im) {
  constexpr T kRoot = std::numbers::sqrt2_v<T> / 2;
  constexpr std::size_t kEighths = 8 * I / R;
  const Vector a = re;
  const Vector b = im;
  if constexpr (kEighths == 1) {
    re = (a + b) * kRoot;
    im = (b - a) * kRoot;
  } else if constexpr (kEighths == 2) {
    re = b;
    im = -a;
  } else if constexpr (kEighths == 3) {
    re = (b - a) * kRoot;
    im = -(a + b) * kRoot;
  }
}

/// log2(R) radix-2 stages of decimation in frequency on values kept in registers.
template <std::size_t R, typename T, typename Vector>
[[gnu::always_inline]] inline void butterfly(Vector* re, Vector* im) {
  if constexpr (R > 1) {
    constexpr std::size_t kHalf = R / 2;
    const auto step = [&]<std::size_t I>(std::integral_constant<std::size_t, I>)
        __attribute__((always_inline)) {
      const Vector difference_re = re[I] - re[I + kHalf];
      const Vector difference_im = im[I] - im[I + kHalf];
      re[I] += re[I + kHalf];
      im[I] += im[I + kHalf];
      re[I + kHalf] = difference_re;
      im[I + kHalf] = difference_im;
      rotate<R, I, T>(re[I + kHalf], im[I + kHalf]);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      (step(std::integral_constant<std::size_t, I>{}), ...);
    }
    (std::make_index_sequence<kHalf>{});
    butterfly<kHalf, T>(re, im);
    butterfly<kHalf, T>(re + kHalf, im + kHalf);
  }
}

/// One radix-R butterfly on rows first_row + i * stride, i < R, all columns; then row i times twiddle i.
template <std::size_t R, bool kTwiddled, typename T>
void run_power_of_two(T* first_row, std::size_t stride, const T* twiddles) {
  using Vector = typename Simd<T>::Vector;
  constexpr std::size_t kVectors = kWidth * sizeof(T) / kVectorBytes;
  auto* const rows = reinterpret_cast<Vector*>(first_row);
  const std::size_t step = stride * 2 * kVectors;
  for (std::size_t c = 0; c < kVectors; ++c) {
    Vector re[R];
    Vector im[R];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < R; ++i) {
      re[i] = rows[i * step + c];
      im[i] = rows[i * step + kVectors + c];
    }
    butterfly<R, T>(re, im);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < R; ++i) {
      Vector* const row = rows + i * step + c;
      if (kTwiddled && i > 0) {
        const T w_re = twiddles[2 * bit_reverse(i, R)];
        const T w_im = twiddles[2 * bit_reverse(i, R) + 1];
        row[0] = re[i] * w_re - im[i] * w_im;
        row[kVectors] = re[i] * w_im + im[i] * w_re;
      } else {
        row[0] = re[i];
        row[kVectors] = im[i];
      }
    }
  }
}

template <bool kTwiddled, typename T>
void run_power_of_two(std::size_t radix, T* first_row, std::size_t stride, const T* twiddles) {
  if (radix == 8) {
    run_power_of_two<8, kTwiddled>(first_row, stride, twiddles);
  } else if (radix == 4) {
    run_power_of_two<4, kTwiddled>(first_row, stride, twiddles);
  } else {
    run_power_of_two<2, kTwiddled>(first_row, stride, twiddles);
  }
}

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

/// Which of a butterfly's outputs stands at position i.
std::size_t output_at(std::size_t i, std::size_t radix) { return radix % 2 == 0 ? bit_reverse(i, radix) : i; }

}  // namespace

template <typename T>
ColumnDft<T>::ColumnDft(std::size_t rows) : row_of_(rows) {
  if (rows == 0) throw std::invalid_argument("ColumnDft: there must be at least one row");
  std::size_t length = rows;
  for (const std::size_t radix : factor(rows)) {
    const std::size_t stride = length / radix;
    Stage stage{radix, stride, {}, {}};
    for (std::size_t k = 0; k < stride; ++k) {
      for (std::size_t i = 0; i < radix; ++i) {
        const auto w = twiddle<T>(k * i, length);
        stage.twiddles.insert(stage.twiddles.end(), {w.real(), w.imag()});
      }
    }
    if (radix % 2 == 1) {
      scratch_rows_ = std::max(scratch_rows_, radix);
      for (std::size_t i = 1; i <= radix / 2; ++i) {
        for (std::size_t j = 1; j <= radix / 2; ++j) {
          const auto w = twiddle<T>(i * j, radix);
          stage.odd_matrix.insert(stage.odd_matrix.end(), {w.real(), -w.imag()});
        }
      }
    }
    stages_.push_back(std::move(stage));
    length = stride;
  }
  // Row = sum of (position in each stage) * stride; the output's index has the same digits, least significant first.
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t rest = row;
    std::size_t output = 0;
    std::size_t weight = 1;
    for (const Stage& stage : stages_) {
      output += output_at(rest / stage.stride, stage.radix) * weight;
      rest %= stage.stride;
      weight *= stage.radix;
    }
    row_of_[output] = row;
  }
}

template <typename T>
void ColumnDft<T>::run(T* tile) const {
  T* const scratch = tile + rows() * 2 * kColumns;
  for (const Stage& stage : stages_) {
    for (std::size_t group = 0; group < rows(); group += stage.radix * stage.stride) {
      for (std::size_t k = 0; k < stage.stride; ++k) {
        T* const first_row = tile + (group + k) * 2 * kColumns;
        const T* const twiddles = stage.twiddles.data() + 2 * k * stage.radix;
        if (stage.radix % 2 == 1) {
          run_odd(stage, first_row, twiddles, scratch);
        } else if (k == 0) {
          run_power_of_two<false>(stage.radix, first_row, stage.stride, twiddles);
        } else {
          run_power_of_two<true>(stage.radix, first_row, stage.stride, twiddles);
        }
      }
    }
  }
}

// With s_j = x_j + x_(p-j), d_j = x_j - x_(p-j), A = x_0 + sum_j cos(2 pi ij/p) s_j, B = sum_j sin(2 pi ij/p) d_j over
// j = 1..(p-1)/2:   X_i = A - iB,   X_(p-i) = A + iB.
template <typename T>
void ColumnDft<T>::run_odd(const Stage& stage, T* first_row, const T* twiddles, T* scratch) const {
  const std::size_t p = stage.radix;
  const std::size_t half = p / 2;
  const std::size_t step = stage.stride * 2 * kColumns;
  constexpr std::size_t kRow =
      2 * kColumns;  // re and im undergo the same real operations up to the last step
  for (std::size_t j = 1; j <= half; ++j) {
    const T* const x = first_row + j * step;
    const T* const mirror = first_row + (p - j) * step;
    T* const sum = scratch + j * kRow;
    T* const difference = scratch + (p - j) * kRow;
#pragma omp simd
    for (std::size_t c = 0; c < kRow; ++c) {
      sum[c] = x[c] + mirror[c];
      difference[c] = x[c] - mirror[c];
    }
  }
  std::copy_n(first_row, kRow, scratch);
  for (std::size_t j = 1; j <= half; ++j) {
    const T* const sum = scratch + j * kRow;
#pragma omp simd
    for (std::size_t c = 0; c < kRow; ++c) first_row[c] += sum[c];
  }
  for (std::size_t i = 1; i <= half; ++i) {
    std::array<T, kRow> a;
    std::array<T, kRow> b{};
    std::copy_n(scratch, kRow, a.begin());
    for (std::size_t j = 1; j <= half; ++j) {
      const T* const sum = scratch + j * kRow;
      const T* const difference = scratch + (p - j) * kRow;
      const T cosine = stage.odd_matrix[2 * ((i - 1) * half + j - 1)];
      const T sine = stage.odd_matrix[2 * ((i - 1) * half + j - 1) + 1];
#pragma omp simd
      for (std::size_t c = 0; c < kRow; ++c) {
        a[c] += cosine * sum[c];
        b[c] += sine * difference[c];
      }
    }
    T* const low = first_row + i * step;
    T* const high = first_row + (p - i) * step;
    const T low_re = twiddles[2 * i];
    const T low_im = twiddles[2 * i + 1];
    const T high_re = twiddles[2 * (p - i)];
    const T high_im = twiddles[2 * (p - i) + 1];
#pragma omp simd
    for (std::size_t c = 0; c < kColumns; ++c) {
      const T x_re = a[c] + b[kColumns + c];
      const T x_im = a[kColumns + c] - b[c];
      low[c] = x_re * low_re - x_im * low_im;
      low[kColumns + c] = x_re * low_im + x_im * low_re;
      const T y_re = a[c] - b[kColumns + c];
      const T y_im = a[kColumns + c] + b[c];
      high[c] = y_re * high_re - y_im * high_im;
      high[kColumns + c] = y_re * high_im + y_im * high_re;
    }
  }
}

template class ColumnDft<float>;
template class ColumnDft<double>;

}  // namespace papfft::fft
