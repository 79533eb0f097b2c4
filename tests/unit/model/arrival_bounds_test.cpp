// SPDX-License-Identifier: MIT
// The bounds of operations without a root, against the best of all schedules: an exhaustive search in rounds.
#include "comm/bounds/arrival_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/schedule/core/contract.hpp"

namespace papfft::comm {
namespace {

using Times = std::vector<std::int64_t>;
/// Per rank and block, the set of ranks that what it holds comes from, a bit for each.
using State = std::vector<std::uint8_t>;

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// All schedules at once, round by round. In each a rank sends one block to another and receives one.
class Search {
 public:
  Search(Operation operation, int segments, Times arrivals)
      : shape_{.operation = operation, .ranks = static_cast<int>(arrivals.size())},
        blocks_((is_per_pair() ? shape_.ranks * shape_.ranks : shape_.parts()) * segments),
        segments_(segments),
        arrivals_(std::move(arrivals)) {}

  /// @param most  where to give up; then one more
  std::int64_t least_rounds(std::int64_t most) {
    const std::int64_t last = std::ranges::max(arrivals_);
    states_ = {State(idx(shape_.ranks * blocks_), 0)};
    for (std::int64_t now = 0; now <= most; ++now) {
      arrive(now);
      if (now >= last && std::ranges::any_of(states_, [&](const State& held) { return is_done(held); }))
        return now;
      std::set<State> next;
      for (const State& held : states_) {
        if (least_to_come(held) > most - now) continue;
        std::vector<bool> sends(idx(shape_.ranks));
        State after = held;
        receive(held, after, sends, 0, next);
      }
      states_ = std::move(next);
    }
    return most + 1;
  }

 private:
  [[nodiscard]] bool all_need_all() const { return traits(shape_.operation).after == Holder::all; }
  [[nodiscard]] bool is_per_pair() const { return shape_.per_pair(); }
  [[nodiscard]] std::size_t at(Rank r, int block) const { return idx(r * blocks_ + block); }
  [[nodiscard]] int contract_block(int block) const { return block / segments_; }

  void arrive(std::int64_t now) {
    std::set<State> came;
    for (State held : states_) {
      for (Rank r = 0; r < shape_.ranks; ++r) {
        for (int b = 0; b < blocks_ && arrivals_[idx(r)] == now; ++b) {
          if (held_before(shape_, r, contract_block(b)) != comm::Held::nothing)
            held[at(r, b)] = static_cast<std::uint8_t>(held[at(r, b)] | 1U << static_cast<unsigned>(r));
        }
      }
      came.insert(std::move(held));
    }
    states_ = std::move(came);
  }

  [[nodiscard]] bool lacks(const State& held, Rank r, int block) const {
    const unsigned all = (1U << static_cast<unsigned>(shape_.ranks)) - 1;
    const comm::Held promised = held_after(shape_, r, contract_block(block));
    if (promised == comm::Held::nothing) return false;
    return promised == comm::Held::all ? held[at(r, block)] != all : held[at(r, block)] == 0;
  }

  [[nodiscard]] bool is_done(const State& held) const {
    for (Rank r = 0; r < shape_.ranks; ++r) {
      for (int b = 0; b < blocks_; ++b) {
        if (lacks(held, r, b)) return false;
      }
    }
    return true;
  }

  /// Nobody else has what rank r has to give for a block that another lacks.
  [[nodiscard]] bool is_still_to_send(const State& held, Rank r, int block) const {
    if (held_before(shape_, r, contract_block(block)) == comm::Held::nothing) return false;
    bool is_lacking = false;
    for (Rank other = 0; other < shape_.ranks; ++other) {
      if (other == r) continue;
      if ((held[at(other, block)] >> static_cast<unsigned>(r) & 1U) != 0) return false;
      is_lacking = is_lacking || lacks(held, other, block);
    }
    return is_lacking;
  }

  /// Some rank must receive, or send, in so many rounds more.
  [[nodiscard]] std::int64_t least_to_come(const State& held) const {
    std::int64_t most = 0;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      std::int64_t in = 0;
      std::int64_t out = 0;
      for (int b = 0; b < blocks_; ++b) {
        in += lacks(held, r, b) ? 1 : 0;
        out += is_still_to_send(held, r, b) ? 1 : 0;
      }
      most = std::max({most, in, out});
    }
    return most;
  }

  /// What rank r and those behind it may receive in this round, in all ways.
  void receive(const State& held, State& after, std::vector<bool>& sends, Rank r, std::set<State>& next) {
    if (r == shape_.ranks) {
      next.insert(after);
      return;
    }
    receive(held, after, sends, r + 1, next);
    for (Rank from = 0; from < shape_.ranks; ++from) {
      if (from == r || sends[idx(from)]) continue;
      for (int b = 0; b < blocks_; ++b) {
        const std::uint8_t comes = held[at(from, b)];
        const std::uint8_t has = held[at(r, b)];
        // What overlaps cannot be added up; it may replace what is there.
        const auto sum = static_cast<std::uint8_t>((comes & has) == 0 ? comes | has : comes);
        if (comes == 0 || (comes & ~has) == 0) continue;
        if ((comes & has) != 0 && !all_need_all()) continue;  // whoever else needs the part has it
        sends[idx(from)] = true;
        after[at(r, b)] = sum;
        receive(held, after, sends, r + 1, next);
        after[at(r, b)] = has;
        sends[idx(from)] = false;
      }
    }
  }

  Shape shape_;
  int blocks_;
  int segments_;
  Times arrivals_;
  std::set<State> states_;
};

struct Case {
  Operation operation;
  int ranks;
  int segments;
  std::int64_t latest;  ///< arrivals from 0 to this
};

class ArrivalBound : public testing::TestWithParam<Case> {};

/// Every choice of arrivals of which one is 0.
std::vector<Times> all_arrivals(int ranks, std::int64_t latest) {
  std::vector<Times> all = {{}};
  for (int r = 0; r < ranks; ++r) {
    std::vector<Times> longer;
    for (const Times& times : all) {
      for (std::int64_t a = times.empty() ? 0 : times.back(); a <= latest; ++a) {  // names do not matter
        longer.push_back(times);
        longer.back().push_back(a);
      }
    }
    all = std::move(longer);
  }
  std::erase_if(all, [](const Times& times) { return times.front() != 0; });
  return all;
}

TEST_P(ArrivalBound, IsNeverAboveTheBestOfAllSchedulesAndSeldomBelow) {
  const auto [operation, ranks, segments, latest] = GetParam();
  int met = 0;
  int cases = 0;
  for (const Times& arrivals : all_arrivals(ranks, latest)) {
    const std::int64_t bound = bound_by_arrivals(operation, arrivals, segments, 1);
    const std::int64_t best = Search(operation, segments, arrivals).least_rounds(bound + 1);
    std::string text;
    for (const std::int64_t a : arrivals) text += std::to_string(a) + " ";
    EXPECT_LE(bound, best) << text;
    EXPECT_LE(best, bound + 1) << text;
    met += bound == best ? 1 : 0;
    ++cases;
  }
  RecordProperty("met", met);
  RecordProperty("cases", cases);
  EXPECT_GE(3 * met, 2 * cases) << met << " of " << cases;
}

INSTANTIATE_TEST_SUITE_P(
    Small, ArrivalBound,
    testing::Values(Case{Operation::allgather, 2, 2, 4}, Case{Operation::allgather, 3, 1, 4},
                    Case{Operation::reduce_scatter, 2, 2, 3}, Case{Operation::reduce_scatter, 3, 1, 2},
                    Case{Operation::reduce, 2, 2, 3}, Case{Operation::alltoall, 2, 2, 3},
                    Case{Operation::alltoall, 3, 1, 1}, Case{Operation::allreduce, 2, 3, 4},
                    Case{Operation::allreduce, 3, 1, 4}, Case{Operation::allreduce, 3, 2, 3},
                    Case{Operation::allreduce, 4, 1, 2}),
    [](const auto& test) {
      return std::string(to_string(test.param.operation)) + "_" + std::to_string(test.param.ranks) +
             "_ranks_" + std::to_string(test.param.segments) + "_segments";
    });

TEST(BoundByArrivals, OfOneLateRank) {
  const Times late = {0, 0, 100, 0, 0, 0, 0, 0};
  EXPECT_EQ(bound_by_arrivals(Operation::alltoall, late, 10, 1), 170);        // seven blocks
  EXPECT_EQ(bound_by_arrivals(Operation::reduce_scatter, late, 10, 1), 170);  // seven parts of sums
  EXPECT_EQ(bound_by_arrivals(Operation::allgather, late, 10, 1), 112);       // a broadcast of its block
  EXPECT_EQ(bound_by_arrivals(Operation::allreduce, late, 10, 1), 112);       // and of its vector
  EXPECT_EQ(bound_by_arrivals(Operation::reduce, late, 10, 1, 0), 110);       // its vector
  EXPECT_EQ(bound_by_arrivals(Operation::reduce, late, 10, 1, 2), 100);       // of a late root, nothing
}

TEST(BoundByArrivals, OfRanksThatComeTogether) {
  const Times together(8, 5);
  EXPECT_EQ(bound_by_arrivals(Operation::alltoall, together, 10, 2), 140);
  EXPECT_EQ(bound_by_arrivals(Operation::allgather, together, 10, 2), 140);
  EXPECT_EQ(bound_by_arrivals(Operation::allreduce, together, 80, 2), 2 * 2 * 70);  // Patarasuk and Yuan
  EXPECT_EQ(bound_by_arrivals(Operation::allreduce, together, 1, 1), 3);            // log2 P
}

TEST(BoundByArrivals, OfAnAllreduceCountsWhatIsStillWithItsOwners) {
  // When the last one comes, the others have sent at most 10, 20, ..., 70 of their 80 segments: 360 of all are left to send, and for
  // each segment 6 more messages.
  const Times one_by_one = {0, 10, 20, 30, 40, 50, 60, 70};
  EXPECT_EQ(bound_by_arrivals(Operation::allreduce, one_by_one, 80, 1), 70 + (80 * 6 + 360) / 8);
  // Where a message takes 4, the first one has begun to send two of its 5 segments when the others come.
  EXPECT_EQ(bound_by_arrivals(Operation::allreduce, Times{0, 5, 5}, 5, 4), 5 + (5 + 3 + 5 + 5) / 3 * 4);
}

TEST(BoundByArrivals, RefusesWhatMakesNoSense) {
  const Times two = {1, 2};
  EXPECT_EQ(bound_by_arrivals(Operation::allreduce, Times{7}, 1, 1), 0);
  EXPECT_THROW((void)bound_by_arrivals(Operation::bcast, two, 1, 1), std::invalid_argument);
  EXPECT_THROW((void)bound_by_arrivals(Operation::reduce, two, 1, 1, 2), std::invalid_argument);
  EXPECT_THROW((void)bound_by_arrivals(Operation::allreduce, {}, 1, 1), std::invalid_argument);
  EXPECT_THROW((void)bound_by_arrivals(Operation::allreduce, two, 0, 1), std::invalid_argument);
  EXPECT_THROW((void)bound_by_arrivals(Operation::allreduce, two, 1, -1), std::invalid_argument);
}

}  // namespace
}  // namespace papfft::comm
