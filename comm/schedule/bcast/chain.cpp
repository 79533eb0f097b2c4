// SPDX-License-Identifier: MIT
// Pipeline: the ranks form a chain from the root on, each hands on segment after segment.
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const Shape shape{.operation = Operation::bcast,
                    .ranks = p,
                    .root = request.root,
                    .segments = request.segments,
                    .single_port = true};
  const int position = (rank - request.root + p) % p;
  ProgramBuilder builder(shape.slots());
  for (int s = 0; s < request.segments; ++s) {
    if (position > 0) builder.recv((rank - 1 + p) % p, {s, s + 1}, s + position - 1);
    if (position < p - 1) builder.send((rank + 1) % p, {s, s + 1}, s + position);
  }
  return {shape, rank, builder.take()};
}

}  // namespace

const Algorithm bcast_chain{.operation = Operation::bcast,
                            .name = "chain",
                            .summary = "pipeline: each rank hands on segment after segment",
                            .rounds = "S+P-2",
                            .bytes = "m",
                            .source = "CIR Sect. 3 (peer); Open MPI chain",
                            .local = generate,
                            .round_count = [](int ranks, int segments) -> std::int64_t {
                              return ranks == 1 ? 0 : std::int64_t{ranks} - 2 + segments;
                            }};

}  // namespace papfft::comm
