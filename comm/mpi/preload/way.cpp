// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/way.hpp"

#include "comm/mpi/preload/inspect.hpp"

namespace papfft::comm::preload {

Held::~Held() {
  for (MPI_Datatype& type : types_) PMPI_Type_free(&type);
}

/// MPI's own datatypes live for ever. What is no datatype is refused later. Not by MPI_Type_dup, which would call the program's
/// attribute functions.
MPI_Datatype Held::like(MPI_Datatype type) {
  if (!is_usable(type) || is_named(type)) return type;
  types_.reserve(types_.size() + 1);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  PMPI_Type_contiguous(1, type, &made);
  PMPI_Type_commit(&made);
  types_.push_back(made);
  return made;
}

const MPI_Datatype* Held::all_like(std::span<const MPI_Datatype> types) {
  std::vector<MPI_Datatype>& list = type_lists_.emplace_back();
  for (const MPI_Datatype type : types) list.push_back(like(type));
  return list.data();
}

Held& Way::holder() {
  if (held_ == nullptr) held_ = std::make_shared<Held>();
  return *held_;
}

}  // namespace papfft::comm::preload
