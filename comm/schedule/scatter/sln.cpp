// SPDX-License-Identifier: MIT
// Sorted linear scatter: the root serves one rank after another, those expected first first, so that a late rank
// holds up nobody.
//
//   P = 4, root 1, arrivals 70 0 20 50:  1->2   1->3   1->0
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/linear.hpp"

namespace papfft::comm {

const Algorithm scatter_sln{.operation = Operation::scatter,
                            .name = "sln",
                            .summary = "linear, in order of expected arrival",
                            .rounds = "P-1",
                            .bytes = "(P-1)m",
                            .source = "SG Fig. 5 (Fig. 6 BSLN: the same in the background)",
                            .uses_arrival = true,
                            .plans_root_alone = true,
                            .local = sorted_linear_scatter<Pacing::one_by_one>};

const Algorithm scatterv_sln{.operation = Operation::scatterv,
                             .name = "sln",
                             .summary = "linear, in order of expected arrival",
                             .rounds = "P-1",
                             .bytes = "(P-1)m",
                             .source = "SG Fig. 5 (Fig. 6 BSLN: the same in the background)",
                             .segmentation = Segmentation::whole,
                             .uses_arrival = true,
                             .plans_root_alone = true,
                             .local = sorted_linear_scatter<Pacing::one_by_one>};

}  // namespace papfft::comm
