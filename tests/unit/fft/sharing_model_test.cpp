// SPDX-License-Identifier: MIT
#include "fft/engines/sharing_model.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace papfft::fft {
namespace {

// Of these lengths none is a power of two: FFTW transforms them whatever the processor.
constexpr std::uint64_t kLongShared = 3 << 18;
constexpr std::uint64_t kMiddle = 3 << 14;

using Hosts = std::vector<int>;
const Hosts kEightHosts(8, 1);
const Hosts kOneHost = {8};

SharedWork work(std::uint64_t length, const Hosts& ranks_per_host = kEightHosts) {
  return {.length = length,
          .vectors = 0,
          .real = false,
          .sample_bytes = 4,
          .ranks_per_host = ranks_per_host,
          .threads = 1,
          .root_threads = 1,
          .link = {}};
}

TEST(SharingModel, ASlowLinkIsAllThatCountsForAStream) {
  const SharingEstimate e = estimate_sharing(work(kLongShared));  // 7/8 of 6 MiB at 8 ns a byte
  EXPECT_NEAR(e.stream_s, 7.0 / 8 * static_cast<double>(8 * kLongShared) * 8e-9, 1e-3);
  EXPECT_LT(e.alone_s, e.stream_s);
}

TEST(SharingModel, AFarmOverASlowLinkIsTheRootAndALittleMore) {
  const SharedWork w = work(kLongShared);
  const SharingEstimate e = estimate_sharing(w);
  EXPECT_LE(e.farm_s, e.alone_s);
  EXPECT_GT(e.farm_s, 0.9 * e.alone_s);
  EXPECT_EQ(choose_sharing(w, e, true), Sharing::alone);
}

TEST(SharingModel, RealSamplesTakeHalf) {
  SharedWork w = work(kLongShared);
  const SharingEstimate complex = estimate_sharing(w);
  w.real = true;
  const SharingEstimate real = estimate_sharing(w);
  EXPECT_NEAR(complex.stream_s / real.stream_s, 2, 1e-6);
  EXPECT_NEAR(complex.alone_s / real.alone_s, 2, 1e-6);
}

TEST(SharingModel, DoublesTakeTwice) {
  SharedWork w = work(kLongShared);
  const SharingEstimate floats = estimate_sharing(w);
  w.sample_bytes = 8;
  const SharingEstimate doubles = estimate_sharing(w);
  EXPECT_NEAR(doubles.stream_s / floats.stream_s, 2, 1e-6);
  EXPECT_NEAR(doubles.alone_s / floats.alone_s, 2, 1e-6);
}

TEST(SharingModel, WithinAHostAFarmPaysWhereTheTransformCostsMoreThanTheCopies) {
  const SharedWork w = work(kMiddle, kOneHost);
  const SharingEstimate e = estimate_sharing(w);
  EXPECT_LT(e.farm_s, e.stream_s);
  EXPECT_LT(e.farm_s, 0.9 * e.alone_s);
  EXPECT_EQ(choose_sharing(w, e, true), Sharing::farm);
  EXPECT_EQ(choose_sharing(w, e, false), Sharing::farm);
}

TEST(SharingModel, ShortTransformsCostLessThanTheirMessages) {
  for (const bool can_split : {false, true}) {
    const SharedWork w = work(48, kOneHost);
    const SharingEstimate e = estimate_sharing(w);
    EXPECT_EQ(e.farm_s, e.alone_s);
    EXPECT_EQ(choose_sharing(w, e, can_split), Sharing::alone);
  }
}

TEST(SharingModel, TheRootsThreadsCountForLongVectors) {
  SharedWork w = work(kMiddle, kOneHost);
  w.ranks_per_host = {2};
  const double one_thread_s = estimate_sharing(w).alone_s;
  w.root_threads = 8;
  EXPECT_NEAR(estimate_sharing(w).alone_s, one_thread_s, 1e-12);  // shorter than threads share
  w.length = kLongShared;
  EXPECT_EQ(choose_sharing(w, estimate_sharing(w), true), Sharing::alone);
}

TEST(SharingModel, AFarmWantsManyVectorsAndRoomForThem) {
  SharedWork w = work(kMiddle, kOneHost);
  w.vectors = 31;
  EXPECT_NE(choose_sharing(w, estimate_sharing(w), false), Sharing::farm);
  w.vectors = 32;
  EXPECT_EQ(choose_sharing(w, estimate_sharing(w), false), Sharing::farm);
  w.length = 3 << 22;  // 96 MiB each, 36 of them
  EXPECT_EQ(choose_sharing(w, estimate_sharing(w), false), Sharing::alone);
}

TEST(SharingModel, TheRootsLinkIsOnePerHostWhateverItsRanks) {
  const double wire_s = static_cast<double>(8 * kLongShared) * 8e-9;
  EXPECT_NEAR(estimate_sharing(work(kLongShared, Hosts(8, 4))).stream_s, 7.0 / 8 * wire_s, 1e-3)
      << "28 of 32 ranks";
  EXPECT_NEAR(estimate_sharing(work(kLongShared, {1, 2, 3, 4, 2})).stream_s, 11.0 / 12 * wire_s, 1e-3);
  EXPECT_NEAR(estimate_sharing(work(kLongShared, {4, 2, 3, 1, 2})).stream_s, 8.0 / 12 * wire_s, 1e-3)
      << "the root's host has four";
  EXPECT_LT(estimate_sharing(work(kLongShared, {4})).stream_s, 0.3 * wire_s) << "no link at all";
}

TEST(SharingModel, AFarmUsesTheRootsNeighboursEvenWhereTheLinkIsSlow) {
  const SharingEstimate alone_on_hosts = estimate_sharing(work(kLongShared, kEightHosts));
  const SharingEstimate with_neighbours = estimate_sharing(work(kLongShared, Hosts(8, 4)));
  const SharingEstimate neighbours_only = estimate_sharing(work(kLongShared, {4}));
  EXPECT_GT(alone_on_hosts.farm_s, 2.5 * with_neighbours.farm_s);
  EXPECT_LE(with_neighbours.farm_s, neighbours_only.farm_s);
  EXPECT_GT(with_neighbours.farm_s, 0.8 * neighbours_only.farm_s) << "the link adds little";
}

TEST(SharingModel, WhatIsChosenForEachLayout) {
  const auto chosen = [](const Hosts& hosts) {
    const SharedWork w = work(kLongShared, hosts);
    return choose_sharing(w, estimate_sharing(w), true);
  };
  EXPECT_EQ(chosen(kEightHosts), Sharing::alone) << "1 Gb/s costs more than the transform";
  EXPECT_EQ(chosen({4}), Sharing::farm);
  EXPECT_EQ(chosen(Hosts(8, 4)), Sharing::farm);
  EXPECT_EQ(chosen({4, 3, 2}), Sharing::farm);
  EXPECT_EQ(chosen({1, 3, 3}), Sharing::alone) << "the root has no neighbour";
}

double best_s(const SharedWork& w) {
  const SharingEstimate e = estimate_sharing(w);
  return seconds_of(choose_sharing(w, e, true), e);
}

TEST(SharingModel, ShortVectorsComeTogetherSoThatThreadsShareThem) {
  SharedWork w = work(3 << 10, {4});
  w.root_threads = 4;
  EXPECT_NEAR(estimate_sharing(w).alone_s, estimate_sharing(work(3 << 10)).alone_s / 4, 1e-12);
  EXPECT_EQ(choose_sharing(w, estimate_sharing(w), true), Sharing::alone);
  EXPECT_FALSE(faster_layout(w, best_s(w))) << "one rank per host would do the same";
}

TEST(SharingModel, RanksWithoutThreadsWhereAVectorIsTooShortForThreads) {
  SharedWork w = work(kMiddle, {2});  // travels by itself, too
  w.threads = w.root_threads = 4;
  const auto better = faster_layout(w, best_s(w));
  ASSERT_TRUE(better);
  EXPECT_FALSE(better->one_rank_per_host);
  EXPECT_EQ(better->threads, 1);
  EXPECT_LT(better->vector_s, 0.95 * best_s(w));
  w.ranks_per_host = {8};
  w.threads = w.root_threads = 1;
  EXPECT_FALSE(faster_layout(w, best_s(w))) << "that is how it is";
}

TEST(SharingModel, OneRankPerHostWithThreadsWhereTheRootsThreadsDoMoreThanItsLink) {
  const auto better = faster_layout(work(kLongShared, Hosts(8, 4)), best_s(work(kLongShared, Hosts(8, 4))));
  ASSERT_TRUE(better);
  EXPECT_TRUE(better->one_rank_per_host);
  EXPECT_EQ(better->threads, 4);
  const auto uneven =
      faster_layout(work(kLongShared, {1, 2, 3, 4, 2}), best_s(work(kLongShared, {1, 2, 3, 4, 2})));
  ASSERT_TRUE(uneven);
  EXPECT_EQ(uneven->threads, 2) << "12 cores of 5 hosts";
}

}  // namespace
}  // namespace papfft::fft
