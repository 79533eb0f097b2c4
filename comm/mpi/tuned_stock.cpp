// SPDX-License-Identifier: MIT
#include "comm/mpi/tuned_stock.hpp"

#include "comm/mpi/mpi_lifetime.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::comm {

TunedStock::~TunedStock() {
  if (mpi_has_ended()) return;
  for (auto& [operation, tuned] : tuned_) {
    for (auto& [algorithm, comm] : tuned.comms) MPI_Comm_free(&comm);
  }
}

void TunedStock::call(const CallArguments& arguments) {
  MPI_Comm comm = comm_;
  if (arguments.algorithm.starts_with(kStockPrefix)) {
    comm =
        comm_of(arguments.operation, StockAlgorithm::parse(arguments.algorithm.substr(kStockPrefix.size())));
  }
  detail::mpi_stock_call(comm, arguments);
}

MPI_Comm TunedStock::comm_of(Operation operation, const StockAlgorithm& algorithm) {
  if (mpi_has_ended()) require_mpi();
  Tuned& tuned = tuned_[operation];
  if (tuned.variables == nullptr) tuned.variables = std::make_unique<StockVariables>(operation);
  if (const auto found = tuned.comms.find(algorithm.text()); found != tuned.comms.end()) return found->second;
  tuned.variables->require(algorithm);
  tuned.variables->set(algorithm);
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Comm_dup(comm_, &made);
  tuned.variables->set({});
  check_mpi(code, "MPI_Comm_dup");
  tuned.comms[algorithm.text()] = made;
  return made;
}

}  // namespace papfft::comm
