// SPDX-License-Identifier: MIT
// Receiver-driven all-to-all: the credit gather (gather/credit.cpp) with every rank as a root at once (family/credit_exchange.hpp).
//
// A rank serves all that have asked it at once, and its link is shared among them. So what is spared at the targets' links may be lost
// at the sources'. In the simulator, where no network loses packets, 16 ranks with 8 MB each take 1.03 times as long as with pairwise
// if they come together, and 1.06 to 1.31 times if they come up to 50 ms apart.
//
// An alltoallv has one chunk per block, as nobody knows into how many chunks the longest block of all should be cut.
#include "comm/schedule/family/credit_exchange.hpp"
#include "comm/schedule/family/pair_blocks.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  RankBuilder builder(credit_shape(request, request.segments), rank);
  add_credit_exchange(builder, rank,
                      {.asked_of = [&](Rank source) { return block_from(builder.shape(), source); },
                       .given_to = [&](Rank target) { return block_for(builder.shape(), target); }});
  return builder.take_part();
}

}  // namespace

const Algorithm alltoall_credit{
    .operation = Operation::alltoall,
    .name = "credit",
    .summary = "each rank asks the others for chunk after chunk, in the order of their coming",
    .rounds = "2(P-1)S",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::chunks,
    .local = generate};

const Algorithm alltoallv_credit{
    .operation = Operation::alltoallv,
    .name = "credit",
    .summary = "each rank asks the others for their blocks, in the order of their coming",
    .rounds = "2(P-1)",
    .bytes = "(P-1)m",
    .source = "this project",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
