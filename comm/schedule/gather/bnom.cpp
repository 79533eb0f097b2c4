// SPDX-License-Identifier: MIT
// Binomial gather: the binomial scatter backwards (scatter_bnom.cpp); leaves send first, subtrees are collected
// and sent on in one message.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/binomial_tree.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  RankSchedule part = backwards(scatter_bnom, request, rank, BinomialTree{request.ranks}.rounds());
  part.shape.single_port = false;  // a gather takes blocks as they come
  return part;
}

}  // namespace

const Algorithm gather_bnom{.operation = Operation::gather,
                            .name = "bnom",
                            .summary = "binomial tree: each inner rank collects its subtree and sends it on",
                            .rounds = "q",
                            .bytes = "(P-1)m",
                            .source = "SG Fig. 11 without sorting; Open MPI binomial",
                            .local = generate};

}  // namespace papfft::comm
