// SPDX-License-Identifier: MIT
// Transforms of vectors that no rank holds, with ranks as threads: against the definition, and bitwise against ParallelFft.
#include "fft/engines/slices_fft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <complex>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "comm/transport/threads/thread_group.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "tests/support/naive_dft.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::fft {
namespace {

using comm::test::quick;

/// What all ranks together have of a vector's transform.
template <typename T>
struct Spectra {
  std::vector<std::complex<T>> left;     // put together from what each rank has
  std::vector<std::complex<T>> ordered;  // as the ranks were given it in natural order
};

struct SlicesCase {
  int ranks;
  std::size_t length;
  std::size_t chunk_bytes;
};

template <typename T>
Spectra<T> transform(const SlicesCase& c, Direction direction, const std::vector<std::complex<T>>& x,
                     bool from_memory) {
  using Complex = std::complex<T>;
  const auto ranks = static_cast<std::size_t>(c.ranks);
  Spectra<T> spectra{std::vector<Complex>(c.length), std::vector<Complex>(c.length)};
  std::vector<int> written(c.length, 0);
  std::mutex mutex;
  comm::ThreadGroup(c.ranks, 7).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const auto rank = static_cast<std::size_t>(comm.rank());
    SlicesFft<T> fft(comm, {.length = c.length, .direction = direction, .chunk_bytes = c.chunk_bytes});
    std::uint64_t read = 0;
    for (int repetition = 0; repetition < 2; ++repetition) {  // an object serves several vectors
      if (from_memory) {
        const Columns mine = fft.layout().slice(rank);
        std::vector<Complex> slice;
        for (std::size_t j = 0; j < ranks; ++j) {
          const auto row = x.begin() + static_cast<std::ptrdiff_t>(j * c.length / ranks);
          slice.insert(slice.end(), row + static_cast<std::ptrdiff_t>(mine.begin),
                       row + static_cast<std::ptrdiff_t>(mine.end));
        }
        fft.execute(slice.data());
        read += slice.size();
      } else {
        fft.execute([&](std::uint64_t first, std::span<Complex> elements) {
          std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(first), elements.size(), elements.begin());
          read += elements.size();
        });
      }
    }
    EXPECT_EQ(read, 2 * ranks * fft.layout().slice(rank).count()) << "no rank reads more than its slice";
    const std::size_t begin = ranks * fft.layout().slice(rank).begin;
    const std::size_t end = ranks * fft.layout().slice(rank).end;
    fft.put_in_order([&](std::uint64_t first, std::span<const Complex> bins) {
      EXPECT_TRUE(begin <= first && first + bins.size() <= end) << "a rank's part is contiguous";
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < bins.size(); ++i) {
        spectra.ordered[first + i] = bins[i];
        ++written[first + i];
      }
    });
    std::vector<Complex> part(end - begin);
    fft.put_in_order(part.data());
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(
        std::equal(part.begin(), part.end(), spectra.ordered.begin() + static_cast<std::ptrdiff_t>(begin)));
    for (std::size_t q = 0; q < fft.bins().size(); ++q) spectra.left[ranks * q + rank] = fft.bins()[q];
  });
  EXPECT_EQ(written, std::vector<int>(c.length, 1)) << "each bin goes to one rank";
  return spectra;
}

class Slices : public testing::TestWithParam<SlicesCase> {
 protected:
  template <typename T>
  void check(Direction direction) {
    const SlicesCase& c = GetParam();
    const auto x = test::random_samples<std::complex<T>>(c.length, 3);
    const bool inverse = direction == Direction::inverse;
    auto expected =
        std::has_single_bit(c.length) ? test::halving_dft(x, inverse) : test::naive_dft(x, inverse);
    if (direction == Direction::inverse) {
      for (auto& value : expected) value /= static_cast<long double>(c.length);
    }
    for (const bool from_memory : {false, true}) {
      const Spectra<T> spectra = transform(c, direction, x, from_memory);
      EXPECT_LE(test::relative_l2_error(spectra.left, expected), test::error_gate<T>());
      EXPECT_EQ(spectra.left, spectra.ordered);
    }
  }
};

TEST_P(Slices, FloatIsTheTransformByDefinition) {
  check<float>(Direction::forward);
  check<float>(Direction::inverse);
}

TEST_P(Slices, DoubleIsTheTransformByDefinition) {
  check<double>(Direction::forward);
  check<double>(Direction::inverse);
}

TEST_P(Slices, GivesTheBitsOfATransformSharedFromTheRoot) {
  const SlicesCase& c = GetParam();
  using Complex = std::complex<double>;
  const auto x = test::random_samples<Complex>(c.length, 4);
  std::vector<Complex> expected(c.length);
  comm::ThreadGroup(c.ranks, 1).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    ParallelFft<double>(comm, {.length = c.length}).execute(x.data(), expected.data());
  });
  const auto spectra = transform(c, Direction::forward, x, false);
  EXPECT_EQ(std::memcmp(spectra.ordered.data(), expected.data(), c.length * sizeof(Complex)), 0);
}

std::string name_of(const testing::TestParamInfo<SlicesCase>& test) {
  const SlicesCase& c = test.param;
  return "P" + std::to_string(c.ranks) + "_N" + std::to_string(c.length) + "_chunk" +
         std::to_string(c.chunk_bytes);
}

// Chunks of one column, of some, of tiles, and all at once; slices that are unequal or empty.
INSTANTIATE_TEST_SUITE_P(Groups, Slices,
                         testing::Values(SlicesCase{1, 1, 0}, SlicesCase{1, 100, 160}, SlicesCase{1, 1024, 0},
                                         SlicesCase{2, 2, 0}, SlicesCase{2, 6, 1}, SlicesCase{2, 1024, 2048},
                                         SlicesCase{3, 3, 0}, SlicesCase{3, 90, 100}, SlicesCase{3, 1152, 0},
                                         SlicesCase{4, 1024, 4096}, SlicesCase{4, 52, 1},
                                         SlicesCase{5, 25, 0}, SlicesCase{5, 1000, 640}, SlicesCase{5, 35, 1},
                                         SlicesCase{8, 8, 0}, SlicesCase{8, 2048, 4096},
                                         SlicesCase{8, 1080, 1000}, SlicesCase{8, 4096, 0},
                                         SlicesCase{8, 1 << 15, 16384}, SlicesCase{4, 1 << 14, 0},
                                         SlicesCase{2, 1 << 13, 20000}),
                         name_of);

TEST(SliceLayout, CoversABlockOnce) {
  for (const std::size_t ranks : {1U, 2U, 3U, 7U, 8U}) {
    for (const std::size_t block : {1U, 5U, 8U, 63U, 64U}) {
      const SliceLayout layout(ranks * block, ranks);
      std::size_t next = 0;
      for (std::size_t r = 0; r < ranks; ++r) {
        EXPECT_EQ(layout.slice(r).begin, next);
        EXPECT_LE(layout.slice(r).count(), layout.width);
        next = layout.slice(r).end;
      }
      EXPECT_EQ(next, block);
    }
  }
}

TEST(SliceLayout, RefusesWhatCannotBeShared) {
  EXPECT_THROW(SliceLayout(10, 3), std::invalid_argument);
  EXPECT_THROW(SliceLayout(0, 3), std::invalid_argument);
  EXPECT_THROW(SliceLayout(10, 0), std::invalid_argument);
}

TEST(SlicesMemory, IsTwoSharesAndLittleMore) {
  const std::uint64_t share = std::uint64_t{1} << 29;  // of 2^29 complex floats by 8 ranks
  EXPECT_LE(SlicesFft<float>::memory_bytes(std::uint64_t{1} << 29, 8),
            share * 22 / 10 + (std::uint64_t{64} << 20));
  EXPECT_GE(SlicesFft<float>::memory_bytes(std::uint64_t{1} << 29, 8), 2 * share);
}

}  // namespace
}  // namespace papfft::fft
