// SPDX-License-Identifier: MIT
#include "comm/choose/select.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "comm/arrival/decision_board.hpp"

namespace papfft::comm {
namespace {

Options with_link(double alpha_ns, double beta_ns_per_byte) {
  Options options;
  options.link = {.alpha_ns = alpha_ns, .beta_ns_per_byte = beta_ns_per_byte, .gamma_ns_per_byte = 0};
  return options;
}

double time_ns(const Algorithm& a, int ranks, double bytes, const LinkModel& link, int segments) {
  return static_cast<double>(a.round_count(ranks, segments)) *
         (link.alpha_ns + link.beta_ns_per_byte * bytes / segments);
}

// CIR Theorem 2: alpha (q-1) + 2 sqrt((q-1) alpha beta m) + beta m, at n = sqrt((q-1) beta m / alpha) blocks.
TEST(SelectSegments, OfTheCirculantBroadcastIsTheorem2sOptimum) {
  const Algorithm& circulant = find_algorithm(Operation::bcast, "circulant");
  for (const int ranks : {3, 8, 36, 1152}) {
    const double q = std::ceil(std::log2(ranks));
    for (const double bytes : {65536.0, 1e6, 1e7}) {
      Options options = with_link(100, 1);
      options.link.latency_ns = 0;  // the theorem counts none
      const LinkModel& link = options.link;
      const double n = std::sqrt((q - 1) * link.beta_ns_per_byte * bytes / link.alpha_ns);
      const int chosen = select_segments(circulant, ranks, static_cast<std::size_t>(bytes), options);
      EXPECT_LE(std::abs(chosen - n), 1) << ranks << " ranks, " << bytes << " bytes";
      const double least = link.alpha_ns * (q - 1) +
                           2 * std::sqrt((q - 1) * link.alpha_ns * link.beta_ns_per_byte * bytes) +
                           link.beta_ns_per_byte * bytes;
      const double taken = time_ns(circulant, ranks, bytes, link, chosen);
      EXPECT_GE(taken, least * (1 - 1e-12));
      EXPECT_LE(taken, least * 1.02) << ranks << " ranks, " << bytes << " bytes";
    }
  }
}

TEST(SelectSegments, IsTheBestOfAllForEveryAlgorithmThatTellsItsRounds) {
  int checked = 0;
  for (const Algorithm* a : algorithms()) {
    if (a->round_count == nullptr) continue;
    for (const int ranks : {1, 2, 7, 48}) {
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{3000}, std::size_t{1} << 20}) {
        const Options options = with_link(8000, 8);
        const int chosen = select_segments(*a, ranks, bytes, options);
        const int pieces = a->piece_count == nullptr ? 1 : a->piece_count(ranks);
        const std::size_t piece_bytes = bytes / static_cast<std::size_t>(pieces);
        const auto cut = static_cast<double>(piece_bytes);
        const double taken = time_ns(*a, ranks, cut, options.link, chosen);
        // But segments are short enough not to need a handshake.
        const int fewest = std::max(1, static_cast<int>((piece_bytes + 64511) / 64512));
        EXPECT_GE(chosen, fewest);
        for (int s = fewest; s <= 1024; ++s) {
          ASSERT_GE(time_ns(*a, ranks, cut, options.link, s), taken * (1 - 1e-12))
              << a->name << " P=" << ranks << " bytes=" << bytes << " S=" << s << " chosen " << chosen;
        }
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 50);
}

// Those who cut a vector into pieces first need no more segments than keep a piece's below the limit.
TEST(SelectSegments, OfPiecesAreShortEnoughAndNoShorterThanThat) {
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  for (const char* name : {"ring", "late"}) {
    const Algorithm& a = find_algorithm(Operation::allreduce, name);
    EXPECT_EQ(select_segments(a, 1024, kBytes, Options{}), 1) << name;
    for (const int ranks : {2, 3, 8, 48}) {
      const int segments = select_segments(a, ranks, kBytes, Options{});
      const Schedule schedule = make_schedule(
          a, {.operation = Operation::allreduce, .ranks = ranks, .segments = segments, .arrival_ns = {}});
      const std::size_t segment = kBytes / static_cast<std::size_t>(schedule.shape.segments);
      EXPECT_LT(segment, std::size_t{65536}) << name << ", " << ranks << " ranks";
      if (segments > 1) {
        EXPECT_GT(2 * segment, std::size_t{60000}) << name << ", " << ranks << " ranks";
      }
    }
  }
}

TEST(SelectSegments, CountsTheCombiningOfAReduction) {
  Options options = with_link(8000, 8);
  options.link.gamma_ns_per_byte = 24;
  const Algorithm& reduce = find_algorithm(Operation::reduce, "circulant");
  const Algorithm& bcast = find_algorithm(Operation::bcast, "circulant");
  const int without = select_segments(bcast, 36, 1 << 20, options);
  const int with = select_segments(reduce, 36, 1 << 20, options);
  EXPECT_NEAR(with, 2 * without, 2) << "(beta + gamma) / beta = 4";
}

TEST(SelectSegments, AreLongerOnAFastLink) {
  const Algorithm& ring = find_algorithm(Operation::allreduce, "ring");
  const std::size_t bytes = std::size_t{1} << 24U;
  const int at_1_gigabit = select_segments(ring, 4, bytes, with_link(8000, 8));
  const int at_10_gigabit = select_segments(ring, 4, bytes, with_link(8000, 0.8));
  EXPECT_GE(static_cast<std::size_t>(at_1_gigabit) * 4 * 65536, bytes) << "none needs a handshake";
  EXPECT_LT(at_10_gigabit, at_1_gigabit / 2) << "the handshake takes longer than 64 KB";
}

// Simulated at 1 Gb/s, 1024 ranks broadcast 1 MB in 15.5 ms with 97 segments and in 13.1 ms with 40.
TEST(SelectSegments, CountTheLatencyAmongMoreRanksThanWereMeasured) {
  for (const std::string_view name : {"circulant", "circulant@hosts"}) {
    const Algorithm& circulant = find_algorithm(Operation::bcast, name);
    const int per_host = circulant.composition == nullptr ? 1 : 4;
    const auto segments = [&](int hosts, double latency_ns) {
      Options options;
      options.link.latency_ns = latency_ns;
      return select_segments(circulant, GroupSize(per_host * hosts, hosts), 1 << 20, options);
    };
    EXPECT_EQ(segments(1024, 80000), 40) << name;
    EXPECT_EQ(segments(1024, 0), 97) << name;
    EXPECT_EQ(segments(256, 80000), segments(256, 0)) << "measured: " << name;
  }
}

TEST(SelectAlgorithm, AmongMoreRanksThanWereMeasuredHidesSumsAndSendsFewMessages) {
  const auto name = [](Operation operation, const GroupSize& group, std::size_t bytes) {
    return select_algorithm(operation, group, bytes, false).name;
  };
  EXPECT_EQ(name(Operation::reduce_scatter, 1024, 1024), "circulant-halves");
  EXPECT_EQ(name(Operation::reduce_scatter, 1024, 1), "circulant-halves");
  EXPECT_EQ(name(Operation::reduce_scatter, GroupSize(4096, 1024), 63), "circulant-halves@hosts");
  EXPECT_EQ(name(Operation::reduce_scatter, GroupSize(4096, 1024), 64), "circulant-halves@lanes");
  EXPECT_EQ(name(Operation::allgather, GroupSize(4096, 1024), 64), "recursive-doubling@lanes");
  EXPECT_EQ(name(Operation::allgather, GroupSize(4092, 1023), 64), "circulant@hosts");
  EXPECT_EQ(name(Operation::allgather, GroupSize(1024, 256), 64), "circulant@hosts");
  EXPECT_EQ(name(Operation::allgather, 1024, 64), "recursive-doubling");
  EXPECT_EQ(name(Operation::reduce, GroupSize(4096, 1024), 1 << 20), "papbi@lanes");
  EXPECT_EQ(name(Operation::reduce_scatter, 256, 4096), "circulant");
  EXPECT_EQ(name(Operation::allgatherv, GroupSize(4096, 1024), 4096), "circulant-q@hosts");
  EXPECT_EQ(name(Operation::allgatherv, GroupSize(32, 8), 4096), "circulant@hosts");
}

// One partner at a time costs a latency per step. On 8 hosts that was measured to be the faster way all the same.
TEST(SelectAlgorithm, AmongMoreRanksThanWereMeasuredExchangesWithSeveralAtATime) {
  const auto name = [](Operation operation, const GroupSize& group) {
    return select_algorithm(operation, group, 1024, false).name;
  };
  EXPECT_EQ(name(Operation::alltoall, GroupSize(4096, 1024)), "linear@hosts");
  EXPECT_EQ(name(Operation::alltoall, GroupSize(32, 8)), "pairwise@hosts");
  EXPECT_EQ(name(Operation::alltoallv, GroupSize(4096, 1024)), "linear");
  EXPECT_EQ(name(Operation::alltoallv, GroupSize(256, 64)), "pairwise");
}

TEST(SelectAlgorithm, HasNoChainThroughMoreHostsThanTheVectorHasWorkFor) {
  const auto reduced_by = [](int hosts, std::size_t bytes) {
    return without_arrivals(select_algorithm(Operation::reduce, GroupSize(4 * hosts, hosts), bytes, false))
        .name;
  };
  EXPECT_EQ(reduced_by(8, 1 << 20), "chain@hosts");
  EXPECT_EQ(reduced_by(1024, 1 << 20), "circulant@lanes") << "1024 rounds for 1 KB each";
  EXPECT_EQ(reduced_by(1024, 1 << 26), "chain@hosts");
  EXPECT_EQ(select_algorithm(Operation::allreduce, GroupSize(4096, 1024), 1 << 22, false).name,
            "circulant@hosts");
  EXPECT_EQ(select_algorithm(Operation::allreduce, GroupSize(32, 8), 1 << 22, false).name, "ring@lanes");
}

TEST(SelectAlgorithm, PlansByArrivalsAmongLeadersToo) {
  const Algorithm& chosen = select_algorithm(Operation::reduce, GroupSize(32, 8), 1 << 17, false);
  EXPECT_EQ(chosen.name, "papbi@hosts");
  EXPECT_EQ(without_arrivals(chosen).name, "circulant@hosts");
  EXPECT_EQ(without_arrivals(reduce_papbi).name, "circulant");
  EXPECT_EQ(&without_arrivals(reduce_chain), &reduce_chain);
}

TEST(Choose, ComparesSizesByTheTimeTheyTake) {
  const LinkModel quick{.alpha_ns = 4000, .beta_ns_per_byte = 8, .latency_ns = 40000};
  EXPECT_NEAR(static_cast<double>(as_on_usual_link(1'000, GroupSize{8, 8}, quick)), 2'000, 1)
      << "messages cost half as much";
  const LinkModel fast = with_link(8000, 0.5).link;
  EXPECT_EQ(as_on_usual_link(1'600'000, GroupSize{8, 8}, fast), 100'000U);
  EXPECT_EQ(as_on_usual_link(1'600'000, GroupSize{8, 8}, LinkModel{}), 1'600'000U);
  EXPECT_EQ(as_on_usual_link(1'600'000, GroupSize{8, 1}, fast), 1'600'000U) << "no link in memory";
  const GroupSize crowded(32, 8, true);
  const LinkModel late{
      .alpha_ns = 8000, .beta_ns_per_byte = LinkModel{}.beta_ns_per_byte, .latency_ns = 800'000};
  EXPECT_EQ(as_on_usual_link(1'600'000, crowded, late), 1'600'000U) << "it is the ranks that are late";
}

TEST(AnsweredFromBytes, IsWhatIsUnderWayForALatency) {
  Options options = with_link(8000, 8);
  EXPECT_EQ(answered_from_bytes(Operation::bcast, 1U << 20U, options.link), 10000U);
  options.link.beta_ns_per_byte = 0.8;
  EXPECT_EQ(answered_from_bytes(Operation::allreduce, 16U << 20U, options.link), 100000U);
  EXPECT_EQ(answered_from_bytes(Operation::gather, 16U << 20U, options.link), kNoAnswers);
}

TEST(AnsweredFromBytes, IsForLongVectorsOnly) {
  const Options options = with_link(8000, 8);
  EXPECT_EQ(answered_from_bytes(Operation::bcast, 512U << 10U, options.link), kNoAnswers);
  const Options fast = with_link(8000, 0.8);
  EXPECT_EQ(answered_from_bytes(Operation::bcast, 1U << 20U, fast.link), kNoAnswers) << "as short as 100 KB";
}

Window window_of(Operation operation, std::string_view name, int ranks, std::size_t bytes,
                 const Options& options) {
  const Algorithm& a = find_algorithm(operation, name);
  const int segments = select_segments(a, ranks, bytes, options);
  const Shape shape =
      make_rank_schedule(a, {.operation = operation, .ranks = ranks, .segments = segments, .arrival_ns = {}},
                         0)
          .shape;
  return select_window(shape, bytes, options);
}

// What is measured on 8 hosts with 1 Gb/s Ethernet (docs/measurements.md): there two are faster than one.
TEST(SelectWindow, OfPlansInRoundsHidesTheLatencyOfEthernet) {
  for (const int ranks : {3, 8, 16, 256}) {
    for (const std::size_t bytes : {std::size_t{65536}, std::size_t{1} << 20, std::size_t{1} << 23}) {
      for (const auto& [operation, name] :
           {std::pair{Operation::bcast, "circulant"}, std::pair{Operation::reduce, "circulant"},
            std::pair{Operation::reduce, "papbi"}, std::pair{Operation::reduce, "clv"}}) {
        EXPECT_EQ(window_of(operation, name, ranks, bytes, Options{}),
                  (Window{2, 8, is_reduction(operation) ? 2 : 4, 4}))
            << to_string(operation) << ' ' << name << ", " << ranks << " ranks, " << bytes << " bytes";
      }
    }
  }
}

// As on SimGrid's links (docs/measurements.md): sharing costs more than latency and combining, unless these are what counts.
TEST(SelectWindow, IsOneMessageEachWayWhereSharingCostsMore) {
  struct Link {
    double alpha_ns;
    double beta;
  };
  const auto chosen = [](Link link, Operation operation, std::string_view name, std::size_t bytes) {
    Options options = with_link(link.alpha_ns, link.beta);
    options.link.latency_ns = link.alpha_ns;
    options.link.gamma_ns_per_byte = LinkModel{}.gamma_ns_per_byte;
    return window_of(operation, name, 256, bytes, options);
  };
  constexpr Link kGigabit{8000, 8};
  constexpr Link k100Gigabit{2000, 0.08};
  for (const std::size_t bytes : {std::size_t{16384}, std::size_t{1} << 19}) {
    EXPECT_EQ(chosen(kGigabit, Operation::bcast, "circulant", bytes), (Window{1, 1, 4, 4}));
    EXPECT_EQ(chosen(kGigabit, Operation::reduce, "circulant", bytes), (Window{1, 1, 2, 4}));
    EXPECT_EQ(chosen(kGigabit, Operation::reduce, "papbi", bytes), (Window{1, 1, 2, 4}));
    EXPECT_EQ(chosen(k100Gigabit, Operation::reduce, "papbi", bytes), (Window{2, 8, 2, 4})) << "gamma > beta";
  }
  EXPECT_EQ(chosen(k100Gigabit, Operation::bcast, "circulant", 1 << 19), (Window{1, 1, 4, 4}));
  EXPECT_EQ(chosen(k100Gigabit, Operation::bcast, "circulant", 1024), (Window{2, 8, 4, 4})) << "all latency";
}

TEST(SelectWindow, IsByWhatLatencyAndSharingCost) {
  Options options = with_link(8000, 8);
  const Shape shape{.operation = Operation::bcast, .ranks = 256, .segments = 100, .single_port = true};
  const double shared_ns = 3 * 8 * (8 * 1e6 / 100);  // q = 8 segments on the longest path, 107 in a row
  options.link.latency_ns = shared_ns / 107 - 1;
  EXPECT_EQ(select_window(shape, 1'000'000, options), (Window{1, 1, 4, 4}));
  options.link.latency_ns = shared_ns / 107 + 1;
  EXPECT_EQ(select_window(shape, 1'000'000, options), (Window{2, 8, 4, 4}));
  options.link.latency_ns = 0;
  EXPECT_EQ(window_of(Operation::allgather, "circulant", 48, 1 << 20, options), (Window{8, 8, 4, 4}))
      << "it may have two messages in a round";
}

// Who sends says in which order.
TEST(SelectWindow, OfAnExchangeInTurnsTakesWhateverComes) {
  EXPECT_EQ(window_of(Operation::alltoall, "pairwise", 8, 1 << 20, Options{}), (Window{1, 8, 4, 4}));
  EXPECT_EQ(window_of(Operation::alltoall, "linear", 8, 1 << 20, Options{}), (Window{8, 8, 4, 4}));
}

// A root that sends all its blocks at once hands over the first half, which has the longest way, no sooner than the last.
TEST(SelectWindow, OfABinomialScatterIsByWhatTheBlocksTake) {
  EXPECT_EQ(window_of(Operation::scatter, "bnom", 1024, 1024, Options{}), (Window{1, 1, 4, 4}));
  EXPECT_EQ(window_of(Operation::scatter, "bnom", 1024, 1, Options{}), (Window{2, 8, 4, 4}));
}

// The first child has the most ranks behind it.
TEST(SelectWindow, OfABinomialBroadcastServesOneChildAfterAnother) {
  EXPECT_EQ(window_of(Operation::bcast, "bnom", 8, 1 << 20, with_link(8000, 8)), (Window{1, 1, 4, 4}));
}

TEST(SelectWindow, IsNoWiderThanAsked) {
  Options options;
  options.sends_in_flight = 1;
  options.receives_in_flight = 3;
  EXPECT_EQ(window_of(Operation::bcast, "circulant", 8, 1 << 20, options), (Window{1, 3, 4, 4}));
  EXPECT_EQ(window_of(Operation::allgather, "ring", 8, 1 << 20, options), (Window{1, 3, 4, 4}));
}

TEST(SelectAlgorithm, NeverPicksOneThatCannotServeTheCall) {
  for (int o = 0; o < kOperationCount; ++o) {
    const auto operation = static_cast<Operation>(o);
    for (const bool ordered : {false, true}) {
      if (ordered && !is_reduction(operation)) continue;
      for (const int ranks : {1, 2, 8, 100}) {
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}, std::size_t{1} << 24}) {
          const Algorithm& a = select_algorithm(operation, ranks, bytes, ordered);
          EXPECT_EQ(a.operation, operation);
          EXPECT_TRUE(a.can_be_ordered || !ordered) << a.name;
          EXPECT_NE(a.name, "census") << "results would differ between ranks";
        }
      }
    }
  }
}

std::string_view name_of(Operation operation, int ranks, std::size_t bytes, bool ordered = false,
                         bool one_host = false) {
  return select_algorithm(operation, one_host ? GroupSize(ranks, 1) : GroupSize(ranks), bytes, ordered).name;
}

TEST(SelectAlgorithm, ServesScatterAndGatherByBlockAndHosts) {
  constexpr std::size_t kLong = 64513;  // waits for its receiver
  for (const int ranks : {2, 8, 48, 100}) {
    EXPECT_EQ(name_of(Operation::gather, ranks, kLong), "credit");
    EXPECT_EQ(name_of(Operation::scatter, ranks, kLong), "sln");
    for (const Operation operation : {Operation::scatter, Operation::gather}) {
      EXPECT_EQ(name_of(operation, ranks, kLong, false, true), "lin");
      EXPECT_EQ(name_of(operation, ranks, kLong - 1), "lin");
      std::size_t of_tree = 2048;
      if (operation == Operation::gather) of_tree = ranks > 64 ? 8191 : 1023;
      EXPECT_EQ(name_of(operation, ranks, of_tree), ranks > 16 ? "bnom" : "lin");
      EXPECT_EQ(name_of(operation, ranks, of_tree + 1), "lin");
    }
  }
}

// Measured on 48 hosts (docs/measurements.md).
TEST(SelectAlgorithm, ExchangesShortBlocksAmongManyRanksByFewMessages) {
  EXPECT_EQ(name_of(Operation::alltoall, 48, 1024), "bruck");
  EXPECT_EQ(name_of(Operation::alltoall, 8, 1024), "circulant");
  EXPECT_EQ(name_of(Operation::alltoall, 48, 4096), "pairwise");
  const auto prefers = [](const GroupSize& group, std::size_t bytes) {
    return prefers_stock(Operation::alltoall, group, bytes);
  };
  EXPECT_FALSE(prefers(48, 64));
  EXPECT_FALSE(prefers(48, 1024));
  EXPECT_TRUE(prefers(48, 63)) << "nobody has measured these";
  EXPECT_TRUE(prefers(48, 1025));
  EXPECT_TRUE(prefers(48, 0));
  EXPECT_TRUE(prefers(16, 1024));
  EXPECT_TRUE(prefers(GroupSize(48, 12), 1024)) << "several ranks per host";
  EXPECT_TRUE(prefers_stock(Operation::bcast, 48, 1024)) << "another operation";
}

TEST(SelectAlgorithm, ServesReductionsBySizeAndOrder) {
  for (const int ranks : {3, 8, 100}) {
    EXPECT_EQ(name_of(Operation::reduce, ranks, 4096), "bnom");
    EXPECT_EQ(name_of(Operation::reduce, ranks, 4096, true), "bnom");
    EXPECT_EQ(name_of(Operation::reduce, ranks, 1 << 20), "papbi");
    EXPECT_EQ(name_of(Operation::reduce, ranks, 1 << 20, true), "rab");
  }
}

TEST(SelectAlgorithm, KnowsHostsOfSeveralRanks) {
  const GroupSize levels(32, 8);
  for (const OperationTraits& row : kOperations) {
    const Algorithm& chosen = select_algorithm(row.operation, levels, 1 << 23, false);
    const bool may_pass_leaders = !row.is_per_pair() && !row.sizes_are_own;
    EXPECT_EQ(chosen.composition != nullptr, may_pass_leaders && row.operation != Operation::gather)
        << row.name;
    EXPECT_EQ(select_algorithm(row.operation, GroupSize(32), 1 << 23, false).composition, nullptr)
        << row.name;
    EXPECT_EQ(select_algorithm(row.operation, GroupSize(32, 1), 1 << 23, false).composition, nullptr)
        << row.name;
    if (row.reduces) {
      EXPECT_EQ(select_algorithm(row.operation, levels, 1 << 23, true).composition, nullptr)
          << "ordered " << row.name;
    }
    EXPECT_EQ(select_algorithm(row.operation, levels, 1024, false).composition != nullptr, !row.sizes_are_own)
        << "short calls cross each link once, too: " << row.name;
    EXPECT_EQ(prefers_stock(row.operation, levels, 512), !row.sizes_are_own) << row.name;
    EXPECT_FALSE(prefers_stock(row.operation, levels, 1 << 23)) << row.name;
  }
  const std::vector<int> uneven = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4};
  const GroupSize one_lane{Hosts(12, uneven)};
  EXPECT_EQ(select_algorithm(Operation::reduce_scatter, one_lane, 1 << 20, false).name, "ring@byhost");
  EXPECT_EQ(select_algorithm(Operation::reduce_scatter, levels, 1 << 20, false).name, "ring@lanes");
  EXPECT_EQ(select_algorithm(Operation::allgather, one_lane, 1 << 20, false).name, "ring@lanes");
  EXPECT_EQ(select_algorithm(Operation::gather, levels, 8191, false).name, "lin@hosts");
  EXPECT_EQ(select_algorithm(Operation::gather, levels, 8192, false).name, "lin");
}

TEST(SelectSegments, CountHostsWhereLeadersPassThemOn) {
  const Algorithm& flat = find_algorithm(Operation::bcast, "circulant");
  const Algorithm& composed = find_algorithm(Operation::bcast, "circulant@hosts");
  constexpr std::size_t kBytes = 8 << 20;
  EXPECT_EQ(select_segments(composed, GroupSize(256, 8), kBytes, Options{}),
            select_segments(composed, GroupSize(16, 8), kBytes, Options{}));
  EXPECT_EQ(select_segments(composed, GroupSize(8), kBytes, Options{}),
            select_segments(flat, GroupSize(8), kBytes, Options{}));
  EXPECT_GT(select_segments(composed, GroupSize(16, 8), kBytes, Options{}), 100)
      << "as the network's model says";
  const Algorithm& sum = find_algorithm(Operation::reduce, "circulant@hosts");
  EXPECT_EQ(select_segments(sum, GroupSize(16, 8, true), kBytes, with_link(8000, 0.1)),
            select_segments(sum, GroupSize(16, 8, true), kBytes, with_link(8000, 8)))
      << "a handshake costs more than a fast link gains";
  EXPECT_EQ(select_segments(composed, GroupSize(16, 8, true), kBytes, Options{}), 32)
      << "fewer, as ranks share cores";
  const auto of_ring = [](Operation operation, const char* name, std::size_t bytes) {
    return select_segments(find_algorithm(operation, name), GroupSize(32, 8, true), bytes, Options{});
  };
  EXPECT_EQ(of_ring(Operation::allreduce, "ring@hosts", kBytes), 4) << "of a host's piece of 1 MB";
  EXPECT_EQ(of_ring(Operation::allreduce, "ring@lanes", kBytes), 1) << "four lanes have 256 KB each";
  EXPECT_EQ(of_ring(Operation::allgather, "ring@hosts", 1 << 18), 4);
  EXPECT_EQ(of_ring(Operation::reduce_scatter, "ring@lanes", 1 << 18), 1);
  // What a leader passes on are the blocks of all its ranks.
  const Algorithm& gather = find_algorithm(Operation::gather, "credit@hosts");
  EXPECT_EQ(select_segments(gather, GroupSize(32, 8), 1 << 20, Options{}),
            select_segments(*gather.flat, GroupSize(8), 4 << 20, Options{}));
}

TEST(SelectSegments, AreThoseOfALanesShare) {
  const Algorithm& lanes = find_algorithm(Operation::bcast, "circulant@lanes");
  EXPECT_EQ(select_segments(lanes, GroupSize(32, 8), 8 << 20, Options{}),
            select_segments(*lanes.flat, GroupSize(8), 2 << 20, Options{}));
  // As many lanes as the smallest host has ranks: two here.
  const GroupSize uneven(Hosts(10, std::vector{0, 1, 1, 0, 1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(select_segments(lanes, uneven, 8 << 20, Options{}),
            select_segments(*lanes.flat, GroupSize(3), 4 << 20, Options{}));
  const Algorithm& gather = find_algorithm(Operation::gather, "credit@lanes");
  EXPECT_EQ(select_segments(gather, GroupSize(32, 8), 1 << 20, Options{}),
            select_segments(*gather.flat, GroupSize(8), 1 << 20, Options{}))
      << "a lane has one block of each host";
}

TEST(SelectSegments, AreLongInsideAHost) {
  const Algorithm& tree = find_algorithm(Operation::bcast, "bnom");
  EXPECT_EQ(select_segments(tree, GroupSize(4, 1), 1 << 19, Options{}), 1);
  EXPECT_EQ(select_segments(tree, GroupSize(4, 1), 1 << 24, Options{}), 32);
  EXPECT_GT(select_segments(tree, GroupSize(4), 1 << 24, Options{}), 200);
}

TEST(Choose, TakesACompositionBehindTheName) {
  const Choice plain = choose(Operation::bcast, "circulant@hosts/16", 8, 1 << 20, false);
  EXPECT_EQ(plain.algorithm->name, "circulant@hosts");
  EXPECT_EQ(plain.segments, 16);
  EXPECT_FALSE(plain.background);
  const Choice background = choose(Operation::gather, "bsbn@hosts", 8, 1 << 20, false);
  EXPECT_EQ(background.algorithm->name, "sbn@hosts");
  EXPECT_TRUE(background.background);
  EXPECT_THROW((void)choose(Operation::bcast, "circulant@moon", 8, 1 << 20, false), std::invalid_argument);
}

TEST(Choose, TakesANumberOfSegmentsBehindTheName) {
  const Choice circulant = choose(Operation::bcast, "circulant/64", 8, 1 << 20, false);
  EXPECT_EQ(circulant.algorithm->name, "circulant");
  EXPECT_EQ(circulant.segments, 64);
  EXPECT_FALSE(circulant.background);
  const Choice background = choose(Operation::bcast, "bchain/3", 8, 1 << 20, false);
  EXPECT_EQ(background.algorithm->name, "chain");
  EXPECT_EQ(background.segments, 3);
  EXPECT_TRUE(background.background);
  EXPECT_EQ(choose(Operation::bcast, "circulant", 8, 1 << 20, false).segments, 0);
  for (const char* wrong : {"circulant/", "circulant/0", "circulant/-1", "circulant/8x", "circulant/65537",
                            "circulant/8/8", "mpi/2", "nonsense/2", "/2"}) {
    EXPECT_THROW((void)choose(Operation::bcast, wrong, 8, 1 << 20, false), std::invalid_argument) << wrong;
  }
  EXPECT_THROW((void)choose(Operation::gather, "credit/2", 8, 1 << 20, false), std::invalid_argument)
      << "it goes by chunks of a size";
}

TEST(Choose, RunsInTheBackgroundWhatGainsByIt) {
  for (const OperationTraits& row : kOperations) {
    const bool sums_everywhere =
        row.operation == Operation::allreduce || row.operation == Operation::reduce_scatter;
    const bool gains = !sums_everywhere && !row.is_per_pair();
    EXPECT_EQ(choose(row.operation, "auto", 8, 1 << 20, false).background, gains) << row.name;
  }
  const GroupSize crowded(32, 8, true);
  EXPECT_FALSE(choose(Operation::allgather, "auto", crowded, 1 << 20, false).background) << "shared cores";
  EXPECT_TRUE(choose(Operation::bcast, "auto", crowded, 1 << 20, false).background);
  EXPECT_FALSE(choose(Operation::gather, "auto", GroupSize(8, 1), 1 << 20, false).background) << "one host";
  EXPECT_TRUE(choose(Operation::allreduce, "bring", 8, 1 << 20, false).background) << "as asked";
}

TEST(SelectAlgorithm, LeavesShortMessagesToTheMpiLibrary) {
  for (const OperationTraits& row : kOperations) {
    EXPECT_FALSE(prefers_stock(row.operation, 8, 1 << 22)) << row.name;
  }
  // As far as it was measured; a new operation is ours until then.
  for (const Operation operation :
       {Operation::scatter, Operation::gather, Operation::bcast, Operation::reduce, Operation::allgather,
        Operation::allgatherv, Operation::allreduce, Operation::reduce_scatter, Operation::alltoall}) {
    EXPECT_TRUE(prefers_stock(operation, 8, 1023)) << to_string(operation);
    EXPECT_TRUE(prefers_stock(operation, GroupSize(8, 1), 65536)) << "one host: " << to_string(operation);
  }
  EXPECT_FALSE(prefers_stock(Operation::gather, 8, 1024));
}

TEST(SelectAlgorithm, ReducesShortVectorsInLargerGroupsIfNobodyPredictsArrivals) {
  const auto reduced_by = [](const GroupSize& group, std::size_t bytes) {
    return never_by_arrivals(select_algorithm(Operation::reduce, group, bytes, false), group, bytes).name;
  };
  EXPECT_EQ(reduced_by(8, 2000), "bnom");
  EXPECT_EQ(reduced_by(8, 8000), "rxk");
  EXPECT_EQ(reduced_by(8, 60'000), "rxk");
  EXPECT_EQ(reduced_by(8, 80'000), "circulant");
  EXPECT_EQ(reduced_by(2, 8000), "bnom");
  EXPECT_EQ(reduced_by(GroupSize(8, 1), 60'000), "circulant") << "memory is no network";
  EXPECT_EQ(reduced_by(GroupSize(32, 8), 60'000), "rxk@hosts");
  EXPECT_EQ(reduced_by(GroupSize(32, 2), 8000), "bnom@hosts");
  EXPECT_EQ(&never_by_arrivals(reduce_chain, 8, 60'000), &reduce_chain);
}

TEST(SelectAlgorithm, ReducesWithoutArrivalsOnTheCirculantGraph) {
  EXPECT_EQ(without_arrivals(find_algorithm(Operation::reduce, "papbi")).name, "circulant");
  EXPECT_EQ(without_arrivals(find_algorithm(Operation::allgather, "gossip")).name, "ring");
  EXPECT_EQ(without_arrivals(find_algorithm(Operation::allgather, "gossip@hosts")).name, "ring@hosts");
  for (const Algorithm* a : algorithms()) {
    const Algorithm& other = without_arrivals(*a);
    EXPECT_EQ(other.operation, a->operation);
    EXPECT_EQ(other.segmentation, a->segmentation) << "the cuts are chosen before";
    EXPECT_TRUE(&other == a || a->uses_arrival) << a->name;
  }
}

TEST(SelectAlgorithm, PlansReductionsByPredictionsWithinTwoRounds) {
  const auto is_worth = [](Operation operation, std::int64_t error_ns) {
    return is_worth_planning(operation, {.error_ns = error_ns, .together_ns = 1000}, 100);
  };
  EXPECT_TRUE(is_worth(Operation::reduce, 0));
  EXPECT_TRUE(is_worth(Operation::reduce, 200));
  EXPECT_FALSE(is_worth(Operation::reduce, 201));
  EXPECT_TRUE(is_worth(Operation::scatter, 201));
}

TEST(SelectAlgorithm, PlansByPredictionsThatAreClearlyBetterThanNone) {
  for (const Operation operation : {Operation::scatter, Operation::gather, Operation::reduce}) {
    const auto is_worth = [&](const PredictionError& error) {
      return is_worth_planning(operation, error, 1000);
    };
    EXPECT_TRUE(is_worth({.error_ns = 75, .together_ns = 100}));
    EXPECT_FALSE(is_worth({.error_ns = 76, .together_ns = 100}));
    EXPECT_FALSE(is_worth({.error_ns = 1, .together_ns = 0})) << "they come together";
    EXPECT_FALSE(is_worth({})) << "nothing has been compared";
  }
}

TEST(LinkModel, ComesFromTheEnvironment) {
  ASSERT_EQ(setenv("PAPFFT_ALPHA_NS", "1500", 1), 0);
  ASSERT_EQ(setenv("PAPFFT_BETA_NS", "0.08", 1), 0);
  const Options options = Options::from_environment();
  EXPECT_EQ(options.link.alpha_ns, 1500);
  EXPECT_EQ(options.link.beta_ns_per_byte, 0.08);
  EXPECT_EQ(options.link.gamma_ns_per_byte, LinkModel{}.gamma_ns_per_byte);
  for (const char* wrong : {"-1", "fast", "1e30", "nan", ""}) {
    ASSERT_EQ(setenv("PAPFFT_BETA_NS", wrong, 1), 0);
    EXPECT_THROW((void)Options::from_environment(), std::invalid_argument) << wrong;
  }
  unsetenv("PAPFFT_ALPHA_NS");
  unsetenv("PAPFFT_BETA_NS");
  ASSERT_EQ(setenv("PAPFFT_LATENCY_NS", "250.5", 1), 0);
  EXPECT_EQ(Options::from_environment().link.latency_ns, 250.5);
  unsetenv("PAPFFT_LATENCY_NS");
}

}  // namespace
}  // namespace papfft::comm
