// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
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

std::size_t whole_count(int count, const char* call) {
  if (count < 0) throw std::invalid_argument(std::string(call) + ": a negative count");
  return static_cast<std::size_t>(count);
}

bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

/// Elsewhere than at the root.
void refuse_in_place(const void* buffer, const char* call) {
  if (in_place(buffer))
    throw std::invalid_argument(std::string(call) + ": MPI_IN_PLACE is for the root alone");
}

const std::byte* bytes_of(const void* buffer) { return static_cast<const std::byte*>(buffer); }
std::byte* bytes_of(void* buffer) { return static_cast<std::byte*>(buffer); }

/// `n` elements of a reduction's datatype. A user's operation sees elements laid out as its datatype says, so those with
/// gaps are moved with them, apart from the caller's memory; the caller's own gaps stay untouched, since what comes
/// back comes through MPI.
class ReductionData {
 public:
  /// @throws std::invalid_argument  a datatype that reaches outside its extent
  ReductionData(std::string_view call, const MpiReducer& reducer)
      : type_(reducer.type()), dense_(is_dense(type_)) {
    if (dense_) return;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    PAPFFT_MPI(MPI_Type_get_true_extent, type_, &lower, &extent);
    if (lower < 0 || static_cast<std::size_t>(lower + extent) > reducer.element_bytes()) {
      throw std::invalid_argument(std::string(call) + ": a datatype that reaches outside its extent");
    }
  }

  /// The caller's input, where it is or apart.
  std::span<const std::byte> input(const void* buffer, std::size_t n) {
    const std::size_t bytes = n * extent_bytes(type_);
    if (dense_) return {bytes_of(buffer), bytes};
    input_.resize(bytes);
    move(const_cast<void*>(buffer), input_.data(), n);
    return input_;
  }

  /// Where a result of n elements is to come. @param apart  not into the caller's memory, in any case
  std::span<std::byte> result(void* buffer, std::size_t n, bool apart = false) {
    result_buffer_ = buffer;
    result_count_ = n;
    const std::size_t bytes = n * extent_bytes(type_);
    is_apart_ = apart || !dense_;
    if (!is_apart_) return {bytes_of(buffer), bytes};
    result_.resize(bytes);
    return result_;
  }

  void deliver() {
    if (is_apart_) move(result_.data(), result_buffer_, result_count_);
  }

 private:
  void move(void* from, void* to, std::size_t n) const {
    PackedBuffer source(from, n, type_, true);
    PackedBuffer target(to, n, type_, false);
    std::ranges::copy(source.bytes(), target.bytes().begin());
    target.unpack();
  }

  MPI_Datatype type_;
  bool dense_;
  std::vector<std::byte> input_;
  std::vector<std::byte> result_;
  void* result_buffer_ = nullptr;
  std::size_t result_count_ = 0;
  bool is_apart_ = false;
};

std::vector<std::size_t> whole_counts(const int counts[], int ranks, std::size_t unit, const char* call) {
  std::vector<std::size_t> result;
  result.reserve(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) result.push_back(whole_count(counts[r], call) * unit);
  return result;
}

/// A block for each rank, of any size and anywhere in a caller's buffer, as bytes one block behind the other: the memory itself where
/// the blocks lie so, else a copy.
class PackedBlocks {
 public:
  /// @param displs  in elements
  PackedBlocks(const char* call, const void* buffer, const int counts[], const int displs[], int ranks,
               MPI_Datatype type) {
    const auto extent = static_cast<std::ptrdiff_t>(extent_bytes(type));
    for (int r = 0; r < ranks; ++r) add(call, bytes_of(buffer) + displs[r] * extent, counts[r], type);
    find_place();
  }
  /// Each block has a datatype of its own. @param displs  in bytes
  PackedBlocks(const char* call, const void* buffer, const int counts[], const int displs[], int ranks,
               const MPI_Datatype types[]) {
    for (int r = 0; r < ranks; ++r) add(call, bytes_of(buffer) + displs[r], counts[r], types[r]);
    find_place();
  }

  [[nodiscard]] std::span<const std::size_t> sizes() const { return sizes_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> block(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return bytes_.subspan(offsets_[r], sizes_[r]);
  }

  /// Copies what the caller has there, if there is a copy.
  void pack(int rank) {
    if (!copy_.empty()) std::ranges::copy(at_caller(rank, true).bytes(), block(rank).begin());
  }
  void pack() {
    for (int r = 0; r < std::ssize(sizes_); ++r) pack(r);
  }
  /// Brings a copy back into the caller's buffer.
  void unpack() {
    for (int r = 0; r < std::ssize(sizes_) && !copy_.empty(); ++r) {
      PackedBuffer target = at_caller(r, false);
      std::ranges::copy(block(r), target.bytes().begin());
      target.unpack();
    }
  }

 private:
  struct Place {
    const std::byte* at;
    std::size_t count;
    MPI_Datatype type;
  };

  void add(const char* call, const std::byte* at, int count, MPI_Datatype type) {
    places_.push_back({at, whole_count(count, call), type});
    offsets_.push_back(total_);
    sizes_.push_back(places_.back().count * packed_bytes(type));
    total_ += sizes_.back();
  }

  void find_place() {
    const std::byte* first = nullptr;
    const std::byte* next = nullptr;
    bool is_one_piece = true;
    for (std::size_t r = 0; r < sizes_.size(); ++r) {
      if (sizes_[r] == 0) continue;
      if (first == nullptr) first = next = places_[r].at;
      is_one_piece = is_one_piece && places_[r].at == next && is_dense(places_[r].type);
      next += sizes_[r];
    }
    if (is_one_piece && first != nullptr) {
      bytes_ = {const_cast<std::byte*>(first), total_};
    } else {
      copy_.resize(total_);
      bytes_ = copy_;
    }
  }

  [[nodiscard]] PackedBuffer at_caller(int rank, bool pack) const {
    const Place& place = places_[static_cast<std::size_t>(rank)];
    return {place.at, place.count, place.type, pack};
  }

  std::vector<Place> places_;
  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> offsets_;  // of the blocks, one behind the other
  std::size_t total_ = 0;
  std::vector<std::byte> copy_;
  std::span<std::byte> bytes_;
};

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

void detail::mpi_scatter(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                         std::string_view algorithm) {
  if (comm.rank() != root) {
    refuse_in_place(recvbuf, "scatter");
    PackedBuffer recv(recvbuf, whole_count(recvcount, "scatter"), recvtype, false);
    comm.scatter_bytes({}, recv.bytes(), 1, root, algorithm);
    recv.unpack();
    return;
  }
  const std::size_t count = whole_count(sendcount, "scatter");
  PackedBuffer send(sendbuf, count * static_cast<std::size_t>(comm.size()), sendtype, true);
  if (in_place(recvbuf)) {  // the root's block stays where it is
    const std::size_t block = count * packed_bytes(sendtype);
    comm.scatter_bytes(send.bytes(), send.bytes().subspan(static_cast<std::size_t>(root) * block, block), 1,
                       root, algorithm);
    return;
  }
  PackedBuffer recv(recvbuf, whole_count(recvcount, "scatter"), recvtype, false);
  comm.scatter_bytes(send.bytes(), recv.bytes(), 1, root, algorithm);
  recv.unpack();
}

void detail::mpi_gather(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                        void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                        std::string_view algorithm) {
  if (comm.rank() != root) {
    refuse_in_place(sendbuf, "gather");
    PackedBuffer send(sendbuf, whole_count(sendcount, "gather"), sendtype, true);
    comm.gather_bytes(send.bytes(), {}, 1, root, algorithm);
    return;
  }
  const std::size_t count = whole_count(recvcount, "gather");
  PackedBuffer recv(recvbuf, count * static_cast<std::size_t>(comm.size()), recvtype, in_place(sendbuf));
  if (in_place(sendbuf)) {
    const std::size_t block = count * packed_bytes(recvtype);
    comm.gather_bytes(recv.bytes().subspan(static_cast<std::size_t>(root) * block, block), recv.bytes(), 1,
                      root, algorithm);
  } else {
    PackedBuffer send(sendbuf, whole_count(sendcount, "gather"), sendtype, true);
    comm.gather_bytes(send.bytes(), recv.bytes(), 1, root, algorithm);
  }
  recv.unpack();
}

void detail::mpi_bcast(Collectives& comm, void* buffer, int count, MPI_Datatype type, int root,
                       std::string_view algorithm) {
  PackedBuffer data(buffer, whole_count(count, "bcast"), type, comm.rank() == root);
  comm.bcast_bytes(data.bytes(), 1, root, algorithm);
  if (comm.rank() != root) data.unpack();
}

void detail::mpi_reduce(Collectives& comm, const void* sendbuf, void* recvbuf, int count, MPI_Datatype type,
                        MPI_Op op, int root, std::string_view algorithm) {
  const std::size_t n = packed_bytes(type) == 0 ? 0 : whole_count(count, "reduce");
  const MpiReducer reducer(op, type);
  if (comm.rank() != root) refuse_in_place(sendbuf, "reduce");
  ReductionData data("reduce", reducer);
  const bool is_root = comm.rank() == root;
  const auto input = data.input(in_place(sendbuf) ? recvbuf : sendbuf, n);
  const auto result = is_root ? data.result(recvbuf, n) : std::span<std::byte>();
  comm.reduce_bytes(input, result, reducer, root, algorithm);
  if (is_root) data.deliver();
}

void detail::mpi_allgather(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                           void* recvbuf, int recvcount, MPI_Datatype recvtype, std::string_view algorithm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  PackedBuffer recv(recvbuf, whole_count(recvcount, "allgather") * ranks, recvtype, in_place(sendbuf));
  if (in_place(sendbuf)) {
    const std::size_t block = recv.bytes().size() / ranks;
    comm.allgather_bytes(recv.bytes().subspan(static_cast<std::size_t>(comm.rank()) * block, block),
                         recv.bytes(), 1, algorithm);
  } else {
    PackedBuffer send(sendbuf, whole_count(sendcount, "allgather"), sendtype, true);
    comm.allgather_bytes(send.bytes(), recv.bytes(), 1, algorithm);
  }
  recv.unpack();
}

void detail::mpi_allgatherv(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                            std::string_view algorithm) {
  PackedBlocks recv("allgatherv", recvbuf, recvcounts, displs, comm.size(), recvtype);
  if (in_place(sendbuf)) {
    recv.pack(comm.rank());
    comm.allgatherv_bytes(recv.block(comm.rank()), recv.bytes(), recv.sizes(), 1, algorithm);
  } else {
    PackedBuffer send(sendbuf, whole_count(sendcount, "allgatherv"), sendtype, true);
    comm.allgatherv_bytes(send.bytes(), recv.bytes(), recv.sizes(), 1, algorithm);
  }
  recv.unpack();
}

void detail::mpi_alltoall(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                          void* recvbuf, int recvcount, MPI_Datatype recvtype, std::string_view algorithm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  PackedBuffer recv(recvbuf, whole_count(recvcount, "alltoall") * ranks, recvtype, in_place(sendbuf));
  if (in_place(sendbuf)) {  // what comes would lie over what is still to be sent
    const std::vector<std::byte> send(recv.bytes().begin(), recv.bytes().end());
    comm.alltoall_bytes(send, recv.bytes(), 1, algorithm);
  } else {
    PackedBuffer send(sendbuf, whole_count(sendcount, "alltoall") * ranks, sendtype, true);
    comm.alltoall_bytes(send.bytes(), recv.bytes(), 1, algorithm);
  }
  recv.unpack();
}

namespace {

/// @param send  nothing: the data are where the result is wanted
void exchange(Collectives& comm, std::optional<PackedBlocks> send, PackedBlocks recv,
              std::string_view algorithm) {
  if (send) {
    send->pack();
    comm.alltoallv_bytes(send->bytes(), send->sizes(), recv.bytes(), recv.sizes(), 1, algorithm);
  } else {
    recv.pack();
    const std::vector<std::byte> mine(recv.bytes().begin(), recv.bytes().end());
    comm.alltoallv_bytes(mine, recv.sizes(), recv.bytes(), recv.sizes(), 1, algorithm);
  }
  recv.unpack();
}

/// @tparam Types  MPI_Datatype, or one for each rank
template <typename Types>
void exchange(const char* call, Collectives& comm, const void* sendbuf, const int sendcounts[],
              const int sdispls[], Types sendtypes, void* recvbuf, const int recvcounts[],
              const int rdispls[], Types recvtypes, std::string_view algorithm) {
  std::optional<PackedBlocks> send;
  if (!in_place(sendbuf)) send.emplace(call, sendbuf, sendcounts, sdispls, comm.size(), sendtypes);
  exchange(comm, std::move(send), {call, recvbuf, recvcounts, rdispls, comm.size(), recvtypes}, algorithm);
}

}  // namespace

void detail::mpi_alltoallv(Collectives& comm, const void* sendbuf, const int sendcounts[],
                           const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, std::string_view algorithm) {
  exchange("alltoallv", comm, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
           algorithm);
}

void detail::mpi_alltoallw(Collectives& comm, const void* sendbuf, const int sendcounts[],
                           const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                           const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                           std::string_view algorithm) {
  exchange("alltoallw", comm, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
           recvtypes, algorithm);
}

void detail::mpi_gatherv(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                         void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         int root, std::string_view algorithm) {
  if (comm.rank() != root) {
    refuse_in_place(sendbuf, "gatherv");
    PackedBuffer send(sendbuf, whole_count(sendcount, "gatherv"), sendtype, true);
    comm.gatherv_bytes(send.bytes(), {}, {}, 1, root, algorithm);
    return;
  }
  PackedBlocks recv("gatherv", recvbuf, recvcounts, displs, comm.size(), recvtype);
  if (in_place(sendbuf)) {
    recv.pack(root);
    comm.gatherv_bytes(recv.block(root), recv.bytes(), recv.sizes(), 1, root, algorithm);
  } else {
    PackedBuffer send(sendbuf, whole_count(sendcount, "gatherv"), sendtype, true);
    comm.gatherv_bytes(send.bytes(), recv.bytes(), recv.sizes(), 1, root, algorithm);
  }
  recv.unpack();
}

void detail::mpi_scatterv(Collectives& comm, const void* sendbuf, const int sendcounts[], const int displs[],
                          MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                          int root, std::string_view algorithm) {
  if (comm.rank() != root) {
    refuse_in_place(recvbuf, "scatterv");
    PackedBuffer recv(recvbuf, whole_count(recvcount, "scatterv"), recvtype, false);
    comm.scatterv_bytes({}, {}, recv.bytes(), 1, root, algorithm);
    recv.unpack();
    return;
  }
  PackedBlocks send("scatterv", sendbuf, sendcounts, displs, comm.size(), sendtype);
  send.pack();
  if (in_place(recvbuf)) {  // the root's block stays where it is
    comm.scatterv_bytes(send.bytes(), send.sizes(), send.block(root), 1, root, algorithm);
    return;
  }
  PackedBuffer recv(recvbuf, whole_count(recvcount, "scatterv"), recvtype, false);
  comm.scatterv_bytes(send.bytes(), send.sizes(), recv.bytes(), 1, root, algorithm);
  recv.unpack();
}

void detail::mpi_allreduce(Collectives& comm, const void* sendbuf, void* recvbuf, int count,
                           MPI_Datatype type, MPI_Op op, std::string_view algorithm) {
  const std::size_t n = whole_count(count, "allreduce");
  const MpiReducer reducer(op, type);
  ReductionData data("allreduce", reducer);
  const auto input = data.input(in_place(sendbuf) ? recvbuf : sendbuf, n);
  comm.allreduce_bytes(input, data.result(recvbuf, n), reducer, algorithm);
  data.deliver();
}

void detail::mpi_reduce_scatter(Collectives& comm, const void* sendbuf, void* recvbuf,
                                std::span<const int> recvcounts, MPI_Datatype type, MPI_Op op,
                                std::string_view algorithm) {
  const MpiReducer reducer(op, type);
  ReductionData data("reduce_scatter", reducer);
  const bool block = recvcounts.size() == 1 && comm.size() != 1;
  const auto sizes = whole_counts(recvcounts.data(), static_cast<int>(recvcounts.size()),
                                  packed_bytes(type) == 0 ? 0 : reducer.element_bytes(), "reduce_scatter");
  const std::size_t mine = sizes[block ? 0 : static_cast<std::size_t>(comm.rank())] / reducer.element_bytes();
  const std::size_t all =
      block ? mine * static_cast<std::size_t>(comm.size())
            : std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) / reducer.element_bytes();
  const auto input = data.input(in_place(sendbuf) ? recvbuf : sendbuf, all);
  // In place, the result would lie over blocks that are still to be sent.
  const auto result = data.result(recvbuf, mine, in_place(sendbuf));
  comm.reduce_scatter_bytes(input, result, block ? std::span<const std::size_t>() : sizes, reducer,
                            algorithm);
  data.deliver();
}

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
