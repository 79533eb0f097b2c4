// SPDX-License-Identifier: MIT
// Linear-synchronised gather: the root invites one rank after another, so that the blocks of several ranks never
// meet in the switch before the root is ready for them.
//
// For each rank in turn the root posts the receive of the first segment, sends an empty go-ahead, posts the
// receive of the rest, and waits for the first segment before it turns to the next rank: the rest of one block
// and the invitation of the next overlap. One late rank holds up all behind it.
#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/linear.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  return linear_sync_gather(request, rank, arrival_order(request.ranks, request.root, {}));
}

}  // namespace

const Algorithm gather_ls{
    .operation = Operation::gather,
    .name = "ls",
    .summary = "linear with synchronisation: the root invites each rank with an empty message",
    .rounds = "2(P-1)",
    .bytes = "(P-1)m",
    .source = "SG Fig. 9; Open MPI linear_sync",
    .segmentation = Segmentation::head_and_rest,
    .local = generate};

const Algorithm gatherv_ls{
    .operation = Operation::gatherv,
    .name = "ls",
    .summary = "linear with synchronisation: the root invites each rank with an empty message",
    .rounds = "2(P-1)",
    .bytes = "(P-1)m",
    .source = "SG Fig. 9; Open MPI linear_sync",
    .segmentation = Segmentation::head_and_rest,
    .local = generate};

}  // namespace papfft::comm
