// SPDX-License-Identifier: MIT
// The reductions of GRD and our arrival-aware one: worked examples, closed forms and bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>

#include "comm/bounds/bounds.hpp"
#include "comm/model/closed_forms.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/bi_greedy.hpp"
#include "comm/schedule/family/uni_greedy.hpp"

namespace papfft::comm {
namespace {

using Times = std::vector<std::int64_t>;
using testing::HasSubstr;

const Algorithm& reduce(std::string_view name) { return find_algorithm(Operation::reduce, name); }

std::vector<Transfer> transfers(std::string_view name, const Request& request) {
  std::vector<Transfer> all;
  reduce(name).transfers(
      request, [&](std::span<const Transfer> some) { all.insert(all.end(), some.begin(), some.end()); });
  return all;
}

std::int64_t round_count(const std::vector<Transfer>& all) { return all.empty() ? 0 : all.back().round + 1; }

Request request(int ranks, int segments, Rank root = 0, Times arrivals = {}, std::int64_t round = 1) {
  return {.operation = Operation::reduce,
          .ranks = ranks,
          .root = root,
          .segments = segments,
          .arrival_ns = std::move(arrivals),
          .round_ns = round};
}

/// "2>0:1" for each, a bar between rounds.
std::string text(const std::vector<Transfer>& all) {
  std::string result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Transfer& t = all[i];
    if (i > 0) result += t.round == all[i - 1].round ? " " : " | ";
    result += std::to_string(t.from) + ">" + std::to_string(t.to) + ":" + std::to_string(t.segment);
  }
  return result;
}

// ---- bi-greedy ---------------------------------------------------------------------------------------------

TEST(BiGreedy, DocumentedExample) {
  EXPECT_EQ(text(transfers("bi-greedy", request(4, 2))), "2>0:0 3>1:0 1>2:1 | 1>0:0 3>2:1 | 2>0:1");
}

TEST(BiGreedy, TakesAsFewRoundsAsTheReversedOptimalBroadcast) {
  const auto check = [](int p, int q) {
    const auto all = transfers("bi-greedy", request(p, q, p / 3));
    ASSERT_EQ(round_count(all), static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1))) + q - 1)
        << "p=" << p << " q=" << q;
    ASSERT_EQ(reduce("bi-greedy").round_count(p, q), round_count(all));
    ASSERT_EQ(all.size(), static_cast<std::size_t>((p - 1) * q));
  };
  for (int p = 2; p < 70; ++p) {
    for (int q = 1; q <= 25; ++q) check(p, q);
  }
  std::mt19937 random(20130801);
  for (int i = 0; i < 250; ++i) {
    const int p = 2 + static_cast<int>(random() % 399);
    check(p, 1 + static_cast<int>(random() % 40));
  }
}

/// GRD Algorithm 2 as printed, in steps of time, but for the root that does not send. Slow and obvious.
struct TimedBiGreedy {
  std::int64_t end = 0;
  std::vector<Transfer> transfers;  // round = time of the start

  TimedBiGreedy(int p, int q, int t_comm, int t_comp) {
    const auto n = static_cast<std::size_t>(p);
    std::vector<std::vector<std::int64_t>> done(n, Times(static_cast<std::size_t>(q)));  // M
    Times send_busy(n);
    Times receive_busy(n);
    std::vector<std::pair<std::int64_t, std::int64_t>> combines(n);  // C
    const auto open = [&](std::size_t j) {
      return std::ranges::count_if(done, [j](const Times& row) { return row[j] == 0; });
    };
    for (std::int64_t t = 0;; ++t) {
      std::size_t j = 0;
      while (j < static_cast<std::size_t>(q) && open(j) == 0) ++j;
      if (j == static_cast<std::size_t>(q)) break;
      for (; j < static_cast<std::size_t>(q); ++j) {
        std::vector<std::size_t> senders;
        std::vector<std::size_t> receivers;
        std::vector<std::size_t> either;
        for (std::size_t i = 0; i < n; ++i) {
          const auto [begin, finish] = combines[i];
          const bool is_combining = (begin <= t && t < finish) || (finish > t && t + t_comm > begin);
          if (done[i][j] != 0 || is_combining) continue;
          const bool sends = i != 0 && send_busy[i] <= t;
          const bool receives = receive_busy[i] <= t;
          if (sends && receives) either.push_back(i);
          if (sends && !receives) senders.push_back(i);
          if (receives && !sends) receivers.push_back(i);
        }
        const auto f = static_cast<std::ptrdiff_t>(either.size());
        const auto excess = std::ssize(receivers) - std::ssize(senders);
        const auto m = std::min(f, std::abs(excess));
        const auto x = (f - m) / 2;
        const auto to_send = excess > 0 ? m + x : x;
        const auto to_receive = excess < 0 ? m + x : x;
        senders.insert(senders.end(), either.end() - to_send, either.end());
        receivers.insert(receivers.end(), either.begin(), either.begin() + to_receive);
        for (std::size_t k = 0; k < std::min(senders.size(), receivers.size()); ++k) {
          const std::size_t a = senders[k];
          const std::size_t b = receivers[k];
          done[a][j] = send_busy[a] = t + t_comm;
          receive_busy[b] = t + t_comm + t_comp;
          combines[b] = {t + t_comm, t + t_comm + t_comp};
          transfers.push_back({t, static_cast<Rank>(a), static_cast<Rank>(b), static_cast<int>(j)});
        }
        if (open(j) == 1 && done[0][j] == 0) {
          done[0][j] = std::ranges::max(done, {}, [j](const Times& row) { return row[j]; })[j] + t_comp;
        }
      }
    }
    end = *std::ranges::max_element(done[0]);
  }
};

TEST(BiGreedy, IsAlgorithm2WithoutCombiningTime) {
  for (const int p : {2, 3, 5, 8, 16, 23, 64, 65, 70}) {
    for (const int q : {1, 2, 5, 9}) {
      EXPECT_EQ(transfers("bi-greedy", request(p, q)), TimedBiGreedy(p, q, 1, 0).transfers)
          << "p=" << p << " q=" << q;
    }
  }
}

TEST(BiGreedy, Figure8EndsAt24) {
  EXPECT_EQ(TimedBiGreedy(16, 5, 2, 1).end, 24);
  const Schedule schedule = make_schedule(reduce("bi-greedy"), request(16, 5));
  const Machine machine{.alpha = 2, .gamma = 1, .combining = Combining::exclusive};
  EXPECT_EQ(simulate(schedule, slot_sizes(schedule.shape, Times{1}), Times(16), machine).run_time, 24);
}

// ---- papbi -------------------------------------------------------------------------------------------------

TEST(Papbi, GivenVectors) {
  EXPECT_EQ(round_count(transfers("papbi", request(8, 8, 0, {0, 7, 3, 3, 1, 0, 5, 2}))), 15);
  Times ascending(16);
  std::iota(ascending.begin(), ascending.end(), 0);
  EXPECT_EQ(round_count(transfers("papbi", request(16, 10, 0, ascending))), 25);
  Times saw(33);
  for (std::size_t i = 0; i < saw.size(); ++i) saw[i] = static_cast<std::int64_t>(i % 7);
  EXPECT_EQ(round_count(transfers("papbi", request(33, 20, 0, saw))), 29);
}

TEST(Papbi, IsBiGreedyIfAllComeTogether) {
  for (const int p : {1, 2, 7, 16, 64}) {
    const auto plain = transfers("bi-greedy", request(p, 6, p - 1));
    EXPECT_EQ(transfers("papbi", request(p, 6, p - 1)), plain);
    EXPECT_EQ(transfers("papbi", request(p, 6, p - 1, Times(static_cast<std::size_t>(p), -77), 13)), plain);
  }
}

/// The algorithm as one would describe it: sets instead of masks, every round, every segment.
std::vector<Transfer> papbi_by_sets(int p, int q, Rank root, const Times& ar) {
  const auto before = [root](Rank a, Rank b) { return std::pair(a != root, a) < std::pair(b != root, b); };
  using Set = std::set<Rank, decltype(before)>;
  Set all(before);
  for (Rank r = 0; r < p; ++r) all.insert(r);
  std::vector<Set> own(static_cast<std::size_t>(q), all);
  std::vector<Transfer> result;
  const auto finished = [&] { return std::ranges::all_of(own, [](const Set& s) { return s.size() == 1; }); };
  for (std::int64_t t = 0; !finished(); ++t) {
    Set receive_free(before);
    for (const Rank r : all) {
      if (ar[static_cast<std::size_t>(r)] <= t) receive_free.insert(r);
    }
    const Set here = receive_free;
    Set send_free = here;
    send_free.erase(root);
    for (int j = 0; j < q; ++j) {
      std::vector<Rank> senders;
      std::vector<Rank> receivers;
      std::vector<Rank> either;
      for (const Rank r : own[static_cast<std::size_t>(j)]) {
        if (!here.contains(r)) continue;
        const bool sends = send_free.contains(r);
        const bool receives = receive_free.contains(r);
        if (sends && receives) either.push_back(r);
        if (sends && !receives) senders.push_back(r);
        if (receives && !sends) receivers.push_back(r);
      }
      const auto s = std::ssize(senders);
      const auto r = std::ssize(receivers);
      const auto f = std::ssize(either);
      const auto m = std::min(f, std::abs(s - r));
      const auto x = (f - m) / 2;
      senders.insert(senders.end(), either.end() - (s < r ? m + x : x), either.end());
      receivers.insert(receivers.end(), either.begin(), either.begin() + (s > r ? m + x : x));
      for (std::size_t i = 0; i < std::min(senders.size(), receivers.size()); ++i) {
        result.push_back({t, senders[i], receivers[i], j});
        send_free.erase(senders[i]);
        receive_free.erase(receivers[i]);
        own[static_cast<std::size_t>(j)].erase(senders[i]);
      }
    }
  }
  return result;
}

/// P 2..40, N 1..24, any root, spreads up to 60 rounds, ties; arrivals on the grid of rounds, or anywhere.
Request instance(std::uint32_t seed, bool on_grid) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int p = 2 + below(39);
  const std::int64_t round = 1 + below(1000);
  const int spread = 1 + below(60);
  Times arrivals(static_cast<std::size_t>(p));
  for (auto& a : arrivals) {
    a = on_grid ? below(spread) * round : static_cast<std::int64_t>(below(spread * 1000)) * round / 1000;
  }
  return request(p, 1 + below(24), below(p), arrivals, round);
}

TEST(Papbi, EqualsItsDescription) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Request r = instance(seed, true);
    Times ar;  // the bound is on the grid too, so its phase is none
    for (const auto a : r.arrival_ns) ar.push_back((a - std::ranges::min(r.arrival_ns)) / r.round_ns);
    ASSERT_EQ(transfers("papbi", r), papbi_by_sets(r.ranks, r.segments, r.root, ar)) << "seed " << seed;
  }
}

// More ranks than there are bits in a word, who come one after another so that places among them are taken and given up.
TEST(Papbi, EqualsItsDescriptionInLargeGroupsAndInEveryBitWidth) {
  struct Size {
    int p, q, spread;
  };
  for (const Size& size : {Size{70, 70, 1}, Size{70, 130, 400}, Size{130, 5, 40}, Size{200, 9, 3},
                           Size{200, 20, 4000}, Size{600, 3, 2}, Size{600, 2, 300}}) {
    std::mt19937 random(static_cast<std::uint32_t>(size.p + size.spread));
    Times rounds(static_cast<std::size_t>(size.p));
    for (auto& round : rounds)
      round = static_cast<std::int64_t>(random() % static_cast<unsigned>(size.spread));
    const auto first = *std::ranges::min_element(rounds);
    for (auto& round : rounds) round -= first;
    const Rank root = size.p / 3;
    const auto expected = papbi_by_sets(size.p, size.q, root, rounds);
    for (const BitWidth width : {BitWidth::portable, BitWidth::avx2}) {
      if (!supports(width)) continue;
      std::vector<Transfer> all;
      plan_bi_greedy(
          size.p, size.q, root, rounds,
          [&](std::span<const Transfer> some) { all.insert(all.end(), some.begin(), some.end()); }, width);
      EXPECT_EQ(all, expected) << size.p << " ranks, " << size.q << " segments, within " << size.spread
                               << " rounds";
    }
  }
}

Ticks simulated(const Algorithm& algorithm, const Request& r) {
  const Schedule schedule = make_schedule(algorithm, r);
  // A segment of one byte takes exactly a round.
  const Machine machine{.beta = r.round_ns, .combining = Combining::in_message};
  return simulate(schedule, slot_sizes(schedule.shape, Times{1}), r.arrival_ns, machine).run_time;
}

/// All of them, and 3000 as in the documentation: PAPFFT_TEST_INSTANCES=3000.
std::uint32_t instances() {
  const char* asked = std::getenv("PAPFFT_TEST_INSTANCES");
  return asked != nullptr ? static_cast<std::uint32_t>(std::stoul(asked)) : 400;
}

TEST(Papbi, MeetsTheBoundAndIsNeverLaterThanClairvoyant) {
  double clv_gap = 0;
  for (const bool on_grid : {true, false}) {
    for (std::uint32_t seed = 1; seed <= instances(); ++seed) {
      const Request r = instance(seed, on_grid);
      const std::int64_t bound = bound_reduce_ns(r.arrival_ns, r.segments, r.round_ns);
      const Ticks clv = simulated(reduce("clv"), r);
      EXPECT_EQ(simulated(reduce("papbi"), r), bound) << "seed " << seed << (on_grid ? "" : " off the grid");
      EXPECT_GE(clv, bound) << "seed " << seed << (on_grid ? "" : " off the grid");
      EXPECT_EQ(transfers("papbi", r).size(), static_cast<std::size_t>((r.ranks - 1) * r.segments));
      clv_gap += static_cast<double>(clv - bound) / static_cast<double>(r.round_ns);
    }
  }
  EXPECT_GT(clv_gap / (2 * instances()), 1) << "else these instances show nothing";
}

// What a wrong prediction costs: the plan waits for who is late, while a plan for all at once takes whoever is there. About
// two rounds of error are the most with which predictions are worth planning by (is_worth_planning).
TEST(Papbi, IsWorthItsPredictionsUpToAnErrorOfAboutTwoRounds) {
  constexpr int kRanks = 8;
  constexpr int kSegments = 32;
  constexpr std::int64_t kRound = 1000;
  constexpr std::int64_t kSpread = 40 * kRound;
  constexpr int kInstances = 200;
  const auto gain = [&](double error_rounds) {
    std::mt19937 rng(7);
    std::uniform_int_distribution<std::int64_t> arrival(0, kSpread);
    std::normal_distribution<double> error(0, std::max(1e-9, error_rounds) * static_cast<double>(kRound));
    double aware = 0;
    double blind = 0;
    for (int i = 0; i < kInstances; ++i) {
      Times arrivals(kRanks);
      for (auto& a : arrivals) a = arrival(rng);
      Times predicted = arrivals;
      for (auto& a : predicted) a += std::llround(error(rng));
      const auto time = [&](std::string_view name, const Times& planned_by) {
        const Schedule schedule =
            make_schedule(reduce(name), request(kRanks, kSegments, 0, planned_by, kRound));
        return static_cast<double>(simulate(schedule, slot_sizes(schedule.shape, Times{1}), arrivals,
                                            {.beta = kRound, .combining = Combining::overlapped},
                                            {.window = {2, 8}})
                                       .run_time);
      };
      aware += time("papbi", predicted);
      blind += time("bi-greedy", {});
    }
    return blind / aware;
  };
  EXPECT_GT(gain(0), 1.05);
  EXPECT_GT(gain(2), 1.02);
  EXPECT_LT(gain(8), 0.95);
}

TEST(Papbi, LeavesOutIdleTimeHoweverLong) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  const auto all = transfers("papbi", request(3, 2, 0, {5, -kDay, 365 * kDay}));
  EXPECT_EQ(text(all), "1>0:0 | 1>0:1 | 2>0:0 | 2>0:1");
  EXPECT_EQ(all[2].round, 366 * kDay);
  EXPECT_THROW((void)make_schedule(reduce("papbi"), request(2, 1, 0, {0, std::int64_t{1} << 62})),
               std::invalid_argument);
}

// ---- uni-greedy --------------------------------------------------------------------------------------------

struct UniGreedy {
  std::int64_t end = 0;
  std::vector<Transfer> transfers;
  UniGreedy(int p, const Times& message, const Times& combining, Rank root = 0) {
    end = plan_uni_greedy(p, root, message, combining, [&](std::span<const Transfer> some) {
      transfers.insert(transfers.end(), some.begin(), some.end());
    });
  }
};

/// The time of segments of these sizes.
std::int64_t uni_greedy_time(int p, const Times& sizes, int alpha, int beta, int gamma) {
  Times message;
  Times combining;
  for (const auto s : sizes) {
    message.push_back(alpha + beta * s);
    combining.push_back(gamma * s);
  }
  return UniGreedy(p, message, combining).end;
}

Times equal_segments(std::int64_t m, std::int64_t s) {
  Times sizes(static_cast<std::size_t>(m / s), s);
  if (m % s != 0) sizes.push_back(m % s);
  return sizes;
}

/// Over the segment sizes ceil(m/q), as in GRD Table IV, or over all sizes, as in its Fig. 4. The last segment may be smaller.
std::int64_t best_equal(int p, std::int64_t m, int alpha, int gamma, bool any_size) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t k = 1; k <= m; ++k) {
    const std::int64_t size = any_size ? k : (m + k - 1) / k;
    best = std::min(best, uni_greedy_time(p, equal_segments(m, size), alpha, 1, gamma));
  }
  return best;
}

std::int64_t best_of_all(int p, std::int64_t m, int alpha, int gamma) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (unsigned cuts = 0; cuts < 1U << (m - 1); ++cuts) {
    Times sizes{1};
    for (std::int64_t i = 1; i < m; ++i) {
      if ((cuts >> (i - 1) & 1U) != 0) {
        sizes.push_back(1);
      } else {
        ++sizes.back();
      }
    }
    best = std::min(best, uni_greedy_time(p, sizes, alpha, 1, gamma));
  }
  return best;
}

TEST(UniGreedy, DocumentedExample) {
  const UniGreedy run(3, {2, 2}, {1, 1});
  EXPECT_EQ(text(run.transfers), "1>0:0 | 2>0:0 | 1>2:1 | 2>0:1");
  EXPECT_EQ(run.end, 11);
}

TEST(UniGreedy, Figure3Ends39) {
  const UniGreedy run(15, Times(5, 2), Times(5, 1));
  EXPECT_EQ(run.end, 39);
  // The same on a machine with these costs: nothing can start earlier than planned, or it would be no optimum.
  static Times message(5, 2);
  static Times combining(5, 1);
  const Schedule schedule = to_schedule(request(15, 5), [](const Request& r, const TransferSink& sink) {
    plan_uni_greedy(r.ranks, r.root, message, combining, sink);
  });
  const Machine machine{.alpha = 2, .gamma = 1, .duplex = false, .combining = Combining::exclusive};
  EXPECT_EQ(simulate(schedule, slot_sizes(schedule.shape, Times{1}), Times(15), machine).run_time, 39);
  // The registry's plan, told what a round costs.
  Request told = request(15, 5);
  told.round_ns = 3;
  told.combine_ns = 1;
  EXPECT_EQ(make_schedule(reduce_uni_greedy, told).programs, schedule.programs);
}

TEST(UniGreedy, TableIV) {
  struct Row {
    int p, alpha, gamma;
    std::int64_t equal, optimal;
  };
  for (const Row& row :
       {Row{6, 1, 1, 51, 49}, Row{8, 0, 1, 37, 35}, Row{12, 0, 1, 44, 41}, Row{16, 1, 0, 40, 38}}) {
    EXPECT_EQ(best_equal(row.p, 10, row.alpha, row.gamma, false), row.equal) << "p=" << row.p;
    EXPECT_EQ(best_of_all(row.p, 10, row.alpha, row.gamma), row.optimal) << "p=" << row.p;
  }
}

TEST(UniGreedy, Figure4) {
  EXPECT_EQ(best_equal(64, 16, 10, 0, true), 156);
  EXPECT_EQ(best_equal(64, 64, 10, 0, true), 367);
  EXPECT_EQ(best_equal(64, 512, 10, 0, true), 1824);
}

TEST(UniGreedy, NoRankIsInTwoMessagesAtOnce) {
  for (const int p : {2, 5, 12, 33}) {
    const UniGreedy run(p, {5, 3, 4, 1}, {2, 0, 1, 1}, p / 2);
    EXPECT_EQ(run.transfers.size(), static_cast<std::size_t>(4 * (p - 1)));
    Times busy(static_cast<std::size_t>(p));
    const Times message{5, 3, 4, 1};
    const Times combining{2, 0, 1, 1};
    for (const Transfer& t : run.transfers) {
      const auto j = static_cast<std::size_t>(t.segment);
      auto& from = busy[static_cast<std::size_t>(t.from)];
      auto& to = busy[static_cast<std::size_t>(t.to)];
      EXPECT_LE(std::max(from, to), t.round);
      EXPECT_NE(t.from, p / 2) << "the root sends";
      from = t.round + message[j];
      to = from + combining[j];
    }
    EXPECT_EQ(busy[static_cast<std::size_t>(p / 2)], run.end);
  }
}

// ---- chain and binary tree ---------------------------------------------------------------------------------

TEST(ReduceChain, DocumentedExamples) {
  Request r = request(4, 2, 1);
  EXPECT_EQ(to_text(make_schedule(reduce("chain"), r)),
            "reduce: 4 ranks, root 1, 2 blocks\n"
            "rank 0\n"
            "  0  round 0  send ->3 [0,1)\n"
            "  1  round 1  send ->3 [1,2)\n"
            "rank 1\n"
            "  0  round 2  recv_combine <-2 [0,1)\n"
            "  1  round 3  recv_combine <-2 [1,2)\n"
            "rank 2\n"
            "  0  round 1  recv_combine <-3 [0,1)\n"
            "  1  round 2  send ->1 [0,1)  after {0}\n"
            "  2  round 2  recv_combine <-3 [1,2)\n"
            "  3  round 3  send ->1 [1,2)  after {2}\n"
            "rank 3\n"
            "  0  round 0  recv_combine <-0 [0,1)\n"
            "  1  round 1  send ->2 [0,1)  after {0}\n"
            "  2  round 1  recv_combine <-0 [1,2)\n"
            "  3  round 2  send ->2 [1,2)  after {2}\n");
  r.ordered = true;
  EXPECT_THAT(to_text(make_schedule(reduce("chain"), r)),
              HasSubstr("rank 1\n"
                        "  0  round 1  recv_combine <-2 [0,1)\n"
                        "  1  round 0  recv_combine <-0 [0,1) incoming first  after {0}\n"));
}

TEST(ReduceBinary, DocumentedTree) {
  const Schedule schedule = make_schedule(reduce("binary"), request(7, 1, 3));
  EXPECT_EQ(to_text(schedule),
            "reduce: 7 ranks, root 3, 1 blocks\n"
            "rank 0\n"
            "  0  round 0  send ->1 [0,1)\n"
            "rank 1\n"
            "  0  round 0  recv_combine <-0 [0,1) incoming first\n"
            "  1  round 1  recv_combine <-2 [0,1)  after {0}\n"
            "  2  round 2  send ->3 [0,1)  after {1}\n"
            "rank 2\n"
            "  0  round 1  send ->1 [0,1)\n"
            "rank 3\n"
            "  0  round 2  recv_combine <-1 [0,1) incoming first\n"
            "  1  round 3  recv_combine <-5 [0,1)  after {0}\n"
            "rank 4\n"
            "  0  round 0  send ->5 [0,1)\n"
            "rank 5\n"
            "  0  round 0  recv_combine <-4 [0,1) incoming first\n"
            "  1  round 1  recv_combine <-6 [0,1)  after {0}\n"
            "  2  round 3  send ->3 [0,1)  after {1}\n"
            "rank 6\n"
            "  0  round 1  send ->5 [0,1)\n");
}

// ---- butterflies and the ring ------------------------------------------------------------------------------

std::string messages(const Schedule& schedule) {
  std::string result;
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    for (const Op& op : schedule.programs[r].ops()) {
      if (op.kind != OpKind::send) continue;
      result += (result.empty() ? "" : " ") + std::to_string(r) + ">" + std::to_string(op.peer) + ":" +
                std::to_string(op.blocks.first) + "-" + std::to_string(op.blocks.last - 1);
    }
  }
  return result;
}

TEST(Butterfly, WorkedExamples) {
  // Halves between neighbours, quarters between 0 and 2, 1 and 3; then back to rank 0: 1 and 3, then 2's side.
  EXPECT_EQ(messages(make_schedule(reduce("rab"), request(4, 1))),
            "0>1:2-3 0>2:1-1 1>0:0-1 1>3:3-3 1>0:2-3 2>3:2-3 2>0:0-0 2>0:1-1 3>2:0-1 3>1:2-2 3>1:3-3");
  // The first two of three ranks are a pair, of which rank 1 is the root and stays.
  EXPECT_EQ(messages(make_schedule(reduce("rab"), request(3, 1, 1))),
            "0>1:1-1 0>1:0-0 1>0:0-0 1>2:1-1 2>1:0-0 2>1:1-1");
  EXPECT_EQ(messages(make_schedule(reduce("rxk"), request(3, 1))),
            "0>1:1-1 0>2:2-2 1>2:2-2 1>0:0-0 1>0:1-1 2>0:0-0 2>1:1-1 2>0:2-2");
  EXPECT_EQ(messages(make_schedule(reduce("ring"), request(3, 1))),
            "0>1:0-0 0>1:2-2 1>2:1-1 1>2:0-0 1>0:2-2 2>0:2-2 2>0:1-1 2>0:0-0");
}

TEST(Butterfly, TakesTheTimeOfTableIII) {
  for (const int p : {4, 8, 16, 64}) {
    const oracles::Reduction model{.p = p, .alpha = 50, .beta = 6, .gamma = 1};
    const Schedule schedule = make_schedule(reduce("rab"), request(p, 1, p / 3));
    const Times arrivals(static_cast<std::size_t>(p));
    for (const Combining combining : {Combining::overlapped, Combining::exclusive, Combining::in_message}) {
      const Machine machine{.alpha = 50, .beta = 6, .gamma = 1, .combining = combining};
      EXPECT_EQ(simulate(schedule, slot_sizes(schedule.shape, Times{12}), arrivals, machine).run_time,
                model.butterfly(12 * p))
          << "P=" << p;
    }
  }
}

TEST(Butterfly, MovesAndCombinesWhatItSays) {
  for (const std::string_view name : {"rab", "rxk", "ring"}) {
    for (const int p : {2, 3, 4, 7, 12, 22, 48, 64}) {
      const Schedule schedule = make_schedule(reduce(name), request(p, 1, p / 2));
      const bool folds = name == "rab" && !std::has_single_bit(static_cast<unsigned>(p));
      const int pieces = schedule.shape.blocks();
      for (const Program& program : schedule.programs) {
        int in = 0;
        int out = 0;
        for (const Op& op : program.ops()) (op.kind == OpKind::send ? out : in) += op.blocks.count();
        EXPECT_LE(std::max(in, out), folds ? 3 * pieces : 2 * (pieces - 1)) << name << " P=" << p;
      }
    }
  }
}

TEST(Reduce, RoundCountsHoldInTheModel) {
  for (const std::string_view name : {"papbi", "bi-greedy", "chain", "binary", "bnom"}) {
    const Algorithm& algorithm = reduce(name);
    ASSERT_NE(algorithm.round_count, nullptr) << name;
    for (const int p : {1, 2, 3, 7, 8, 15, 31, 33}) {
      for (const int q : {1, 2, 9}) {
        const Request r = request(p, q, p / 2, Times(static_cast<std::size_t>(p)), 1);
        const Ticks time = simulated(algorithm, r);
        const std::int64_t count = algorithm.round_count(p, q);
        EXPECT_LE(time, count) << name << " p=" << p << " q=" << q;
        const bool complete = std::has_single_bit(static_cast<unsigned>(p + 1));
        if (name != "binary" || complete) {
          EXPECT_EQ(time, count) << name << " p=" << p << " q=" << q;
        }
      }
    }
  }
}

}  // namespace
}  // namespace papfft::comm
