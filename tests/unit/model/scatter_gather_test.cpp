// SPDX-License-Identifier: MIT
// The simulator against the scatter/gather paper's equations (SG Eqs 3-24), to the tick.
#include <gtest/gtest.h>

#include <array>

#include "comm/model/closed_forms.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/registry.hpp"
#include "tests/support/sanitized.hpp"

namespace papfft::comm {
namespace {

constexpr Ticks kStart = 1'000'000;  // when the others arrive; run times do not depend on it

struct Case {
  oracles::ScatterGather model;
  Rank root = 0;
};

/// Group sizes, roots, and costs with the latency or the bandwidth prevailing.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const int p : {2, 4, 8, 32}) {
    for (const Rank root : {0, p / 3, p - 1}) {
      for (const auto& [alpha, beta, bytes] :
           {std::array<std::int64_t, 3>{70, 3, 11}, {5, 8, 1000}, {0, 1, 40}, {9, 0, 7}}) {
        result.push_back({{.P = p, .block_bytes = bytes, .alpha = alpha, .beta = beta}, root});
      }
    }
  }
  return result;
}

/// Delays around the points where the equations' maxima change sides.
std::vector<Ticks> delays(const oracles::ScatterGather& m) {
  std::vector<Ticks> result{0, 1};
  for (const Ticks t : {m.eq3_lin(), m.eq5_ls(), m.eq7_bn()}) {
    for (const Ticks d : {t / 2, t - m.alpha - m.beta * m.block_bytes, t - 1, t + 1, 10 * t}) {
      if (d >= 0) result.push_back(d);
    }
  }
  return result;
}

/// SG's linear-synchronised gathers count every message through the root one after another (Eq. 5), so they are
/// run on half-duplex ports; the others never send and receive at once, which tests say below.
Simulation run(const Case& c, Operation operation, std::string_view name, const std::vector<Ticks>& late_by,
               Early early = Early::nothing, bool duplex = false) {
  const int p = c.model.P;
  std::vector<Ticks> arrivals(static_cast<std::size_t>(p), kStart);
  for (std::size_t r = 0; r < late_by.size(); ++r) arrivals[r] += late_by[r];
  const bool two_segments = name == "ls" || name == "sls";
  const Schedule schedule = make_schedule(find_algorithm(operation, name), {.operation = operation,
                                                                            .ranks = p,
                                                                            .root = c.root,
                                                                            .segments = two_segments ? 2 : 1,
                                                                            .arrival_ns = arrivals});
  std::vector<std::int64_t> blocks{c.model.block_bytes};
  if (two_segments) {
    blocks.clear();
    for (int r = 0; r < p; ++r) {
      blocks.push_back(c.model.block_bytes / 4);
      blocks.push_back(c.model.block_bytes - c.model.block_bytes / 4);
    }
  }
  return simulate(schedule, slot_sizes(schedule.shape, blocks), arrivals,
                  {.alpha = c.model.alpha, .beta = c.model.beta, .duplex = duplex}, {.early = early});
}

Ticks late(const Case& c, Operation operation, std::string_view name, Rank rank, Ticks by,
           Early early = Early::nothing, bool duplex = false) {
  std::vector<Ticks> late_by(static_cast<std::size_t>(c.model.P));
  late_by[static_cast<std::size_t>(rank)] = by;
  return run(c, operation, name, late_by, early, duplex).run_time;
}

constexpr auto kScatter = Operation::scatter;
constexpr auto kGather = Operation::gather;

std::string trace(const Case& c, Ticks by = 0, Rank rank = -1) {
  return "P=" + std::to_string(c.model.P) + " root=" + std::to_string(c.root) +
         " alpha=" + std::to_string(c.model.alpha) + " beta=" + std::to_string(c.model.beta) + " late by " +
         std::to_string(by) + " rank " + std::to_string(rank);
}

TEST(SimulatedScatterGather, AllAtOnceIsEquations3To8) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(trace(c));
    const oracles::ScatterGather& m = c.model;
    for (const bool duplex : {false, true}) {
      for (const std::string_view name : {"lin", "sln", "win"}) {
        const Simulation s = run(c, kScatter, name, {}, Early::nothing, duplex);
        EXPECT_EQ(s.run_time, m.eq3_lin()) << name;
        EXPECT_EQ(s.elapsed_sum, m.eq4_lin_elapsed_sum()) << name;
      }
      EXPECT_EQ(run(c, kGather, "lin", {}, Early::nothing, duplex).run_time, m.eq3_lin());
      for (const std::string_view name : {"bnom", "sbn"}) {
        const Simulation scatter = run(c, kScatter, name, {}, Early::nothing, duplex);
        EXPECT_EQ(scatter.run_time, m.eq7_bn()) << name;
        EXPECT_EQ(scatter.elapsed_sum, m.P * m.eq7_bn()) << name;
        const Simulation gather = run(c, kGather, name, {}, Early::nothing, duplex);
        EXPECT_EQ(gather.run_time, m.eq7_bn()) << name;
        EXPECT_EQ(gather.elapsed_sum, m.eq8_bn_gather_elapsed_sum()) << name;
      }
    }
    for (const std::string_view name : {"ls", "sls"}) {
      const Simulation s = run(c, kGather, name, {});
      EXPECT_EQ(s.run_time, m.eq5_ls()) << name;
      EXPECT_EQ(s.elapsed_sum, m.eq6_ls_elapsed_sum()) << name;
    }
  }
}

// The first receiver is late: the rank that the arrival-blind algorithms serve first. The sorted ones know better
// for whichever rank is late.
TEST(SimulatedScatterGather, ALateLeafIsEquations9To22) {
  for (const Case& c : cases()) {
    const oracles::ScatterGather& m = c.model;
    const Rank first_linear = c.root == 0 ? 1 : 0;
    const Rank first_in_tree = (c.root + m.P / 2) % m.P;
    for (const Ticks d : delays(m)) {
      SCOPED_TRACE(trace(c, d));
      EXPECT_EQ(late(c, kScatter, "lin", first_linear, d), m.eq9_lin_late_leaf(d));
      EXPECT_EQ(late(c, kScatter, "bnom", first_in_tree, d), m.eq13_bn_scatter_late_leaf(d));
      EXPECT_EQ(late(c, kGather, "ls", first_linear, d), m.eq17_ls_late_leaf(d));
      const Rank step = m.P > 8 ? m.P / (test::kSanitized ? 2 : 5) : 1;
      for (Rank r = 0; r < m.P; r += step) {
        if (r == c.root) continue;
        SCOPED_TRACE(r);
        EXPECT_EQ(late(c, kScatter, "sln", r, d), m.eq10_sln_late_leaf(d));
        EXPECT_EQ(late(c, kScatter, "sln", r, d, Early::background), m.eq11_bsln_late_leaf(d));
        EXPECT_EQ(late(c, kScatter, "sbn", r, d), m.eq14_sbn_scatter_late_leaf(d));
        EXPECT_EQ(late(c, kScatter, "sbn", r, d, Early::background), m.eq15_bsbn_scatter_late_leaf(d));
        EXPECT_EQ(late(c, kGather, "sls", r, d), m.eq18_sls_late_leaf(d));
        EXPECT_EQ(late(c, kGather, "sls", r, d, Early::paper_figures), m.eq18_sls_late_leaf(d));
        EXPECT_EQ(late(c, kGather, "bnom", r, d), m.eq21_bn_gather_late_leaf(d));
        EXPECT_EQ(late(c, kGather, "sbn", r, d), m.eq21_bn_gather_late_leaf(d));
        EXPECT_EQ(late(c, kGather, "sbn", r, d, Early::background), m.eq22_bsbn_gather_late_leaf(d));
      }
    }
  }
}

TEST(SimulatedScatterGather, ALateRootIsEquations12To24) {
  for (const Case& c : cases()) {
    const oracles::ScatterGather& m = c.model;
    for (const Ticks d : delays(m)) {
      SCOPED_TRACE(trace(c, d, c.root));
      for (const Early early : {Early::nothing, Early::background}) {
        for (const std::string_view name : {"lin", "sln"}) {
          EXPECT_EQ(late(c, kScatter, name, c.root, d, early), m.eq12_lin_late_root(d)) << name;
        }
        for (const std::string_view name : {"bnom", "sbn"}) {
          EXPECT_EQ(late(c, kScatter, name, c.root, d, early), m.eq16_bn_scatter_late_root(d)) << name;
        }
      }
      for (const std::string_view name : {"ls", "sls"}) {
        EXPECT_EQ(late(c, kGather, name, c.root, d), m.eq19_ls_late_root(d)) << name;
      }
      for (const Early early : {Early::background, Early::paper_figures}) {
        EXPECT_EQ(late(c, kGather, "sls", c.root, d, early), m.eq20_bsls_late_root(d));
      }
      for (const std::string_view name : {"bnom", "sbn"}) {
        EXPECT_EQ(late(c, kGather, name, c.root, d), m.eq23_bn_gather_late_root(d)) << name;
      }
      EXPECT_EQ(late(c, kGather, "sbn", c.root, d, Early::background), m.eq24_bsbn_gather_late_root(d));
    }
  }
}

// In rank order rank 1 is a leaf of the binomial tree that is served last, so that Eq. 14 and not Eq. 13 holds for it;
// and a root that takes what comes first waits only for the late block.
TEST(SimulatedScatterGather, Equations13And21DependOnWhoIsLateAndOnBlockingReceives) {
  const Case c{{.P = 8, .block_bytes = 100, .alpha = 10, .beta = 1}};
  EXPECT_EQ(late(c, kScatter, "bnom", 1, 5000), c.model.eq14_sbn_scatter_late_leaf(5000));
  EXPECT_EQ(late(c, kGather, "bnom", 1, 5000), 5000 + 730);
  const Schedule gather = make_schedule(find_algorithm(kGather, "bnom"), {.operation = kGather, .ranks = 8});
  const std::vector<std::int64_t> sizes(8, 100);
  const std::vector<Ticks> arrivals{0, 5000, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(simulate(gather, sizes, arrivals, {.alpha = 10, .beta = 1}, {.window = {1, 3}}).run_time,
            5000 + 110);
}

// SG Eq. 22 as printed has (P-1)N/(2P) beta. P = 4, blocks of 100 bytes, alpha 10, beta 1, one rank late by 5000:
// it has collected another's block and sends 2 blocks: 10 + 200. Printed: 10 + 3 * 400 / 8 = 160.
TEST(SimulatedScatterGather, Equation22CountsWholeBlocks) {
  const Case c{{.P = 4, .block_bytes = 100, .alpha = 10, .beta = 1}};
  EXPECT_EQ(late(c, kGather, "sbn", 2, 5000, Early::background), 5210);
  EXPECT_EQ(c.model.eq22_bsbn_gather_late_leaf(5000), 5210);
}

// Beyond the paper: a leaf that has taken its go-ahead early saves one latency on Eq. 18.
TEST(SimulatedScatterGather, AnEarlyGoAheadSavesOneLatency) {
  for (const Case& c : cases()) {
    const oracles::ScatterGather& m = c.model;
    const Ticks d = 3 * m.eq5_ls();
    EXPECT_EQ(late(c, kGather, "sls", c.root == 0 ? 1 : 0, d, Early::background),
              m.eq18_sls_late_leaf(d) - m.alpha)
        << trace(c, d);
  }
}

// On a full-duplex link the rest of one block and the next go-ahead overlap: Eq. 5 loses one latency per rank
// but the first: alpha + (P-1)(2 alpha + N/P beta).
TEST(SimulatedScatterGather, FullDuplexHidesTheGoAheads) {
  for (const Case& c : cases()) {
    const oracles::ScatterGather& m = c.model;
    const Simulation s = run(c, kGather, "ls", {}, Early::nothing, true);
    EXPECT_EQ(s.run_time, m.alpha + (m.P - 1) * (2 * m.alpha + m.beta * m.block_bytes)) << trace(c);
  }
}

// Predicted all at once, but rank 1 comes late: three sends under way serve the others meanwhile, one does not.
TEST(SimulatedScatterGather, AWindowOfSendsPassesARankThatIsUnexpectedlyLate) {
  const Schedule schedule = make_schedule(find_algorithm(kScatter, "win"), {.ranks = 4});
  const std::vector<std::int64_t> sizes(4, 100);
  const std::vector<Ticks> arrivals{0, 1000, 0, 0};
  const Machine machine{.alpha = 10, .beta = 1};
  EXPECT_EQ(simulate(schedule, sizes, arrivals, machine).run_time, 1330);
  EXPECT_EQ(simulate(schedule, sizes, arrivals, machine, {.window = {2, 1}}).run_time, 1110);
}

}  // namespace
}  // namespace papfft::comm
