// SPDX-License-Identifier: MIT
#include "app/bench/mock_ups.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

namespace papfft::app {

namespace {

using comm::CallArguments;
using comm::Collectives;
using comm::Operation;

constexpr std::string_view kAuto = "auto";

/// Memory of at least that size, which stays for the next call.
std::span<std::byte> room(std::vector<std::byte>& memory, std::size_t bytes) {
  if (memory.size() < bytes) memory.resize(bytes);
  return std::span(memory).first(bytes);
}

void call_part(Collectives& group, const CallArguments& part) { group.call(group.prepared(part)); }

}  // namespace

std::string_view mock_up_name(Operation operation) {
  switch (operation) {
    case Operation::bcast:
      return "scatter+allgather";
    case Operation::allreduce:
      return "reduce+bcast";
    case Operation::gather:
      return "allgather";
    case Operation::reduce_scatter:
      return "reduce+scatter";
    default:
      return "";
  }
}

void MockUps::call(Collectives& group, const CallArguments& arguments) {
  switch (arguments.operation) {
    case Operation::bcast:
      return bcast(group, arguments);
    case Operation::allreduce:
      return allreduce(group, arguments);
    case Operation::gather:
      return gather(group, arguments);
    case Operation::reduce_scatter:
      return reduce_scatter(group, arguments);
    default:
      throw std::invalid_argument("no mock-up of " + std::string(comm::to_string(arguments.operation)));
  }
}

void MockUps::bcast(Collectives& group, const CallArguments& a) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::size_t elements = a.bytes / a.element_bytes;
  const std::size_t block_bytes = (elements + ranks - 1) / ranks * a.element_bytes;
  const bool is_even = block_bytes * ranks == a.bytes;
  const bool is_root = group.rank() == a.root;
  const std::span<std::byte> whole = is_even ? a.recv : room(whole_, block_bytes * ranks);
  if (is_root && !is_even) std::ranges::copy(a.recv, whole.begin());
  // The root's own block lies within what it sends, and a scatter's buffers must not overlap.
  const std::span<std::byte> block =
      is_root ? room(block_, block_bytes)
              : whole.subspan(static_cast<std::size_t>(group.rank()) * block_bytes, block_bytes);
  call_part(group, {.operation = Operation::scatter,
                    .element_bytes = a.element_bytes,
                    .root = a.root,
                    .algorithm = kAuto,
                    .send = is_root ? whole : std::span<std::byte>(),
                    .recv = block});
  call_part(group, {.operation = Operation::allgather,
                    .element_bytes = a.element_bytes,
                    .algorithm = kAuto,
                    .send = block,
                    .recv = whole});
  if (!is_root && !is_even) std::ranges::copy(whole.first(a.bytes), a.recv.begin());
}

void MockUps::allreduce(Collectives& group, const CallArguments& a) {
  constexpr int kRoot = 0;
  call_part(group, {.operation = Operation::reduce,
                    .root = kRoot,
                    .algorithm = kAuto,
                    .send = a.send,
                    .recv = group.rank() == kRoot ? a.recv : std::span<std::byte>(),
                    .reducer = a.reducer});
  call_part(group, {.operation = Operation::bcast,
                    .element_bytes = a.element_bytes,
                    .root = kRoot,
                    .algorithm = kAuto,
                    .send = a.recv,
                    .recv = a.recv});
}

void MockUps::gather(Collectives& group, const CallArguments& a) {
  const std::size_t all_bytes = a.bytes * static_cast<std::size_t>(group.size());
  call_part(group, {.operation = Operation::allgather,
                    .element_bytes = a.element_bytes,
                    .algorithm = kAuto,
                    .send = a.send,
                    .recv = group.rank() == a.root ? a.recv : room(whole_, all_bytes)});
}

void MockUps::reduce_scatter(Collectives& group, const CallArguments& a) {
  constexpr int kRoot = 0;
  if (std::ranges::adjacent_find(a.block_bytes, std::not_equal_to<>()) != a.block_bytes.end())
    throw std::invalid_argument("the mock-up of reduce_scatter needs blocks of one size");
  const std::span<std::byte> whole =
      group.rank() == kRoot ? room(whole_, a.send.size()) : std::span<std::byte>();
  call_part(group, {.operation = Operation::reduce,
                    .root = kRoot,
                    .algorithm = kAuto,
                    .send = a.send,
                    .recv = whole,
                    .reducer = a.reducer});
  call_part(group, {.operation = Operation::scatter,
                    .element_bytes = a.element_bytes,
                    .root = kRoot,
                    .algorithm = kAuto,
                    .send = whole,
                    .recv = a.recv});
}

}  // namespace papfft::app
