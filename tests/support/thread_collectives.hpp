// SPDX-License-Identifier: MIT
// What the tests of collectives with ranks as threads have in common: groups, data, and the time after which a hang fails.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "comm/schedule/core/registry.hpp"
#include "comm/transport/threads/thread_group.hpp"
#include "papfft/collectives.hpp"

namespace papfft::comm::test {

/// A hang becomes a failure that says who waits for whom.
inline Options quick() {
  Options o;
  o.stuck_after = std::chrono::seconds(30);
  return o;
}

struct Group {
  int ranks;
  std::size_t elements;
  std::uint32_t seed;
  std::size_t piped_from_bytes = 0;  // as ThreadGroup's

  static std::string name(const testing::TestParamInfo<Group>& test) {
    return "P" + std::to_string(test.param.ranks) + "_n" + std::to_string(test.param.elements) +
           (test.param.piped_from_bytes > 0 ? "_pipes" : "");
  }
};

/// A test with a group of ranks as threads.
class GroupTest : public testing::TestWithParam<Group> {
 protected:
  /// On each rank, with "auto" and with every algorithm of the operation.
  void for_all(Operation operation, const std::function<void(Collectives&, std::string_view)>& body) {
    ThreadGroup(GetParam().ranks, GetParam().seed, {}, GetParam().piped_from_bytes)
        .run([&](Transport& transport) {
          Collectives comm(transport, quick());
          body(comm, "auto");
          for (const Algorithm* algorithm : algorithms()) {
            if (algorithm->operation == operation) body(comm, algorithm->name);
          }
        });
  }
};

/// A group with a session's background thread or without.
struct SessionGroup {
  int ranks;
  std::size_t elements;
  std::uint32_t seed;
  bool background;
  std::size_t piped_from_bytes = 0;  // as ThreadGroup's

  static std::string name(const testing::TestParamInfo<SessionGroup>& test) {
    return "P" + std::to_string(test.param.ranks) + "_n" + std::to_string(test.param.elements) +
           (test.param.background ? "" : "_without_thread") +
           (test.param.piped_from_bytes > 0 ? "_pipes" : "");
  }
};

/// What a rank contributes to a call, unlike all other ranks and calls.
inline std::vector<int> block(int call, int rank, std::size_t n) {
  std::vector<int> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = call * 1000003 + rank * 1009 + static_cast<int>(i);
  return v;
}
/// All ranks' blocks.
inline std::vector<int> whole(int call, int ranks, std::size_t n) {
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r) {
    const auto one = block(call, r, n);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// Three bytes: an odd size, and no number type of MPI's.
using Triple = std::array<std::uint8_t, 3>;

inline std::vector<Triple> ramp(std::size_t first, std::size_t count) {
  std::vector<Triple> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t x = first + i;
    v[i] = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(x >> 8),
            static_cast<std::uint8_t>(x * 7)};
  }
  return v;
}

/// A digit of each rank's own: the sum shows who was counted how often.
inline std::uint64_t contribution(int rank, std::size_t i) {
  return (std::uint64_t{1} << static_cast<unsigned>(4 * rank)) * (1 + i % 3);
}
inline std::uint64_t sum_of_all(int ranks, std::size_t i) {
  std::uint64_t sum = 0;
  for (int r = 0; r < ranks; ++r) sum += contribution(r, i);
  return sum;
}
inline std::vector<std::uint64_t> contributions(int rank, std::size_t n) {
  std::vector<std::uint64_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = contribution(rank, i);
  return v;
}

/// What is said of arguments that the call refuses.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "nothing thrown";
}

}  // namespace papfft::comm::test
