// SPDX-License-Identifier: MIT
// Sorted linear-synchronised gather: the root invites one rank after another (gather_ls.cpp), those expected first
// first, so that a late rank holds up nobody.
//
//   P = 4, root 1, arrivals 70 0 20 50:  invites 2, then 3, then 0
#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/linear.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  return linear_sync_gather(request, rank, arrival_order(request.ranks, request.root, request.arrival_ns));
}

}  // namespace

const Algorithm gather_sls{.operation = Operation::gather,
                           .name = "sls",
                           .summary = "linear with synchronisation, in order of expected arrival",
                           .rounds = "2(P-1)",
                           .bytes = "(P-1)m",
                           .source = "SG Fig. 9 (Fig. 10 BSLS: the same in the background)",
                           .segmentation = Segmentation::head_and_rest,
                           .uses_arrival = true,
                           .plans_root_alone = true,
                           .local = generate};

const Algorithm gatherv_sls{.operation = Operation::gatherv,
                            .name = "sls",
                            .summary = "linear with synchronisation, in order of expected arrival",
                            .rounds = "2(P-1)",
                            .bytes = "(P-1)m",
                            .source = "SG Fig. 9 (Fig. 10 BSLS: the same in the background)",
                            .segmentation = Segmentation::head_and_rest,
                            .uses_arrival = true,
                            .plans_root_alone = true,
                            .local = generate};

}  // namespace papfft::comm
