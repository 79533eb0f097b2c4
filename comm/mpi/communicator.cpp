// SPDX-License-Identifier: MIT
#include <array>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "comm/mpi/decisions_file.hpp"
#include "comm/mpi/mpi_buffer.hpp"
#include "comm/mpi/mpi_lifetime.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "comm/mpi/tuned_stock.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {

namespace {

/// MPI's own collectives count in int.
std::vector<int> int_counts(std::span<const std::size_t> bytes, std::size_t unit) {
  std::vector<int> result;
  for (const std::size_t b : bytes) result.push_back(static_cast<int>(b / unit));
  return result;
}

}  // namespace

detail::OwnedTransport::OwnedTransport(MPI_Comm comm, bool share_memory)
    : transport(std::make_unique<MpiTransport>(comm, share_memory)),
      stock(std::make_unique<TunedStock>(transport->native())) {
  const Hosts hosts(transport->size(), transport->host_of_rank());
  decisions = shared_decisions(transport->native(), {.library = mpi_library(),
                                                     .ranks = transport->size(),
                                                     .hosts = hosts.count(),
                                                     .is_crowded = transport->is_any_crowded()});
  if (decisions.empty()) return;
  int all_can = StockVariables::are_enabled() ? 1 : 0;
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, &all_can, 1, MPI_INT, MPI_MIN, transport->native());
  has_tuned_stock = all_can == 1;
}
detail::OwnedTransport::~OwnedTransport() = default;
detail::OwnedTransport::OwnedTransport(OwnedTransport&&) noexcept = default;

Transport& detail::as_transport(MpiTransport& transport) { return transport; }
MPI_Comm detail::native(const MpiTransport& transport) { return transport.native(); }

namespace {

constexpr auto kMostStockBytes = static_cast<std::size_t>(std::numeric_limits<int>::max());

[[noreturn]] void refuse_stock_size() {
  throw std::invalid_argument("algorithm 'mpi': MPI's own collectives take at most 2 GiB");
}

const MpiReducer& mpi_reducer(const CallArguments& a) {
  const auto* reducer = dynamic_cast<const MpiReducer*>(a.reducer);
  if (reducer == nullptr) {
    throw std::invalid_argument(std::string(to_string(a.operation)) +
                                " 'mpi': needs one of MPI's operations");
  }
  return *reducer;
}

/// A call of MPI's own. MPI forbids the same memory on both sides; a block that is in its place already is MPI_IN_PLACE.
struct StockCall {
  MPI_Comm comm;
  const CallArguments& a;
  int rank;

  [[nodiscard]] int bytes() const { return static_cast<int>(a.bytes); }
  [[nodiscard]] int elements() const { return static_cast<int>(a.bytes / a.element_bytes); }
  [[nodiscard]] const void* send() const { return a.send.data(); }
  [[nodiscard]] void* recv() const { return a.recv.data(); }
  /// Where this rank's block is in the whole vector, which begins at `whole`.
  [[nodiscard]] const std::byte* own(const std::byte* whole) const {
    return whole + static_cast<std::size_t>(rank) * a.bytes;
  }
  [[nodiscard]] const void* send_unless(bool in_place) const { return in_place ? MPI_IN_PLACE : send(); }
};

void stock_scatter(const StockCall& c) {
  const bool in_place = c.rank == c.a.root && c.a.recv.data() == c.own(c.a.send.data());
  PAPFFT_MPI(MPI_Scatter, c.send(), c.bytes(), MPI_BYTE, in_place ? MPI_IN_PLACE : c.recv(), c.bytes(),
             MPI_BYTE, c.a.root, c.comm);
}

void stock_gather(const StockCall& c) {
  const bool in_place = c.rank == c.a.root && c.a.send.data() == c.own(c.a.recv.data());
  PAPFFT_MPI(MPI_Gather, c.send_unless(in_place), c.bytes(), MPI_BYTE, c.recv(), c.bytes(), MPI_BYTE,
             c.a.root, c.comm);
}

void stock_bcast(const StockCall& c) {
  PAPFFT_MPI(MPI_Bcast, c.recv(), c.bytes(), MPI_BYTE, c.a.root, c.comm);
}

void stock_reduce(const StockCall& c) {
  const MpiReducer& reducer = mpi_reducer(c.a);
  const bool in_place = c.rank == c.a.root && c.send() == c.recv();
  PAPFFT_MPI(MPI_Reduce, c.send_unless(in_place), c.recv(), c.elements(), reducer.type(), reducer.op(),
             c.a.root, c.comm);
}

void stock_allgather(const StockCall& c) {
  const bool in_place = c.a.send.data() == c.own(c.a.recv.data());
  PAPFFT_MPI(MPI_Allgather, c.send_unless(in_place), c.bytes(), MPI_BYTE, c.recv(), c.bytes(), MPI_BYTE,
             c.comm);
}

/// Sizes of blocks that follow each other, as MPI has them.
struct IntBlocks {
  explicit IntBlocks(std::span<const std::size_t> bytes)
      : counts(int_counts(bytes, 1)), offsets(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  }
  std::vector<int> counts;
  std::vector<int> offsets;
};

void stock_allgatherv(const StockCall& c) {
  if (c.a.block_bytes.empty()) return stock_allgather(c);
  const IntBlocks blocks(c.a.block_bytes);
  const auto self = static_cast<std::size_t>(c.rank);
  const bool in_place = c.a.send.data() == c.a.recv.data() + blocks.offsets[self];
  PAPFFT_MPI(MPI_Allgatherv, c.send_unless(in_place), blocks.counts[self], MPI_BYTE, c.recv(),
             blocks.counts.data(), blocks.offsets.data(), MPI_BYTE, c.comm);
}

void stock_allreduce(const StockCall& c) {
  const MpiReducer& reducer = mpi_reducer(c.a);
  PAPFFT_MPI(MPI_Allreduce, c.send_unless(c.send() == c.recv()), c.recv(), c.elements(), reducer.type(),
             reducer.op(), c.comm);
}

void stock_reduce_scatter(const StockCall& c) {
  const MpiReducer& reducer = mpi_reducer(c.a);
  if (c.a.block_bytes.empty()) {
    PAPFFT_MPI(MPI_Reduce_scatter_block, c.send(), c.recv(), c.elements(), reducer.type(), reducer.op(),
               c.comm);
    return;
  }
  const std::vector<int> counts = int_counts(c.a.block_bytes, c.a.element_bytes);
  PAPFFT_MPI(MPI_Reduce_scatter, c.send(), c.recv(), counts.data(), reducer.type(), reducer.op(), c.comm);
}

void stock_alltoall(const StockCall& c) {
  PAPFFT_MPI(MPI_Alltoall, c.send(), c.bytes(), MPI_BYTE, c.recv(), c.bytes(), MPI_BYTE, c.comm);
}

void stock_alltoallv(const StockCall& c) {
  if (c.a.recv.size() > kMostStockBytes) refuse_stock_size();
  const IntBlocks out(c.a.block_bytes);
  const IntBlocks in(c.a.recv_block_bytes);
  PAPFFT_MPI(MPI_Alltoallv, c.send(), out.counts.data(), out.offsets.data(), MPI_BYTE, c.recv(),
             in.counts.data(), in.offsets.data(), MPI_BYTE, c.comm);
}

void stock_gatherv(const StockCall& c) {
  const IntBlocks blocks(c.a.block_bytes);  // at the root alone
  const bool in_place =
      c.rank == c.a.root && c.send() == c.a.recv.data() + blocks.offsets[static_cast<std::size_t>(c.rank)];
  PAPFFT_MPI(MPI_Gatherv, c.send_unless(in_place), static_cast<int>(c.a.send.size()), MPI_BYTE, c.recv(),
             blocks.counts.data(), blocks.offsets.data(), MPI_BYTE, c.a.root, c.comm);
}

void stock_scatterv(const StockCall& c) {
  const IntBlocks blocks(c.a.block_bytes);  // at the root alone
  const bool in_place =
      c.rank == c.a.root && c.recv() == c.a.send.data() + blocks.offsets[static_cast<std::size_t>(c.rank)];
  PAPFFT_MPI(MPI_Scatterv, c.send(), blocks.counts.data(), blocks.offsets.data(), MPI_BYTE,
             in_place ? MPI_IN_PLACE : c.recv(), static_cast<int>(c.a.recv.size()), MPI_BYTE, c.a.root,
             c.comm);
}

/// MPI's argument lists, in the order of the operations. An operation that is not here has no call of MPI's.
constexpr auto kStockCalls = [] {
  std::array<void (*)(const StockCall&), kOperations.size()> calls{};
  const auto of = [&](Operation operation) -> auto& { return calls.at(static_cast<std::size_t>(operation)); };
  of(Operation::scatter) = stock_scatter;
  of(Operation::gather) = stock_gather;
  of(Operation::bcast) = stock_bcast;
  of(Operation::reduce) = stock_reduce;
  of(Operation::allgather) = stock_allgather;
  of(Operation::allgatherv) = stock_allgatherv;
  of(Operation::allreduce) = stock_allreduce;
  of(Operation::reduce_scatter) = stock_reduce_scatter;
  of(Operation::alltoall) = stock_alltoall;
  of(Operation::alltoallv) = stock_alltoallv;
  of(Operation::gatherv) = stock_gatherv;
  of(Operation::scatterv) = stock_scatterv;
  return calls;
}();

}  // namespace

void detail::mpi_stock_call(MPI_Comm comm, const CallArguments& a) {
  if (mpi_has_ended()) require_mpi();
  int rank = 0;
  PAPFFT_MPI(MPI_Comm_rank, comm, &rank);
  if (a.bytes > kMostStockBytes) refuse_stock_size();
  const auto stock = kStockCalls.at(static_cast<std::size_t>(a.operation));
  if (stock == nullptr) {
    throw std::invalid_argument(std::string(to_string(a.operation)) + ": MPI has no such call");
  }
  stock({comm, a, rank});
}

void detail::mpi_stock_call(TunedStock& stock, const CallArguments& a) { stock.call(a); }

}  // namespace papfft::comm
