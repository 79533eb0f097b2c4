// SPDX-License-Identifier: MIT
// MPI may be used from MPI_Init to MPI_Finalize, and aborts the program when it is used before or after. Here such use
// throws instead.
#pragma once

namespace papfft::comm {

/// @throws StateError  before MPI_Init or after MPI_Finalize
void require_mpi();

/// Tells whether MPI_Finalize has begun, and everything that AtMpiEnd was asked for has been done. Costs one load: for each
/// message. Knows of it only once watch_mpi_end() has been called.
[[nodiscard]] bool mpi_has_ended() noexcept;

/// From now on mpi_has_ended() works. Between MPI_Init and MPI_Finalize; once or several times.
void watch_mpi_end();

}  // namespace papfft::comm
