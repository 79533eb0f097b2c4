// SPDX-License-Identifier: MIT
#include "comm/model/closed_forms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace papfft::comm::oracles {

namespace {

/// ceil(log2 x), x >= 1.
int log2_up(int x) { return static_cast<int>(std::bit_width(static_cast<unsigned>(x - 1))); }

}  // namespace

Ticks ScatterGather::eq3_lin() const { return (P - 1) * block(); }
Ticks ScatterGather::eq4_lin_elapsed_sum() const { return Ticks{P + 2} * (P - 1) / 2 * block(); }
Ticks ScatterGather::eq5_ls() const { return (P - 1) * (block() + 2 * alpha); }
Ticks ScatterGather::eq6_ls_elapsed_sum() const { return Ticks{P + 2} * (P - 1) / 2 * (block() + 2 * alpha); }
Ticks ScatterGather::eq7_bn() const { return log2_up(P) * alpha + (P - 1) * block_bytes * beta; }
Ticks ScatterGather::eq8_bn_gather_elapsed_sum() const {
  return Ticks{2} * (P - 1) * alpha + log2_up(P) * beta * P * block_bytes;
}

Ticks ScatterGather::eq9_lin_late_leaf(Ticks late) const { return late + eq3_lin(); }
Ticks ScatterGather::eq10_sln_late_leaf(Ticks late) const { return std::max(late + block(), eq3_lin()); }
Ticks ScatterGather::eq11_bsln_late_leaf(Ticks late) const { return std::max(late, eq3_lin()); }
Ticks ScatterGather::eq12_lin_late_root(Ticks late) const { return late + eq3_lin(); }
Ticks ScatterGather::eq13_bn_scatter_late_leaf(Ticks late) const { return late + eq7_bn(); }
Ticks ScatterGather::eq14_sbn_scatter_late_leaf(Ticks late) const {
  return std::max(late + block(), eq7_bn());
}
Ticks ScatterGather::eq15_bsbn_scatter_late_leaf(Ticks late) const { return std::max(late, eq7_bn()); }
Ticks ScatterGather::eq16_bn_scatter_late_root(Ticks late) const { return late + eq7_bn(); }
Ticks ScatterGather::eq17_ls_late_leaf(Ticks late) const { return late + eq5_ls(); }
Ticks ScatterGather::eq18_sls_late_leaf(Ticks late) const {
  return std::max(late + block() + 2 * alpha, eq5_ls());
}
Ticks ScatterGather::eq19_ls_late_root(Ticks late) const { return late + eq5_ls(); }
Ticks ScatterGather::eq20_bsls_late_root(Ticks late) const { return std::max(late, eq5_ls()); }
Ticks ScatterGather::eq21_bn_gather_late_leaf(Ticks late) const { return late + eq7_bn(); }
Ticks ScatterGather::eq22_bsbn_gather_late_leaf(Ticks late) const {
  return std::max(late + alpha + P / 2 * block_bytes * beta, eq7_bn());
}
Ticks ScatterGather::eq23_bn_gather_late_root(Ticks late) const { return late + eq7_bn(); }
Ticks ScatterGather::eq24_bsbn_gather_late_root(Ticks late) const { return std::max(late, eq7_bn()); }

Ticks Reduction::binomial(std::int64_t m) const { return log2_up(p) * tau(m); }
Ticks Reduction::uni_pipeline(std::int64_t s, int q) const { return (p - 1 + 2 * (q - 1)) * tau(s); }
Ticks Reduction::uni_binary(std::int64_t s, int q) const {
  return (2 * (log2_up(p + 1) - 1) + 4 * (q - 1)) * tau(s);
}
Ticks Reduction::bi_pipeline(std::int64_t s, int q) const { return (p + q - 2) * tau(s); }
Ticks Reduction::bi_binary(std::int64_t s, int q) const {
  return Ticks{2} * (log2_up(p + 1) + q - 2) * tau(s);
}
Ticks Reduction::bi_greedy(std::int64_t s, int q) const { return (log2_up(p) + q - 1) * tau(s); }
Ticks Reduction::butterfly(std::int64_t m) const {
  return Ticks{2} * log2_up(p) * alpha + (p - 1) * (m / p) * (2 * beta + gamma);
}

/// Minimises scale (fixed + per_segment m/s) (alpha + (beta + gamma) s) over s.
Reduction::Optimum Reduction::optimum(std::int64_t m, int scale, int fixed, int per_segment) const {
  const double latency = static_cast<double>(fixed) * static_cast<double>(alpha);
  const double transfer = static_cast<double>(per_segment) * static_cast<double>(m * (beta + gamma));
  const double root = std::sqrt(latency) + std::sqrt(transfer);
  const double segment = std::sqrt(static_cast<double>(per_segment) * static_cast<double>(m * alpha) /
                                   (static_cast<double>(fixed) * static_cast<double>(beta + gamma)));
  return {segment, scale * root * root};
}

Reduction::Optimum Reduction::uni_pipeline_optimum(std::int64_t m) const { return optimum(m, 1, p - 3, 2); }
Reduction::Optimum Reduction::uni_binary_optimum(std::int64_t m) const {
  return optimum(m, 2, log2_up(p + 1) - 3, 2);
}
Reduction::Optimum Reduction::bi_pipeline_optimum(std::int64_t m) const { return optimum(m, 1, p - 2, 1); }
Reduction::Optimum Reduction::bi_binary_optimum(std::int64_t m) const {
  return optimum(m, 2, log2_up(p + 1) - 2, 1);
}
Reduction::Optimum Reduction::bi_greedy_optimum(std::int64_t m) const {
  return optimum(m, 1, log2_up(p) - 1, 1);
}

}  // namespace papfft::comm::oracles
