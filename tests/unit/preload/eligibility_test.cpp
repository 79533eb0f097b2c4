// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/eligibility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace papfft::comm::preload {
namespace {

TEST(Eligibility, MpisOperationsAreOursOnTheirOwnDatatypesAlone) {
  struct Case {
    OpKind op;
    std::vector<TypeKind> types;
  };
  const std::vector<Case> defined = {
      {OpKind::extreme, {TypeKind::integer, TypeKind::other_integer, TypeKind::floating}},
      {OpKind::arithmetic,
       {TypeKind::integer, TypeKind::other_integer, TypeKind::floating, TypeKind::complex}},
      {OpKind::logical, {TypeKind::integer, TypeKind::logical}},
      {OpKind::bitwise, {TypeKind::integer, TypeKind::other_integer, TypeKind::byte}},
      {OpKind::with_place, {TypeKind::pair}}};
  for (const Case& c : defined) {
    for (int t = 0; t <= static_cast<int>(TypeKind::other); ++t) {
      const auto type = static_cast<TypeKind>(t);
      const bool is_defined = std::ranges::find(c.types, type) != c.types.end();
      EXPECT_EQ(reason_to_pass(c.op, type, true), is_defined ? Reason::none : Reason::unknown_combination)
          << "operation kind " << static_cast<int>(c.op) << ", datatype kind " << t;
    }
  }
}

TEST(Eligibility, UsersOperations) {
  EXPECT_EQ(reason_to_pass(OpKind::commutative, TypeKind::other, true), Reason::none);
  EXPECT_EQ(reason_to_pass(OpKind::commutative, TypeKind::floating, true), Reason::none);
  EXPECT_EQ(reason_to_pass(OpKind::commutative, TypeKind::other, false), Reason::unknown_combination);
  EXPECT_EQ(reason_to_pass(OpKind::ordered, TypeKind::floating, true), Reason::ordered);
  EXPECT_EQ(reason_to_pass(OpKind::invalid, TypeKind::floating, true), Reason::invalid);
}

TEST(Eligibility, Groups) {
  EXPECT_EQ(reason_to_pass(GroupFacts{.ranks = 2}), Reason::none);
  EXPECT_EQ(reason_to_pass(GroupFacts{.ranks = 1}), Reason::one_rank);
  EXPECT_EQ(reason_to_pass(GroupFacts{.ranks = 4, .is_inter = true}), Reason::intercommunicator);
  EXPECT_EQ(reason_to_pass(GroupFacts{.ranks = 4, .has_strangers = true}), Reason::strangers);
}

TEST(Eligibility, Sizes) {
  Settings settings;
  settings.least_bytes = 1000;
  EXPECT_EQ(reason_to_pass(Operation::bcast, 999, settings), Reason::too_short);
  EXPECT_EQ(reason_to_pass(Operation::bcast, 1000, settings), Reason::none);
  settings.least_bytes = 0;
  EXPECT_EQ(reason_to_pass(Operation::bcast, 0, settings), Reason::too_short) << "a call of nothing is MPI's";
}

TEST(Eligibility, SizesThatOnlyTheirOwnersKnowDecideNothing) {
  Settings settings;
  EXPECT_EQ(reason_to_pass(Operation::gatherv, 1U << 30U, settings), Reason::not_taken);
  settings.operations.fill(true);
  for (const Operation operation : {Operation::gatherv, Operation::scatterv, Operation::alltoallv}) {
    EXPECT_EQ(reason_to_pass(operation, 0, settings), Reason::none);
    EXPECT_EQ(reason_to_pass(operation, 1U << 30U, settings), Reason::none);
  }
}

}  // namespace
}  // namespace papfft::comm::preload
