// SPDX-License-Identifier: MIT
// The bound of a vector in rounds, against the best of all schedules: an exhaustive search over messages of any bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "comm/bounds/host_bounds.hpp"

namespace papfft::comm {
namespace {

using Bytes = std::uint8_t;  // a bit for each byte of the vector

/// One place. Times are what is left.
struct Place {
  Bytes held = 0;
  Bytes coming = 0;
  std::int8_t in = 0;
  std::int8_t out = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};
using State = std::vector<Place>;  // the root first; the others are alike, so they are sorted

int count(Bytes bytes) { return std::popcount(bytes); }

/// All broadcasts at once, tick by tick. A message may begin at any tick and hold any of its sender's bytes.
class Search {
 public:
  Search(int places, int bytes, int alpha, int beta)
      : all_(static_cast<Bytes>((1U << static_cast<unsigned>(bytes)) - 1)), alpha_(alpha), beta_(beta) {
    State first(static_cast<std::size_t>(places));
    first.front().held = all_;
    states_ = {first};
  }

  /// @param most  where to give up; then one more
  int least_time(int most) {
    for (int now = 0; now <= most; ++now) {
      std::set<State> next;
      for (const State& state : states_) {
        if (std::ranges::all_of(state, [&](const Place& place) { return place.held == all_; })) return now;
        if (now + time_to_come(state) <= most) begin(state, 1, next);
      }
      states_ = std::move(next);
    }
    return most + 1;
  }

 private:
  [[nodiscard]] int message(int bytes) const { return bytes == 0 ? 0 : alpha_ + beta_ * bytes; }

  /// What some place must still receive.
  [[nodiscard]] int time_to_come(const State& state) const {
    int most = 0;
    for (const Place& place : state)
      most = std::max(most, place.in + message(count(all_ & ~(place.held | place.coming))));
    return most;
  }

  /// Lets the places from this one on begin to receive, in all ways, and then a tick pass.
  void begin(const State& state, std::size_t receiver, std::set<State>& next) {
    if (receiver == state.size()) {
      next.insert(after_a_tick(state));
      return;
    }
    begin(state, receiver + 1, next);
    if (state[receiver].in > 0) return;
    for (std::size_t sender = 0; sender < state.size(); ++sender) {
      if (sender == receiver || state[sender].out > 0) continue;
      const auto useful = static_cast<Bytes>(state[sender].held & ~state[receiver].held);
      for (Bytes some = useful; some != 0; some = static_cast<Bytes>((some - 1) & useful)) {
        State begun = state;
        begun[receiver].coming = some;
        begun[receiver].in = begun[sender].out = static_cast<std::int8_t>(message(count(some)));
        begin(begun, receiver + 1, next);
      }
    }
  }

  static State after_a_tick(State state) {
    for (Place& place : state) {
      if (place.out > 0) --place.out;
      if (place.in > 0 && --place.in == 0) {
        place.held = static_cast<Bytes>(place.held | place.coming);
        place.coming = 0;
      }
    }
    std::sort(state.begin() + 1, state.end());
    return state;
  }

  Bytes all_;
  int alpha_;
  int beta_;
  std::set<State> states_;
};

struct Case {
  int places;
  int bytes;
  int alpha;
  int beta;
};

/// The best in equal segments, of which each message holds one.
int in_segments(const Case& c) {
  const auto q = static_cast<int>(std::bit_width(static_cast<unsigned>(c.places - 1)));
  int least = 1 << 30;
  for (int segments = 1; segments <= c.bytes; ++segments) {
    if (c.bytes % segments == 0)
      least = std::min(least, (segments - 1 + q) * (c.alpha + c.beta * c.bytes / segments));
  }
  return least;
}

TEST(RoundBound, NoScheduleIsFaster) {
  int met = 0;
  for (const Case& c : {Case{2, 3, 2, 1}, Case{3, 1, 3, 2}, Case{3, 2, 1, 1}, Case{3, 3, 1, 1},
                        Case{3, 4, 2, 1}, Case{3, 4, 1, 2}, Case{4, 2, 1, 1}, Case{4, 2, 2, 3},
                        Case{4, 3, 1, 1}, Case{5, 1, 2, 1}, Case{5, 2, 1, 1}, Case{6, 2, 1, 1}}) {
    const auto bound = static_cast<int>(bound_in_rounds(c.places, c.bytes, c.alpha, c.beta));
    const int most = in_segments(c);
    const int least = Search(c.places, c.bytes, c.alpha, c.beta).least_time(most);
    EXPECT_LE(bound, least) << c.places << " places, " << c.bytes << " bytes, alpha " << c.alpha << ", beta "
                            << c.beta;
    EXPECT_LE(least, most) << "the search knows segments, too";
    met += bound == least ? 1 : 0;
  }
  EXPECT_GE(met, 4) << "the bound is not empty words";
}

TEST(RoundBound, IsWhatTheFormulaSays) {
  EXPECT_EQ(bound_in_rounds(1, 1000, 5, 2), 0);
  EXPECT_EQ(bound_in_rounds(2, 1000, 5, 2), 2005);
  EXPECT_EQ(bound_in_rounds(9, 0, 5, 2), 0) << "nothing to move";
  EXPECT_EQ(bound_in_rounds(9, 1000, 0, 2), 2000) << "bytes alone";
  EXPECT_EQ(bound_in_rounds(8, 1, 5, 2), 3 * 5 + 2 * 2) << "three alphas; the byte counts twice";
  // 1 MB among 1024 hosts at 1 Gb/s, in ns: m beta = 8388608, 9 alphas, and 366409 for the pipeline.
  for (int k = 1; k < 200; ++k) {
    const double pipeline = 8388608.0 / k + (k + 1) * 4000.0;
    EXPECT_LE(bound_in_rounds(1024, 1 << 20, 8000, 8), std::ceil(8388608 + 9 * 8000 + pipeline)) << k;
  }
  EXPECT_NEAR(static_cast<double>(bound_in_rounds(1024, 1 << 20, 8000, 8)),
              8388608 + 9 * 8000 + std::sqrt(2 * 8388608.0 * 8000) + 4000, 100);
}

TEST(RoundBound, CountsForVectorsOnHostsWhoseCardsHaveOnePort) {
  const Hosts hosts(8, std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3});
  const HostCosts costs{.alpha = 50, .beta = 10};
  const auto bound = [&](Operation operation, const HostCosts& c) {
    return bound_on_hosts(operation, hosts, 0, 30, c);
  };
  EXPECT_EQ(bound(Operation::bcast, costs), bound_in_rounds(4, 30, 50, 10));
  EXPECT_EQ(bound(Operation::reduce, costs), bound_in_rounds(4, 30, 50, 10));
  EXPECT_EQ(bound(Operation::allreduce, costs), std::max<std::int64_t>(bound_in_rounds(4, 30, 50, 10), 525));
  EXPECT_EQ(bound(Operation::bcast, {.alpha = 50, .beta = 10, .card_ports = 2}), 150);
  EXPECT_EQ(bound(Operation::gather, costs), bound(Operation::gather, {.beta = 10})) << "blocks per rank";
  EXPECT_EQ(bound(Operation::bcast, {.alpha = 900, .beta = 10, .inside_alpha = 700, .inside_beta = 10}),
            std::max(bound_in_rounds(4, 30, 900, 10), bound_in_rounds(8, 30, 700, 10)));
}

}  // namespace
}  // namespace papfft::comm
