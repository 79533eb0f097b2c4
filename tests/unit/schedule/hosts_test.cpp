// SPDX-License-Identifier: MIT
#include "comm/schedule/core/hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "comm/schedule/core/print.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/verify/verify.hpp"
#include "tests/support/compositions.hpp"
#include "tests/support/sanitized.hpp"

namespace papfft::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::size_t idx(int i) { return static_cast<std::size_t>(i); }

/// Ranks by host, round robin, shuffled; hosts of one size and of several.
std::vector<std::vector<int>> layouts() {
  std::vector<std::vector<int>> all = {
      {0},
      {0, 0},
      {0, 1},
      {0, 0, 0, 0, 0},
      {0, 0, 1, 1},
      {0, 1, 0, 1},
      {7, 3, 3, 7, 7},
      {0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4},     // five hosts of 1, 2, 3, 4, 2 ranks
      {0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2},  // three of 2, 7, 4
      {1, 0, 1, 2, 1, 1, 0, 2, 2, 1, 1, 2, 1},
      {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}};
  std::mt19937 rng(5);
  for (const int hosts : {2, 3, 8}) {
    std::vector<int> layout(idx(hosts * 4 - 1));
    for (std::size_t r = 0; r < layout.size(); ++r) layout[r] = static_cast<int>(r) / 4;
    all.push_back(layout);
    std::ranges::shuffle(layout, rng);
    all.push_back(layout);
  }
  return all;
}

class EveryComposition : public testing::TestWithParam<const Algorithm*> {
 protected:
  template <typename Visit>
  void for_each_request(Visit visit) {
    std::mt19937 rng(11);
    for (const std::vector<int>& layout : layouts()) {
      const int p = static_cast<int>(layout.size());
      if (papfft::test::kSanitized && p > 12) continue;
      for (const int segments : {1, 3}) {
        for (const Rank root : {0, p / 2, p - 1}) {
          if (root > 0 && !is_rooted(GetParam()->operation)) continue;
          Request request{.operation = GetParam()->operation,
                          .ranks = p,
                          .root = root,
                          .segments = segments,
                          .round_ns = 100,
                          .host = layout};
          visit(request);
          for (int r = 0; r < p; ++r) request.arrival_ns.push_back(static_cast<std::int64_t>(rng() % 1000));
          visit(request);
        }
      }
    }
  }
};

std::string text(const Request& request) {
  std::string hosts;
  for (const int h : request.host) hosts += std::to_string(h) + " ";
  return "hosts " + hosts + "root " + std::to_string(request.root) + " segments " +
         std::to_string(request.segments) + (request.arrival_ns.empty() ? "" : " with arrivals");
}

TEST_P(EveryComposition, IsCorrectOnAnyHosts) {
  for_each_request([&](const Request& request) {
    const Schedule schedule = make_schedule(*GetParam(), request);
    ASSERT_EQ(find_violation(schedule), std::nullopt) << GetParam()->name << " " << text(request);
  });
}

TEST_P(EveryComposition, SaysOfAMessageThatItStaysInsideAHostOnlyIfItDoes) {
  for_each_request([&](const Request& request) {
    const Schedule schedule = make_schedule(*GetParam(), request);
    for (Rank r = 0; r < request.ranks; ++r) {
      for (const Op& op : schedule.programs[idx(r)].ops()) {
        if (!op.inside) continue;
        ASSERT_EQ(request.host[idx(r)], request.host[idx(op.peer)]) << text(request);
      }
    }
  });
}

TEST_P(EveryComposition, OnHostsOfOneRankIsTheFlatAlgorithm) {
  const Algorithm& algorithm = *GetParam();
  for (const int p : {1, 2, 5, 8}) {
    Request request{.operation = algorithm.operation, .ranks = p, .segments = 2, .round_ns = 100};
    const Schedule flat = make_schedule(*algorithm.flat, request);
    const Schedule same = make_schedule(algorithm, request);
    for (int r = 0; r < p; ++r) request.host.push_back(100 - r);
    const Schedule composed = make_schedule(algorithm, request);
    ASSERT_EQ(same.programs, flat.programs);
    ASSERT_EQ(composed.programs, flat.programs);
  }
}

TEST_P(EveryComposition, RefusesAnOrder) {
  EXPECT_THROW(
      (void)make_schedule(*GetParam(), {.operation = GetParam()->operation, .ranks = 4, .ordered = true}),
      std::invalid_argument);
  EXPECT_THROW(
      (void)make_schedule(*GetParam(), {.operation = GetParam()->operation, .ranks = 4, .host = {0, 0, 1}}),
      std::invalid_argument);
}

const std::vector<const Algorithm*> kComposed = test::composed_algorithms();
INSTANTIATE_TEST_SUITE_P(Hosts, EveryComposition, testing::ValuesIn(kComposed), [](const auto& test) {
  std::string name = std::string(to_string(test.param->operation)) + "_" + std::string(test.param->name);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '@'; }, '_');
  return name;
});

// Who of its host comes first leads it. So not the root alone must know when the ranks come.
TEST(Composition, OfASortedScatterIsPlannedByAllRanks) {
  const Algorithm& scatter = find_algorithm(Operation::scatter, "sln@hosts");
  const Request together{.ranks = 4, .host = {0, 0, 1, 1}};
  Request apart = together;
  apart.arrival_ns = {0, 0, 900, 5};
  EXPECT_NE(make_rank_schedule(scatter, together, 3).program.size(),
            make_rank_schedule(scatter, apart, 3).program.size());
  EXPECT_TRUE(scatter.flat->plans_root_alone);
  EXPECT_FALSE(scatter.plans_root_alone);
}

/// Slots that cross each host's link, out of it and into it.
struct Crossing {
  std::map<int, int> out;
  std::map<int, int> in;
};

Crossing crossing(const Schedule& schedule, const std::vector<int>& host) {
  Crossing found;
  for (Rank r = 0; r < schedule.shape.ranks; ++r) {
    for (const Op& op : schedule.programs[idx(r)].ops()) {
      if (is_local(op.kind) || host[idx(r)] == host[idx(op.peer)]) continue;
      (op.kind == OpKind::send ? found.out : found.in)[host[idx(r)]] += op.blocks.count();
    }
  }
  return found;
}

TEST(Leaders, CrossEachLinkNoMoreOftenThanTheFlatAlgorithmAmongHosts) {
  const std::vector<int> host = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4};
  constexpr int kSegments = 6;
  const auto made = [&](Operation operation, const char* name) {
    return make_schedule(find_algorithm(operation, name),
                         {.operation = operation, .ranks = 12, .segments = kSegments, .host = host});
  };
  for (const auto& [h, slots] : crossing(made(Operation::bcast, "chain@hosts"), host).in)
    EXPECT_EQ(slots, kSegments) << h;
  for (const auto& [h, slots] : crossing(made(Operation::reduce, "chain@hosts"), host).out)
    EXPECT_EQ(slots, kSegments) << h;
  const Crossing allgather = crossing(made(Operation::allgather, "ring@hosts"), host);
  for (const auto& [h, slots] : allgather.in) {
    EXPECT_EQ(slots, kSegments * (12 - std::ranges::count(host, h))) << h;  // what its ranks do not have
  }
  const Crossing scatter = crossing(made(Operation::scatter, "lin@hosts"), host);
  EXPECT_EQ(scatter.out.at(0), kSegments * 11);
  const Crossing ring = crossing(made(Operation::allgather, "ring@byhost"), host);
  for (const auto& [h, slots] : ring.out) EXPECT_EQ(slots, kSegments * 11) << h;
}

TEST(Leaders, SendOneMessageForAllPairsOfRanksOfTwoHosts) {
  const std::vector<int> host = {2, 0, 1, 0, 1, 2, 0, 2, 1, 2, 2, 2};  // 6, 3 and 3 ranks
  const Schedule schedule =
      make_schedule(find_algorithm(Operation::alltoall, "pairwise@hosts"),
                    {.operation = Operation::alltoall, .ranks = 12, .segments = 2, .host = host});
  std::map<std::pair<int, int>, std::vector<int>> crossings;  // (from, to) -> slots of each message
  for (Rank r = 0; r < 12; ++r) {
    for (const Op& op : schedule.programs[idx(r)].ops()) {
      if (op.kind == OpKind::send && !op.inside)
        crossings[{host[idx(r)], host[idx(op.peer)]}].push_back(op.blocks.count());
    }
  }
  ASSERT_EQ(crossings.size(), 6U);
  for (const auto& [pair, slots] : crossings) {
    EXPECT_THAT(slots,
                ElementsAre(2 * std::ranges::count(host, pair.first) * std::ranges::count(host, pair.second)))
        << pair.first << " to " << pair.second;
  }
}

// A block that passes through a third host has the size of a block of that host's, which may have fewer ranks.
TEST(Leaders, DoNotServeWhatRelaysBlocks) {
  EXPECT_THAT(
      [] {
        try {
          (void)find_algorithm(Operation::alltoall, "bruck@hosts");
        } catch (const std::invalid_argument& e) {
          return std::string(e.what());
        }
        return std::string();
      }(),
      HasSubstr("bruck can be had as it is or with @byhost"));
}

TEST(Lanes, CrossEachLinkAsOftenAsOneLeaderDoesAndShareTheWork) {
  const std::vector<int> host = {2, 0, 1, 0, 1, 2, 0, 2, 1, 2, 2, 2};  // 6, 3 and 3 ranks: three lanes
  constexpr int kSegments = 4;
  const Schedule schedule = make_schedule(
      find_algorithm(Operation::bcast, "chain@lanes"),
      {.operation = Operation::bcast, .ranks = 12, .root = 4, .segments = kSegments, .host = host});
  EXPECT_EQ(schedule.shape.segments, 3 * kSegments);
  for (const auto& [h, slots] : crossing(schedule, host).in) EXPECT_EQ(slots, 3 * kSegments) << h;
  std::map<int, int> leaders;  // per host
  for (Rank r = 0; r < 12; ++r) {
    int received = 0;
    for (const Op& op : schedule.programs[idx(r)].ops()) {
      if (op.kind == OpKind::recv && !op.inside) received += op.blocks.count();
    }
    if (received == 0) continue;
    ++leaders[host[idx(r)]];
    EXPECT_EQ(received, kSegments) << "rank " << r;
  }
  EXPECT_EQ(leaders, (std::map<int, int>{{0, 3}, {2, 3}}));
}

TEST(Lanes, AreOneWhereAHostHasOneRank) {
  for (const Algorithm* flat : algorithms()) {
    if (!kInLanes.serves(*flat)) continue;
    const auto made = [&](const char* composition) {
      return make_schedule(find_algorithm(flat->operation, std::string(flat->name) + composition),
                           {.operation = flat->operation,
                            .ranks = 8,
                            .segments = 3,
                            .arrival_ns = {50, 20, 90, 10, 30, 70, 60, 40},
                            .round_ns = 10,
                            .host = {5, 1, 1, 2, 2, 2, 2, 1}});
    };
    EXPECT_EQ(made("@lanes").programs, made("@hosts").programs) << flat->name;
  }
}

TEST(Lanes, ABroadcastOfTwoHosts) {
  // The example in lanes.cpp: rank 1 gets its share first.
  const Request request{.operation = Operation::bcast, .ranks = 4, .host = {0, 0, 1, 1}};
  EXPECT_EQ(to_text(make_schedule(find_algorithm(Operation::bcast, "bnom@lanes"), request)),
            "bcast: 4 ranks, root 0, 2 blocks\n"
            "rank 0\n"
            "  0  round 0  send ->1 [1,2) inside its host\n"
            "  1  round 0  send ->2 [0,1)\n"
            "  2  round 0  send ->1 [0,1) inside its host\n"
            "rank 1\n"
            "  0  round 0  recv <-0 [1,2) inside its host\n"
            "  1  round 0  send ->3 [1,2)  after {0}\n"
            "  2  round 0  recv <-0 [0,1) inside its host\n"
            "rank 2\n"
            "  0  round 0  recv <-0 [0,1)\n"
            "  1  round 0  send ->3 [0,1) inside its host  after {0}\n"
            "  2  round 0  recv <-3 [1,2) inside its host\n"
            "rank 3\n"
            "  0  round 0  recv <-1 [1,2)\n"
            "  1  round 0  send ->2 [1,2) inside its host  after {0}\n"
            "  2  round 0  recv <-2 [0,1) inside its host\n");
}

TEST(Lanes, AHostComesToAScatterWithTheLastOfItsLeaders) {
  // Two lanes. Ranks 2 and 3 are both there at 90, ranks 4 and 6 at 30, although rank 2 comes first of all.
  const Request request{.operation = Operation::scatter,
                        .ranks = 7,
                        .arrival_ns = {0, 0, 10, 90, 20, 99, 30},
                        .host = {0, 0, 1, 1, 2, 2, 2}};
  const Schedule schedule = make_schedule(find_algorithm(Operation::scatter, "sln@lanes"), request);
  std::vector<Rank> served;
  for (const Op& op : schedule.programs[0].ops()) {
    if (op.kind == OpKind::send && !op.inside) served.push_back(op.peer);
  }
  EXPECT_THAT(served, ElementsAre(4, 2));
  EXPECT_THAT(schedule.programs[6].ops()[0].peer, 1) << "the second leader";
}

TEST(Lanes, ABlockGoesByTheLaneOfItsRankOrOfTheLeaderThatServesIt) {
  // Host 0 has ranks 0, 2 and 4 and two lanes: rank 4 has none, and its block goes by that of rank 0.
  const Request request{.operation = Operation::allgather, .ranks = 5, .host = {0, 1, 0, 1, 0}};
  const Schedule schedule = make_schedule(find_algorithm(Operation::allgather, "ring@lanes"), request);
  EXPECT_THAT(schedule.shape.holder, ElementsAre(0, 4, 1, 2, 3));
  EXPECT_THAT(to_text(schedule), HasSubstr("rank 0\n"
                                           "  0  round 0  recv <-4 [1,2) inside its host\n"
                                           "  1  round 0  send ->1 [0,2)  after {0}\n"
                                           "  2  round 0  recv <-1 [2,3)\n"));
  EXPECT_THAT(to_text(schedule), HasSubstr("rank 4\n"
                                           "  0  round 0  send ->0 [1,2) inside its host\n"
                                           "  1  round 0  recv <-2 [3,4) inside its host\n"
                                           "  2  round 0  recv <-0 [0,1) inside its host\n"));
}

TEST(Leaders, AHostComesToABroadcastWithItsFirstRankAndToAReductionWithItsLast) {
  const Request request{.operation = Operation::bcast,
                        .ranks = 6,
                        .root = 0,
                        .arrival_ns = {0, 5, 40, 10, 20, 30},
                        .host = {0, 0, 1, 1, 1, 1}};
  // Rank 3 is the first of its host and hands on.
  EXPECT_THAT(to_text(make_schedule(find_algorithm(Operation::bcast, "bnom@hosts"), request)),
              HasSubstr("rank 3\n  0  round 0  recv <-0 [0,1)\n"));
  Request reduce = request;
  reduce.operation = Operation::reduce;
  // Rank 2 comes last: the others are combined in the order in which they come.
  EXPECT_THAT(to_text(make_schedule(find_algorithm(Operation::reduce, "bnom@hosts"), reduce)),
              HasSubstr("rank 2\n"
                        "  0  round 0  recv_combine <-5 [0,1) inside its host\n"
                        "  1  round 0  send ->0 [0,1)  after {0}\n"
                        "rank 3\n"
                        "  0  round 0  send ->4 [0,1) inside its host\n"));
}

TEST(Leaders, SegmentsFlowThroughBothLevels) {
  // Four hosts of two: the leader of the second host hands a segment to its member before it has the next one.
  const Request request{.operation = Operation::bcast, .ranks = 4, .segments = 2, .host = {0, 0, 1, 1}};
  EXPECT_THAT(to_text(make_schedule(find_algorithm(Operation::bcast, "chain@hosts"), request)),
              HasSubstr("rank 2\n"
                        "  0  round 0  recv <-0 [0,1)\n"
                        "  1  round 0  send ->3 [0,1) inside its host  after {0}\n"
                        "  2  round 1  recv <-0 [1,2)\n"
                        "  3  round 1  send ->3 [1,2) inside its host  after {2}\n"));
}

/// 72 hosts of one to three ranks, so that with four segments there are 288 units.
std::vector<int> many_hosts() {
  std::vector<int> host;
  for (int h = 0; h < 72; ++h) host.insert(host.end(), idx(1 + (h + 1) % 3), h);
  return host;
}

/// 8 hosts of three ranks: 256 units with 32 segments.
std::vector<int> few_hosts() {
  std::vector<int> host;
  for (int h = 0; h < 8; ++h) host.insert(host.end(), 3, h);
  return host;
}

TEST(Parcels, OfManyUnitsKeepSchedulesCorrect) {
  for (const auto& [host, segments, composition] :
       {std::tuple(many_hosts(), 4, "@hosts"), {few_hosts(), 32, "@hosts"}, {few_hosts(), 32, "@lanes"}}) {
    for (const auto& [operation, name] : {std::pair(Operation::scatter, "bnom"),
                                          {Operation::gather, "bnom"},
                                          {Operation::bcast, "scatter-allgather"},
                                          {Operation::reduce, "rab"},
                                          {Operation::allgather, "circulant"},
                                          {Operation::allreduce, "circulant"},
                                          {Operation::reduce_scatter, "circulant-halves"}}) {
      const Request request{.operation = operation,
                            .ranks = static_cast<int>(host.size()),
                            .root = is_rooted(operation) ? 5 : 0,
                            .segments = segments,
                            .host = host};
      const Schedule schedule =
          make_schedule(find_algorithm(operation, std::string(name) + composition), request);
      EXPECT_EQ(find_violation(schedule), std::nullopt) << name << composition << " " << text(request);
    }
  }
}

/// The slots of the messages that a rank sends to another.
std::vector<int> slots_sent(const Schedule& schedule, Rank from, Rank to) {
  std::vector<int> counts;
  for (const Op& op : schedule.programs[idx(from)].ops()) {
    if (op.kind == OpKind::send && op.peer == to) counts.push_back(op.blocks.count());
  }
  return counts;
}

TEST(Parcels, HandOnUnitsThatComeTogetherInOneMessageButNotTooMany) {
  const auto given = [](int hosts) {
    Request request{.operation = Operation::allgather, .ranks = 2 * hosts};
    for (Rank r = 0; r < request.ranks; ++r) request.host.push_back(r / 2);
    return slots_sent(make_schedule(find_algorithm(Operation::allgather, "circulant@hosts"), request), 0, 1);
  };
  // The member lacks its leader's block and the two of each other host. Rounds bring 1, 2, 4, ... hosts; of 128 hosts four at most
  // go together.
  std::vector<int> of_128 = {1, 2, 4};
  of_128.resize(3 + (128 - 4) / 4, 8);
  EXPECT_EQ(given(128), of_128);
  EXPECT_EQ(given(32).size(), 32U) << "few units go one by one";
}

// Among more ranks than were measured in pieces, S says how many blocks a message holds at most.
TEST(AllreduceCirculant, AmongManyRanksCutsLongMessagesOnly) {
  for (const auto& [ranks, segments] : {std::pair(300, 7), {257, 1}, {300, 1000}}) {
    const Schedule schedule =
        make_schedule(find_algorithm(Operation::allreduce, "circulant"),
                      {.operation = Operation::allreduce, .ranks = ranks, .segments = segments});
    EXPECT_EQ(schedule.shape.segments, ranks) << "a block per rank";
    EXPECT_EQ(find_violation(schedule), std::nullopt) << ranks << " ranks, " << segments << " segments";
    const int most = std::max(1, ranks / segments);
    int longest = 0;
    for (const Op& op : schedule.programs[1].ops()) longest = std::max(longest, op.blocks.count());
    EXPECT_EQ(longest, std::min(most, ranks / 2));
  }
}

/// To whom each rank of a schedule sends inside its host, in the order of its program, each peer once.
std::vector<std::vector<Rank>> inside_peers(const Schedule& schedule) {
  std::vector<std::vector<Rank>> peers(schedule.programs.size());
  for (std::size_t r = 0; r < peers.size(); ++r) {
    for (const Op& op : schedule.programs[r].ops()) {
      if (op.kind != OpKind::send || !op.inside || std::ranges::count(peers[r], op.peer) > 0) continue;
      peers[r].push_back(op.peer);
    }
  }
  return peers;
}

TEST(Leaders, ServeOneChildWhereManyUnitsFollowEachOther) {
  Request request{.operation = Operation::bcast, .ranks = 8, .host = {0, 0, 0, 0, 0, 0, 0, 1}};
  const auto peers = [&](const char* name) {
    return inside_peers(make_schedule(find_algorithm(request.operation, name), request));
  };
  using Peers = std::vector<Rank>;
  // A binomial tree: the fewest steps of a single segment.
  EXPECT_THAT(peers("chain@hosts"), ElementsAre(Peers{4, 2, 1}, Peers{}, Peers{3}, Peers{}, Peers{6, 5},
                                                Peers{}, Peers{}, Peers{}));
  request.segments = 4;
  EXPECT_THAT(peers("chain@hosts"),
              ElementsAre(Peers{1}, Peers{2, 3}, Peers{4, 5}, Peers{6}, Peers{}, Peers{}, Peers{}, Peers{}));
  request.operation = Operation::reduce;
  EXPECT_THAT(peers("chain@hosts"),
              ElementsAre(Peers{}, Peers{0}, Peers{1}, Peers{1}, Peers{2}, Peers{2}, Peers{3}, Peers{}));
  // Who comes together needs no chain, even if somebody tells when.
  request.arrival_ns.assign(8, 70);
  EXPECT_EQ(peers("chain@hosts")[2], Peers{1});
}

TEST(Hosts, AreNumberedByTheirFirstRank) {
  const std::vector<int> names = {9, 4, 9, 4, 4};
  const Hosts hosts(5, names);
  EXPECT_EQ(hosts.count(), 2);
  EXPECT_EQ(hosts.of(3), 1);
  EXPECT_THAT(hosts.members(1), ElementsAre(1, 3, 4));
  EXPECT_FALSE(hosts.are_single());
  EXPECT_TRUE(Hosts(3, {}).are_single());
}

TEST(Compositions, AreNamedBehindTheAlgorithm) {
  const Algorithm& composed = find_algorithm(Operation::bcast, "circulant@hosts");
  EXPECT_EQ(composed.name, "circulant@hosts");
  EXPECT_EQ(&composed, &find_algorithm(Operation::bcast, "circulant@hosts")) << "made once";
  EXPECT_EQ(composed.passing(12, 3), 3);
  EXPECT_EQ(find_algorithm(Operation::allgather, "ring@byhost").passing(12, 3), 12);
  const auto refused = [](Operation operation, const char* name) -> std::string {
    try {
      (void)find_algorithm(operation, name);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_EQ(refused(Operation::bcast, "circulant@moon"),
            "no bcast algorithm 'circulant@moon'; circulant can be had as it is or with @hosts, @lanes");
  EXPECT_THAT(refused(Operation::bcast, "magic@hosts"), HasSubstr("no bcast algorithm 'magic'; known: "));
  EXPECT_EQ(refused(Operation::gather, "ls@hosts"),
            "no gather algorithm 'ls@hosts'; ls can be had only as it is");
}

}  // namespace
}  // namespace papfft::comm
