// SPDX-License-Identifier: MIT
// MPI's argument lists as bytes. Each is understood once, for all forms of its call.
#include "comm/mpi/mpi_arguments.hpp"

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "comm/mpi/mpi_transport.hpp"
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

std::byte* bytes_of(const void* buffer) { return static_cast<std::byte*>(const_cast<void*>(buffer)); }

std::size_t ranks_of(const Collectives& comm) { return static_cast<std::size_t>(comm.size()); }

/// So many elements of a datatype, anywhere.
struct Elements {
  const void* at = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  [[nodiscard]] PackedBuffer packed(const char* call, std::size_t times = 1) const {
    return {at, whole_count(count, call) * times, type};
  }
};

/// Block `rank` of those that follow one another, or that lie where displs says.
Elements block(const void* buffer, int count, int rank, MPI_Datatype type) {
  const auto bytes = static_cast<std::ptrdiff_t>(extent_bytes(type)) * count;
  return {bytes_of(buffer) + rank * bytes, count, type};
}
Elements block(const void* buffer, const int counts[], const int displs[], int rank, MPI_Datatype type) {
  const auto extent = static_cast<std::ptrdiff_t>(extent_bytes(type));
  return {bytes_of(buffer) + displs[rank] * extent, counts[rank], type};
}

/// Of an operation whose result is all ranks' blocks, at the root or everywhere. @param send  this rank's block
/// @param own, whole  give its place in the result, and the result
template <typename Own, typename Whole>
void set_collected(MpiArguments& made, const char* call, bool has_whole, const Elements& send, Own own,
                   Whole whole) {
  if (!has_whole) refuse_in_place(send.at, call);
  made.set_send((in_place(send.at) ? own() : send).packed(call));
  if (has_whole) made.set_recv(whole());
}

/// Of an operation whose input is all ranks' blocks, at the root. @param recv  this rank's block
/// @param set_whole  sets the input, and the result if that is in its place
template <typename SetWhole>
void set_distributed(MpiArguments& made, const char* call, bool has_whole, const Elements& recv,
                     SetWhole set_whole) {
  if (!has_whole) refuse_in_place(recv.at, call);
  if (has_whole) set_whole(in_place(recv.at));
  if (!in_place(recv.at)) made.set_recv(recv.packed(call));
}

/// The blocks, of which the call is told the sizes.
MpiArguments::Side with_sizes(MpiArguments& made, PackedBlocks blocks) {
  made.set_sizes(blocks.sizes());
  return blocks;
}

/// In place, what comes would lie over what is still to be sent. So it comes to a place apart.
/// @param blocks  makes the blocks of a buffer, of the send side or of the receive side
template <typename Blocks>
MpiArguments exchanged(const void* sendbuf, void* recvbuf, Blocks blocks) {
  MpiArguments made(Operation::alltoallv, 0);
  const bool is_in_place = in_place(sendbuf);
  PackedBlocks send = is_in_place ? blocks(recvbuf, false, false) : blocks(sendbuf, true, false);
  PackedBlocks recv = blocks(recvbuf, false, is_in_place);
  made.set_sizes(send.sizes(), recv.sizes());
  made.set_send(std::move(send));
  made.set_recv(std::move(recv));
  return made;
}

/// An operation's elements take part in no reduction if they have no data.
std::size_t reduced_count(int count, MPI_Datatype type, const char* call) {
  const std::size_t n = whole_count(count, call);
  return packed_bytes(type) == 0 ? 0 : n;
}

/// @param sent, received  elements @param gets  this rank gets a result
/// @param apart  in place, what comes would lie over what is still to be sent
MpiArguments reduced(Operation operation, int root, const void* sendbuf, void* recvbuf, std::size_t sent,
                     std::size_t received, MPI_Datatype type, MPI_Op op, bool gets, bool apart) {
  const std::string call(to_string(operation));
  MpiArguments made(operation, root);
  made.set_reducer(MpiReducer(op, type));
  made.set_send(ReducedElements(call.c_str(), in_place(sendbuf) ? recvbuf : sendbuf, sent, type));
  if (gets) {
    made.set_recv(ReducedElements(call.c_str(), recvbuf, received, type, apart && in_place(sendbuf)));
  }
  return made;
}

template <typename Result, typename Side, typename Visit>
Result visit_data(Side& side, const Visit& visit) {
  return std::visit(
      [&](auto& data) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(data)>, std::monostate>) {
          return Result();
        } else {
          return visit(data);
        }
      },
      side);
}

}  // namespace

PackedBlocks::PackedBlocks(const char* call, const void* buffer, const int counts[], const int displs[],
                           int ranks, MPI_Datatype type, bool apart) {
  for (int r = 0; r < ranks; ++r) add(call, block(buffer, counts, displs, r, type).at, counts[r], type);
  find_memory(apart);
}

PackedBlocks::PackedBlocks(const char* call, const void* buffer, const int counts[], const int displs[],
                           int ranks, const MPI_Datatype types[], bool apart) {
  for (int r = 0; r < ranks; ++r) add(call, bytes_of(buffer) + displs[r], counts[r], types[r]);
  find_memory(apart);
}

void PackedBlocks::add(const char* call, const void* at, int count, MPI_Datatype type) {
  places_.push_back({bytes_of(at), whole_count(count, call), type});
  sizes_.push_back(places_.back().count * packed_bytes(type));
  total_ += sizes_.back();
}

void PackedBlocks::find_memory(bool apart) {
  std::byte* first = nullptr;
  std::byte* next = nullptr;
  bool is_one_piece = !apart;
  for (std::size_t r = 0; r < sizes_.size(); ++r) {
    if (sizes_[r] == 0) continue;
    if (first == nullptr) first = next = places_[r].at;
    is_one_piece = is_one_piece && places_[r].at == next && is_dense(places_[r].type);
    next += sizes_[r];
  }
  if (is_one_piece && first != nullptr) {
    bytes_ = {first, total_};
    return;
  }
  copy_.resize(total_);
  bytes_ = copy_;
}

void PackedBlocks::pack() {
  if (copy_.empty()) return;
  std::byte* to = copy_.data();
  for (std::size_t r = 0; r < places_.size(); to += sizes_[r], ++r)
    pack_elements(places_[r].at, places_[r].count, places_[r].type, to);
}

void PackedBlocks::unpack() {
  if (copy_.empty()) return;
  const std::byte* from = copy_.data();
  for (std::size_t r = 0; r < places_.size(); from += sizes_[r], ++r)
    unpack_elements(from, places_[r].at, places_[r].count, places_[r].type);
}

ReducedElements::ReducedElements(const char* call, const void* buffer, std::size_t count, MPI_Datatype type,
                                 bool apart)
    : buffer_(bytes_of(buffer)), count_(count), type_(type) {
  const std::size_t bytes = count * extent_bytes(type);
  if (!is_dense(type)) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    PAPFFT_MPI(MPI_Type_get_true_extent, type, &lower, &extent);
    if (lower < 0 || static_cast<std::size_t>(lower + extent) > extent_bytes(type)) {
      throw std::invalid_argument(std::string(call) + ": a datatype that reaches outside its extent");
    }
  } else if (!apart) {
    bytes_ = {buffer_, bytes};
    return;
  }
  copy_.resize(bytes);
  bytes_ = copy_;
}

void ReducedElements::move(const std::byte* from, std::byte* to) const {
  if (copy_.empty()) return;
  std::vector<std::byte> packed(count_ * packed_bytes(type_));
  pack_elements(from, count_, type_, packed.data());
  unpack_elements(packed.data(), to, count_, type_);
}

CallArguments MpiArguments::bytes(std::string_view algorithm) {
  const auto bytes_of_side = [](Side& side) {
    return visit_data<std::span<std::byte>>(side, [](auto& data) { return data.bytes(); });
  };
  const std::span<std::byte> send = bytes_of_side(send_);
  return {.operation = operation_,
          .root = root_,
          .algorithm = algorithm,
          .send = send,
          .recv = in_place_ ? send.subspan(in_place_->offset_bytes, in_place_->bytes) : bytes_of_side(recv_),
          .reducer = reducer_ ? &*reducer_ : nullptr,
          .block_bytes = block_bytes_,
          .recv_block_bytes = recv_block_bytes_,
          .copies = this};
}

void MpiArguments::pack() {
  visit_data<void>(send_, [](auto& data) { data.pack(); });
}

void MpiArguments::unpack() {
  visit_data<void>(recv_, [](auto& data) { data.unpack(); });
}

MpiArguments scatter_arguments(const Collectives& comm, const void* sendbuf, int sendcount,
                               MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                               int root) {
  MpiArguments made(Operation::scatter, root);
  set_distributed(
      made, "scatter", comm.rank() == root, {recvbuf, recvcount, recvtype}, [&](bool is_in_place) {
        PackedBuffer whole = Elements{sendbuf, sendcount, sendtype}.packed("scatter", ranks_of(comm));
        const std::size_t block_bytes = whole.bytes().size() / ranks_of(comm);
        made.set_send(std::move(whole));
        if (is_in_place) made.set_recv_in_place(static_cast<std::size_t>(root) * block_bytes, block_bytes);
      });
  return made;
}

MpiArguments scatterv_arguments(const Collectives& comm, const void* sendbuf, const int sendcounts[],
                                const int displs[], MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, int root) {
  MpiArguments made(Operation::scatterv, root);
  set_distributed(made, "scatterv", comm.rank() == root, {recvbuf, recvcount, recvtype},
                  [&](bool is_in_place) {
                    PackedBlocks blocks("scatterv", sendbuf, sendcounts, displs, comm.size(), sendtype);
                    const auto before = blocks.sizes().first(static_cast<std::size_t>(root));
                    const std::size_t offset = std::accumulate(before.begin(), before.end(), std::size_t{0});
                    if (is_in_place) made.set_recv_in_place(offset, blocks.sizes()[before.size()]);
                    made.set_send(with_sizes(made, std::move(blocks)));
                  });
  return made;
}

MpiArguments gather_arguments(const Collectives& comm, const void* sendbuf, int sendcount,
                              MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                              int root) {
  MpiArguments made(Operation::gather, root);
  set_collected(
      made, "gather", comm.rank() == root, {sendbuf, sendcount, sendtype},
      [&] { return block(recvbuf, recvcount, root, recvtype); },
      [&] {
        return Elements{recvbuf, recvcount, recvtype}.packed("gather", ranks_of(comm));
      });
  return made;
}

MpiArguments gatherv_arguments(const Collectives& comm, const void* sendbuf, int sendcount,
                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                               const int displs[], MPI_Datatype recvtype, int root) {
  MpiArguments made(Operation::gatherv, root);
  set_collected(
      made, "gatherv", comm.rank() == root, {sendbuf, sendcount, sendtype},
      [&] { return block(recvbuf, recvcounts, displs, root, recvtype); },
      [&] {
        return with_sizes(made, {"gatherv", recvbuf, recvcounts, displs, comm.size(), recvtype});
      });
  return made;
}

MpiArguments allgather_arguments(const Collectives& comm, const void* sendbuf, int sendcount,
                                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype) {
  MpiArguments made(Operation::allgather, 0);
  set_collected(
      made, "allgather", true, {sendbuf, sendcount, sendtype},
      [&] { return block(recvbuf, recvcount, comm.rank(), recvtype); },
      [&] {
        return Elements{recvbuf, recvcount, recvtype}.packed("allgather", ranks_of(comm));
      });
  return made;
}

MpiArguments allgatherv_arguments(const Collectives& comm, const void* sendbuf, int sendcount,
                                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                  const int displs[], MPI_Datatype recvtype) {
  MpiArguments made(Operation::allgatherv, 0);
  set_collected(
      made, "allgatherv", true, {sendbuf, sendcount, sendtype},
      [&] { return block(recvbuf, recvcounts, displs, comm.rank(), recvtype); },
      [&] {
        return with_sizes(made, {"allgatherv", recvbuf, recvcounts, displs, comm.size(), recvtype});
      });
  return made;
}

MpiArguments bcast_arguments(const Collectives& comm, void* buffer, int count, MPI_Datatype type, int root) {
  MpiArguments made(Operation::bcast, root);
  PackedBuffer data = Elements{buffer, count, type}.packed("bcast");
  if (comm.rank() == root) {
    made.set_recv_in_place(0, data.bytes().size());
    made.set_send(std::move(data));
  } else {
    made.set_recv(std::move(data));
  }
  return made;
}

MpiArguments alltoall_arguments(const Collectives& comm, const void* sendbuf, int sendcount,
                                MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype) {
  MpiArguments made(Operation::alltoall, 0);
  const std::size_t received = whole_count(recvcount, "alltoall") * ranks_of(comm);
  const bool is_in_place = in_place(sendbuf);
  made.set_send(is_in_place ? PackedBuffer(recvbuf, received, recvtype)
                            : Elements{sendbuf, sendcount, sendtype}.packed("alltoall", ranks_of(comm)));
  made.set_recv(PackedBuffer(recvbuf, received, recvtype, is_in_place));
  return made;
}

MpiArguments alltoallv_arguments(const Collectives& comm, const void* sendbuf, const int sendcounts[],
                                 const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const int rdispls[], MPI_Datatype recvtype) {
  return exchanged(sendbuf, recvbuf, [&](const void* buffer, bool is_send, bool apart) {
    return PackedBlocks("alltoallv", buffer, is_send ? sendcounts : recvcounts, is_send ? sdispls : rdispls,
                        comm.size(), is_send ? sendtype : recvtype, apart);
  });
}

MpiArguments alltoallw_arguments(const Collectives& comm, const void* sendbuf, const int sendcounts[],
                                 const int sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                                 const int recvcounts[], const int rdispls[],
                                 const MPI_Datatype recvtypes[]) {
  return exchanged(sendbuf, recvbuf, [&](const void* buffer, bool is_send, bool apart) {
    return PackedBlocks("alltoallw", buffer, is_send ? sendcounts : recvcounts, is_send ? sdispls : rdispls,
                        comm.size(), is_send ? sendtypes : recvtypes, apart);
  });
}

MpiArguments reduce_arguments(const Collectives& comm, const void* sendbuf, void* recvbuf, int count,
                              MPI_Datatype type, MPI_Op op, int root) {
  const bool is_root = comm.rank() == root;
  if (!is_root) refuse_in_place(sendbuf, "reduce");
  const std::size_t n = reduced_count(count, type, "reduce");
  return reduced(Operation::reduce, root, sendbuf, recvbuf, n, n, type, op, is_root, false);
}

MpiArguments allreduce_arguments(const Collectives& /*comm*/, const void* sendbuf, void* recvbuf, int count,
                                 MPI_Datatype type, MPI_Op op) {
  const std::size_t n = reduced_count(count, type, "allreduce");
  return reduced(Operation::allreduce, 0, sendbuf, recvbuf, n, n, type, op, true, false);
}

MpiArguments reduce_scatter_arguments(const Collectives& comm, const void* sendbuf, void* recvbuf,
                                      const int recvcounts[], MPI_Datatype type, MPI_Op op) {
  const std::size_t element_bytes = MpiReducer(op, type).element_bytes();
  std::vector<std::size_t> sizes;
  std::size_t all = 0;
  for (int r = 0; r < comm.size(); ++r) {
    const std::size_t n = reduced_count(recvcounts[r], type, "reduce_scatter");
    sizes.push_back(n * element_bytes);
    all += n;
  }
  const std::size_t mine = sizes[static_cast<std::size_t>(comm.rank())] / element_bytes;
  MpiArguments made =
      reduced(Operation::reduce_scatter, 0, sendbuf, recvbuf, all, mine, type, op, true, true);
  made.set_sizes(sizes);
  return made;
}

MpiArguments reduce_scatter_block_arguments(const Collectives& comm, const void* sendbuf, void* recvbuf,
                                            int recvcount, MPI_Datatype type, MPI_Op op) {
  const std::size_t n = reduced_count(recvcount, type, "reduce_scatter_block");
  return reduced(Operation::reduce_scatter, 0, sendbuf, recvbuf, n * ranks_of(comm), n, type, op, true, true);
}

namespace {

void call(Collectives& comm, MpiArguments made, std::string_view algorithm) {
  comm.call(comm.prepared(made.bytes(algorithm)));
}

Pending start(Collectives& comm, MpiArguments made, std::string_view algorithm) {
  const auto kept = std::make_shared<MpiArguments>(std::move(made));
  return comm.start(comm.prepared(kept->bytes(algorithm)), kept);
}

PersistentCall persistent(Session& session, MpiArguments made, std::string_view algorithm) {
  const auto kept = std::make_shared<MpiArguments>(std::move(made));
  return session.persistent(session.prepared(kept->bytes(algorithm)), kept);
}

}  // namespace

#define PAPFFT_DEFINE_(Name, name, operation, parameters, arguments)                                   \
  void detail::mpi_##name(Collectives& comm, PAPFFT_LIST parameters, std::string_view algorithm) {     \
    call(comm, name##_arguments(comm, PAPFFT_LIST arguments), algorithm);                              \
  }                                                                                                    \
  Pending detail::mpi_i##name(Collectives& comm, PAPFFT_LIST parameters, std::string_view algorithm) { \
    return start(comm, name##_arguments(comm, PAPFFT_LIST arguments), algorithm);                      \
  }                                                                                                    \
  PersistentCall detail::mpi_##name##_init(Session& session, PAPFFT_LIST parameters,                   \
                                           std::string_view algorithm) {                               \
    return persistent(session, name##_arguments(session, PAPFFT_LIST arguments), algorithm);           \
  }
PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DEFINE_)
#undef PAPFFT_DEFINE_

}  // namespace papfft::comm
