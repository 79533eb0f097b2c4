// SPDX-License-Identifier: MIT
// The Clairvoyant reduction: the paper's worked examples, what must hold for every schedule, and that the three planners make
// the same one. That each registered schedule verifies, and that one rank's part is that of the whole, registry_test shows.
//
// Easy mistakes, each made once and seen to fail here (in the reference or in clv; the others then differ: PlannersAgree):
//   a rank joins at a <= head + d, not <                      ApartGroupsNeedAsManyRoundsAsKnown, EveryScheduleIsSound
//   no P': sends what it receives in the same round           Section42, EveryScheduleIsSound
//   P' never reverts to P                                     Section42 (planning does not end)
//   the head combines into what it handed over                Section42, EveryScheduleIsSound
//   the head takes only what it holds                         Section42 (planning does not end)
//   a rank that has sent does not receive any more            FlatGroupsNeedAsManyRoundsAsKnown
//   the root does not come first                              EveryScheduleIsSound (planning does not end)
//   not the earliest of several senders                       Section42
//   ties in the order of columns not by rank                  Section42, Fig1
//   an idle round too few                                     AloneRanksSkipIdleRounds
//   the search does not begin at the first of the group       LargeGroupsAgreeInEveryBitWidth
//   unions not updated up to the root                         LargeGroupsAgreeInEveryBitWidth
//   a segment's only holder not told from no holder           Fig1, BalancedGroupsNeedAtMostARoundMoreThanTheLeast
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "app/bench/heap_meter.hpp"
#include "app/comparison/comparison.hpp"
#include "comm/schedule/family/clairvoyant.hpp"
#include "comm/verify/verify.hpp"

namespace papfft::comm {
namespace {

const Algorithm* const kPlanners[] = {&reduce_clv, &reduce_clv_linear, &reduce_clv_heap};

std::vector<Transfer> plan_by(const Algorithm& algorithm, const Request& request) {
  std::vector<Transfer> all;
  algorithm.transfers(
      request, [&](std::span<const Transfer> some) { all.insert(all.end(), some.begin(), some.end()); });
  return all;
}

Request reduction(int ranks, int segments, Rank root, std::vector<std::int64_t> arrival_ns,
                  std::int64_t round_ns) {
  return {.operation = Operation::reduce,
          .ranks = ranks,
          .root = root,
          .segments = segments,
          .arrival_ns = std::move(arrival_ns),
          .round_ns = round_ns};
}

/// "1>0:0 0>1:1 | 2>0:0 ...": sender>receiver:segment, in the order of their choice.
std::string to_text(const std::vector<Transfer>& transfers) {
  std::string text;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& t = transfers[i];
    if (i > 0) text += t.round == transfers[i - 1].round ? " " : " | ";
    text += std::to_string(t.from) + ">" + std::to_string(t.to) + ":" + std::to_string(t.segment);
  }
  return text;
}

std::int64_t rounds(const std::vector<Transfer>& transfers) { return transfers.back().round + 1; }

/// A request of up to 40 ranks and 24 segments with any root, many ties, and rounds from a nanosecond to longer than all gaps.
Request random_request(std::mt19937& random) {
  const auto below = [&](int n) { return std::uniform_int_distribution(0, n - 1)(random); };
  const int p = 2 + below(39);
  const int n = 1 + below(24);
  const std::int64_t d = std::array{1, 2, 3, 7, 10, 64, 1000}[static_cast<std::size_t>(below(7))];
  const std::int64_t longest =
      std::array<std::int64_t, 5>{0, d, 3 * d, d * p, 10 * d * p}[static_cast<std::size_t>(below(5))];
  std::vector<std::int64_t> arrival_ns(static_cast<std::size_t>(p), 0);
  const auto any = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  const Rank root = below(p);
  switch (below(6)) {
    case 0:  // all at once
      break;
    case 1:
      for (auto& a : arrival_ns) a = any(longest) - longest / 2;
      break;
    case 2:
      for (auto& a : arrival_ns) a = any(3) * d;
      break;
    case 3:
      arrival_ns[static_cast<std::size_t>(below(p))] = longest;
      break;
    case 4:
      for (std::size_t i = 0; i < arrival_ns.size(); ++i) arrival_ns[i] = static_cast<std::int64_t>(i) * d;
      std::ranges::shuffle(arrival_ns, random);
      break;
    default:
      arrival_ns[static_cast<std::size_t>(root)] = longest;
  }
  return reduction(p, n, root, std::move(arrival_ns), d);
}

std::string describe(const Request& request) {
  std::string text = "P=" + std::to_string(request.ranks) + " N=" + std::to_string(request.segments) +
                     " root=" + std::to_string(request.root) + " d=" + std::to_string(request.round_ns) +
                     " a=";
  for (const std::int64_t a : request.arrival_ns) text += std::to_string(a) + " ";
  return text;
}

/// Plays a schedule with sets of contributors, and follows each rank's time of availability from its arrival on.
class Play {
 public:
  explicit Play(const Request& request)
      : request_(request),
        available_ns_(request.arrival_ns),
        joined_(static_cast<std::size_t>(request.ranks)),
        parts_(static_cast<std::size_t>(request.ranks)) {
    for (Rank r = 0; r < request.ranks; ++r)
      parts_[static_cast<std::size_t>(r)].assign(static_cast<std::size_t>(request.segments), {r});
    join();
  }

  void run(const std::vector<Transfer>& transfers) {
    for (auto first = transfers.begin(); first != transfers.end();) {
      const auto last =
          std::find_if(first, transfers.end(), [&](const Transfer& t) { return t.round != first->round; });
      ASSERT_NO_FATAL_FAILURE(play_round({first, last}));
      first = last;
    }
    for (Rank r = 0; r < request_.ranks; ++r) {
      for (int j = 0; j < request_.segments; ++j) {
        ASSERT_EQ(part(r, j).size(), r == request_.root ? static_cast<std::size_t>(request_.ranks) : 0U);
      }
    }
  }

 private:
  std::multiset<Rank>& part(Rank r, int j) {
    return parts_[static_cast<std::size_t>(r)][static_cast<std::size_t>(j)];
  }
  bool is_active(Rank r) {
    return r == request_.root || std::ranges::any_of(parts_[static_cast<std::size_t>(r)],
                                                     [](const auto& part) { return !part.empty(); });
  }
  int left_of_others() {
    int count = 0;
    for (Rank r = 0; r < request_.ranks; ++r) {
      if (r == request_.root) continue;
      for (int j = 0; j < request_.segments; ++j) count += part(r, j).empty() ? 0 : 1;
    }
    return count;
  }

  void join() {
    std::int64_t head = std::numeric_limits<std::int64_t>::max();
    for (Rank r = 0; r < request_.ranks; ++r) {
      if (is_active(r)) head = std::min(head, available_ns_[static_cast<std::size_t>(r)]);
    }
    group_.clear();
    for (Rank r = 0; r < request_.ranks; ++r) {
      const auto i = static_cast<std::size_t>(r);
      if (!is_active(r) || available_ns_[i] >= head + request_.round_ns) continue;
      joined_[i] = true;
      group_.insert(r);
    }
  }

  /// Moves on to the round: all who are there are available a round later, each time.
  void advance_to(std::int64_t round) {
    for (; round_ < round; ++round_) {
      ASSERT_TRUE(round_ == played_ || group_.size() == 1) << "an idle round of several";
      for (Rank r = 0; r < request_.ranks; ++r) {
        const auto i = static_cast<std::size_t>(r);
        if (joined_[i] && is_active(r)) available_ns_[i] += request_.round_ns;
      }
      join();
    }
  }

  void play_round(std::vector<Transfer> transfers) {
    ASSERT_GE(transfers.front().round, round_);
    ASSERT_NO_FATAL_FAILURE(advance_to(transfers.front().round));
    played_ = round_;
    std::map<Rank, int> sent;
    std::map<Rank, int> received;
    for (const Transfer& t : transfers) {
      ASSERT_NE(t.from, t.to);
      ASSERT_TRUE(group_.contains(t.from) && group_.contains(t.to)) << "not there yet";
      ASSERT_TRUE(sent.emplace(t.from, t.segment).second) << "sends twice";
      ASSERT_TRUE(received.emplace(t.to, t.segment).second) << "receives twice";
    }
    for (const auto& [rank, segment] : received) {
      const auto it = sent.find(rank);
      ASSERT_TRUE(it == sent.end() || it->second != segment) << "sends what it receives";
    }
    const int left = left_of_others();
    std::vector<std::multiset<Rank>> payloads;
    for (const Transfer& t : transfers) {
      ASSERT_FALSE(part(t.from, t.segment).empty()) << "sends what it handed over";
      ASSERT_EQ(t.combine, !part(t.to, t.segment).empty());
      payloads.push_back(std::exchange(part(t.from, t.segment), {}));
    }
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      auto& held = part(transfers[i].to, transfers[i].segment);
      held.merge(payloads[i]);
      ASSERT_EQ(std::set<Rank>(held.begin(), held.end()).size(), held.size()) << "a contribution twice";
    }
    ASSERT_TRUE(left_of_others() < left || !group_.contains(request_.root)) << "no progress";
  }

  const Request& request_;
  std::vector<std::int64_t> available_ns_;
  std::vector<bool> joined_;
  std::vector<std::vector<std::multiset<Rank>>> parts_;  // contributors, by rank and segment
  std::set<Rank> group_;                                 // who is there in round_
  std::int64_t round_ = 0;
  std::int64_t played_ = -1;
};

TEST(ReduceClairvoyant, Section42) {
  for (const Algorithm* planner : kPlanners) {
    const auto transfers = plan_by(*planner, reduction(4, 4, 0, {0, 0, 0, 11}, 10));
    EXPECT_EQ(
        to_text(transfers),
        "1>0:0 0>1:1 | 2>0:0 3>1:1 0>2:2 1>3:2 | 3>0:0 2>1:1 0>2:3 1>3:3 | 1>0:1 3>2:2 2>3:3 | 2>0:2 | 3>0:3")
        << planner->name;
    // Only the root gets back what it handed over: segments 1, 2 and 3 are not combined the first time.
    std::vector<int> replaced;
    for (const Transfer& t : transfers) {
      if (!t.combine) replaced.push_back(t.segment);
    }
    EXPECT_EQ(replaced, (std::vector{1, 2, 3})) << planner->name;
  }
}

// The first 11 rounds in which there is something to do, a = 0, 1, 2, ... and d = 1: when rank p sends segment s.
TEST(ReduceClairvoyant, Fig1) {
  const std::vector<std::string> figure = {"- 1 2 3 4 5 6 7 8 9 10 11", "1 2 4 6 8 10 11",
                                           "2 - 3 4 5 6 7 8 9 10 11",   "3 3 - 5 6 7 8 9 10 11",
                                           "4 4 5 - 7 8 9 10 11",       "5 5 6 7 - 9 10 11"};
  std::vector<std::int64_t> arrival_ns(40);
  for (std::size_t i = 0; i < arrival_ns.size(); ++i) arrival_ns[i] = 10 * static_cast<std::int64_t>(i);
  for (const Algorithm* planner : kPlanners) {
    std::vector<std::map<Rank, std::string>> sent(6);
    const auto transfers = plan_by(*planner, reduction(40, 6, 0, arrival_ns, 10));
    for (const Transfer& t : transfers) {
      const std::int64_t round = t.round - transfers.front().round + 1;
      if (round > 11) break;
      EXPECT_TRUE(sent[static_cast<std::size_t>(t.segment)].emplace(t.from, std::to_string(round)).second);
    }
    for (std::size_t s = 0; s < figure.size(); ++s) {
      std::string row;
      for (Rank p = 0; p <= sent[s].rbegin()->first; ++p) {
        row += (p == 0 ? "" : " ") + (sent[s].contains(p) ? sent[s][p] : "-");
      }
      EXPECT_EQ(row, figure[s]) << planner->name << " segment " << s;
    }
  }
}

// One segment, rounds of 1 ms, a rank each second (CLV 5.1): 1000 rounds, then 999 after the one in which the next came.
TEST(ReduceClairvoyant, AloneRanksSkipIdleRounds) {
  for (const Algorithm* planner : kPlanners) {
    std::vector<std::int64_t> when;
    for (const Transfer& t : plan_by(*planner, reduction(4, 1, 0, {0, 1000, 2000, 3000}, 1)))
      when.push_back(t.round);
    EXPECT_EQ(when, (std::vector<std::int64_t>{1000, 2000, 3000})) << planner->name;
  }
}

TEST(ReduceClairvoyant, LastsNoLongerForLongGapsAndTakesAnyRound) {
  const std::int64_t year_ns = 31'536'000'000'000'000;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Algorithm* planner : kPlanners) {
    const Request late = reduction(3, 2, 1, {0, year_ns, 5}, 1);
    EXPECT_EQ(plan_by(*planner, late).back().round, year_ns + 1) << planner->name;
    const Schedule schedule = make_schedule(*planner, late);  // its rounds are numbered without the idle ones
    EXPECT_EQ(find_violation(schedule), std::nullopt);
    EXPECT_LT(schedule.programs[1][schedule.programs[1].size() - 1].round, 6);
    EXPECT_EQ(to_text(plan_by(*planner, reduction(4, 4, 0, {0, 0, 0, 11}, most))),
              to_text(plan_by(*planner, reduction(4, 4, 0, {0, 0, 0, 0}, 1))));
    EXPECT_EQ(to_text(plan_by(*planner, reduction(4, 4, 0, {}, 0))),
              to_text(plan_by(*planner, reduction(4, 4, 0, {7, 7, 7, 7}, 10))));
  }
}

// A rank whose column is taken out of the search because it has sent must still find what to receive, else these take 21 and
// 39 rounds (P = 16, 33).
TEST(ReduceClairvoyant, FlatGroupsNeedAsManyRoundsAsKnown) {
  for (const Algorithm* planner : kPlanners) {
    EXPECT_EQ(rounds(plan_by(*planner, reduction(16, 10, 0, {}, 1))), 13) << planner->name;
    EXPECT_EQ(rounds(plan_by(*planner, reduction(33, 20, 0, {}, 1))), 25) << planner->name;
    EXPECT_EQ(rounds(plan_by(*planner, reduction(21, 7, 0, {}, 1))), 12) << planner->name;
  }
}

TEST(ReduceClairvoyant, ApartGroupsNeedAsManyRoundsAsKnown) {
  std::vector<std::int64_t> steps(16);
  std::iota(steps.begin(), steps.end(), 0);
  std::vector<std::int64_t> weeks(33);
  for (std::size_t i = 0; i < weeks.size(); ++i) weeks[i] = static_cast<std::int64_t>(i % 7);
  for (const Algorithm* planner : kPlanners) {
    EXPECT_EQ(rounds(plan_by(*planner, reduction(8, 8, 0, {0, 7, 3, 3, 1, 0, 5, 2}, 1))), 16)
        << planner->name;
    EXPECT_EQ(rounds(plan_by(*planner, reduction(16, 10, 0, steps, 1))), 32) << planner->name;
    EXPECT_EQ(rounds(plan_by(*planner, reduction(33, 20, 0, weeks, 1))), 30) << planner->name;
  }
}

// N - 1 + q rounds are the least possible for a balanced group of one port each.
TEST(ReduceClairvoyant, BalancedGroupsNeedAtMostARoundMoreThanTheLeast) {
  std::vector<int> segments(24);
  std::iota(segments.begin(), segments.end(), 1);
  segments.insert(segments.end(), {32, 48, 64});
  std::map<std::int64_t, int> count;  // by rounds beyond the least
  for (int p = 2; p <= 64; ++p) {
    for (const int n : segments) {
      const int least = n - 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1)));
      ++count[rounds(plan_by(reduce_clv, reduction(p, n, 0, {}, 1))) - least];
    }
  }
  EXPECT_EQ(count, (std::map<std::int64_t, int>{{0, 1646}, {1, 55}}));
}

TEST(ReduceClairvoyant, EveryScheduleIsSound) {
  std::mt19937 random(20);
  for (int i = 0; i < 4000; ++i) {
    const Request request = random_request(random);
    SCOPED_TRACE("instance " + std::to_string(i) + ": " + describe(request));
    ASSERT_NO_FATAL_FAILURE(Play(request).run(plan_by(*kPlanners[static_cast<std::size_t>(i % 3)], request)));
  }
}

TEST(ReduceClairvoyant, PlannersAgree) {
  std::mt19937 random(21);
  for (int i = 0; i < 3000; ++i) {
    Request request = random_request(random);
    if (i % 3 == 1) request.segments += 64;  // more of either than a word holds: the segment tree
    if (i % 3 == 2) {
      request.ranks += 64;
      std::vector<std::int64_t>& a = request.arrival_ns;
      while (a.size() < static_cast<std::size_t>(request.ranks)) a.push_back(a[random() % a.size()]);
    }
    const auto reference = plan_by(reduce_clv_linear, request);
    ASSERT_EQ(plan_by(reduce_clv, request), reference) << describe(request);
    if (i % 3 == 0) {
      ASSERT_EQ(plan_by(reduce_clv_heap, request), reference) << describe(request);
    }
  }
}

// Beyond one word (64 ranks or segments), beyond 256 and 512 segments, odd and even numbers of ranks, with and without SIMD.
TEST(ReduceClairvoyant, LargeGroupsAgreeInEveryBitWidth) {
  std::mt19937 random(22);
  for (const int p : {2, 3, 5, 64, 65, 67, 128, 130}) {
    for (const int n : {1, 63, 64, 65, 256, 257, 512, 513, 1030}) {
      if (p * n > 20000) continue;
      for (const std::int64_t spread : {0, 30, 700, 20000}) {
        std::vector<std::int64_t> arrival_ns(static_cast<std::size_t>(p));
        for (auto& a : arrival_ns) a = std::uniform_int_distribution<std::int64_t>(0, spread)(random);
        const Request request =
            reduction(p, n, static_cast<Rank>(random() % static_cast<unsigned>(p)), arrival_ns, 7);
        const auto reference = plan_by(reduce_clv_linear, request);
        for (const BitWidth width : {BitWidth::portable, BitWidth::avx2, BitWidth::widest}) {
          if (!supports(width)) continue;
          std::vector<Transfer> transfers;
          plan_clairvoyant(
              request,
              [&](std::span<const Transfer> some) {
                transfers.insert(transfers.end(), some.begin(), some.end());
              },
              width);
          ASSERT_EQ(transfers, reference) << "P=" << p << " N=" << n << " spread " << spread;
        }
      }
    }
  }
}

// CLV 5.5 has 5 bits per rank and segment. What a rank keeps for itself is padded to 32 bytes.
TEST(ReduceClairvoyant, TakesLittleMemory) {
  if (!app::HeapMeter::works()) GTEST_SKIP() << "a sanitizer has its own operator new";
  for (const auto& [p, n] :
       std::vector<std::pair<int, int>>{{64, 64}, {64, 4096}, {2048, 64}, {512, 512}, {777, 600}}) {
    std::vector<std::int64_t> arrival_ns(static_cast<std::size_t>(p));
    std::mt19937 random(23);
    for (auto& a : arrival_ns) a = static_cast<std::int64_t>(random() % 1000);
    const Request request = reduction(p, n, 0, arrival_ns, 50);
    const TransferSink drop = [](std::span<const Transfer>) {};
    const app::HeapMeter meter;
    reduce_clv.transfers(request, drop);
    const std::size_t peak = meter.peak_bytes();
    const std::size_t cells = static_cast<std::size_t>(p) * static_cast<std::size_t>(n);
    EXPECT_LE(peak, cells * 5 / 8 + 192 * static_cast<std::size_t>(p) + 1024) << "P=" << p << " N=" << n;
    EXPECT_GT(peak, 0U);
  }
}

}  // namespace
}  // namespace papfft::comm
