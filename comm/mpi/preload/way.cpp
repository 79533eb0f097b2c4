// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/way.hpp"

#include "comm/mpi/preload/inspect.hpp"

namespace papfft::comm::preload {

/// Not by MPI_Type_dup, which would call the program's attribute functions.
MPI_Datatype Way::held(MPI_Datatype type) {
  if (!is_usable(type) || is_named(type)) return type;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(1, type, &made);
  PMPI_Type_commit(&made);
  types_.push_back(made);
  return made;
}

}  // namespace papfft::comm::preload
