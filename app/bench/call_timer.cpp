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
  const std::int64_t arrival_ns = clock_.now_ns();
  if (delay.count() > 0) waiting_.run_for(delay);
  bool is_refused = false;
  try {
    data.call(by, algorithm);
  } catch (const comm::TransportError&) {  // by the number of ranks
    is_refused = true;
  }
  const std::int64_t exit_ns = clock_.now_ns();
  comm_.quiet_barrier();
  constexpr double kSecondsPerNs = 1e-9;
  const auto spent_ns = static_cast<std::int64_t>((MPI_Wtime() - start_s) / kSecondsPerNs);
  std::array<std::int64_t, 4> most = {-arrival_ns, exit_ns, spent_ns,
                                      is_refused || !data.is_correct() ? 1 : 0};
  PAPFFT_MPI(MPI_Allreduce, MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_INT64_T, MPI_MAX,
             comm_.get());
  spent_s_ += kSecondsPerNs * static_cast<double>(most[2]);
  if (most[3] != 0) return std::nullopt;
  return kSecondsPerNs * static_cast<double>(most[1] + most[0]);
}

}  // namespace papfft::app
