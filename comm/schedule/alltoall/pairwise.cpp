// SPDX-License-Identifier: MIT
// Pairwise exchange: in step i rank r sends to r+i and receives from r-i, and only when both are over it turns to the next step. Each
// port carries one message at a time, at its full rate. One late rank holds up all, step by step.
//
//   P = 4, rank 0    ->1 <-3   ->2 <-2   ->3 <-1
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/pair_blocks.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  Shape shape = shape_of(request);
  shape.single_port = true;
  RankBuilder builder(std::move(shape), rank);
  std::vector<int> before;
  for (int step = 1; step < p; ++step) {
    const Rank to = (rank + step) % p;
    const Rank from = (rank - step + p) % p;
    const int received = builder.recv(from, block_from(builder.shape(), from), step - 1, before);
    const int sent = builder.send(to, block_for(builder.shape(), to), step - 1, before);
    before = {received, sent};
  }
  return builder.take_part();
}

}  // namespace

const Algorithm alltoall_pairwise{.operation = Operation::alltoall,
                                  .name = "pairwise",
                                  .summary = "P-1 steps, in each a block to one rank and one from another",
                                  .rounds = "P-1",
                                  .bytes = "(P-1)m",
                                  .source = "Thakur et al., IJHPCA 19(1), 2005; Open MPI pairwise",
                                  .segmentation = Segmentation::whole,
                                  .local = generate};

const Algorithm alltoallv_pairwise{.operation = Operation::alltoallv,
                                   .name = "pairwise",
                                   .summary = "P-1 steps, in each a block to one rank and one from another",
                                   .rounds = "P-1",
                                   .bytes = "(P-1)m",
                                   .source = "Thakur et al., IJHPCA 19(1), 2005; Open MPI pairwise",
                                   .segmentation = Segmentation::whole,
                                   .local = generate};

}  // namespace papfft::comm
