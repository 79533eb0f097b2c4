// SPDX-License-Identifier: MIT
#include "comm/select/select.hpp"

#include <algorithm>

namespace papfft::comm {

namespace {
// Below this a block costs latency rather than bandwidth, and a tree's fewer rounds win.
constexpr std::size_t kSmallBlockBytes = 2048;
constexpr std::size_t kSegmentBytes = 131072;  // short against the vector, long against a message's latency
constexpr std::size_t kMostSegments = 64;
}  // namespace

Choice choose(Operation operation, std::string_view name, int ranks, std::size_t bytes, bool ordered) {
  if (name == "mpi") return {};
  if (name == "auto") return {&select_algorithm(operation, ranks, bytes, ordered), true};
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation != operation) continue;
    if (algorithm->name == name) return {algorithm, false};
  }
  if (name.starts_with('b')) {
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->operation == operation && algorithm->name == name.substr(1)) return {algorithm, true};
    }
  }
  return {&find_algorithm(operation, name), false};  // throws, naming what is known
}

const Algorithm& select_algorithm(Operation operation, int ranks, std::size_t bytes, bool ordered) {
  const bool tree = bytes <= kSmallBlockBytes && ranks > 4;
  switch (operation) {
    case Operation::scatter:
    case Operation::gather:
      return find_algorithm(operation, tree ? "bnom" : "lin");
    default: {
      for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->operation == operation && (algorithm->can_be_ordered || !ordered)) return *algorithm;
      }
      return find_algorithm(operation, "auto");  // throws, naming what is known
    }
  }
}

int select_segments(const Algorithm& algorithm, std::size_t bytes, std::size_t chunk_bytes) {
  switch (algorithm.segmentation) {
    case Segmentation::whole:
      return 1;
    case Segmentation::head_and_rest:
      return 2;
    case Segmentation::chunks:
      return static_cast<int>(std::max<std::size_t>(1, (bytes + chunk_bytes - 1) / chunk_bytes));
    case Segmentation::even:
      break;
  }
  if (moves_per_rank(algorithm.operation)) return 1;
  return static_cast<int>(std::clamp<std::size_t>(bytes / kSegmentBytes, 1, kMostSegments));
}

}  // namespace papfft::comm
