// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "comm/mpi/mpi_buffer.hpp"

namespace papfft::comm {
namespace {

/// The right operand unless it is 0: associative, not commutative.
void last(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* left = static_cast<const double*>(in);
  auto* right = static_cast<double*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = right[i] != 0 ? right[i] : left[i];
}

enum class Out { aside, left, right };

/// What `reducer` makes of these, with its result in this place.
std::vector<double> combined(const MpiReducer& reducer, std::vector<double> left, std::vector<double> right,
                             Out out) {
  std::vector<double> aside(left.size(), -1);
  std::vector<double>& sum = out == Out::aside ? aside : out == Out::left ? left : right;
  reducer.combine(reinterpret_cast<const std::byte*>(left.data()),
                  reinterpret_cast<const std::byte*>(right.data()), reinterpret_cast<std::byte*>(sum.data()),
                  sum.size() * sizeof(double));
  return sum;
}

TEST(MpiReducer, CombinesWhereverTheResultGoes) {
  MPI_Op ordered = MPI_OP_NULL;
  MPI_Op_create(last, 0, &ordered);
  // More and less than what it takes at once, and no multiple of it.
  for (const std::size_t n : {std::size_t{1}, std::size_t{1024}, std::size_t{1025}, std::size_t{70001}}) {
    std::vector<double> left(n);
    std::vector<double> right(n);
    std::vector<double> sums(n);
    std::vector<double> lasts(n);
    for (std::size_t i = 0; i < n; ++i) {
      left[i] = static_cast<double>(i) + 0.5;
      right[i] = i % 3 == 0 ? 0 : -static_cast<double>(2 * i);
      sums[i] = left[i] + right[i];
      lasts[i] = i % 3 == 0 ? left[i] : right[i];
    }
    for (const Out out : {Out::aside, Out::left, Out::right}) {
      EXPECT_EQ(combined(MpiReducer(MPI_SUM, MPI_DOUBLE), left, right, out), sums) << n;
      EXPECT_EQ(combined(MpiReducer(ordered, MPI_DOUBLE), left, right, out), lasts) << n;
    }
  }
  MPI_Op_free(&ordered);
}

}  // namespace
}  // namespace papfft::comm
