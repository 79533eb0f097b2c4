// SPDX-License-Identifier: MIT
// Pipeline: the ranks form a chain from the root on, each hands on segment after segment.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  Shape shape = shape_of(request);
  shape.single_port = true;
  const int position = (rank - request.root + p) % p;
  RankBuilder builder(std::move(shape), rank);
  for (int s = 0; s < request.segments; ++s) {
    if (position > 0) builder.recv((rank - 1 + p) % p, {s, s + 1}, s + position - 1);
    if (position < p - 1) builder.send((rank + 1) % p, {s, s + 1}, s + position);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm bcast_chain{.operation = Operation::bcast,
                            .name = "chain",
                            .summary = "pipeline: each rank hands on segment after segment",
                            .rounds = "S+P-2",
                            .bytes = "m",
                            .source = "CIR Sect. 3 (peer); Open MPI chain",
                            .local = generate,
                            .round_count = chain_rounds};

}  // namespace papfft::comm
