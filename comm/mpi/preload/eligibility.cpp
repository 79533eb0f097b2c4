// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/eligibility.hpp"

namespace papfft::comm::preload {

namespace {

bool is_defined(OpKind op, TypeKind type) {
  const bool is_integer = type == TypeKind::integer || type == TypeKind::other_integer;
  switch (op) {
    case OpKind::extreme:
      return is_integer || type == TypeKind::floating;
    case OpKind::arithmetic:
      return is_integer || type == TypeKind::floating || type == TypeKind::complex;
    case OpKind::logical:
      return type == TypeKind::integer || type == TypeKind::logical;
    case OpKind::bitwise:
      return is_integer || type == TypeKind::byte;
    case OpKind::with_place:
      return type == TypeKind::pair;
    default:
      return false;
  }
}

}  // namespace

Reason reason_to_pass(OpKind op, TypeKind type, bool lies_inside) {
  if (op == OpKind::invalid) return Reason::invalid;
  if (op == OpKind::ordered) return Reason::ordered;
  if (op == OpKind::commutative) return lies_inside ? Reason::none : Reason::unknown_combination;
  return is_defined(op, type) ? Reason::none : Reason::unknown_combination;
}

Reason reason_to_pass(const GroupFacts& group) {
  if (group.is_inter) return Reason::intercommunicator;
  if (group.ranks < 2) return Reason::one_rank;
  return group.has_strangers ? Reason::strangers : Reason::none;
}

Reason reason_to_pass(Operation operation, std::size_t bytes, const Settings& settings) {
  if (!settings.takes(operation)) return Reason::not_taken;
  return bytes < settings.least_bytes_of(operation) ? Reason::too_short : Reason::none;
}

}  // namespace papfft::comm::preload
