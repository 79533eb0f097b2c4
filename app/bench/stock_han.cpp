// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "app/bench/stock_peer.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using comm::check_mpi;
using comm::Operation;

/// What coll/han implements; everything else it leaves to other components.
constexpr std::array kOperationsOfHan = {Operation::bcast,  Operation::reduce,  Operation::allreduce,
                                         Operation::gather, Operation::scatter, Operation::allgather};

/// Open MPI's parameter of coll/han, which is there if the component is; negative: it may not be used.
int priority_of_han() {
  int provided = 0;
  check_mpi(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), "MPI_T_init_thread");
  int priority = -1;
  int index = -1;
  int count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index("coll_han_priority", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    if (count != 1 || MPI_T_cvar_read(handle, &priority) != MPI_SUCCESS) priority = -1;
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return priority;
}

class Han final : public StockPeer {
 public:
  explicit Han(MPI_Comm comm) : comm_(preferring_han(comm)) {}

  void call(const comm::CallArguments& arguments) override {
    comm::detail::mpi_stock_call(comm_.get(), arguments);
  }

 private:
  static MPI_Comm preferring_han(MPI_Comm comm) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    check_mpi(MPI_Info_create(&info), "MPI_Info_create");
    check_mpi(MPI_Info_set(info, "ompi_comm_coll_preference", "han"), "MPI_Info_set");
    const int code = MPI_Comm_dup_with_info(comm, info, &made);
    MPI_Info_free(&info);
    check_mpi(code, "MPI_Comm_dup_with_info");
    return made;
  }

  StockComm comm_;
};

}  // namespace

void require_han(Operation operation, const comm::Hosts& hosts) {
  constexpr std::string_view kNeeds =
      "; what would work: several hosts with equally many ranks each, two or more";
  const auto refuse = [](std::string_view why, std::string_view what_would_work) {
    throw std::invalid_argument(fmt::format("mpi-han: {}{}", why, what_would_work));
  };
  if (priority_of_han() < 0) {
    refuse("this MPI library has no coll/han (Open MPI has it since 4.1)",
           "; what would work: mpi, mpi-lane");
  }
  if (std::ranges::find(kOperationsOfHan, operation) == kOperationsOfHan.end()) {
    refuse(fmt::format("Open MPI's coll/han has no {}", comm::to_string(operation)),
           "; what would work: mpi, mpi-lane");
  }
  if (hosts.count() == 1) refuse("Open MPI's coll/han does nothing within one host", kNeeds);
  if (hosts.are_single()) refuse("Open MPI's coll/han does nothing with one rank per host", kNeeds);
  if (!hosts.is_even())
    refuse("Open MPI's coll/han gives up where hosts have different numbers of ranks", kNeeds);
}

std::unique_ptr<StockPeer> make_han(MPI_Comm comm) { return std::make_unique<Han>(comm); }

}  // namespace papfft::app
