// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/bench/collective_settings.hpp"
#include "papfft/collectives.hpp"

namespace papfft::app {

/// The data of a call. Words depend on the call, the rank and the place, so that no old, foreign or shifted data pass.
///
/// Word i of a rank is first + step(i): its sum over the ranks is easy to tell. Floats are whole numbers of so few bits that
/// sums are exact in any order.
class CollectiveData {
 public:
  /// @param is_float  what the words are, in a reduction
  CollectiveData(comm::Operation operation, const Case& size, int ranks, int rank, int root, bool is_float);

  /// New data for the call with this number.
  void fill(std::uint64_t call);
  [[nodiscard]] bool is_correct() const;

  void call(comm::Collectives& comm, const std::string& algorithm);
  /// The same by somebody else. @param group  of the same ranks
  void call_by(const comm::Collectives& group, const std::function<void(const comm::CallArguments&)>& by);

  /// Ours, started.
  [[nodiscard]] comm::Pending start(comm::Collectives& comm, const std::string& algorithm);
  /// Stock MPI_Iscatter, MPI_Igather and so on.
  void post(MPI_Comm comm, MPI_Request& request);

 private:
  using Word = std::uint32_t;
  static constexpr Word kStep = 0x9E3779B1U;  // odd: the words of a block differ
  static constexpr int kExactBits = 24;       // of a float's whole numbers
  static constexpr int kMostBits = 12;

  /// @param sum  one of MPI's own operations, as the stock reductions know no other
  [[nodiscard]] comm::CallArguments arguments(const comm::Collectives& group, const std::string& algorithm,
                                              const comm::Reducer& sum);
  [[nodiscard]] MPI_Datatype type() const { return is_float_ ? MPI_FLOAT : MPI_UINT32_T; }
  [[nodiscard]] Word first(int rank) const;
  [[nodiscard]] Word word(Word first, std::size_t i, Word ranks) const;
  [[nodiscard]] std::span<Word> block_of(std::vector<Word>& words, int rank) const;
  [[nodiscard]] std::span<const Word> block_of(const std::vector<Word>& words, int rank) const;
  void fill_block(std::span<Word> words, int rank) const;
  [[nodiscard]] bool holds(std::span<const Word> words, Word start, Word ranks, std::size_t begin = 0) const;
  /// Who has given a block for a pair of ranks, as first() takes it: the data of each pair differ.
  [[nodiscard]] int pair(int source, int target) const { return source * ranks_ + target; }
  /// The root's input is where everybody's result is: a broadcast.
  [[nodiscard]] bool is_one_buffer() const {
    return row_.before == comm::Holder::root && !row_.is_per_rank();
  }

  const comm::OperationTraits& row_;
  bool is_float_;
  int bits_;  // of a float word's first and of its step
  int ranks_;
  int rank_;
  int root_;
  std::size_t block_;
  /// Of the ranks' blocks, where the operation has any. If it has one per pair: of what this rank has for each, and gets from each.
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> block_bytes_;  // the same, in bytes
  std::vector<int> int_counts_;           // and as MPI has them
  std::vector<int> int_offsets_;
  std::size_t all_ = 0;
  std::uint64_t call_ = 0;
  std::vector<Word> send_;
  std::vector<Word> recv_;
};

}  // namespace papfft::app
