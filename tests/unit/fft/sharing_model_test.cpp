// SPDX-License-Identifier: MIT
#include "fft/engines/sharing_model.hpp"

#include <gtest/gtest.h>

namespace papfft::fft {
namespace {

// Of these lengths none is a power of two: FFTW transforms them whatever the processor.
constexpr std::uint64_t kLong = 3 << 18;
constexpr std::uint64_t kMiddle = 3 << 14;

SharedWork work(std::uint64_t length, comm::LinkModel link = {}) {
  return {.length = length,
          .vectors = 0,
          .real = false,
          .sample_bytes = 4,
          .ranks = 8,
          .threads = 1,
          .root_threads = 1,
          .link = link};
}

TEST(SharingModel, ASlowLinkIsAllThatCountsForAStream) {
  const SharingEstimate e = estimate_sharing(work(kLong));  // 7/8 of 6 MiB at 8 ns a byte
  EXPECT_NEAR(e.stream_s, 7.0 / 8 * static_cast<double>(8 * kLong) * 8e-9, 1e-3);
  EXPECT_LT(e.alone_s, e.stream_s);
}

TEST(SharingModel, AFarmOverASlowLinkIsTheRootAndALittleMore) {
  const SharedWork w = work(kLong);
  const SharingEstimate e = estimate_sharing(w);
  EXPECT_LE(e.farm_s, e.alone_s);
  EXPECT_GT(e.farm_s, 0.9 * e.alone_s);
  EXPECT_EQ(choose_sharing(w, e, true), Sharing::alone);
}

TEST(SharingModel, RealSamplesTakeHalf) {
  SharedWork w = work(kLong);
  const SharingEstimate complex = estimate_sharing(w);
  w.real = true;
  const SharingEstimate real = estimate_sharing(w);
  EXPECT_NEAR(complex.stream_s / real.stream_s, 2, 1e-6);
  EXPECT_NEAR(complex.alone_s / real.alone_s, 2, 1e-6);
}

TEST(SharingModel, WithinAHostAFarmPaysWhereTheTransformCostsMoreThanTheCopies) {
  const SharedWork w = work(kMiddle, memory_link());
  const SharingEstimate e = estimate_sharing(w);
  EXPECT_LT(e.farm_s, e.stream_s);
  EXPECT_LT(e.farm_s, 0.9 * e.alone_s);
  EXPECT_EQ(choose_sharing(w, e, true), Sharing::farm);
  EXPECT_EQ(choose_sharing(w, e, false), Sharing::farm);
}

TEST(SharingModel, ShortTransformsCostLessThanTheirMessages) {
  for (const bool can_split : {false, true}) {
    const SharedWork w = work(48, memory_link());
    const SharingEstimate e = estimate_sharing(w);
    EXPECT_EQ(e.farm_s, e.alone_s);
    EXPECT_EQ(choose_sharing(w, e, can_split), Sharing::alone);
  }
}

TEST(SharingModel, TheRootsThreadsCountForLongVectors) {
  SharedWork w = work(kMiddle, memory_link());
  w.ranks = 2;
  const double one_thread_s = estimate_sharing(w).alone_s;
  w.root_threads = 8;
  EXPECT_NEAR(estimate_sharing(w).alone_s, one_thread_s, 1e-12);  // shorter than threads share
  w.length = kLong;
  EXPECT_EQ(choose_sharing(w, estimate_sharing(w), true), Sharing::alone);
}

TEST(SharingModel, AFarmWantsManyVectorsAndRoomForThem) {
  SharedWork w = work(kMiddle, memory_link());
  w.vectors = 31;
  EXPECT_NE(choose_sharing(w, estimate_sharing(w), false), Sharing::farm);
  w.vectors = 32;
  EXPECT_EQ(choose_sharing(w, estimate_sharing(w), false), Sharing::farm);
  w.length = 3 << 22;  // 96 MiB each, 36 of them
  EXPECT_EQ(choose_sharing(w, estimate_sharing(w), false), Sharing::alone);
}

}  // namespace
}  // namespace papfft::fft
