// SPDX-License-Identifier: MIT
#include "app/bench/call_timer.hpp"

#include <array>
#include <stdexcept>

#include "comm/mpi/mpi_transport.hpp"

namespace papfft::app {

std::optional<double> CallTimer::time_of(comm::Communicator& by, CollectiveData& data,
                                         const std::string& algorithm, std::chrono::nanoseconds delay) {
  const double start_s = MPI_Wtime();
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
  std::array<double, 2> longest_s = {time_s, MPI_Wtime() - start_s};
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, longest_s.data(), 2, MPI_DOUBLE, MPI_MAX, comm_.get());
  spent_s_ += longest_s[1];
  return least_s < 0 ? std::nullopt : std::optional(longest_s[0]);
}

}  // namespace papfft::app
