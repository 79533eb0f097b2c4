// SPDX-License-Identifier: MIT
// The closed forms of GRD's Tables I and III against schedules made by hand, and its worked numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "comm/model/closed_forms.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/builder.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/verify/verify.hpp"

namespace papfft::comm {
namespace {

constexpr std::array<oracles::Reduction, 4> kMachines{
    {{.alpha = 10, .beta = 1, .gamma = 0}, {.alpha = 0, .beta = 1, .gamma = 1}, {50, 6, 1}, {7, 2, 5}}};

oracles::Reduction on(oracles::Reduction machine, int p) {
  machine.p = p;
  return machine;
}

Schedule reduction(int p, int segments, const std::function<void(Rank, ProgramBuilder&)>& write) {
  Schedule schedule{{.operation = Operation::reduce, .ranks = p, .segments = segments}, {}};
  for (Rank r = 0; r < p; ++r) {
    ProgramBuilder builder(segments);
    write(r, builder);
    schedule.programs.push_back(builder.take());
  }
  EXPECT_EQ(find_violation(schedule), std::nullopt);
  return schedule;
}

Schedule chain(int p, int segments) {
  return reduction(p, segments, [&](Rank r, ProgramBuilder& b) {
    for (int j = 0; j < segments; ++j) {
      if (r + 1 < p) b.recv_combine(r + 1, {j, j + 1});
      if (r > 0) b.send(r - 1, {j, j + 1});
    }
  });
}

/// The complete binary tree in heap order, p = 2^N - 1.
Schedule binary_tree(int p, int segments) {
  return reduction(p, segments, [&](Rank r, ProgramBuilder& b) {
    for (int j = 0; j < segments; ++j) {
      for (const Rank child : {2 * r + 1, 2 * r + 2}) {
        if (child < p) b.recv_combine(child, {j, j + 1});
      }
      if (r > 0) b.send((r - 1) / 2, {j, j + 1});
    }
  });
}

/// Recursive halving, then a binomial gather; p = 2^k, the vector in p segments.
Schedule butterfly(int p) {
  return reduction(p, p, [&](Rank r, ProgramBuilder& b) {
    int first = 0;
    for (int half = p / 2; half >= 1; half /= 2) {
      const int mine = (r & half) == 0 ? first : first + half;
      const int other = (r & half) == 0 ? first + half : first;
      b.send(r ^ half, {other, other + half});
      b.recv_combine(r ^ half, {mine, mine + half});
      first = mine;
    }
    for (int width = 1; width < p; width *= 2) {
      if ((r & width) != 0) {
        b.send(r - width, {r, r + width});
        return;
      }
      b.recv(r + width, {r + width, r + 2 * width});
    }
  });
}

Ticks run_time(const Schedule& schedule, const oracles::Reduction& model, std::int64_t segment_bytes,
               bool duplex, Combining combining) {
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(schedule.shape.slots()), segment_bytes);
  const std::vector<Ticks> arrivals(schedule.programs.size());
  return simulate(schedule, sizes, arrivals,
                  {.alpha = model.alpha,
                   .beta = model.beta,
                   .gamma = model.gamma,
                   .duplex = duplex,
                   .combining = combining})
      .run_time;
}

TEST(SimulatedReduce, BinomialIsTablesIAndIII) {
  for (const oracles::Reduction& machine : kMachines) {
    for (int p = 4; p <= 64; ++p) {
      const oracles::Reduction model = on(machine, p);
      const Schedule s = make_schedule(find_algorithm(Operation::reduce, "bnom"),
                                       {.operation = Operation::reduce, .ranks = p, .root = p / 3});
      for (const bool duplex : {false, true}) {
        for (const Combining combining : {Combining::exclusive, Combining::in_message}) {
          EXPECT_EQ(run_time(s, model, 12, duplex, combining), model.binomial(12)) << "P=" << p;
        }
      }
    }
  }
}

TEST(SimulatedReduce, PipelineIsTablesIAndIII) {
  for (const oracles::Reduction& machine : kMachines) {
    for (const int p : {4, 5, 8, 13}) {
      for (const int q : {1, 2, 5, 20}) {
        const oracles::Reduction model = on(machine, p);
        const Schedule s = chain(p, q);
        EXPECT_EQ(run_time(s, model, 12, false, Combining::in_message), model.uni_pipeline(12, q));
        EXPECT_EQ(run_time(s, model, 12, true, Combining::in_message), model.bi_pipeline(12, q));
        EXPECT_EQ(run_time(s, model, 12, true, Combining::exclusive), model.bi_pipeline(12, q));
      }
    }
  }
}

// Table I counts rounds in which the sender waits for the receiver to combine. With GRD's own rule (Sect. V), that
// the sender is free after the message, an inner rank spends two messages and one combining on each segment.
TEST(SimulatedReduce, TableIsPipelineIsAnUpperBoundIfCombiningTakesTime) {
  for (const oracles::Reduction& machine : kMachines) {
    for (const int q : {1, 2, 5, 20}) {
      const oracles::Reduction model = on(machine, 6);
      const Ticks message = model.alpha + model.beta * 12;
      const Ticks simulated = run_time(chain(6, q), model, 12, false, Combining::exclusive);
      EXPECT_EQ(simulated, 5 * model.tau(12) + (q - 1) * (message + model.tau(12)));
      EXPECT_LE(simulated, model.uni_pipeline(12, q));
    }
  }
}

// Table I lets the levels of the tree act in turn, in steps of two rounds, so that a segment follows the one before
// after four. Left to itself an inner rank is busy for three rounds per segment: two receives and a send.
TEST(SimulatedReduce, BinaryTreeIsTableIIIAndBeatsTableI) {
  for (const oracles::Reduction& machine : kMachines) {
    for (const int depth : {3, 4, 5}) {
      for (const int q : {1, 2, 5, 20}) {
        const oracles::Reduction model = on(machine, (1 << depth) - 1);
        const Schedule s = binary_tree(model.p, q);
        SCOPED_TRACE("P=" + std::to_string(model.p) + " q=" + std::to_string(q));
        EXPECT_EQ(run_time(s, model, 12, true, Combining::in_message), model.bi_binary(12, q));
        const Ticks half_duplex = run_time(s, model, 12, false, Combining::in_message);
        EXPECT_EQ(half_duplex, (2 * (depth - 1) + 3 * (q - 1)) * model.tau(12));
        EXPECT_EQ(model.uni_binary(12, q) - half_duplex, (q - 1) * model.tau(12));
      }
    }
  }
}

TEST(SimulatedReduce, ButterflyIsTableIII) {
  for (const oracles::Reduction& machine : kMachines) {
    for (const int p : {4, 8, 16, 64}) {
      const oracles::Reduction model = on(machine, p);
      for (const Combining combining : {Combining::overlapped, Combining::exclusive, Combining::in_message}) {
        EXPECT_EQ(run_time(butterfly(p), model, 3, true, combining), model.butterfly(3 * p)) << "P=" << p;
      }
    }
  }
}

/// The least time over all segment sizes.
Ticks best(std::int64_t m, const std::function<Ticks(std::int64_t s, int q)>& time) {
  Ticks result = time(m, 1);
  for (std::int64_t s = 1; s < m; ++s) result = std::min(result, time(s, static_cast<int>((m + s - 1) / s)));
  return result;
}

TEST(ReductionOracles, GiveTheWorkedNumbers) {
  const oracles::Reduction model{.p = 64, .alpha = 10, .beta = 1, .gamma = 0};
  EXPECT_EQ(model.binomial(64), 444);
  EXPECT_EQ(model.binomial(512), 3132);
  EXPECT_EQ(best(512, [&](auto s, int q) { return model.uni_pipeline(s, q); }), 3234);
  EXPECT_EQ(best(512, [&](auto s, int q) { return model.uni_binary(s, q); }), 2948);
}

// T_opt is the time at s_opt, if the number of segments need not be whole, and no segment size does better.
TEST(ReductionOracles, OptimaAreTheTimesAtTheBestSegment) {
  const oracles::Reduction model{.p = 64, .alpha = 1000, .beta = 3, .gamma = 2};
  constexpr std::int64_t kBytes = 1 << 20;
  using Time = std::function<Ticks(std::int64_t, int)>;
  const std::vector<std::pair<oracles::Reduction::Optimum, Time>> pairs{
      {model.uni_pipeline_optimum(kBytes), [&](auto s, int q) { return model.uni_pipeline(s, q); }},
      {model.uni_binary_optimum(kBytes), [&](auto s, int q) { return model.uni_binary(s, q); }},
      {model.bi_pipeline_optimum(kBytes), [&](auto s, int q) { return model.bi_pipeline(s, q); }},
      {model.bi_binary_optimum(kBytes), [&](auto s, int q) { return model.bi_binary(s, q); }},
      {model.bi_greedy_optimum(kBytes), [&](auto s, int q) { return model.bi_greedy(s, q); }}};
  for (const auto& [optimum, time] : pairs) {
    const auto s = static_cast<std::int64_t>(optimum.segment_bytes);
    const Ticks at_optimum = time(s, static_cast<int>((kBytes + s - 1) / s));
    EXPECT_GE(static_cast<double>(at_optimum), optimum.time * 0.9999);
    EXPECT_LE(static_cast<double>(at_optimum), optimum.time * 1.01);
    for (const std::int64_t other : {s / 3, s / 2, 2 * s, 3 * s}) {
      EXPECT_GT(time(other, static_cast<int>((kBytes + other - 1) / other)), at_optimum);
    }
  }
}

}  // namespace
}  // namespace papfft::comm
