// SPDX-License-Identifier: MIT
#include "app/bench/call_timer.hpp"

#include <stdexcept>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

std::optional<double> CallTimer::time_of(comm::Communicator& by, CollectiveData& data,
                                         const std::string& algorithm, std::chrono::nanoseconds delay) {
  data.fill(++calls_);
  comm_.double_barrier();
  const double begin_s = MPI_Wtime();
  if (delay.count() > 0) waiting_.run_for(delay);
  double time_s = 0;
  try {
    data.call(by, algorithm);
    time_s = MPI_Wtime() - begin_s;
  } catch (const comm::TransportError&) {  // the algorithm refuses this number of ranks
    time_s = -1;
  }
  comm_.quiet_barrier();
  double least_s = data.is_correct() ? time_s : -1;
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, &least_s, 1, MPI_DOUBLE, MPI_MIN, comm_.get());
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, &time_s, 1, MPI_DOUBLE, MPI_MAX, comm_.get());
  return least_s < 0 ? std::nullopt : std::optional(time_s);
}

}  // namespace papfft::app
