// SPDX-License-Identifier: MIT
// Census: in round k each rank adds what the rank s[k] behind it knows, so that after it the sum covers s[k+1] ranks; q
// rounds for any P, each with the whole vector. For short vectors.
//
// Rank r sums in the order r, r+1, ..., r-1. With floating-point numbers the results therefore differ between ranks in
// their last bits, which those of every other allreduce here do not.
//
//   x  the vector's slots: this rank's own, at the end the result
//   S  scratch: the sum over the s[k+1]-1 ranks behind, without its own
//   O  scratch: x + S, where that is what the other needs
//   B  scratch: what arrives; apart from S, which may still be on its way out
#include "comm/schedule/core/generator.hpp"
#include "comm/schedule/family/circulant.hpp"

namespace papfft::comm {

namespace {

RankSchedule generate(const Request& request, Rank rank) {
  const int p = request.ranks;
  const int n = request.segments;
  Shape shape = shape_of(request);
  for (int area = 0; area < 3; ++area) {
    for (int slot = 0; slot < n; ++slot) shape.scratch.push_back(slot);
  }
  const Circulant graph(p);
  RankBuilder builder(std::move(shape), rank);
  for (int k = 0; k < graph.rounds(); ++k) {
    // s[k+1] ranks in all: twice s[k], or one fewer; then the other leaves itself out, and so is one nearer.
    const int nearer = 2 * graph.skip(k) > graph.skip(k + 1) ? 1 : 0;
    const Rank to = (rank - graph.skip(k) + nearer + p) % p;
    const Rank from = (rank + graph.skip(k) - nearer) % p;
    for (int x = 0; x < n; ++x) {
      const BlockRange sum{n + x, n + x + 1};
      const BlockRange out{2 * n + x, 2 * n + x + 1};
      const BlockRange in{3 * n + x, 3 * n + x + 1};
      if (k == 0) {  // S is empty
        builder.send(to, {x, x + 1}, k);
        builder.recv(from, sum, k);
        continue;
      }
      if (nearer == 1) {
        builder.send(to, sum, k);
      } else {
        builder.copy(x, out, k);
        builder.combine(sum.first, out, k);
        builder.send(to, out, k);
      }
      builder.recv(from, in, k);
      builder.combine(in.first, sum, k);
    }
  }
  for (int x = 0; x < n && p > 1; ++x) builder.combine(n + x, {x, x + 1}, graph.rounds());
  return builder.take_part();
}

}  // namespace

const Algorithm allreduce_census{
    .operation = Operation::allreduce,
    .name = "census",
    .summary = "partial sums over ranges that double; floating-point results differ between ranks",
    .rounds = "q",
    .bytes = "qm",
    .source = "CIR Alg. 8",
    .segmentation = Segmentation::whole,
    .may_differ = true,
    .local = generate};

}  // namespace papfft::comm
