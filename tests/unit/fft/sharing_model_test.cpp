// SPDX-License-Identifier: MIT
#include "fft/sharing_model.hpp"

#include <gtest/gtest.h>

namespace papfft::fft {
namespace {

SharedWork work(std::uint64_t length, comm::LinkModel link = {}) {
  return {.length = length, .vectors = 0, .real = false, .sample_bytes = 4, .ranks = 8, .link = link};
}

TEST(SharingModel, ASlowLinkIsAllThatCounts) {
  const SharingEstimate e = estimate_sharing(work(1 << 20));  // 7/8 of 8 MiB at 8 ns a byte
  EXPECT_NEAR(e.stream_s, 7.0 / 8 * 8388608 * 8e-9, 1e-3);
  EXPECT_GT(e.farm_s, e.stream_s);
  EXPECT_LT(e.alone_s, e.stream_s);
  EXPECT_FALSE(farm_is_better(work(1 << 20), e));
}

TEST(SharingModel, RealSamplesTakeHalf) {
  SharedWork w = work(1 << 20);
  const SharingEstimate complex = estimate_sharing(w);
  w.real = true;
  const SharingEstimate real = estimate_sharing(w);
  EXPECT_NEAR(complex.stream_s / real.stream_s, 2, 1e-6);
  EXPECT_NEAR(complex.alone_s / real.alone_s, 2, 1e-6);
}

TEST(SharingModel, WithinAHostTheRootsPassesCountAndTheFarmHasFewer) {
  const SharedWork w = work(1 << 16, memory_link());
  const SharingEstimate e = estimate_sharing(w);
  EXPECT_LT(e.farm_s, e.stream_s);
  EXPECT_TRUE(farm_is_better(w, e));
}

TEST(SharingModel, AFarmWantsManyVectorsAndRoomForThem) {
  SharedWork w = work(1 << 16, memory_link());
  w.vectors = 31;
  EXPECT_FALSE(farm_is_better(w, estimate_sharing(w)));
  w.vectors = 32;
  EXPECT_TRUE(farm_is_better(w, estimate_sharing(w)));
  w.length = 1 << 23;  // 64 MiB each, 36 of them
  EXPECT_FALSE(farm_is_better(w, estimate_sharing(w)));
}

}  // namespace
}  // namespace papfft::fft
