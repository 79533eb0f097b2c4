// SPDX-License-Identifier: MIT
// Linear scatter: the root serves ranks 0, 1, ..., P-1 one after another.
//
//   P = 4, root 1:  1->0   1->2   1->3
//
// One rank that is not ready holds up all behind it; this is what Open MPI's linear algorithm does, and the
// baseline of the arrival-aware ones.
#include "comm/schedule/core/arrival_order.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/linear.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  return linear_scatter(request, rank, arrival_order(request.ranks, request.root, {}), Pacing::one_by_one);
}

}  // namespace

const Algorithm scatter_lin{.operation = Operation::scatter,
                            .name = "lin",
                            .summary = "the root sends each rank its block, in rank order, one after another",
                            .rounds = "P-1",
                            .bytes = "(P-1)m",
                            .source = "SG Fig. 5; Open MPI basic_linear",
                            .local = generate};

const Algorithm scatterv_lin{
    .operation = Operation::scatterv,
    .name = "lin",
    .summary = "the root sends each rank its block, in rank order, one after another",
    .rounds = "P-1",
    .bytes = "(P-1)m",
    .source = "SG Fig. 5; Open MPI basic_linear",
    .segmentation = Segmentation::whole,
    .local = generate};

}  // namespace papfft::comm
