// SPDX-License-Identifier: MIT
// What the tests of guarded calls have in common: a program of mixed calls, and what each rank saw of it.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "papfft/collectives.hpp"

namespace papfft::comm::test {

/// By these decisions "auto" gives calls of all sizes to algorithms of ours, so that they are guarded.
inline const std::string& ours_everywhere() {
  static const std::string table = [] {
    std::string text = "papfft-decisions 1\n";
    for (const char* bytes : {" 16", " 256", " 4096", " 65536"}) {
      for (const char* way : {"bcast bnom", "reduce bnom", "scatter lin", "gather lin", "allgather ring",
                              "allgatherv ring", "allreduce recursive-doubling", "reduce_scatter ring"}) {
        const std::string words = way;
        const auto space = words.find(' ');
        text += words.substr(0, space) + bytes + words.substr(space) + "\n";
      }
    }
    return text;
  }();
  return table;
}

/// Values whose sums are exact, so that they are the same by whatever way.
inline std::vector<int> values(std::size_t n, int rank, int call) {
  std::vector<int> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = (rank + 1) * 1000 + call + static_cast<int>(i % 13);
  return v;
}

/// One call of "auto", checked. @param kind  which operation
inline void checked_call(Collectives& comm, int kind, std::size_t n, int root, int call) {
  const int p = comm.size();
  const int me = comm.rank();
  const auto ranks = static_cast<std::size_t>(p);
  const std::vector<int> mine = values(n, me, call);
  std::vector<int> all;
  for (int r = 0; r < p; ++r) {
    const auto other = values(n, r, call);
    all.insert(all.end(), other.begin(), other.end());
  }
  std::vector<int> sum(n);
  for (int r = 0; r < p; ++r) {
    for (std::size_t i = 0; i < n; ++i) sum[i] += all[static_cast<std::size_t>(r) * n + i];
  }
  std::vector<int> whole(n * ranks);
  std::vector<int> one(n);
  switch (kind) {
    case 0:
      if (me == root) one = mine;
      comm.bcast<int>(one, root);
      ASSERT_EQ(one, values(n, root, call));
      break;
    case 1:
      comm.gather<int>(mine, whole, root);
      if (me == root) {
        ASSERT_EQ(whole, all);
      }
      break;
    case 2:
      comm.scatter<int>(all, one, root);
      ASSERT_EQ(one, mine);
      break;
    case 3:
      comm.allgather<int>(mine, whole);
      ASSERT_EQ(whole, all);
      break;
    default: {
      const std::vector<std::size_t> counts(ranks, n);
      comm.allgatherv<int>(mine, whole, counts);
      ASSERT_EQ(whole, all);
    }
  }
}

/// All ranks saw the same. @param mine  any text
inline void expect_same_everywhere(Collectives& comm, const std::string& mine) {
  const std::vector<std::size_t> hash{std::hash<std::string>()(mine)};
  std::vector<std::size_t> all(static_cast<std::size_t>(comm.size()));
  comm.allgather<std::size_t>(hash, all, "ring");
  EXPECT_EQ(all, std::vector<std::size_t>(all.size(), hash[0])) << mine;
}

/// What the guard counted.
inline std::string text_of(const std::vector<GuardedCalls>& guarded) {
  std::string text;
  for (const GuardedCalls& g : guarded) {
    text += std::string(to_string(g.operation)) + " " + std::to_string(g.from_bytes) + ": " +
            std::to_string(g.calls) + " calls, " + std::to_string(g.trials) + " trials, " +
            std::to_string(g.changes) + " changes, " + (g.is_stock ? "stock" : "ours") + "\n";
  }
  return text;
}

/// Mixed calls of mixed sizes, the same on all ranks. @return by which algorithms they went
inline std::string mixed_calls(Collectives& comm, int calls, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string ways;
  for (int call = 0; call < calls; ++call) {
    const int kind = static_cast<int>(random() % 5);
    const std::size_t n = std::size_t{1} << (random() % 9);
    const int root = static_cast<int>(random() % 7) % comm.size();
    checked_call(comm, kind, n + random() % n, root, call);
    if (testing::Test::HasFatalFailure()) return ways;
    ways += std::string(comm.last_call().algorithm) + " ";
  }
  return ways;
}

}  // namespace papfft::comm::test
