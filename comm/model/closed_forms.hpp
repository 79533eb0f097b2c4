// SPDX-License-Identifier: MIT
// Closed forms of the papers, to test the simulator and the algorithms against. README.md in this folder says which
// assumption each needs and where a printed one was found wrong.
#pragma once
#include "comm/model/simulator.hpp"

namespace papfft::comm::oracles {

/// Scatter and gather of P blocks (SG). Letters as in the paper: P ranks, N the whole vector.
struct ScatterGather {
  int P = 2;
  std::int64_t block_bytes = 0;  ///< N / P
  Ticks alpha = 0;
  Ticks beta = 0;

  // All ranks arrive at once. The elapsed times are sums over the ranks, i.e. P times the paper's means, so that
  // they are integers. Eqs 7 and 8 hold for P = 2^k.
  [[nodiscard]] Ticks eq3_lin() const;              ///< run time, scatter and gather
  [[nodiscard]] Ticks eq4_lin_elapsed_sum() const;  ///< scatter
  [[nodiscard]] Ticks eq5_ls() const;
  [[nodiscard]] Ticks eq6_ls_elapsed_sum() const;
  [[nodiscard]] Ticks eq7_bn() const;  ///< run time of both, mean elapsed time of the scatter
  [[nodiscard]] Ticks eq8_bn_gather_elapsed_sum() const;

  // One rank ("id:1": the first receiver, or "id:0": the root) arrives `late` after all others. Run times.
  [[nodiscard]] Ticks eq9_lin_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq10_sln_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq11_bsln_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq12_lin_late_root(Ticks late) const;  ///< LIN, SLN, BSLN
  [[nodiscard]] Ticks eq13_bn_scatter_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq14_sbn_scatter_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq15_bsbn_scatter_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq16_bn_scatter_late_root(Ticks late) const;  ///< BNOM, SBN, BSBN
  [[nodiscard]] Ticks eq17_ls_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq18_sls_late_leaf(Ticks late) const;  ///< SLS, BSLS
  [[nodiscard]] Ticks eq19_ls_late_root(Ticks late) const;   ///< LS, SLS
  [[nodiscard]] Ticks eq20_bsls_late_root(Ticks late) const;
  [[nodiscard]] Ticks eq21_bn_gather_late_leaf(Ticks late) const;  ///< BNOM, SBN
  /// The late rank hands over P/2 whole blocks: alpha + N/2 beta. Printed is alpha + (P-1)N/(2P) beta.
  [[nodiscard]] Ticks eq22_bsbn_gather_late_leaf(Ticks late) const;
  [[nodiscard]] Ticks eq23_bn_gather_late_root(Ticks late) const;  ///< BNOM, SBN
  [[nodiscard]] Ticks eq24_bsbn_gather_late_root(Ticks late) const;

 private:
  [[nodiscard]] Ticks block() const { return alpha + beta * block_bytes; }  // one block in one message
};

/// Reductions of a vector of m bytes on p ranks, in q segments of s bytes (GRD). Letters as in the paper. All ranks
/// start at once; p > 3.
struct Reduction {
  int p = 4;
  Ticks alpha = 0;
  Ticks beta = 0;
  Ticks gamma = 0;

  [[nodiscard]] Ticks tau(std::int64_t s) const { return alpha + (beta + gamma) * s; }  ///< one round
  [[nodiscard]] Ticks binomial(std::int64_t m) const;                                   ///< Tables I and III
  // Table I: a rank takes part in one message at a time.
  [[nodiscard]] Ticks uni_pipeline(std::int64_t s, int q) const;
  [[nodiscard]] Ticks uni_binary(std::int64_t s, int q) const;
  // Table III: a rank sends and receives at the same time.
  [[nodiscard]] Ticks bi_pipeline(std::int64_t s, int q) const;
  /// 2 (N + q - 2) rounds, N = ceil(log2(p + 1)); printed is 2 (N + q - 1).
  [[nodiscard]] Ticks bi_binary(std::int64_t s, int q) const;
  [[nodiscard]] Ticks bi_greedy(std::int64_t s, int q) const;  ///< and the reversed optimal broadcast
  /// @pre p divides m; exact if p is a power of two, else a lower bound.
  [[nodiscard]] Ticks butterfly(std::int64_t m) const;

  /// The best segment size of a segmented algorithm, unrounded, and the time it would take.
  struct Optimum {
    double segment_bytes = 0;
    double time = 0;
  };
  [[nodiscard]] Optimum uni_pipeline_optimum(std::int64_t m) const;
  [[nodiscard]] Optimum uni_binary_optimum(std::int64_t m) const;
  [[nodiscard]] Optimum bi_pipeline_optimum(std::int64_t m) const;
  [[nodiscard]] Optimum bi_binary_optimum(std::int64_t m) const;
  [[nodiscard]] Optimum bi_greedy_optimum(std::int64_t m) const;

 private:
  [[nodiscard]] Optimum optimum(std::int64_t m, int scale, int fixed, int per_segment) const;
};

}  // namespace papfft::comm::oracles
