// SPDX-License-Identifier: MIT
// Transforms of real vectors that no rank holds and their ways back, with ranks as threads: against the definition, and bitwise against
// ParallelFft.
#include "fft/engines/real_slices_fft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <complex>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "comm/transport/threads/thread_group.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/engines/real_pairs_inverse_fft.hpp"
#include "tests/support/naive_dft.hpp"

namespace papfft::fft {
namespace {

comm::Options quick() {
  comm::Options o;
  o.stuck_after = std::chrono::seconds(30);
  return o;
}

struct Case {
  int ranks;
  std::size_t length;
  std::size_t chunk_bytes;
  LocalKernel kernel = LocalKernel::fftw;
};

/// What all ranks together have of a vector's transform, by each way to get it.
template <typename T>
struct Spectra {
  explicit Spectra(const Case& c) : left(c.length / 2 + 1), ordered(left.size()), blocks(c.length / 2) {}

  std::vector<std::complex<T>> left;
  std::vector<std::complex<T>> ordered;
  std::vector<std::complex<T>> blocks;
};

/// Bins of the half spectrum that rank r has: those that are r modulo 2P, and those that are -r.
std::vector<std::size_t> bins_of(std::size_t rank, const Case& c) {
  std::vector<std::size_t> bins;
  const std::size_t rest = 2 * static_cast<std::size_t>(c.ranks);
  for (std::size_t k = 0; k <= c.length / 2; ++k) {
    const bool is_own = rank == 0 ? k % (rest / 2) == 0 : k % rest == rank || k % rest == rest - rank;
    if (is_own) bins.push_back(k);
  }
  return bins;
}

template <typename T>
Spectra<T> transform(const Case& c, const std::vector<T>& x, bool from_memory) {
  using Complex = std::complex<T>;
  const auto ranks = static_cast<std::size_t>(c.ranks);
  Spectra<T> spectra(c);
  std::vector<int> written(c.length / 2 + 1, 0);
  std::mutex mutex;
  comm::ThreadGroup(c.ranks, 7).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const auto rank = static_cast<std::size_t>(comm.rank());
    RealSlicesFft<T> fft(comm, {.length = c.length, .local_kernel = c.kernel, .chunk_bytes = c.chunk_bytes});
    std::uint64_t read = 0;
    for (int repetition = 0; repetition < 2; ++repetition) {  // an object serves several vectors
      if (from_memory) {
        const Columns mine = fft.layout().slice(rank);
        std::vector<T> slice;
        for (std::size_t j = 0; j < 2 * ranks; ++j) {
          const auto row = x.begin() + static_cast<std::ptrdiff_t>(j * c.length / ranks / 2);
          slice.insert(slice.end(), row + static_cast<std::ptrdiff_t>(mine.begin),
                       row + static_cast<std::ptrdiff_t>(mine.end));
        }
        fft.execute(slice.data());
        read += slice.size();
      } else {
        fft.execute([&](std::uint64_t first, std::span<T> samples) {
          std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(first), samples.size(), samples.begin());
          read += samples.size();
        });
      }
    }
    EXPECT_EQ(read, 4 * ranks * fft.layout().slice(rank).count()) << "no rank reads more than its slice";
    const Columns part = fft.part(rank);
    fft.put_in_order([&](std::uint64_t first, std::span<const Complex> bins) {
      const bool is_last = rank == 0 && first == c.length / 2 && bins.size() == 1;
      EXPECT_TRUE(is_last || (part.begin <= first && first + bins.size() <= part.end));
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < bins.size(); ++i) {
        spectra.ordered[first + i] = bins[i];
        ++written[first + i];
      }
    });
    const std::vector<std::size_t> own = bins_of(rank, c);
    EXPECT_EQ(own.size(), fft.bin_count());
    std::vector<Complex> bins(fft.bin_count());
    const std::size_t first =
        bins.size() / 3;  // in two pieces, the second of which may begin at an odd number
    fft.get_bins(0, std::span(bins).first(first));
    fft.get_bins(first, std::span(bins).subspan(first));
    const std::lock_guard lock(mutex);
    for (std::size_t h = 0; h < own.size(); ++h) spectra.left[own[h]] = bins[h];
    std::ranges::copy(fft.block(),
                      spectra.blocks.begin() + static_cast<std::ptrdiff_t>(rank * fft.layout().block_length));
  });
  EXPECT_EQ(written, std::vector<int>(c.length / 2 + 1, 1)) << "each bin goes to one rank";
  return spectra;
}

SlicesPlan back_plan(const Case& c) {
  return {.length = c.length,
          .direction = Direction::inverse,
          .local_kernel = c.kernel,
          .chunk_bytes = c.chunk_bytes};
}

/// What all ranks together make of a half spectrum.
template <typename T>
std::vector<T> transform_back(const Case& c, const std::vector<std::complex<T>>& spectrum) {
  const auto ranks = static_cast<std::size_t>(c.ranks);
  std::vector<T> samples(c.length);
  std::vector<int> read(spectrum.size(), 0);
  std::vector<int> written(c.length, 0);
  std::mutex mutex;
  comm::ThreadGroup(c.ranks, 8).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const auto rank = static_cast<std::size_t>(comm.rank());
    RealSlicesFft<T> fft(comm, back_plan(c));
    const Columns part = fft.part(rank);
    const Columns slice = fft.layout().slice(rank);
    for (int repetition = 0; repetition < 2; ++repetition) {  // an object serves several vectors
      fft.execute([&](std::uint64_t first, std::span<std::complex<T>> bins) {
        const bool is_last = rank == 0 && first == c.length / 2 && bins.size() == 1;
        EXPECT_TRUE(is_last || (part.begin <= first && first + bins.size() <= part.end));
        std::copy_n(spectrum.begin() + static_cast<std::ptrdiff_t>(first), bins.size(), bins.begin());
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < bins.size(); ++i) ++read[first + i];
      });
      fft.put_in_order([&](std::uint64_t first, std::span<const T> piece) {
        const std::size_t n = first % (c.length / ranks / 2);
        EXPECT_TRUE(slice.begin <= n && n + piece.size() <= slice.end);
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < piece.size(); ++i) {
          samples[first + i] = piece[i];
          ++written[first + i];
        }
      });
    }
  });
  EXPECT_EQ(read, std::vector<int>(spectrum.size(), 2)) << "each bin is read by one rank";
  EXPECT_EQ(written, std::vector<int>(c.length, 2)) << "each sample goes to one rank";
  return samples;
}

/// By the definition.
template <typename T>
auto spectrum_of(const std::vector<T>& x) {
  return std::has_single_bit(x.size()) ? test::halving_dft(x) : test::naive_dft(x);
}

/// Samples that all ranks together have, by both ways to get them.
template <typename T>
struct PairsOfSamples {
  explicit PairsOfSamples(std::size_t length) : left(length), ordered(length) {}

  std::vector<T> left;
  std::vector<T> ordered;
};

/// @param spectrum  all N bins
template <typename T>
PairsOfSamples<T> transform_back_in_pairs(const Case& c, const std::vector<std::complex<T>>& spectrum) {
  const auto ranks = static_cast<std::size_t>(c.ranks);
  PairsOfSamples<T> samples(c.length);
  std::vector<int> read(c.length, 0);
  std::vector<int> written(c.length, 0);
  std::mutex mutex;
  comm::ThreadGroup(c.ranks, 9).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const auto rank = static_cast<std::size_t>(comm.rank());
    RealPairsInverseFft<T> fft(comm, back_plan(c));
    const Columns slice = fft.layout().slice(rank);
    for (int repetition = 0; repetition < 2; ++repetition) {  // an object serves several vectors
      fft.execute([&](std::uint64_t first, std::span<std::complex<T>> bins) {
        std::copy_n(spectrum.begin() + static_cast<std::ptrdiff_t>(first), bins.size(), bins.begin());
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < bins.size(); ++i) ++read[first + i];
      });
      fft.put_in_order([&](std::uint64_t first, std::span<const T> piece) {
        EXPECT_TRUE(2 * ranks * slice.begin <= first && first + piece.size() <= 2 * ranks * slice.end);
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < piece.size(); ++i) {
          samples.ordered[first + i] = piece[i];
          ++written[first + i];
        }
      });
    }
    const std::span<const T> own = fft.samples();
    EXPECT_EQ(own.size(), c.length / ranks);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < own.size(); ++i) samples.left[2 * (ranks * (i / 2) + rank) + i % 2] = own[i];
  });
  EXPECT_EQ(read, std::vector<int>(c.length, 2)) << "of each vector, each of all N bins is read by one rank";
  EXPECT_EQ(written, std::vector<int>(c.length, 2)) << "each sample goes to one rank";
  return samples;
}

/// A half spectrum whose ends have imaginary parts, which no real vector's have.
template <typename T>
std::vector<std::complex<T>> half_spectrum_of(const std::vector<T>& x) {
  const auto whole = spectrum_of(x);
  std::vector<std::complex<T>> half(x.size() / 2 + 1);
  for (std::size_t k = 0; k < half.size(); ++k) half[k] = static_cast<std::complex<T>>(whole[k]);
  half.front().imag(7);
  half.back().imag(-5);
  return half;
}

/// The samples come back from the bins of the definition.
template <typename T>
void check_pairs(const Case& c) {
  const auto x = test::random_samples<T>(c.length, 8);
  std::vector<std::complex<T>> spectrum;
  for (const auto& bin : spectrum_of(x)) spectrum.push_back(static_cast<std::complex<T>>(bin));
  spectrum[0].imag(0);  // not rounded
  spectrum[c.length / 2].imag(0);
  const PairsOfSamples<T> samples = transform_back_in_pairs(c, spectrum);
  EXPECT_LE(test::relative_l2_error(samples.left, x), test::error_gate<T>());
  EXPECT_EQ(samples.left, samples.ordered);
}

class RealSlices : public testing::TestWithParam<Case> {
 protected:
  template <typename T>
  void check() {
    const Case& c = GetParam();
    const auto x = test::random_samples<T>(c.length, 3);
    auto expected = spectrum_of(x);
    expected.resize(c.length / 2 + 1);
    for (const bool from_memory : {false, true}) {
      const Spectra<T> spectra = transform(c, x, from_memory);
      EXPECT_LE(test::relative_l2_error(spectra.left, expected), test::error_gate<T>());
      EXPECT_EQ(spectra.left, spectra.ordered);
      EXPECT_EQ(spectra.ordered.front().imag(), 0);
      EXPECT_EQ(spectra.ordered.back().imag(), 0);
    }
  }
};

TEST_P(RealSlices, FloatIsTheTransformByDefinition) { check<float>(); }

TEST_P(RealSlices, DoubleIsTheTransformByDefinition) { check<double>(); }

TEST_P(RealSlices, TheWayBackGivesTheSamples) {
  const Case& c = GetParam();
  const auto in_float = test::random_samples<float>(c.length, 5);
  EXPECT_LE(test::relative_l2_error(transform_back(c, half_spectrum_of(in_float)), in_float),
            test::error_gate<float>());
  const auto in_double = test::random_samples<double>(c.length, 6);
  EXPECT_LE(test::relative_l2_error(transform_back(c, half_spectrum_of(in_double)), in_double),
            test::error_gate<double>());
}

TEST_P(RealSlices, RealPairsGiveTheSamples) {
  check_pairs<float>(GetParam());
  check_pairs<double>(GetParam());
}

TEST_P(RealSlices, TheWayBackGivesTheBitsOfATransformSharedFromTheRoot) {
  const Case& c = GetParam();
  const auto spectrum = test::random_samples<std::complex<double>>(c.length / 2 + 1, 9);
  std::vector<double> expected(c.length);
  comm::ThreadGroup(c.ranks, 1).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const ParallelPlan plan{
        .length = c.length, .direction = Direction::inverse, .real = true, .local_kernel = c.kernel};
    ParallelFft<double>(comm, plan).execute(spectrum.data(), expected.data());
  });
  EXPECT_EQ(transform_back(c, spectrum), expected);
}

TEST_P(RealSlices, GivesTheBitsOfATransformSharedFromTheRoot) {
  const Case& c = GetParam();
  const auto x = test::random_samples<double>(c.length, 4);
  std::vector<std::complex<double>> expected(c.length / 2 + 1);
  comm::ThreadGroup(c.ranks, 1).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    ParallelFft<double>(comm, {.length = c.length, .real = true, .local_kernel = c.kernel})
        .execute(x.data(), expected.data());
  });
  EXPECT_EQ(transform(c, x, false).ordered, expected);
}

std::string name_of(const testing::TestParamInfo<Case>& test) {
  const Case& c = test.param;
  return "P" + std::to_string(c.ranks) + "_N" + std::to_string(c.length) + "_chunk" +
         std::to_string(c.chunk_bytes) + "_" + std::string(to_string(c.kernel));
}

/// Every number of ranks with every length that it can share, up to some: blocks and slices of all kinds, empty ones among them.
std::vector<Case> short_cases() {
  std::vector<Case> cases;
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    for (const std::size_t block : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 12U, 33U, 64U}) {
      const std::size_t length = 2 * static_cast<std::size_t>(ranks) * block;
      cases.push_back({ranks, length, block % 2 == 0 ? 0U : 1U});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Short, RealSlices, testing::ValuesIn(short_cases()), name_of);
// Transforms that go on beside the exchanges, in one chunk or several, and by FFTW.
INSTANTIATE_TEST_SUITE_P(
    Long, RealSlices,
    testing::Values(Case{1, 1 << 13, 0, LocalKernel::own}, Case{2, 1 << 14, 0, LocalKernel::own},
                    Case{2, 1 << 15, 20000, LocalKernel::own}, Case{4, 1 << 15, 16384, LocalKernel::own},
                    Case{8, 1 << 16, 40000, LocalKernel::own}, Case{4, 1 << 14, 4096, LocalKernel::fftw}),
    name_of);

TEST(RealSlicesRefuse, WhatCannotBeShared) {
  comm::ThreadGroup(3, 1).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    EXPECT_THROW(RealSlicesFft<float>(comm, {.length = 9}), std::invalid_argument);
    EXPECT_THROW(RealSlicesFft<float>(comm, {.length = 0}), std::invalid_argument);
    EXPECT_THROW(RealPairsInverseFft<float>(comm, {.length = 9, .direction = Direction::inverse}),
                 std::invalid_argument);
    EXPECT_THROW(RealPairsInverseFft<float>(comm, {.length = 12}), std::invalid_argument);
  });
}

TEST(RealSlicesRefuse, CallsOfTheOtherDirection) {
  comm::ThreadGroup(1, 1).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const auto read_bins = [](std::uint64_t, std::span<std::complex<float>>) {};
    const auto read_samples = [](std::uint64_t, std::span<float>) {};
    const auto write_bins = [](std::uint64_t, std::span<const std::complex<float>>) {};
    const auto write_samples = [](std::uint64_t, std::span<const float>) {};
    RealSlicesFft<float> forward(comm, {.length = 12});
    EXPECT_THROW(forward.execute(read_bins), std::logic_error);
    EXPECT_THROW(forward.put_in_order(write_samples), std::logic_error);
    RealSlicesFft<float> inverse(comm, {.length = 12, .direction = Direction::inverse});
    EXPECT_THROW(inverse.execute(read_samples), std::logic_error);
    EXPECT_THROW(inverse.put_in_order(write_bins), std::logic_error);
    EXPECT_THROW((void)inverse.block(), std::logic_error);
  });
}

TEST(RealSlicesMemory, IsAtMostTwiceTheSharesOfSamplesAndBinsAndAFewChunks) {
  const std::uint64_t length = std::uint64_t{1} << 32U;
  const std::uint64_t most = length / 8 * sizeof(float) * 22 / 10 + (std::uint64_t{64} << 20U);
  EXPECT_LE(RealSlicesFft<float>::memory_bytes(length, 8), most);
  EXPECT_LE(RealPairsInverseFft<float>::memory_bytes(length, 8), most);
}

}  // namespace
}  // namespace papfft::fft
