// SPDX-License-Identifier: MIT
#pragma once
#include <complex>
#include <cstdint>

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

}  // namespace papfft::fft
