// SPDX-License-Identifier: MIT
#include "comm/schedule/core/contract.hpp"

#include <stdexcept>

namespace papfft::comm {

Held held_before(const Shape& shape, Rank rank, int block) {
  const bool owns = shape.per_rank() && block / shape.segments == rank;
  switch (shape.operation) {
    case Operation::scatter:
    case Operation::bcast:
      return rank == shape.root ? Held::root : Held::nothing;
    case Operation::gather:
    case Operation::allgather:
    case Operation::allgatherv:
      return owns ? Held::owner : Held::nothing;
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
      return Held::own;
  }
  throw std::invalid_argument("held_before: unknown operation");
}

Held held_after(const Shape& shape, Rank rank, int block) {
  const bool owns = shape.per_rank() && block / shape.segments == rank;
  switch (shape.operation) {
    case Operation::scatter:
      return owns ? Held::root : Held::nothing;
    case Operation::gather:
      return rank == shape.root ? Held::owner : Held::nothing;
    case Operation::bcast:
      return Held::root;
    case Operation::allgather:
    case Operation::allgatherv:
      return Held::owner;
    case Operation::reduce:
      return rank == shape.root ? Held::all : Held::nothing;
    case Operation::allreduce:
      return Held::all;
    case Operation::reduce_scatter:
      return owns ? Held::all : Held::nothing;
  }
  throw std::invalid_argument("held_after: unknown operation");
}

Operation reversed(Operation operation) {
  switch (operation) {
    case Operation::scatter:
      return Operation::gather;
    case Operation::gather:
      return Operation::scatter;
    case Operation::bcast:
      return Operation::reduce;
    case Operation::reduce:
      return Operation::bcast;
    case Operation::allgather:
    case Operation::allgatherv:
      return Operation::reduce_scatter;
    case Operation::reduce_scatter:
      return Operation::allgather;
    case Operation::allreduce:
      break;
  }
  throw std::invalid_argument("an allreduce schedule has no reverse");
}

}  // namespace papfft::comm
