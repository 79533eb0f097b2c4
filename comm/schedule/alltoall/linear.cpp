// SPDX-License-Identifier: MIT
// Linear all-to-all: each rank sends its blocks straight to their targets, of which as many are under way as the executor's window
// allows. Rank r begins with r+1 and goes around, and takes what comes in the order in which the others so serve it. So ranks that
// come together never send to the same target at one time.
//
//   P = 4    0->1 1->2 2->3 3->0   0->2 1->3 2->0 3->1   0->3 1->0 2->1 3->2
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/pair_blocks.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  RankBuilder builder(request, rank);
  for (int step = 1; step < p; ++step) {
    const Rank to = (rank + step) % p;
    const Rank from = (rank - step + p) % p;
    builder.recv(from, block_from(builder.shape(), from), step - 1);
    builder.send(to, block_for(builder.shape(), to), step - 1);
  }
  return builder.take_part();
}

}  // namespace

const Algorithm alltoall_linear{.operation = Operation::alltoall,
                                .name = "linear",
                                .summary = "each block straight to its target, several under way",
                                .rounds = "P-1",
                                .bytes = "(P-1)m",
                                .source = "Open MPI linear; MPICH scattered",
                                .segmentation = Segmentation::whole,
                                .local = generate};

const Algorithm alltoallv_linear{.operation = Operation::alltoallv,
                                 .name = "linear",
                                 .summary = "each block straight to its target, several under way",
                                 .rounds = "P-1",
                                 .bytes = "(P-1)m",
                                 .source = "Open MPI linear; MPICH scattered",
                                 .segmentation = Segmentation::whole,
                                 .local = generate};

}  // namespace papfft::comm
