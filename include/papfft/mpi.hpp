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
#include "papfft/mpi_lists.h"
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
#define PAPFFT_DECLARE_(Name, name, operation, parameters, arguments)                                       \
  void mpi_##name(Collectives& comm, PAPFFT_LIST parameters, std::string_view algorithm);                   \
  [[nodiscard]] Pending mpi_i##name(Collectives& comm, PAPFFT_LIST parameters, std::string_view algorithm); \
  [[nodiscard]] PersistentCall mpi_##name##_init(Session& session, PAPFFT_LIST parameters,                  \
                                                 std::string_view algorithm);
PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DECLARE_)
#undef PAPFFT_DECLARE_
void mpi_stock_call(MPI_Comm comm, const CallArguments& arguments);
void mpi_stock_call(TunedStock& stock, const CallArguments& arguments);
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
/// of one signature on different ranks. Data that are not contiguous are copied. Until a started call is done, and while the handle of a
/// persistent one lives, its datatypes and its MPI_Op must live, too.
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
  using Base::iallgather;
  using Base::iallgatherv;
  using Base::iallreduce;
  using Base::ialltoall;
  using Base::ialltoallv;
  using Base::ibcast;
  using Base::igather;
  using Base::igatherv;
  using Base::ireduce;
  using Base::ireduce_scatter;
  using Base::iscatter;
  using Base::iscatterv;
  using Base::reduce;
  using Base::reduce_scatter;
  using Base::scatter;
  using Base::scatterv;

  // Each of MPI's operations (papfft/mpi_lists.h), blocking and started: allreduce(sendbuf, recvbuf, count, type, op, algorithm), and
  // iallreduce with the same arguments. An alltoallw is an alltoallv of the packed blocks.
#define PAPFFT_DEFINE_(Name, name, operation, parameters, arguments)                           \
  void name(PAPFFT_LIST parameters, std::string_view algorithm = "auto") {                     \
    detail::mpi_##name(*this, PAPFFT_LIST arguments, algorithm);                               \
  }                                                                                            \
  [[nodiscard]] Pending i##name(PAPFFT_LIST parameters, std::string_view algorithm = "auto") { \
    return detail::mpi_i##name(*this, PAPFFT_LIST arguments, algorithm);                       \
  }
  PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DEFINE_)
#undef PAPFFT_DEFINE_

 protected:
  void stock_call(const CallArguments& arguments) override { detail::mpi_stock_call(*stock, arguments); }

 private:
  std::unique_ptr<detail::AtMpiEnd> end_;
};

using Communicator = OverMpi<Collectives>;

/// A session over MPI. Its persistent calls take MPI's own arguments, too.
class MpiSession : public OverMpi<Session> {
 public:
  using OverMpi::OverMpi;

  using Session::allgather_init;
  using Session::allgatherv_init;
  using Session::allreduce_init;
  using Session::alltoall_init;
  using Session::alltoallv_init;
  using Session::bcast_init;
  using Session::gather_init;
  using Session::gatherv_init;
  using Session::reduce_init;
  using Session::reduce_scatter_init;
  using Session::scatter_init;
  using Session::scatterv_init;

  // allreduce_init(sendbuf, recvbuf, count, type, op, algorithm), and so on.
#define PAPFFT_DEFINE_(Name, name, operation, parameters, arguments)                                      \
  [[nodiscard]] PersistentCall name##_init(PAPFFT_LIST parameters, std::string_view algorithm = "auto") { \
    return detail::mpi_##name##_init(*this, PAPFFT_LIST arguments, algorithm);                            \
  }
  PAPFFT_FOR_EACH_MPI_CALL(PAPFFT_DEFINE_)
#undef PAPFFT_DEFINE_
};

}  // namespace papfft::comm
