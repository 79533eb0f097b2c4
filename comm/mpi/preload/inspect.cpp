// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/inspect.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace papfft::comm::preload {

namespace {

/// Errors on it are returned, whatever the program has set for its own communicators. nullptr: it cannot be made.
MPI_Comm quiet_self() {
  static const MPI_Comm comm = [] {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group self = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_SELF, &self);
    PMPI_Comm_create(MPI_COMM_SELF, self, &made);
    PMPI_Group_free(&self);
    if (made != MPI_COMM_NULL) PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
  }();
  return comm;
}

bool is_inter(MPI_Comm comm) {
  int is = 0;
  PMPI_Comm_test_inter(comm, &is);
  return is != 0;
}

struct Kind {
  TypeKind kind;
  std::vector<MPI_Datatype> types;
};

/// As MPI 3.1, 5.9.2 lists them. A type that is not here is no reason for doubt: its calls pass.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {TypeKind::floating,
       {MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}},
      {TypeKind::integer,
       {MPI_INT, MPI_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_LONG_LONG,
        MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
        MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}},
      {TypeKind::other_integer,
       {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_AINT, MPI_COUNT,
        MPI_OFFSET}},
      {TypeKind::complex,
       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX,
        MPI_COMPLEX8, MPI_COMPLEX16}},
      {TypeKind::logical, {MPI_C_BOOL, MPI_LOGICAL}},
      {TypeKind::byte, {MPI_BYTE}},
      {TypeKind::pair,
       {MPI_2INT, MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL,
        MPI_2DOUBLE_PRECISION, MPI_2INTEGER}}};
  return all;
}

TypeKind type_kind_of(MPI_Datatype type) {
  for (const Kind& kind : kinds()) {
    if (std::ranges::find(kind.types, type) != kind.types.end()) return kind.kind;
  }
  return TypeKind::other;
}

bool is_one_of(MPI_Op op, std::initializer_list<MPI_Op> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

OpKind op_kind_of(MPI_Op op) {
  if (op == MPI_OP_NULL || is_one_of(op, {MPI_REPLACE, MPI_NO_OP})) return OpKind::invalid;
  if (is_one_of(op, {MPI_SUM, MPI_PROD})) return OpKind::arithmetic;
  if (is_one_of(op, {MPI_MAX, MPI_MIN})) return OpKind::extreme;
  if (is_one_of(op, {MPI_LAND, MPI_LOR, MPI_LXOR})) return OpKind::logical;
  if (is_one_of(op, {MPI_BAND, MPI_BOR, MPI_BXOR})) return OpKind::bitwise;
  if (is_one_of(op, {MPI_MAXLOC, MPI_MINLOC})) return OpKind::with_place;
  int commutes = 0;
  PMPI_Op_commutative(op, &commutes);
  return commutes != 0 ? OpKind::commutative : OpKind::ordered;
}

bool lies_inside(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  return lower == 0 && true_lower >= 0 && true_lower + true_extent <= extent;
}

}  // namespace

void prepare_to_inspect() { (void)quiet_self(); }

std::size_t signature_bytes(int count, MPI_Datatype type) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  if (bytes != MPI_UNDEFINED) return static_cast<std::size_t>(bytes) * static_cast<std::size_t>(count);
  MPI_Count many = 0;  // more than an int counts
  PMPI_Type_size_x(type, &many);
  return many <= 0 ? 0 : static_cast<std::size_t>(many) * static_cast<std::size_t>(count);
}

std::size_t signature_bytes(const int counts[], int ranks, MPI_Datatype type) {
  if (counts == nullptr || ranks <= 0) return 0;
  std::size_t sum = 0;
  for (const int count : std::span(counts, static_cast<std::size_t>(ranks))) {
    if (count < 0) return 0;
    sum += static_cast<std::size_t>(count);
  }
  return sum * signature_bytes(1, type);
}

std::size_t signature_bytes(const int counts[], const MPI_Datatype types[], int ranks) {
  if (counts == nullptr || types == nullptr) return 0;
  std::size_t sum = 0;
  for (int r = 0; r < ranks; ++r) sum += signature_bytes(counts[r], types[r]);
  return sum;
}

bool is_named(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

bool is_buffer(const void* buffer, MPI_Datatype type) { return buffer != nullptr || !is_named(type); }

bool is_usable(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return false;
  if (is_named(type)) return true;
  // Whether a datatype has been committed shows where it is used.
  if (quiet_self() == MPI_COMM_NULL) return false;
  char room = 0;
  int position = 0;
  return PMPI_Pack(&room, 0, type, &room, 1, &position, quiet_self()) == MPI_SUCCESS;
}

int rank_in(MPI_Comm comm) {
  int rank = -1;
  if (comm != MPI_COMM_NULL && !is_inter(comm)) PMPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  if (comm != MPI_COMM_NULL && !is_inter(comm)) PMPI_Comm_size(comm, &size);
  return size;
}

GroupFacts facts_of(MPI_Comm comm) {
  GroupFacts facts;
  facts.is_inter = is_inter(comm);
  if (facts.is_inter) return facts;
  PMPI_Comm_size(comm, &facts.ranks);
  if (facts.ranks < 2) return facts;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group common = MPI_GROUP_NULL;
  int known = 0;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_intersection(group, world, &common);
  PMPI_Group_size(common, &known);
  facts.has_strangers = known != facts.ranks;
  for (MPI_Group* one : {&group, &world, &common}) PMPI_Group_free(one);
  return facts;
}

Reason reason_to_pass(MPI_Op op, MPI_Datatype type, bool is_started) {
  if (!is_usable(type)) return Reason::invalid;
  const OpKind kind = op_kind_of(op);
  if (is_started && kind == OpKind::commutative) return Reason::users_operation;
  return reason_to_pass(kind, type_kind_of(type), lies_inside(type));
}

}  // namespace papfft::comm::preload
