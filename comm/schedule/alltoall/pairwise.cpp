// SPDX-License-Identifier: MIT
// Pairwise exchange: in step i rank r sends to r+i and receives from r-i. It sends one message at a time, at its port's full rate, and
// turns to the next step when it has sent, whatever it has received. One late rank holds up all, step by step.
//
// MPI libraries wait for what they receive as well. On 8 hosts at 1 Gb/s that takes 1.2 times as long with 512 KB per pair, 1.1 times with
// 2 MB, since a rank that is a little behind stops its partner. If ranks come up to 50 ms apart, it takes 0.93 of the time with 2 MB.
//
//   P = 4, rank 0    ->1 <-3   ->2 <-2   ->3 <-1
//
// Blocks of an alltoallv are of any size, which only the two ranks of the pair know. Short ones take less time to send than to wait for
// each other, so all go at once, as segment 0. Long ones are segment 1, and go step by step. One of the two is empty.
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/pair_blocks.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int s = request.segments;
  const int at_once = traits(request.operation).sizes_are_own && s > 1 ? 1 : 0;
  Shape shape = shape_of(request);
  shape.single_port = true;
  RankBuilder builder(std::move(shape), rank);
  int round = 0;
  const auto exchange = [&](int step, BlockRange segments, const std::vector<int>& before) {
    const Rank to = (rank + step) % p;
    const Rank from = (rank - step + p) % p;
    const auto part = [&](BlockRange block) {
      return BlockRange{block.first + segments.first, block.first + segments.last};
    };
    builder.recv(from, part(block_from(builder.shape(), from)), round);
    return std::vector{builder.send(to, part(block_for(builder.shape(), to)), round++, before)};
  };
  for (int step = 1; at_once > 0 && step < p; ++step) exchange(step, {0, at_once}, {});
  std::vector<int> before;
  for (int step = 1; step < p; ++step) before = exchange(step, {at_once, s}, before);
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

const Algorithm alltoallv_pairwise{
    .operation = Operation::alltoallv,
    .name = "pairwise",
    .summary = "P-1 steps, in each a block to one rank and one from another; short blocks go at once",
    .rounds = "P-1",
    .bytes = "(P-1)m",
    .source = "Thakur et al., IJHPCA 19(1), 2005; Open MPI pairwise",
    .segmentation = Segmentation::short_or_long,
    .local = generate};

}  // namespace papfft::comm
