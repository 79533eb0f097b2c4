// SPDX-License-Identifier: MIT
#include "comm/schedule/transform.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "comm/schedule/builder.hpp"
#include "comm/schedule/contract.hpp"

namespace papfft::comm {

namespace {

Shape reverse(Shape shape) {
  shape.operation = reversed(shape.operation);
  shape.ordered = false;
  return shape;
}

Program reverse(const Program& program, const Shape& shape, int last_round) {
  const int n = program.size();
  std::vector<std::vector<int>> after(static_cast<std::size_t>(n));  // of the new op n-1-i
  for (int i = 0; i < n; ++i) {
    for (const int before : program.after(i))
      after[static_cast<std::size_t>(n - 1 - before)].push_back(n - 1 - i);
  }
  ProgramBuilder builder(shape.slots());
  for (int k = 0; k < n; ++k) {
    Op op = program[n - 1 - k];
    if (is_local(op.kind)) throw std::invalid_argument("reverse: a schedule with local ops has no reverse");
    if (is_receive(op.kind)) {
      op.kind = OpKind::send;
    } else {
      op.kind = is_reduction(shape.operation) ? OpKind::recv_combine : OpKind::recv;
    }
    op.incoming_first = false;
    op.round = last_round - op.round;
    builder.add(op, after[static_cast<std::size_t>(k)]);
  }
  return builder.take();
}

}  // namespace

RankSchedule reverse(const RankSchedule& part, int last_round) {
  const Shape shape = reverse(part.shape);
  return {shape, part.rank, reverse(part.program, shape, last_round)};
}

Schedule reverse(const Schedule& schedule) {
  Schedule result{reverse(schedule.shape), {}};
  int last_round = 0;
  for (const Program& program : schedule.programs) {
    for (const Op& op : program.ops()) last_round = std::max(last_round, op.round);
  }
  result.programs.reserve(schedule.programs.size());
  for (const Program& program : schedule.programs) {
    result.programs.push_back(reverse(program, result.shape, last_round));
  }
  return result;
}

Schedule relabel(const Schedule& schedule, std::span<const Rank> order) {
  const int p = schedule.shape.ranks;
  require_permutation(order, p, "relabel: order");
  const auto name = [&](Rank r) { return order[static_cast<std::size_t>(r)]; };
  Schedule result{schedule.shape, std::vector<Program>(schedule.programs.size())};
  result.shape.ordered = false;
  if (is_rooted(result.shape.operation)) result.shape.root = name(schedule.shape.root);
  if (result.shape.per_rank()) {
    result.shape.holder.clear();
    for (int v = 0; v < p; ++v) result.shape.holder.push_back(name(schedule.shape.holder_of(v)));
  }
  for (Rank r = 0; r < p; ++r) {
    const Program& program = schedule.programs[static_cast<std::size_t>(r)];
    Program& renamed = result.programs[static_cast<std::size_t>(name(r))];
    for (int i = 0; i < program.size(); ++i) {
      Op op = program[i];
      if (!is_local(op.kind)) op.peer = name(op.peer);
      renamed.append(op, program.after(i));
    }
  }
  return result;
}

void require_permutation(std::span<const Rank> order, int ranks, std::string_view what) {
  std::vector<bool> seen(static_cast<std::size_t>(ranks));
  bool ok = order.size() == seen.size();
  for (std::size_t i = 0; ok && i < order.size(); ++i) {
    ok = order[i] >= 0 && order[i] < ranks && !seen[static_cast<std::size_t>(order[i])];
    if (ok) seen[static_cast<std::size_t>(order[i])] = true;
  }
  if (!ok) {
    throw std::invalid_argument(std::string(what) + ": not a permutation of the ranks 0.." +
                                std::to_string(ranks - 1));
  }
}

}  // namespace papfft::comm
