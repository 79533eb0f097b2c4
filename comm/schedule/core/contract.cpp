// SPDX-License-Identifier: MIT
#include "comm/schedule/core/contract.hpp"

#include <stdexcept>
#include <string>

namespace papfft::comm {

namespace {

bool holds(Holder side, const Shape& shape, Rank rank, int block) {
  const int part = block / shape.segments;
  switch (side) {
    case Holder::root:
      return rank == shape.root;
    case Holder::owner:
      return rank == part;
    case Holder::all:
      return true;
    case Holder::source:
      return rank == part / shape.ranks;
    case Holder::target:
      return rank == part % shape.ranks;
  }
  return false;
}

}  // namespace

Held held_before(const Shape& shape, Rank rank, int block) {
  const OperationTraits& operation = traits(shape.operation);
  if (!holds(operation.before, shape, rank, block)) return Held::nothing;
  if (operation.reduces) return Held::own;
  return operation.before == Holder::root ? Held::root : Held::owner;
}

Held held_after(const Shape& shape, Rank rank, int block) {
  const OperationTraits& operation = traits(shape.operation);
  if (!holds(operation.after, shape, rank, block)) return Held::nothing;
  if (operation.reduces) return Held::all;
  return operation.before == Holder::root ? Held::root : Held::owner;
}

Operation reversed(Operation operation) {
  if (const auto reverse = traits(operation).reverse) return *reverse;
  throw std::invalid_argument("the schedules of " + std::string(to_string(operation)) + " have no reverse");
}

}  // namespace papfft::comm
