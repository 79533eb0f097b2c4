// SPDX-License-Identifier: MIT
// What generators are written with.
#pragma once
#include <utility>

#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::comm {

/// The shape that a request asks for. @param segments  of a generator that cuts the vector by a rule of its own
[[nodiscard]] inline Shape shape_of(const Request& request, int segments) {
  return {.operation = request.operation,
          .ranks = request.ranks,
          .root = is_rooted(request.operation) ? request.root : 0,
          .segments = segments,
          .ordered = request.ordered};
}
[[nodiscard]] inline Shape shape_of(const Request& request) { return shape_of(request, request.segments); }

/// Writes one rank's part of a schedule.
class RankBuilder : public ProgramBuilder {
 public:
  RankBuilder(Shape shape, Rank rank)
      : ProgramBuilder(shape.slots()), shape_(std::move(shape)), rank_(rank) {}
  RankBuilder(const Request& request, Rank rank) : RankBuilder(shape_of(request), rank) {}

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] RankSchedule take_part() { return {std::move(shape_), rank_, take()}; }

 private:
  Shape shape_;
  Rank rank_;
};

/// One rank's part of another algorithm's schedule, backwards. @param rounds  of that schedule
[[nodiscard]] inline RankSchedule backwards(const Algorithm& forward, Request request, Rank rank,
                                            int rounds) {
  request.operation = forward.operation;
  return reverse(forward.local(request, rank), rounds - 1);
}

}  // namespace papfft::comm
