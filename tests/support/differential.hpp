// SPDX-License-Identifier: MIT
// Runs one case through an interpreter of schedules beside the slow reference, which checks each step.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "comm/engine/execution.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/contract.hpp"
#include "comm/verify/verify.hpp"
#include "papfft/reducer.hpp"
#include "tests/support/naive_progress.hpp"
#include "tests/support/random_schedule.hpp"
#include "tests/support/scripted_group.hpp"

namespace papfft::comm::test {

/// What became of a case.
struct Outcome {
  std::vector<std::vector<bool>> ended;  ///< per rank and op
  bool all_ended = false;
  int steps = 0;
  std::string error;  ///< the first step that the reference would not have taken
};

inline Outcome outcome_of(const NaiveProgress& reference) {
  return {reference.ended(), reference.all_ended(), reference.steps, reference.error};
}

inline std::vector<std::vector<bool>> held_back(const Schedule& schedule, Early early) {
  std::vector<std::vector<bool>> held;
  for (Rank r = 0; r < schedule.shape.ranks; ++r) {
    const Program& program = schedule.programs[static_cast<std::size_t>(r)];
    held.push_back(comm::held_back(schedule.shape, r, program, early));
  }
  return held;
}

inline Outcome verify(const RandomCase& c, Landing landing, std::optional<std::string>& violation) {
  const Rules rules{.window = c.window, .landing = landing};
  NaiveProgress reference(c.schedule, c.slot_bytes, rules, held_back(c.schedule, Early::background));
  violation =
      find_violation(c.schedule, {.rules = rules, .slot_bytes = c.slot_bytes, .observer = &reference});
  return outcome_of(reference);
}

/// @param run  given a Conduct, throws std::runtime_error if the ranks wait for each other
inline Outcome in_time(const RandomCase& c, Landing landing, Early early,
                       const std::function<void(const Conduct&)>& run) {
  const Rules rules{.window = c.window, .landing = landing};
  NaiveProgress reference(c.schedule, c.slot_bytes, rules, held_back(c.schedule, early));
  bool stuck = false;
  try {
    run({.window = c.window, .early = early, .observer = &reference});
  } catch (const std::runtime_error&) {
    stuck = true;
  }
  EXPECT_EQ(stuck, !reference.all_ended());
  return outcome_of(reference);
}

/// One byte of what `rank` gives to block `block`.
inline std::byte given(Rank rank, int block) { return static_cast<std::byte>(17 * rank + 5 * block + 3); }

/// The buffers of one rank, and whether they hold the result.
class RankBuffers {
 public:
  RankBuffers(const RandomCase& c, Rank rank) : case_(c), rank_(rank) {
    const Shape& shape = c.schedule.shape;
    for (int s = 0; s < shape.slots(); ++s) {
      const auto bytes = static_cast<std::size_t>(c.slot_bytes[static_cast<std::size_t>(s)]);
      const bool block = s < shape.blocks();
      const Held before = block ? held_before(shape, rank, shape.block_of(rank, s)) : Held::nothing;
      const Held after = block ? held_after(shape, rank, shape.block_of(rank, s)) : Held::nothing;
      input_.emplace_back(before == Held::nothing ? 0 : std::max<std::size_t>(bytes, 1), given(rank, s));
      output_.emplace_back(after == Held::nothing ? 0 : std::max<std::size_t>(bytes, 1));
      sizes_.push_back(bytes);
    }
  }

  [[nodiscard]] Layout layout() {
    Layout layout{.bytes = sizes_, .input = {}, .output = {}};
    for (std::size_t s = 0; s < sizes_.size(); ++s) {
      layout.input.push_back(input_[s].empty() ? nullptr : input_[s].data());
      layout.output.push_back(output_[s].empty() ? nullptr : output_[s].data());
    }
    return layout;
  }

  void expect_result() const {
    const Shape& shape = case_.schedule.shape;
    for (int s = 0; s < shape.blocks(); ++s) {
      const Held after = held_after(shape, rank_, s);
      if (after == Held::nothing) continue;
      std::byte expected = after == Held::root ? given(shape.root, s) : given(s / shape.segments, s);
      if (after == Held::all) {
        expected = std::byte{0};
        for (Rank r = 0; r < shape.ranks; ++r) expected ^= given(r, s);
      }
      const auto bytes = static_cast<std::ptrdiff_t>(sizes_[static_cast<std::size_t>(s)]);
      const std::vector<std::byte>& out = output_[static_cast<std::size_t>(s)];
      EXPECT_EQ(std::count(out.begin(), out.begin() + bytes, expected), bytes)
          << "rank " << rank_ << " slot " << s;
    }
  }

 private:
  const RandomCase& case_;
  Rank rank_;
  std::vector<std::size_t> sizes_;
  std::vector<std::vector<std::byte>> input_;
  std::vector<std::vector<std::byte>> output_;
};

/// The executor; ranks arrive, messages move and ranks step in a random order.
inline Outcome execute(const RandomCase& c, std::mt19937& rng) {
  const Schedule& schedule = c.schedule;
  NaiveProgress reference(schedule, c.slot_bytes, {.window = c.window},
                          held_back(schedule, Early::background));
  const ElementReducer<std::byte, std::bit_xor<>> reducer({}, true);
  CreditWindow credits(std::max(1, schedule.shape.credits));
  ScriptedGroup group(schedule.shape.ranks);
  std::vector<RankBuffers> buffers;
  std::vector<std::unique_ptr<Execution>> ranks;
  buffers.reserve(schedule.programs.size());
  for (Rank r = 0; r < schedule.shape.ranks; ++r) {
    buffers.emplace_back(c, r);
    ranks.push_back(std::make_unique<Execution>(
        RankSchedule{schedule.shape, r, schedule.programs[static_cast<std::size_t>(r)]},
        buffers.back().layout(), group.of(r), 0, c.window, &reducer, &credits));
    ranks.back()->observe(&reference);
  }
  std::vector<Rank> to_come(ranks.size());
  std::iota(to_come.begin(), to_come.end(), 0);
  std::ranges::shuffle(to_come, rng);
  for (bool moves = true; moves;) {
    moves = rng() % 2 == 0 && group.move_one(rng);
    if (rng() % 4 != 0) {
      moves = ranks[rng() % ranks.size()]->step() || moves;
    } else if (!to_come.empty()) {
      ranks[static_cast<std::size_t>(to_come.back())]->arrive();
      to_come.pop_back();
      moves = true;
    }
    if (moves) continue;
    for (const auto& rank : ranks) moves = rank->step() || moves;
    moves = group.move_one(rng) || moves || !to_come.empty();
  }
  for (std::size_t r = 0; r < ranks.size() && reference.all_ended(); ++r) {
    EXPECT_TRUE(ranks[r]->done());
    buffers[r].expect_result();
  }
  return outcome_of(reference);
}

}  // namespace papfft::comm::test
