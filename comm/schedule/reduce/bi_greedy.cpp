// SPDX-License-Identifier: MIT
// Bi-greedy reduction: every rank sends and receives in every round, as far as there is anything to send (bi_greedy.hpp).
// As few rounds as the reversed optimal broadcast: ceil(log2 P) + N - 1.
#include "comm/schedule/family/bi_greedy.hpp"

#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/round_counts.hpp"

namespace papfft::comm {

namespace {

void plan(const Request& request, const TransferSink& sink) {
  plan_bi_greedy(request.ranks, request.segments, request.root, {}, sink);
}

}  // namespace

const Algorithm reduce_bi_greedy{.operation = Operation::reduce,
                                 .name = "bi-greedy",
                                 .summary = "in rounds that fill all ports, both ways",
                                 .rounds = "q+S-1",
                                 .bytes = "m(q+S-1)/S",
                                 .source = "GRD Algorithm 2, corrected",
                                 .transfers = plan,
                                 .round_count = least_rounds};

}  // namespace papfft::comm
