// SPDX-License-Identifier: MIT
#pragma once
#include <mpi.h>

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "papfft/collectives.hpp"
#include "papfft/session.hpp"

namespace papfft::comm {

class MpiTransport;
class TunedStock;

namespace detail {
/// Holds what must exist before Collectives and outlive it.
struct PAPFFT_API OwnedTransport {
  OwnedTransport(MPI_Comm comm, bool share_memory);
  ~OwnedTransport();
  OwnedTransport(OwnedTransport&&) noexcept;
  OwnedTransport& operator=(OwnedTransport&&) = delete;
  std::unique_ptr<MpiTransport> transport;
  std::unique_ptr<TunedStock> stock;  ///< MPI's own calls
  std::string decisions;              ///< what was measured for such a group, if anything
  bool has_tuned_stock = false;       ///< MPI lets us choose among its algorithms
};

/// Calls a function when MPI_Finalize begins, unless this object is destroyed before.
class PAPFFT_API AtMpiEnd {
 public:
  explicit AtMpiEnd(std::function<void()> what);
  ~AtMpiEnd();
  AtMpiEnd(const AtMpiEnd&) = delete;
  AtMpiEnd& operator=(const AtMpiEnd&) = delete;
  struct PAPFFT_LOCAL Task;

 private:
  std::shared_ptr<Task> task_;
};

#pragma GCC visibility push(default)
void mpi_scatter(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, std::string_view algorithm);
void mpi_gather(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, std::string_view algorithm);
void mpi_bcast(Collectives& comm, void* buffer, int count, MPI_Datatype type, int root,
               std::string_view algorithm);
void mpi_reduce(Collectives& comm, const void* sendbuf, void* recvbuf, int count, MPI_Datatype type,
                MPI_Op op, int root, std::string_view algorithm);
void mpi_allgather(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, std::string_view algorithm);
void mpi_allgatherv(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                    void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    std::string_view algorithm);
void mpi_allreduce(Collectives& comm, const void* sendbuf, void* recvbuf, int count, MPI_Datatype type,
                   MPI_Op op, std::string_view algorithm);
/// @param recvcounts  one per rank, or one for all
void mpi_reduce_scatter(Collectives& comm, const void* sendbuf, void* recvbuf,
                        std::span<const int> recvcounts, MPI_Datatype type, MPI_Op op,
                        std::string_view algorithm);
void mpi_alltoall(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, std::string_view algorithm);
void mpi_alltoallv(Collectives& comm, const void* sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                   MPI_Datatype recvtype, std::string_view algorithm);
void mpi_alltoallw(Collectives& comm, const void* sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                   const MPI_Datatype recvtypes[], std::string_view algorithm);
void mpi_gatherv(Collectives& comm, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 std::string_view algorithm);
void mpi_scatterv(Collectives& comm, const void* sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                  std::string_view algorithm);
void mpi_stock_call(MPI_Comm comm, const CallArguments& arguments);
void mpi_stock_call(TunedStock& stock, const CallArguments& arguments);
[[nodiscard]] PersistentCall mpi_scatter_init(Session& session, const void* sendbuf, int sendcount,
                                              MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                              MPI_Datatype recvtype, int root, std::string_view algorithm);
[[nodiscard]] PersistentCall mpi_gather_init(Session& session, const void* sendbuf, int sendcount,
                                             MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                             MPI_Datatype recvtype, int root, std::string_view algorithm);
[[nodiscard]] Pending mpi_iscatter(Collectives& comm, const void* sendbuf, int sendcount,
                                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                   int root, std::string_view algorithm);
[[nodiscard]] Pending mpi_igather(Collectives& comm, const void* sendbuf, int sendcount,
                                  MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                  int root, std::string_view algorithm);
[[nodiscard]] Pending mpi_ibcast(Collectives& comm, void* buffer, int count, MPI_Datatype type, int root,
                                 std::string_view algorithm);
[[nodiscard]] Pending mpi_ireduce(Collectives& comm, const void* sendbuf, void* recvbuf, int count,
                                  MPI_Datatype type, MPI_Op op, int root, std::string_view algorithm);
[[nodiscard]] Transport& as_transport(MpiTransport& transport);
[[nodiscard]] MPI_Comm native(const MpiTransport& transport);
#pragma GCC visibility pop
}  // namespace detail

/// The collectives over MPI, on a private duplicate of a communicator.
///
/// ```cpp
/// papfft::comm::Communicator comm(MPI_COMM_WORLD);
/// comm.scatter<double>(whole, mine, /*root=*/0);
/// comm.scatter(sendbuf, 10, MPI_DOUBLE, recvbuf, 10, MPI_DOUBLE, 0);
/// ```
///
/// The calls with MPI's own arguments mean what MPI's calls mean: MPI_IN_PLACE, derived datatypes, and different datatypes
/// of one signature on different ranks. Data that are not contiguous are packed.
///
/// Before MPI_Init and after MPI_Finalize everything throws StateError. A Session that is still open when MPI_Finalize
/// begins is closed there; it may be destroyed later.
/// @tparam Base  Collectives or Session
template <typename Base>
class OverMpi : private detail::OwnedTransport, public Base {
 public:
  /// Collective over `comm`. @param rest  further arguments of Base's constructor
  /// @throws TransportError; std::invalid_argument for an intercommunicator or MPI_COMM_NULL; StateError without MPI
  template <typename... Rest>
  explicit OverMpi(MPI_Comm comm, const Options& options = Options::from_environment(), const Rest&... rest)
      : OwnedTransport(comm, options.share_memory), Base(detail::as_transport(*transport), options, rest...) {
    this->offer_stock_calls();
    if (!decisions.empty()) this->use_decisions(decisions, has_tuned_stock);
    if constexpr (std::derived_from<Base, Session>) {
      end_ = std::make_unique<detail::AtMpiEnd>([this] { this->close(); });
    }
  }

  using Base::allgather;
  using Base::allgatherv;
  using Base::allreduce;
  using Base::alltoall;
  using Base::alltoallv;
  using Base::bcast;
  using Base::gather;
  using Base::gatherv;
  using Base::ibcast;
  using Base::igather;
  using Base::ireduce;
  using Base::iscatter;
  using Base::reduce;
  using Base::reduce_scatter;
  using Base::scatter;
  using Base::scatterv;

  void scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, std::string_view algorithm = "auto") {
    detail::mpi_scatter(*this, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, algorithm);
  }
  void gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
              MPI_Datatype recvtype, int root, std::string_view algorithm = "auto") {
    detail::mpi_gather(*this, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, algorithm);
  }
  void bcast(void* buffer, int count, MPI_Datatype type, int root, std::string_view algorithm = "auto") {
    detail::mpi_bcast(*this, buffer, count, type, root, algorithm);
  }
  void reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
              std::string_view algorithm = "auto") {
    detail::mpi_reduce(*this, sendbuf, recvbuf, count, type, op, root, algorithm);
  }
  void allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, std::string_view algorithm = "auto") {
    detail::mpi_allgather(*this, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, algorithm);
  }
  void allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                  std::string_view algorithm = "auto") {
    detail::mpi_allgatherv(*this, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           algorithm);
  }
  void allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                 std::string_view algorithm = "auto") {
    detail::mpi_allreduce(*this, sendbuf, recvbuf, count, type, op, algorithm);
  }
  void reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype type,
                      MPI_Op op, std::string_view algorithm = "auto") {
    detail::mpi_reduce_scatter(*this, sendbuf, recvbuf, {recvcounts, static_cast<std::size_t>(this->size())},
                               type, op, algorithm);
  }
  void reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type, MPI_Op op,
                            std::string_view algorithm = "auto") {
    detail::mpi_reduce_scatter(*this, sendbuf, recvbuf, {&recvcount, 1}, type, op, algorithm);
  }

  void alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, std::string_view algorithm = "auto") {
    detail::mpi_alltoall(*this, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, algorithm);
  }
  void alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                 void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                 std::string_view algorithm = "auto") {
    detail::mpi_alltoallv(*this, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                          recvtype, algorithm);
  }
  /// Each block has a datatype of its own; displacements are in bytes. An alltoallv of the packed blocks.
  void alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                 const MPI_Datatype recvtypes[], std::string_view algorithm = "auto") {
    detail::mpi_alltoallw(*this, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                          recvtypes, algorithm);
  }
  void gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
               std::string_view algorithm = "auto") {
    detail::mpi_gatherv(*this, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                        algorithm);
  }
  void scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                std::string_view algorithm = "auto") {
    detail::mpi_scatterv(*this, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                         algorithm);
  }

  /// Started calls take datatypes without gaps.
  [[nodiscard]] Pending iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, int root,
                                 std::string_view algorithm = "auto") {
    return detail::mpi_iscatter(*this, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                algorithm);
  }
  [[nodiscard]] Pending igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, int root,
                                std::string_view algorithm = "auto") {
    return detail::mpi_igather(*this, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               algorithm);
  }
  [[nodiscard]] Pending ibcast(void* buffer, int count, MPI_Datatype type, int root,
                               std::string_view algorithm = "auto") {
    return detail::mpi_ibcast(*this, buffer, count, type, root, algorithm);
  }
  [[nodiscard]] Pending ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                int root, std::string_view algorithm = "auto") {
    return detail::mpi_ireduce(*this, sendbuf, recvbuf, count, type, op, root, algorithm);
  }

 protected:
  void stock_call(const CallArguments& arguments) override { detail::mpi_stock_call(*stock, arguments); }

 private:
  std::unique_ptr<detail::AtMpiEnd> end_;
};

using Communicator = OverMpi<Collectives>;
using MpiSession = OverMpi<Session>;

}  // namespace papfft::comm
