// SPDX-License-Identifier: MIT
#include "comm/schedule/core/transfer_rounds.hpp"

#include <vector>

#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

Shape shape_of(const Request& request) {
  return {.operation = request.operation,
          .ranks = request.ranks,
          .root = request.root,
          .segments = request.segments,
          .single_port = true};
}

/// Numbers the rounds that have transfers. Planners count idle rounds too, of which there may be more than an int holds.
class BusyRounds {
 public:
  int number(const Transfer& transfer) {
    if (count_ == 0 || transfer.round != last_) ++count_;
    last_ = transfer.round;
    return count_ - 1;
  }

 private:
  std::int64_t last_ = 0;
  int count_ = 0;
};

void add_send(ProgramBuilder& builder, const Transfer& transfer, int round) {
  builder.send(transfer.to, {transfer.segment, transfer.segment + 1}, round);
}

void add_receive(ProgramBuilder& builder, const Transfer& transfer, int round) {
  builder.add({.kind = transfer.combine ? OpKind::recv_combine : OpKind::recv,
               .peer = transfer.from,
               .blocks = {transfer.segment, transfer.segment + 1},
               .round = round});
}

}  // namespace

Schedule to_schedule(const Request& request, TransferPlanner plan) {
  Schedule schedule{.shape = shape_of(request)};
  std::vector<ProgramBuilder> builders(static_cast<std::size_t>(request.ranks),
                                       ProgramBuilder(schedule.shape.slots()));
  BusyRounds rounds;
  plan(request, [&](std::span<const Transfer> transfers) {
    for (const Transfer& transfer : transfers) {
      const int round = rounds.number(transfer);
      add_send(builders[static_cast<std::size_t>(transfer.from)], transfer, round);
      add_receive(builders[static_cast<std::size_t>(transfer.to)], transfer, round);
    }
  });
  schedule.programs.reserve(builders.size());
  for (ProgramBuilder& builder : builders) schedule.programs.push_back(builder.take());
  return schedule;
}

RankSchedule to_rank_schedule(const Request& request, Rank rank, TransferPlanner plan) {
  const Shape shape = shape_of(request);
  ProgramBuilder builder(shape.slots());
  BusyRounds rounds;
  plan(request, [&](std::span<const Transfer> transfers) {
    for (const Transfer& transfer : transfers) {
      const int round = rounds.number(transfer);
      if (transfer.from == rank) add_send(builder, transfer, round);
      if (transfer.to == rank) add_receive(builder, transfer, round);
    }
  });
  return {shape, rank, builder.take()};
}

}  // namespace papfft::comm
