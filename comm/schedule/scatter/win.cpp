// SPDX-License-Identifier: MIT
// Windowed scatter: the root serves the ranks in order of expected arrival, but no send waits for another: the
// executor keeps a window of them under way, so that a rank that comes later than expected does not hold the
// others back. With a window of one send it is the sorted linear scatter.
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/family/linear.hpp"

namespace papfft::comm {

const Algorithm scatter_win{.operation = Operation::scatter,
                            .name = "win",
                            .summary = "linear, in order of expected arrival, several sends under way",
                            .rounds = "P-1",
                            .bytes = "(P-1)m",
                            .source = "own; SG Fig. 5 with non-blocking sends",
                            .uses_arrival = true,
                            .plans_root_alone = true,
                            .local = sorted_linear_scatter<Pacing::windowed>};

const Algorithm scatterv_win{.operation = Operation::scatterv,
                             .name = "win",
                             .summary = "linear, in order of expected arrival, several sends under way",
                             .rounds = "P-1",
                             .bytes = "(P-1)m",
                             .source = "own; SG Fig. 5 with non-blocking sends",
                             .segmentation = Segmentation::whole,
                             .uses_arrival = true,
                             .plans_root_alone = true,
                             .local = sorted_linear_scatter<Pacing::windowed>};

}  // namespace papfft::comm
