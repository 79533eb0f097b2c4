// SPDX-License-Identifier: MIT
#include "app/model/reduction_formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/exit_code.hpp"
#include "comm/model/closed_forms.hpp"
#include "comm/schedule/family/uni_greedy.hpp"

namespace papfft::app {

namespace {

using comm::Ticks;

constexpr std::string_view kFormula = "table-";
constexpr std::string_view kUniGreedyEqual = "table-uni-greedy";
constexpr std::string_view kUniGreedyUneven = "table-uni-greedy-uneven";
constexpr std::uint64_t kMostBytesUneven = 16;  // may be cut in 2^15 ways

/// GRD Table I (one-way ports) or III (two-way), for q segments of s bytes. @throws UsageError  they have no such row
Ticks closed_form(std::string_view name, bool duplex, const comm::oracles::Reduction& machine, std::int64_t s,
                  int q) {
  const std::string_view row = name.substr(kFormula.size());
  if (row == "bnom") return q * machine.binomial(s);
  if (row == "chain") return duplex ? machine.bi_pipeline(s, q) : machine.uni_pipeline(s, q);
  if (row == "binary") return duplex ? machine.bi_binary(s, q) : machine.uni_binary(s, q);
  if (row == "rab" && duplex) return q * machine.butterfly(s);
  if (row == "bi-greedy" && duplex) return machine.bi_greedy(s, q);
  throw UsageError(
      fmt::format("no row '{}' in the greedy reduction paper's table for --ports {}; known: table-bnom, "
                  "table-chain, table-binary{}",
                  name, duplex ? "bi" : "uni",
                  duplex ? ", table-rab, table-bi-greedy" : ", table-uni-greedy, table-uni-greedy-uneven"));
}

/// Tries one way after the other to cut a vector.
class UniGreedy {
 public:
  UniGreedy(const comm::Machine& machine, int ranks, int root)
      : machine_(machine), ranks_(ranks), root_(root) {}

  void add_segment(std::uint64_t bytes) {
    message_.push_back(machine_.alpha + machine_.beta * static_cast<Ticks>(bytes));
    combining_.push_back(machine_.gamma * static_cast<Ticks>(bytes));
  }
  void finish_cut() {
    const Ticks time = comm::plan_uni_greedy(ranks_, root_, message_, combining_, [](auto) {});
    if (!best_ || time < best_->time) best_ = {static_cast<int>(message_.size()), time};
    message_.clear();
    combining_.clear();
  }
  [[nodiscard]] ComputedReduction best() const { return *best_; }

 private:
  const comm::Machine& machine_;
  int ranks_;
  int root_;
  std::vector<Ticks> message_;  // of the segments
  std::vector<Ticks> combining_;
  std::optional<ComputedReduction> best_;
};

/// @param ends  bit i: a segment ends behind byte i
void add_uneven(UniGreedy& greedy, std::uint64_t bytes, std::uint64_t ends) {
  std::uint64_t size = std::min<std::uint64_t>(bytes, 1);
  for (std::uint64_t i = 1; i < bytes; ++i) {
    if ((ends >> (i - 1) & 1U) != 0) {
      greedy.add_segment(size);
      size = 0;
    }
    ++size;
  }
  greedy.add_segment(size);
}

}  // namespace

bool is_formula(std::string_view name) { return name.starts_with(kFormula); }
bool is_uni_greedy(std::string_view name) { return name == kUniGreedyEqual || name == kUniGreedyUneven; }

void require_formula(std::string_view name, bool duplex) {
  if (!is_uni_greedy(name)) {
    (void)closed_form(name, duplex, {.p = 4}, 1, 1);
  } else if (duplex) {
    throw UsageError(std::string(name) + ": the paper computes it for --ports uni");
  }
}

ComputedReduction by_formula(std::string_view name, const comm::Machine& machine, int ranks,
                             std::uint64_t bytes, int segments, int most_segments) {
  const comm::oracles::Reduction reduction{
      .p = ranks, .alpha = machine.alpha, .beta = machine.beta, .gamma = machine.gamma};
  const auto m = static_cast<std::int64_t>(bytes);
  const auto time = [&](int q) { return closed_form(name, machine.duplex, reduction, (m + q - 1) / q, q); };
  int best = std::max(segments, 1);
  const auto most = static_cast<int>(std::clamp<std::int64_t>(m, 1, most_segments));
  for (int q = 2; segments <= 0 && q <= most; ++q) best = time(q) < time(best) ? q : best;
  return {best, time(best)};
}

ComputedReduction by_uni_greedy(std::string_view name, const comm::Machine& machine, int ranks, int root,
                                std::uint64_t bytes, int most_segments) {
  const bool uneven = name == kUniGreedyUneven;
  if (uneven && bytes > kMostBytesUneven) {
    throw UsageError(
        fmt::format("{}: {} bytes can be cut in too many ways; what would work: --bytes up to {}",
                    kUniGreedyUneven, bytes, kMostBytesUneven));
  }
  UniGreedy greedy(machine, ranks, root);
  const std::uint64_t m = std::max<std::uint64_t>(bytes, 1);
  const std::uint64_t most = std::min(m, static_cast<std::uint64_t>(most_segments));
  for (std::uint64_t q = 1; !uneven && q <= most; ++q) {
    const std::uint64_t size = (m + q - 1) / q;
    for (std::uint64_t left = bytes; left > 0; left -= std::min(left, size))
      greedy.add_segment(std::min(left, size));
    greedy.finish_cut();
  }
  for (std::uint64_t ends = 0; uneven && ends < std::uint64_t{1} << (m - 1); ++ends) {
    add_uneven(greedy, bytes, ends);
    greedy.finish_cut();
  }
  return greedy.best();
}

}  // namespace papfft::app
