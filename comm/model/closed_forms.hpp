// SPDX-License-Identifier: MIT
// Closed forms of the papers, to test the simulator and the algorithms against. README.md in this folder says which
// assumption each needs and where a printed one was found wrong.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "comm/model/simulator.hpp"

namespace papfft::comm::oracles {

/// ceil(log2 x), x >= 1.
[[nodiscard]] inline int log2_up(int x) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(x - 1)));
}

/// Scatter and gather of P blocks (SG). Letters as in the paper: P ranks, N the whole vector.
struct ScatterGather {
  int P = 2;
  std::int64_t block_bytes = 0;  ///< N / P
  Ticks alpha = 0;
  Ticks beta = 0;

  /// One block in one message.
  [[nodiscard]] Ticks block() const { return alpha + beta * block_bytes; }

  // All ranks arrive at once. The elapsed times are sums over the ranks, i.e. P times the paper's means, so that
  // they are integers. Eqs 7 and 8 hold for P = 2^k.
  /// Run time, scatter and gather.
  [[nodiscard]] Ticks eq3_lin() const { return (P - 1) * block(); }
  /// Scatter.
  [[nodiscard]] Ticks eq4_lin_elapsed_sum() const { return Ticks{P + 2} * (P - 1) / 2 * block(); }
  [[nodiscard]] Ticks eq5_ls() const { return (P - 1) * (block() + 2 * alpha); }
  [[nodiscard]] Ticks eq6_ls_elapsed_sum() const {
    return Ticks{P + 2} * (P - 1) / 2 * (block() + 2 * alpha);
  }
  /// Run time of both, mean elapsed time of the scatter.
  [[nodiscard]] Ticks eq7_bn() const { return log2_up(P) * alpha + (P - 1) * block_bytes * beta; }
  [[nodiscard]] Ticks eq8_bn_gather_elapsed_sum() const {
    return Ticks{2} * (P - 1) * alpha + log2_up(P) * beta * P * block_bytes;
  }

  // One rank ("id:1": the first receiver, or "id:0": the root) arrives `late` after all others. Run times.
  [[nodiscard]] Ticks eq9_lin_late_leaf(Ticks late) const { return late + eq3_lin(); }
  [[nodiscard]] Ticks eq10_sln_late_leaf(Ticks late) const { return std::max(late + block(), eq3_lin()); }
  [[nodiscard]] Ticks eq11_bsln_late_leaf(Ticks late) const { return std::max(late, eq3_lin()); }
  /// LIN, SLN, BSLN.
  [[nodiscard]] Ticks eq12_lin_late_root(Ticks late) const { return late + eq3_lin(); }
  [[nodiscard]] Ticks eq13_bn_scatter_late_leaf(Ticks late) const { return late + eq7_bn(); }
  [[nodiscard]] Ticks eq14_sbn_scatter_late_leaf(Ticks late) const {
    return std::max(late + block(), eq7_bn());
  }
  [[nodiscard]] Ticks eq15_bsbn_scatter_late_leaf(Ticks late) const { return std::max(late, eq7_bn()); }
  /// BNOM, SBN, BSBN.
  [[nodiscard]] Ticks eq16_bn_scatter_late_root(Ticks late) const { return late + eq7_bn(); }
  [[nodiscard]] Ticks eq17_ls_late_leaf(Ticks late) const { return late + eq5_ls(); }
  /// SLS, BSLS.
  [[nodiscard]] Ticks eq18_sls_late_leaf(Ticks late) const {
    return std::max(late + block() + 2 * alpha, eq5_ls());
  }
  /// LS, SLS.
  [[nodiscard]] Ticks eq19_ls_late_root(Ticks late) const { return late + eq5_ls(); }
  [[nodiscard]] Ticks eq20_bsls_late_root(Ticks late) const { return std::max(late, eq5_ls()); }
  /// BNOM, SBN.
  [[nodiscard]] Ticks eq21_bn_gather_late_leaf(Ticks late) const { return late + eq7_bn(); }
  /// The late rank hands over P/2 whole blocks: alpha + N/2 beta. Printed is alpha + (P-1)N/(2P) beta.
  [[nodiscard]] Ticks eq22_bsbn_gather_late_leaf(Ticks late) const {
    return std::max(late + alpha + P / 2 * block_bytes * beta, eq7_bn());
  }
  /// BNOM, SBN.
  [[nodiscard]] Ticks eq23_bn_gather_late_root(Ticks late) const { return late + eq7_bn(); }
  [[nodiscard]] Ticks eq24_bsbn_gather_late_root(Ticks late) const { return std::max(late, eq7_bn()); }
};

/// Reductions of a vector of m bytes on p ranks, in q segments of s bytes (GRD). Letters as in the paper. All ranks
/// start at once; p > 3.
struct Reduction {
  int p = 4;
  Ticks alpha = 0;
  Ticks beta = 0;
  Ticks gamma = 0;

  /// One round.
  [[nodiscard]] Ticks tau(std::int64_t s) const { return alpha + (beta + gamma) * s; }
  /// Tables I and III.
  [[nodiscard]] Ticks binomial(std::int64_t m) const { return log2_up(p) * tau(m); }
  // Table I: a rank takes part in one message at a time.
  [[nodiscard]] Ticks uni_pipeline(std::int64_t s, int q) const { return (p - 1 + 2 * (q - 1)) * tau(s); }
  [[nodiscard]] Ticks uni_binary(std::int64_t s, int q) const {
    return (2 * (log2_up(p + 1) - 1) + 4 * (q - 1)) * tau(s);
  }
  // Table III: a rank sends and receives at the same time.
  [[nodiscard]] Ticks bi_pipeline(std::int64_t s, int q) const { return (p + q - 2) * tau(s); }
  /// 2 (N + q - 2) rounds, N = ceil(log2(p + 1)); printed is 2 (N + q - 1).
  [[nodiscard]] Ticks bi_binary(std::int64_t s, int q) const {
    return Ticks{2} * (log2_up(p + 1) + q - 2) * tau(s);
  }
  /// And the reversed optimal broadcast.
  [[nodiscard]] Ticks bi_greedy(std::int64_t s, int q) const { return (log2_up(p) + q - 1) * tau(s); }
  /// @pre p divides m; exact if p is a power of two, else a lower bound.
  [[nodiscard]] Ticks butterfly(std::int64_t m) const {
    return Ticks{2} * log2_up(p) * alpha + (p - 1) * (m / p) * (2 * beta + gamma);
  }

  /// The best segment size of a segmented algorithm, unrounded, and the time it would take.
  struct Optimum {
    double segment_bytes = 0;
    double time = 0;
  };
  [[nodiscard]] Optimum uni_pipeline_optimum(std::int64_t m) const { return optimum(m, 1, p - 3, 2); }
  [[nodiscard]] Optimum uni_binary_optimum(std::int64_t m) const {
    return optimum(m, 2, log2_up(p + 1) - 3, 2);
  }
  [[nodiscard]] Optimum bi_pipeline_optimum(std::int64_t m) const { return optimum(m, 1, p - 2, 1); }
  [[nodiscard]] Optimum bi_binary_optimum(std::int64_t m) const {
    return optimum(m, 2, log2_up(p + 1) - 2, 1);
  }
  [[nodiscard]] Optimum bi_greedy_optimum(std::int64_t m) const { return optimum(m, 1, log2_up(p) - 1, 1); }

 private:
  /// Minimises scale (fixed + per_segment m/s) (alpha + (beta + gamma) s) over s.
  [[nodiscard]] Optimum optimum(std::int64_t m, int scale, int fixed, int per_segment) const {
    const double latency = static_cast<double>(fixed) * static_cast<double>(alpha);
    const double transfer = static_cast<double>(per_segment) * static_cast<double>(m * (beta + gamma));
    const double root = std::sqrt(latency) + std::sqrt(transfer);
    const double segment = std::sqrt(static_cast<double>(per_segment) * static_cast<double>(m * alpha) /
                                     (static_cast<double>(fixed) * static_cast<double>(beta + gamma)));
    return {segment, scale * root * root};
  }
};

}  // namespace papfft::comm::oracles
