// SPDX-License-Identifier: MIT
#include "app/bench/collective_data.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "comm/mpi/mpi_buffer.hpp"
#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

using comm::check_mpi;
using comm::Operation;

CollectiveData::CollectiveData(Operation operation, const Case& size, int ranks, int rank, int root,
                               bool is_float)
    : row_(comm::traits(operation)),
      is_float_(is_float && comm::is_reduction(operation)),
      bits_(std::min(kMostBits,
                     kExactBits - 1 - static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))))),
      ranks_(ranks),
      rank_(rank),
      root_(root),
      block_(size.block_bytes / sizeof(Word)),
      counts_(size.counts) {
  if (row_.is_per_pair())
    std::rotate(counts_.begin(), counts_.begin() + rank, counts_.end());  // see CallSize
  for (const std::size_t count : counts_) {
    offsets_.push_back(all_);
    all_ += count;
  }
  const std::size_t mine = counts_.empty() ? block_ : counts_[static_cast<std::size_t>(rank)];
  const auto words = [&](comm::Holder holder) {
    if (holder == comm::Holder::root && rank != root) return std::size_t{0};
    if (!row_.is_per_rank()) return block_;
    return holder == comm::Holder::owner ? mine : all_;
  };
  recv_.resize(words(row_.after));
  if (!is_one_buffer()) send_.resize(words(row_.before));
  for (std::size_t r = 0; r < counts_.size(); ++r) {
    block_bytes_.push_back(counts_[r] * sizeof(Word));
    int_counts_.push_back(static_cast<int>(counts_[r]));
    int_offsets_.push_back(static_cast<int>(offsets_[r]));
  }
}

void CollectiveData::fill(std::uint64_t call) {
  call_ = call;
  if (row_.is_per_pair()) {
    for (int r = 0; r < ranks_; ++r) fill_block(block_of(send_, r), pair(rank_, r));
  } else if (row_.before != comm::Holder::root) {
    fill_block(send_, rank_);
  } else if (rank_ == root_ && row_.is_per_rank()) {
    for (int r = 0; r < ranks_; ++r) fill_block(block_of(send_, r), r);
  } else if (rank_ == root_) {
    fill_block(recv_, root_);
  }
}

bool CollectiveData::is_correct() const {
  if (row_.after == comm::Holder::root && rank_ != root_) return true;
  if (row_.reduces) {
    Word sum = 0;
    for (int r = 0; r < ranks_; ++r) sum += first(r);
    const bool is_block = row_.after == comm::Holder::owner;
    return holds(recv_, sum, static_cast<Word>(ranks_),
                 is_block ? offsets_[static_cast<std::size_t>(rank_)] : 0);
  }
  if (row_.after == comm::Holder::owner) return holds(recv_, first(rank_), 1);
  if (row_.before == comm::Holder::root) return holds(recv_, first(root_), 1);
  bool all = true;
  for (int r = 0; r < ranks_; ++r) {
    const int giver = row_.is_per_pair() ? pair(r, rank_) : r;
    all = holds(block_of(recv_, r), first(giver), 1) && all;
  }
  return all;
}

void CollectiveData::call(comm::Collectives& comm, const std::string& algorithm) {
  const comm::MpiReducer sum(MPI_SUM, type());
  comm.call(arguments(comm, algorithm, sum));
}

void CollectiveData::call_by(const comm::Collectives& group,
                             const std::function<void(const comm::CallArguments&)>& by) {
  const comm::MpiReducer sum(MPI_SUM, type());
  by(arguments(group, "mpi", sum));
}

comm::CallArguments CollectiveData::arguments(const comm::Collectives& group, const std::string& algorithm,
                                              const comm::Reducer& sum) {
  const std::span<const std::size_t> sizes =
      row_.takes_sizes ? std::span<const std::size_t>(block_bytes_) : std::span<const std::size_t>();
  return group.prepared({.operation = row_.operation,
                         .element_bytes = sizeof(Word),
                         .root = row_.is_rooted() ? root_ : 0,
                         .algorithm = algorithm,
                         .send = std::as_bytes(std::span(is_one_buffer() ? recv_ : send_)),
                         .recv = std::as_writable_bytes(std::span(recv_)),
                         .reducer = row_.reduces ? &sum : nullptr,
                         .block_bytes = sizes,
                         .recv_block_bytes = row_.is_per_pair() ? sizes : std::span<const std::size_t>()});
}

comm::Pending CollectiveData::start(comm::Collectives& comm, const std::string& algorithm) {
  const auto sum = std::make_shared<const comm::MpiReducer>(MPI_SUM, type());
  return comm.start(arguments(comm, algorithm, *sum), sum);
}

void CollectiveData::post(MPI_Comm comm, MPI_Request& request) {
  const void* const send = send_.data();
  void* const recv = recv_.data();
  const int count = static_cast<int>(block_);
  const int* const counts = int_counts_.data();
  const int* const offsets = int_offsets_.data();
  const int mine = int_counts_.empty() ? count : int_counts_[static_cast<std::size_t>(rank_)];
  const MPI_Datatype word = type();
  const auto posted = [&] {
    switch (row_.operation) {
      case Operation::scatter:
        return MPI_Iscatter(send, count, word, recv, count, word, root_, comm, &request);
      case Operation::gather:
        return MPI_Igather(send, count, word, recv, count, word, root_, comm, &request);
      case Operation::bcast:
        return MPI_Ibcast(recv, count, word, root_, comm, &request);
      case Operation::reduce:
        return MPI_Ireduce(send, recv, count, word, MPI_SUM, root_, comm, &request);
      case Operation::allgather:
        return MPI_Iallgather(send, count, word, recv, count, word, comm, &request);
      case Operation::allgatherv:
        return MPI_Iallgatherv(send, mine, word, recv, counts, offsets, word, comm, &request);
      case Operation::allreduce:
        return MPI_Iallreduce(send, recv, count, word, MPI_SUM, comm, &request);
      case Operation::reduce_scatter:
        return MPI_Ireduce_scatter(send, recv, counts, word, MPI_SUM, comm, &request);
      case Operation::alltoall:
        return MPI_Ialltoall(send, count, word, recv, count, word, comm, &request);
      case Operation::alltoallv:
        return MPI_Ialltoallv(send, counts, offsets, word, recv, counts, offsets, word, comm, &request);
      case Operation::gatherv:
        return MPI_Igatherv(send, mine, word, recv, counts, offsets, word, root_, comm, &request);
      case Operation::scatterv:
        return MPI_Iscatterv(send, counts, offsets, word, recv, mine, word, root_, comm, &request);
    }
    return MPI_ERR_ARG;
  };
  check_mpi(posted(), "a non-blocking collective of MPI");
}

CollectiveData::Word CollectiveData::first(int rank) const {  // splitmix64's finaliser
  std::uint64_t x = call_ * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(rank) + 1;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  x ^= x >> 31U;
  return static_cast<Word>(is_float_ ? x >> (64 - bits_) : x);
}

/// @param ranks  how many words of this place have been added up
CollectiveData::Word CollectiveData::word(Word first, std::size_t i, Word ranks) const {
  const Word step = static_cast<Word>(i) * kStep;
  if (!is_float_) return first + step * ranks;
  return std::bit_cast<Word>(static_cast<float>(first + (step >> (32 - bits_)) * ranks));
}

std::span<CollectiveData::Word> CollectiveData::block_of(std::vector<Word>& words, int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return std::span(words).subspan(offsets_[r], counts_[r]);
}

std::span<const CollectiveData::Word> CollectiveData::block_of(const std::vector<Word>& words,
                                                               int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return std::span(words).subspan(offsets_[r], counts_[r]);
}

void CollectiveData::fill_block(std::span<Word> words, int rank) const {
  const Word start = first(rank);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(start, i, 1);
}

bool CollectiveData::holds(std::span<const Word> words, Word start, Word ranks, std::size_t begin) const {
  Word wrong = 0;
  for (std::size_t i = 0; i < words.size(); ++i) wrong |= words[i] ^ word(start, begin + i, ranks);
  return wrong == 0;
}

}  // namespace papfft::app
