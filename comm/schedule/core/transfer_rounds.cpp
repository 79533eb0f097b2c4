// SPDX-License-Identifier: MIT
#include "comm/schedule/core/transfer_rounds.hpp"

#include <vector>

#include "comm/schedule/core/generator.hpp"

namespace papfft::comm {

namespace {

Shape shape_in_rounds(const Request& request) {
  Shape shape = shape_of(request);
  shape.single_port = true;
  return shape;
}

/// @param builder_of  who writes a rank's program; nullptr: nobody
template <typename BuilderOf>
void write_programs(const Request& request, TransferPlanner plan, BuilderOf builder_of) {
  // Rounds that have transfers. Planners count idle rounds too, of which there may be more than an int holds.
  int round = -1;
  std::int64_t planned_round = 0;
  plan(request, [&](std::span<const Transfer> transfers) {
    for (const Transfer& transfer : transfers) {
      if (round < 0 || transfer.round != planned_round) ++round;
      planned_round = transfer.round;
      const BlockRange blocks{transfer.segment, transfer.segment + 1};
      if (ProgramBuilder* const sender = builder_of(transfer.from)) sender->send(transfer.to, blocks, round);
      if (ProgramBuilder* const receiver = builder_of(transfer.to)) {
        receiver->add({.kind = transfer.combine ? OpKind::recv_combine : OpKind::recv,
                       .peer = transfer.from,
                       .blocks = blocks,
                       .round = round});
      }
    }
  });
}

}  // namespace

Schedule to_schedule(const Request& request, TransferPlanner plan) {
  Schedule schedule{.shape = shape_in_rounds(request)};
  std::vector<ProgramBuilder> builders(static_cast<std::size_t>(request.ranks),
                                       ProgramBuilder(schedule.shape.slots()));
  write_programs(request, plan, [&](Rank r) { return &builders[static_cast<std::size_t>(r)]; });
  schedule.programs.reserve(builders.size());
  for (ProgramBuilder& builder : builders) schedule.programs.push_back(builder.take());
  return schedule;
}

RankSchedule to_rank_schedule(const Request& request, Rank rank, TransferPlanner plan) {
  RankBuilder builder(shape_in_rounds(request), rank);
  write_programs(request, plan, [&](Rank r) { return r == rank ? &builder : nullptr; });
  return builder.take_part();
}

}  // namespace papfft::comm
