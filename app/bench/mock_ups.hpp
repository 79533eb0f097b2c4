// SPDX-License-Identifier: MIT
// Collectives made of other collectives: what a user could write instead of one call.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "papfft/collectives.hpp"

namespace papfft::app {

/// "scatter+allgather" for bcast, "reduce+bcast" for allreduce, "allgather" for gather, "reduce+scatter" for reduce_scatter; of
/// other operations nothing.
[[nodiscard]] std::string_view mock_up_name(comm::Operation operation);

/// Makes calls by their mock-ups, all of whose parts are `auto`. Keeps the memory that they need for the next call.
class MockUps {
 public:
  /// Collective. A vector that the ranks cannot share evenly is rounded up in memory of its own, which costs the mock-up two
  /// copies.
  /// @param arguments  as Collectives::prepared() makes them
  /// @throws std::invalid_argument  the operation has no mock-up, or the blocks of a reduce_scatter differ in size; else as
  ///                                the calls of the group
  void call(comm::Collectives& group, const comm::CallArguments& arguments);

 private:
  void bcast(comm::Collectives& group, const comm::CallArguments& a);
  void allreduce(comm::Collectives& group, const comm::CallArguments& a);
  void gather(comm::Collectives& group, const comm::CallArguments& a);
  void reduce_scatter(comm::Collectives& group, const comm::CallArguments& a);

  std::vector<std::byte> whole_;
  std::vector<std::byte> block_;
};

}  // namespace papfft::app
