// SPDX-License-Identifier: MIT
// What the tests of collectives against the installed MPI have in common.
#pragma once
#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm::test {

/// A hang becomes a failure that says who waits for whom.
inline Options quick() {
  Options o = Options::from_environment();
  o.stuck_after = std::chrono::seconds(60);
  return o;
}

/// Whole numbers: their sums are exact.
inline std::vector<double> numbers(int rank, std::integral auto count) {
  const auto n = static_cast<std::size_t>(count);
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<double>((i * 37 + static_cast<std::size_t>(rank) * 101) % 1000);
  return v;
}

inline std::vector<double> room(int count) {
  return std::vector<double>(static_cast<std::size_t>(count), -1);
}

/// What a call may name: all algorithms, MPI's own, and to leave the choice.
inline std::vector<std::string> names(Operation operation) {
  std::vector<std::string> result = {"auto", "mpi"};
  for (const Algorithm* a : algorithms()) {
    if (a->operation == operation) result.emplace_back(a->name);
  }
  return result;
}

struct Type {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  ~Type() { MPI_Type_free(&t); }
};

/// a then b: keep the last non-zero; associative, not commutative. On pairs {value, gap}.
inline void keep_last(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* a = static_cast<const int*>(in);
  auto* b = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i) {
    if (b[2 * i] == 0) b[2 * i] = a[2 * i];
  }
}

}  // namespace papfft::comm::test
