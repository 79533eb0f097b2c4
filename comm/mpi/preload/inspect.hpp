// SPDX-License-Identifier: MIT
// What the arguments of a call say, in the words of eligibility.hpp. Sends nothing, and asks MPI nothing that could end the
// program.
#pragma once
#include <mpi.h>

#include <cstddef>

#include "comm/mpi/preload/eligibility.hpp"

namespace papfft::comm::preload {

/// To be called before the program has threads: makes a communicator of this rank.
void prepare_to_inspect();

/// Of the type signature. 0: nothing, or an argument that MPI refuses.
[[nodiscard]] std::size_t signature_bytes(int count, MPI_Datatype type);
/// Of all blocks together.
[[nodiscard]] std::size_t signature_bytes(const int counts[], int ranks, MPI_Datatype type);
[[nodiscard]] std::size_t signature_bytes(const int counts[], const MPI_Datatype types[], int ranks);

[[nodiscard]] inline bool is_in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

/// Data may be read and written there. MPI_BOTTOM is NULL in some libraries, so derived datatypes may lie there.
[[nodiscard]] bool is_buffer(const void* buffer, MPI_Datatype type);
/// The datatype is one of MPI's own.
[[nodiscard]] bool is_named(MPI_Datatype type);
/// The datatype may be used in messages.
[[nodiscard]] bool is_usable(MPI_Datatype type);
/// Both; counts of a call are known to be positive by its length.
[[nodiscard]] inline bool is_valid(const void* buffer, MPI_Datatype type) {
  return is_usable(type) && is_buffer(buffer, type);
}

/// This rank, or -1 where there is no group with a root in it: then the call passes.
[[nodiscard]] int rank_in(MPI_Comm comm);
[[nodiscard]] int size_of(MPI_Comm comm);

[[nodiscard]] GroupFacts facts_of(MPI_Comm comm);

/// Of a reduction. @param is_started  the program may free its operation while the call is under way
[[nodiscard]] Reason reason_to_pass(MPI_Op op, MPI_Datatype type, bool is_started);

}  // namespace papfft::comm::preload
