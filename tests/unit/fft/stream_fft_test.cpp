// SPDX-License-Identifier: MIT
// The streaming engine with ranks as threads, against one vector at a time.
#include "fft/engines/stream_fft.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

#include "comm/transport/threads/thread_group.hpp"
#include "fft/engines/farm_fft.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/engines/turns.hpp"
#include "papfft/session.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/thread_collectives.hpp"

namespace papfft::fft {
namespace {

using comm::test::quick;

template <typename Sample>
std::vector<Sample> noise(std::size_t length, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Sample> v(length);
  for (Sample& x : v) {
    const auto value = [&] { return static_cast<double>(random()) / 4294967296.0 - 0.5; };
    if constexpr (std::is_floating_point_v<Sample>) {
      x = static_cast<Sample>(value());
    } else {
      x = {static_cast<typename Sample::value_type>(value()),
           static_cast<typename Sample::value_type>(value())};
    }
  }
  return v;
}

template <typename Sample>
bool same_bits(const std::vector<Sample>& a, const Sample* b) {
  return std::memcmp(a.data(), b, a.size() * sizeof(Sample)) == 0;
}

class Delayed final : public ParallelObserver {
 public:
  Delayed(int rank, std::uint32_t seed) : random_(seed + static_cast<std::uint32_t>(rank)) {}
  void compute_begins() override {
    ++begun;
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 3000));
  }
  void compute_reaches(double fraction) override { largest = std::max(largest.load(), fraction); }
  void compute_ends() override { ++ended; }
  void gather_ends() override {}
  int begun = 0;
  int ended = 0;
  std::atomic<double> largest = 0;

 private:
  std::mt19937 random_;
};

struct StreamCase {
  int ranks;
  bool background;
  int depth;
  const char* scatter;
  const char* gather;
  std::size_t message_bytes = StreamFft<float>::kMessageBytes;
};

class Streams : public testing::TestWithParam<StreamCase> {
 protected:
  /// In and Out: what goes in and comes out at the root.
  template <typename T, typename In, typename Out>
  void check(ParallelPlan plan, std::size_t in_length, std::size_t out_length) {
    constexpr int kVectors = 11;
    const StreamCase& c = GetParam();
    plan.scatter = c.scatter;
    plan.gather = c.gather;
    comm::ThreadGroup(c.ranks, static_cast<std::uint32_t>(c.depth)).run([&](comm::Transport& transport) {
      comm::Session session(transport, quick(), {.background = c.background});
      const bool root = session.rank() == 0;
      std::vector<std::vector<In>> in;
      std::vector<std::vector<Out>> expected;
      ParallelFft<T> one(session, plan);
      for (int v = 0; v < kVectors; ++v) {
        in.push_back(noise<In>(in_length, static_cast<std::uint32_t>(v)));
        expected.emplace_back(out_length);
        one.execute(in.back().data(), expected.back().data());
      }
      StreamFft<T> stream(session, plan, c.depth, c.message_bytes);
      const int most = c.depth * static_cast<int>(stream.vectors_per_group());
      Delayed observer(session.rank(), 5);
      stream.observe(&observer);
      for (const int vectors : {kVectors, 0, 1}) {  // an object serves streams one after another
        int given = 0;
        int asked = 0;
        int got = 0;
        const auto source = [&]() -> Offer<In> {
          if (++asked % 3 == 0) return Offer<In>::later();
          if (given == vectors) return Offer<In>::end();
          EXPECT_LT(given - got, most) << "more in flight than there may be";
          return Offer<In>::of(in[static_cast<std::size_t>(given++)].data());
        };
        const auto sink = [&](const Out* result) {
          EXPECT_TRUE(same_bits(expected[static_cast<std::size_t>(got)], result)) << "vector " << got;
          ++got;
        };
        const std::uint64_t done = stream.run(typename StreamFft<T>::template Source<In>(source),
                                              typename StreamFft<T>::template Sink<Out>(sink));
        EXPECT_EQ(done, static_cast<std::uint64_t>(vectors));
        EXPECT_EQ(got, root ? vectors : 0);
      }
      EXPECT_EQ(observer.begun, kVectors + 1);
      EXPECT_EQ(observer.ended, kVectors + 1);
      EXPECT_EQ(observer.largest, 1.0);
      session.close();
    });
  }
};

// Blocks of vectors that travel together begin at aligned places, so that a block of 101 samples is followed by a gap.
TEST_P(Streams, BlocksOfAnyLength) {
  const std::size_t n = static_cast<std::size_t>(GetParam().ranks) * 101;
  check<float, std::complex<float>, std::complex<float>>({.length = n}, n, n);
  check<double, std::complex<double>, std::complex<double>>({.length = n}, n, n);
}

TEST_P(Streams, ComplexBothWaysGivesTheBitsOfOneVectorAtATime) {
  const std::size_t n = static_cast<std::size_t>(GetParam().ranks) * 512;
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    check<float, std::complex<float>, std::complex<float>>({.length = n, .direction = direction}, n, n);
    check<double, std::complex<double>, std::complex<double>>({.length = n, .direction = direction}, n, n);
  }
}

TEST_P(Streams, RealForward) {
  const std::size_t n = static_cast<std::size_t>(GetParam().ranks) * 640;
  check<float, float, std::complex<float>>({.length = n, .real = true}, n, n / 2 + 1);
  check<double, double, std::complex<double>>({.length = n, .real = true}, n, n / 2 + 1);
}

TEST_P(Streams, RealInverse) {
  const std::size_t n = static_cast<std::size_t>(GetParam().ranks) * 640;
  const ParallelPlan plan{.length = n, .direction = Direction::inverse, .real = true};
  check<float, std::complex<float>, float>(plan, n / 2 + 1, n);
  check<double, std::complex<double>, double>(plan, n / 2 + 1, n);
}

INSTANTIATE_TEST_SUITE_P(Groups, Streams,
                         testing::Values(StreamCase{1, false, 2, "auto", "auto"},
                                         StreamCase{2, true, 2, "lin", "credit"},
                                         StreamCase{4, true, 6, "sln", "sls", 1500},
                                         StreamCase{3, false, 3, "bnom", "bnom", 20000}),
                         [](const auto& test) {
                           return "P" + std::to_string(test.param.ranks) + "_depth" +
                                  std::to_string(test.param.depth) +
                                  (test.param.background ? "" : "_without_thread");
                         });

template <typename T, typename In, typename Out>
void check_turns(int ranks, const ParallelPlan& plan, std::size_t in_length, std::size_t out_length) {
  comm::ThreadGroup(ranks, 3).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const bool root = comm.rank() == 0;
    constexpr int kVectors = 5;
    std::vector<std::vector<In>> in;
    std::vector<std::vector<Out>> expected;
    ParallelFft<T> one(comm, plan);
    for (int v = 0; v < kVectors; ++v) {
      in.push_back(noise<In>(in_length, static_cast<std::uint32_t>(v)));
      expected.emplace_back(out_length);
      one.execute(in.back().data(), expected.back().data());
    }
    TurnsFft<T> turns(comm, comm, plan);
    for (const std::size_t vectors : {std::size_t{kVectors}, std::size_t{0}, std::size_t{1}}) {
      std::size_t given = 0;
      std::size_t got = 0;
      int asked = 0;
      const auto source = [&]() -> Offer<In> {
        EXPECT_EQ(given, got) << "more than one vector in flight";
        if (++asked % 3 == 0) return Offer<In>::later();
        if (given == vectors) return Offer<In>::end();
        return Offer<In>::of(in[given++].data());
      };
      const auto sink = [&](const Out* result) { EXPECT_TRUE(same_bits(expected[got++], result)); };
      EXPECT_EQ(turns.run(typename TurnsFft<T>::template Source<In>(source),
                          typename TurnsFft<T>::template Sink<Out>(sink)),
                vectors);
      EXPECT_EQ(got, root ? vectors : 0);
    }
  });
}

/// A root says every quarter of this time that it is there. Under sanitizers, with other tests beside it, it may be late.
constexpr std::chrono::seconds kStuckAfter(papfft::test::kSanitized ? 8 : 2);

TEST(TurnsStream, GivesTheBitsOfOneVectorAtATime) {
  for (const int ranks : {1, 2, 3}) {
    const std::size_t n = static_cast<std::size_t>(ranks) * 96;
    check_turns<double, std::complex<double>, std::complex<double>>(ranks, {.length = n}, n, n);
    check_turns<float, float, std::complex<float>>(ranks, {.length = n, .real = true}, n, n / 2 + 1);
    check_turns<double, std::complex<double>, double>(
        ranks, {.length = n, .direction = Direction::inverse, .real = true}, n / 2 + 1, n);
  }
}

template <typename Stream>
class QuietSources : public testing::Test {};
using Overlapping = testing::Types<StreamFft<float>, FarmFft<float>>;
TYPED_TEST_SUITE(QuietSources, Overlapping);

TYPED_TEST(QuietSources, AreNoStuckRoots) {
  using Complex = std::complex<float>;
  comm::ThreadGroup(3).run([&](comm::Transport& transport) {
    comm::Options options;
    options.stuck_after = kStuckAfter;
    comm::Collectives comm(transport, options);
    constexpr std::size_t kLength = 96;
    TypeParam stream(comm, ParallelPlan{.length = kLength});
    const std::vector<Complex> vector(kLength, 1.0F);
    const auto begin = std::chrono::steady_clock::now();
    int given = 0;
    const auto source = [&]() -> Offer<Complex> {
      if (std::chrono::steady_clock::now() - begin < options.stuck_after * 3 / 2)
        return Offer<Complex>::later();
      return given++ == 0 ? Offer<Complex>::of(vector.data()) : Offer<Complex>::end();
    };
    int got = 0;
    const auto sink = [&](const Complex*) { ++got; };
    stream.run(typename StreamFft<float>::template Source<Complex>(source),
               typename StreamFft<float>::template Sink<Complex>(sink));
    EXPECT_EQ(got, comm.rank() == 0 ? 1 : 0);
  });
}

TEST(TurnsStream, AQuietSourceIsNoStuckRoot) {
  comm::ThreadGroup(3).run([&](comm::Transport& transport) {
    comm::Options options;
    options.stuck_after = kStuckAfter;
    comm::Collectives comm(transport, options);
    Turns turns(comm);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(turns.another([&]() -> std::optional<bool> {
      if (std::chrono::steady_clock::now() - begin < options.stuck_after * 3 / 2) return std::nullopt;
      return true;
    }));
    EXPECT_FALSE(turns.another([] { return std::optional(false); }));
  });
}

/// @param lasting  the vectors stay where they are; else each is overwritten by the next
template <typename T, typename In, typename Out>
void check_farm(int ranks, const ParallelPlan& plan, std::size_t in_length, std::size_t out_length,
                bool lasting) {
  std::atomic<std::uint64_t> transformed{0};
  std::uint64_t least = 0;
  comm::ThreadGroup(ranks, 3).run([&](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    omp_set_num_threads(ranks % 2 + 1);  // several share a task's short vectors; one has them where they are
    FarmFft<T> farm(comm, plan);
    Delayed observer(comm.rank(), 9);
    farm.observe(&observer);
    const int vectors = 3 * static_cast<int>(farm.vectors_per_task()) + 2;  // the last task is not full
    int given = 0;
    int asked = 0;
    int got = 0;
    std::vector<std::vector<In>> in(lasting ? static_cast<std::size_t>(vectors) : 1);
    const auto offer = [&] {
      std::vector<In>& next = in[lasting ? static_cast<std::size_t>(given) : 0];
      next = noise<In>(in_length, static_cast<std::uint32_t>(given++));
      return Offer<In>::of(next.data(), lasting);
    };
    std::vector<std::vector<Out>> results;
    const std::uint64_t done = farm.run(typename StreamFft<T>::template Source<In>([&]() -> Offer<In> {
                                          if (++asked % 17 == 0) return Offer<In>::later();
                                          if (given == vectors) return Offer<In>::end();
                                          return offer();
                                        }),
                                        typename StreamFft<T>::template Sink<Out>([&](const Out* result) {
                                          results.emplace_back(result, result + out_length);
                                        }));
    transformed += farm.own_vectors();
    EXPECT_EQ(observer.begun, observer.ended);
    if (comm.rank() != 0) return;
    least = static_cast<std::uint64_t>(vectors);
    EXPECT_EQ(done, least);
    ASSERT_EQ(results.size(), static_cast<std::size_t>(vectors));
    comm::ThreadGroup(1).run([&](comm::Transport& self) {  // the same numbers by one rank
      comm::Collectives one(self, quick());
      omp_set_num_threads(1);
      FarmFft<T> reference(one, plan);
      given = 0;
      reference.run(typename StreamFft<T>::template Source<In>(
                        [&]() -> Offer<In> { return given == vectors ? Offer<In>::end() : offer(); }),
                    typename StreamFft<T>::template Sink<Out>([&](const Out* result) {
                      EXPECT_TRUE(same_bits(results[static_cast<std::size_t>(got)], result)) << got;
                      ++got;
                    }));
      EXPECT_EQ(reference.own_vectors(), least);
    });
    EXPECT_EQ(got, vectors);
  });
  EXPECT_GE(transformed, least);
}

TEST(FarmStream, ResultsComeInOrderWhoeverComputesThem) {
  for (const int ranks : {2, 3, 5}) {
    const bool lasting = ranks != 3;
    check_farm<float, std::complex<float>, std::complex<float>>(ranks, {.length = 5000}, 5000, 5000, lasting);
    check_farm<double, std::complex<double>, std::complex<double>>(
        ranks, {.length = 20000, .direction = Direction::inverse}, 20000, 20000, lasting);
    check_farm<float, float, std::complex<float>>(ranks, {.length = 4097, .real = true}, 4097, 2049, lasting);
    check_farm<double, std::complex<double>, double>(
        ranks, {.length = 9000, .direction = Direction::inverse, .real = true}, 4501, 9000, lasting);
  }
}

TEST(FarmStream, MessagesMoveWhileALongVectorIsTransformed) {  // in tiles, by more than one thread
  constexpr std::size_t kLength = std::size_t{1} << 16;
  check_farm<double, std::complex<double>, std::complex<double>>(3, {.length = kLength}, kLength, kLength,
                                                                 true);
}

TEST(Stream, ShortVectorsTravelTogether) {
  comm::ThreadGroup(2).run([](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    const auto together = [&](std::size_t length, bool real) {
      return StreamFft<float>(comm, {.length = length, .real = real}, 2, 4096).vectors_per_group();
    };
    EXPECT_EQ(together(256, false), 4U);
    EXPECT_EQ(together(256, true), 8U);
    EXPECT_EQ(together(1024, false), 1U);
    EXPECT_EQ(together(4096, true), 1U);
  });
}

TEST(Stream, RefusesWhatMakesNoSense) {
  comm::ThreadGroup(3).run([](comm::Transport& transport) {
    comm::Collectives comm(transport, quick());
    EXPECT_THROW(StreamFft<float>(comm, {.length = 96}, 1), std::invalid_argument);
    EXPECT_THROW(StreamFft<float>(comm, {.length = 97}), std::invalid_argument);
  });
}

}  // namespace
}  // namespace papfft::fft
