// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace papfft::fft {

/// exp(-2 pi i k/n), each part rounded once to T: error at most about half a unit in the last place, for any k.
///
/// The angle is first brought into [0, pi/4] in exact integer arithmetic and only then handed to sine and cosine in
/// long double, so w(k, n) has all the symmetries of the circle exactly: w(n/4, n) == -i, w(n-k, n) == conj(w(k, n)).
///
/// @param k  any; reduced modulo n
/// @param n  1 <= n < 2^61
/// @throws std::invalid_argument  n is out of range
template <typename T>
[[nodiscard]] std::complex<T> twiddle(std::uint64_t k, std::uint64_t n);

/// Many roots of one order, faster: products of two tables of about sqrt(n) roots each in long double, so that each part is
/// still rounded once to T.
class RootTable {
 public:
  /// @throws std::invalid_argument  as twiddle
  explicit RootTable(std::size_t n);

  /// exp(-2 pi i k/n), for any k.
  template <typename T>
  [[nodiscard]] std::complex<T> root(std::size_t k) const {
    k %= n_;
    const auto& a = high_[k >> low_bits_];
    const auto& b = low_[k & (low_.size() - 1)];
    return {static_cast<T>(a.real() * b.real() - a.imag() * b.imag()),
            static_cast<T>(a.real() * b.imag() + a.imag() * b.real())};
  }

 private:
  std::size_t n_;
  std::size_t low_bits_;
  std::vector<std::complex<long double>> low_;
  std::vector<std::complex<long double>> high_;
};

}  // namespace papfft::fft
