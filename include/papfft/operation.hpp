// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace papfft::comm {

/// The collective operations. The rows of kOperations below say what each one is.
enum class Operation : std::uint8_t {
  scatter,
  gather,
  bcast,
  reduce,
  allgather,
  allgatherv,  ///< as allgather; apart because other algorithms suit blocks of unequal size
  allreduce,
  reduce_scatter,
  alltoall,
  alltoallv,  ///< as alltoall; apart because no rank knows the sizes of the blocks of others
  gatherv,    ///< as gather; apart because the root alone knows the sizes of all blocks
  scatterv    ///< as scatter; apart because the root alone knows the sizes of all blocks
};

/// Who holds the data on one side of an operation, that is, before it or after it.
enum class Holder : std::uint8_t {
  root,    ///< the root holds everything, the others hold nothing
  owner,   ///< each rank holds the block that belongs to it
  all,     ///< every rank holds everything
  source,  ///< there is a block for each pair of ranks, and the rank that it comes from holds it
  target   ///< the same, and the rank that it goes to holds it
};

/// What an operation is. Contract, size checks, typed calls, calls of the MPI library, the choice of an algorithm, the
/// command line and the C interface take what they need from here, so that a new operation is an enumerator and a row.
struct OperationTraits {
  Operation operation = Operation::scatter;
  std::string_view name;
  Holder before = Holder::root;  ///< who holds the input: `send`
  Holder after = Holder::root;   ///< who holds the result: `recv`
  bool reduces = false;          ///< the ranks' inputs are combined
  bool takes_sizes = false;      ///< the ranks' blocks may differ in size (CallArguments::block_bytes)
  /// Then a rank knows the sizes of the blocks that it holds before or after, and no others. So nothing that all ranks must agree
  /// on may depend on sizes, and no block may pass through a third rank.
  bool sizes_are_own = false;
  std::optional<Operation> reverse = {};  ///< the operation that the reversed schedules implement

  /// One rank is the root; of the other operations, the argument `root` means nothing.
  [[nodiscard]] constexpr bool is_rooted() const { return before == Holder::root || after == Holder::root; }
  /// The data are a block for each pair of ranks. So a rank has one block for each rank, and gets one from each.
  [[nodiscard]] constexpr bool is_per_pair() const { return before == Holder::source; }
  /// The data are one block per rank, or per pair of ranks. Otherwise they are one vector that belongs to nobody.
  [[nodiscard]] constexpr bool is_per_rank() const {
    return before == Holder::owner || after == Holder::owner || is_per_pair();
  }
};

/// In the order of the enumerators.
inline constexpr std::array kOperations = {
    OperationTraits{.operation = Operation::scatter,
                    .name = "scatter",
                    .before = Holder::root,
                    .after = Holder::owner,
                    .reverse = Operation::gather},
    OperationTraits{.operation = Operation::gather,
                    .name = "gather",
                    .before = Holder::owner,
                    .after = Holder::root,
                    .reverse = Operation::scatter},
    OperationTraits{.operation = Operation::bcast,
                    .name = "bcast",
                    .before = Holder::root,
                    .after = Holder::all,
                    .reverse = Operation::reduce},
    OperationTraits{.operation = Operation::reduce,
                    .name = "reduce",
                    .before = Holder::all,
                    .after = Holder::root,
                    .reduces = true,
                    .reverse = Operation::bcast},
    OperationTraits{.operation = Operation::allgather,
                    .name = "allgather",
                    .before = Holder::owner,
                    .after = Holder::all,
                    .reverse = Operation::reduce_scatter},
    OperationTraits{.operation = Operation::allgatherv,
                    .name = "allgatherv",
                    .before = Holder::owner,
                    .after = Holder::all,
                    .takes_sizes = true,
                    .reverse = Operation::reduce_scatter},
    OperationTraits{.operation = Operation::allreduce,
                    .name = "allreduce",
                    .before = Holder::all,
                    .after = Holder::all,
                    .reduces = true},
    OperationTraits{.operation = Operation::reduce_scatter,
                    .name = "reduce_scatter",
                    .before = Holder::all,
                    .after = Holder::owner,
                    .reduces = true,
                    .takes_sizes = true,
                    .reverse = Operation::allgather},
    OperationTraits{.operation = Operation::alltoall,
                    .name = "alltoall",
                    .before = Holder::source,
                    .after = Holder::target},
    OperationTraits{.operation = Operation::alltoallv,
                    .name = "alltoallv",
                    .before = Holder::source,
                    .after = Holder::target,
                    .takes_sizes = true,
                    .sizes_are_own = true},
    OperationTraits{.operation = Operation::gatherv,
                    .name = "gatherv",
                    .before = Holder::owner,
                    .after = Holder::root,
                    .takes_sizes = true,
                    .sizes_are_own = true,
                    .reverse = Operation::scatterv},
    OperationTraits{.operation = Operation::scatterv,
                    .name = "scatterv",
                    .before = Holder::root,
                    .after = Holder::owner,
                    .takes_sizes = true,
                    .sizes_are_own = true,
                    .reverse = Operation::gatherv},
};

inline constexpr int kOperationCount = static_cast<int>(kOperations.size());

/// Their names, in the same order.
inline constexpr auto kOperationNames = [] {
  std::array<std::string_view, kOperations.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names.at(i) = kOperations.at(i).name;
  return names;
}();

/// The row of an operation.
[[nodiscard]] constexpr const OperationTraits& traits(Operation operation) {
  return kOperations.at(static_cast<std::size_t>(operation));
}

[[nodiscard]] constexpr std::string_view to_string(Operation operation) { return traits(operation).name; }
[[nodiscard]] constexpr bool is_rooted(Operation operation) { return traits(operation).is_rooted(); }
[[nodiscard]] constexpr bool is_reduction(Operation operation) { return traits(operation).reduces; }
/// The data are blocks, one per rank or per pair of ranks, and not one vector.
[[nodiscard]] constexpr bool moves_per_rank(Operation operation) { return traits(operation).is_per_rank(); }

static_assert(
    [] {
      for (std::size_t i = 0; i < kOperations.size(); ++i) {
        if (kOperations.at(i).operation != static_cast<Operation>(i)) return false;
      }
      return true;
    }(),
    "kOperations must be in the order of the enumerators");

}  // namespace papfft::comm
