// SPDX-License-Identifier: MIT
#include "fft/engines/real_pairs_inverse_fft.hpp"

#include <stdexcept>

#include "fft/kernel/twiddle.hpp"
#include "fft/split/dif.hpp"

namespace papfft::fft {
namespace {

SlicesPlan plan_of_pairs(SlicesPlan plan, int ranks) {
  if (!can_split_real(plan.length, static_cast<std::size_t>(ranks)))
    throw std::invalid_argument("RealPairsInverseFft: twice the number of ranks must divide the length");
  if (plan.direction != Direction::inverse)
    throw std::invalid_argument("RealPairsInverseFft: inverse transforms alone");
  plan.length /= 2;
  return plan;
}

/// Of the bins X[k + N/2 ...] of a piece, and of roots for it.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;

}  // namespace

template <typename T>
RealPairsInverseFft<T>::RealPairsInverseFft(comm::Collectives& comm, const SlicesPlan& plan)
    : length_(plan.length), fft_(comm, plan_of_pairs(plan, comm.size())) {}

template <typename T>
std::uint64_t RealPairsInverseFft<T>::memory_bytes(std::uint64_t length, std::uint64_t ranks) {
  return SlicesFft<T>::memory_bytes(length / 2, ranks) + kPieceBytes;
}

template <typename T>
void RealPairsInverseFft<T>::execute(const Read& read) {
  fft_.execute([&](std::uint64_t first, std::span<Complex> bins) {
    high_.resize(bins.size());
    read(first, bins);
    read(first + length_ / 2, high_);
    fold(first, bins, high_);
  });
}

template <typename T>
void RealPairsInverseFft<T>::fold(std::uint64_t first, std::span<Complex> low,
                                  std::span<const Complex> high) {
  while (roots_.size() < low.size()) roots_.push_back(std::conj(twiddle<double>(roots_.size(), length_)));
  const std::complex<double> a = std::conj(twiddle<double>(first, length_));
  for (std::size_t i = 0; i < low.size(); ++i) {
    const std::complex<double> b = roots_[i];
    const auto root_re = static_cast<T>(a.real() * b.real() - a.imag() * b.imag());
    const auto root_im = static_cast<T>(a.real() * b.imag() + a.imag() * b.real());
    const Complex even = (low[i] + high[i]) / T{2};
    const Complex half = (low[i] - high[i]) / T{2};
    const T odd_re = root_re * half.real() - root_im * half.imag();
    const T odd_im = root_re * half.imag() + root_im * half.real();
    low[i] = {even.real() - odd_im, even.imag() + odd_re};
  }
}

template <typename T>
void RealPairsInverseFft<T>::put_in_order(const Write& write) {
  fft_.put_in_order(
      [&](std::uint64_t first, std::span<const Complex> pairs) { write(2 * first, parts_of(pairs)); });
}

template class RealPairsInverseFft<float>;
template class RealPairsInverseFft<double>;

}  // namespace papfft::fft
