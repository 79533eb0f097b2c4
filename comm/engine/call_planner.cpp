// SPDX-License-Identifier: MIT
#include "comm/engine/call_planner.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "comm/engine/wire_text.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::comm {

namespace {

/// FNV-1a, never 0.
std::uint64_t hash(std::span<const std::size_t> values) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const std::size_t value : values) h = (h ^ value) * 0x100000001b3U;
  return std::max<std::uint64_t>(h, 1);
}

bool stock_serves(const CallArguments& a) {
  return a.bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         (a.reducer == nullptr || a.reducer->is_stock());
}

bool is_ordered(const CallArguments& a) { return a.reducer != nullptr && !a.reducer->commutative(); }

/// Where the blocks begin, and where the last ends (make_layout). Of blocks whose size this rank does not know, it needs none.
std::vector<std::size_t> offsets_of(const CallArguments& a, std::size_t ranks, Rank self) {
  const OperationTraits& row = traits(a.operation);
  if (!row.is_per_rank()) return {0, a.bytes};
  std::vector<std::size_t> offsets = {0};
  offsets.reserve((row.is_per_pair() ? 2 : 1) * ranks + 1);
  const auto add = [&](std::span<const std::size_t> sizes) {
    for (std::size_t r = 0; r < ranks; ++r) {
      const bool is_unknown = sizes.empty() && row.sizes_are_own && r != static_cast<std::size_t>(self);
      const std::size_t size = is_unknown ? 0 : sizes.empty() ? a.bytes : sizes[r];
      offsets.push_back(offsets.back() + size);
    }
  };
  add(a.block_bytes);
  if (row.is_per_pair()) add(a.recv_block_bytes);
  return offsets;
}

static_assert(std::has_unique_object_representations_v<CallSignature>);

/// The call goes by this choice, and its signature says so.
void sign(PlannedCall& plan, const Choice& choice) {
  plan.choice = choice;
  plan.signature.algorithm = {};
  const std::string name = choice.name();
  name.copy(plan.signature.algorithm.data(), plan.signature.algorithm.size() - 1);
  plan.signature.background = choice.background ? 1 : 0;
  plan.signature.segments = choice.segments;
}

}  // namespace

void require_block_sizes(const CallArguments& a, int ranks) {
  if (a.block_bytes.empty()) return;
  const std::string who(to_string(a.operation));
  if (!traits(a.operation).takes_sizes) {
    throw std::invalid_argument(who + ": takes blocks of one size only");
  }
  const auto require_one_per_rank = [&](std::span<const std::size_t> sizes) {
    if (sizes.size() == static_cast<std::size_t>(ranks)) return;
    throw std::invalid_argument(who + ": " + std::to_string(sizes.size()) + " block sizes for " +
                                std::to_string(ranks) + " ranks");
  };
  require_one_per_rank(a.block_bytes);
  if (traits(a.operation).is_per_pair()) require_one_per_rank(a.recv_block_bytes);
}

std::string CallSignature::text() const {
  if (operation < 0 || operation >= kOperationCount) return "operation #" + std::to_string(operation);
  const OperationTraits& row = traits(static_cast<Operation>(operation));
  return std::string(row.name) + " " + (background != 0 ? "b" : "") + wire_text(algorithm) +
         (segments != 0 ? "/" + std::to_string(segments) : "") + ", root " + std::to_string(root) + ", " +
         (row.sizes_are_own ? "blocks of any sizes" : std::to_string(bytes) + " bytes") + " in elements of " +
         std::to_string(element_bytes) +
         (blocks != 0 ? ", block sizes #" + std::to_string(blocks % 1'000'000) : "") +
         (ordered != 0 ? ", in rank order" : "") + (reducer[0] != 0 ? ", by " + wire_text(reducer) : "");
}

PlannedCall as_stock(PlannedCall plan) {
  sign(plan, {});
  plan.segments = 1;
  plan.reducer.clear();
  return plan;
}

CallPlanner::CallPlanner(const Transport& transport, const Options& options)
    : transport_(transport), options_(options) {
  const Hosts hosts(transport.size(), transport.host_of_rank());
  group_ = GroupSize(hosts, transport.is_any_crowded());
  group_.has_pipes = group_.is_one_host() && transport.has_pipes();
  if (!hosts.are_single())
    host_of_rank_.assign(transport.host_of_rank().begin(), transport.host_of_rank().end());
}

void CallPlanner::require_sense(const CallArguments& a) const {
  if (a.root < 0 || a.root >= transport_.size()) {
    throw std::invalid_argument(std::string(to_string(a.operation)) + ": no rank " + std::to_string(a.root) +
                                " among " + std::to_string(transport_.size()));
  }
  require_block_sizes(a, transport_.size());
}

bool CallPlanner::may_be_watched(const CallArguments& a) const {
  constexpr double kShareOfPatience = 0.1;
  const OperationTraits& row = traits(a.operation);
  const bool are_blocks = row.is_per_rank() && a.block_bytes.empty();
  const double bytes = static_cast<double>(a.bytes) * (are_blocks ? transport_.size() : 1);
  const std::chrono::duration<double, std::nano> patience = options_.stuck_after;
  return is_stock_watched_ &&
         message_ns(options_.link, a.operation, bytes) < kShareOfPatience * patience.count();
}

bool CallPlanner::may_be_stock(const CallArguments& a, bool waits) const {
  if (a.algorithm != "auto" || !has_stock_ || !waits || !stock_serves(a)) return false;
  // The library's own calls have a limit, and no rank knows whether another's blocks are beyond it if their sizes are its own.
  if (traits(a.operation).sizes_are_own) return false;
  return options_.stuck_after.count() == 0 || may_be_watched(a);
}

Choice CallPlanner::choice(const CallArguments& a, std::size_t mean_bytes, bool waits,
                           std::string_view& reason) const {
  const bool may_leave = may_be_stock(a, waits);
  const std::size_t compared_bytes = as_on_usual_link(mean_bytes, group_, options_.link);
  Choice choice = choose(a.operation, a.algorithm, group_, compared_bytes, is_ordered(a));
  if (a.algorithm == "auto") {
    if (!expects_arrivals_) choice.algorithm = &never_by_arrivals(*choice.algorithm, group_, compared_bytes);
    reason = kByRules;
    const bool is_short = prefers_stock(a.operation, group_, compared_bytes);
    if (const auto found = decided(a, mean_bytes, may_leave, is_short, reason)) {
      choice = *found;
    } else if (may_leave && is_short) {
      return {};
    } else if (const std::string* way = waits ? simulated_way(a, mean_bytes) : nullptr; way != nullptr) {
      choice = choose(a.operation, *way, group_, mean_bytes, false);
      reason = "a simulation";
    }
  }
  choice.background = choice.background && has_background_;
  return choice;
}

/// The fastest way that was measured and can be gone here. Stock's calls were fastest when all ranks came together; where a background
/// thread can begin before a late rank comes, they are left to short calls.
std::optional<Choice> CallPlanner::decided(const CallArguments& a, std::size_t mean_bytes, bool may_be_stock,
                                           bool is_short, std::string_view& reason) const {
  if (!decisions_ || is_ordered(a) || traits(a.operation).sizes_are_own) return std::nullopt;
  const bool begins_early = has_background_ && gains_early(a.operation, group_);
  for (const DecisionTable::Way& way : decisions_->ways(a.operation, mean_bytes)) {
    Choice choice = choose(a.operation, way.name, group_, mean_bytes, false);
    const bool is_ours = choice.algorithm != nullptr;
    const bool can_be_told = choice.stock.number == 0 || has_tuned_stock_;
    if (!is_ours && !(may_be_stock && can_be_told && (is_short || !begins_early))) continue;
    choice.background = is_ours && (choice.background || begins_early);
    reason = decisions_->is_for_unknown_arrivals() ? "a table for unknown arrivals" : "a table";
    return choice;
  }
  return std::nullopt;
}

/// Nothing that begins early was simulated.
const std::string* CallPlanner::simulated_way(const CallArguments& a, std::size_t mean_bytes) const {
  if (has_background_ || is_ordered(a)) return nullptr;
  const auto is_alike = [&](const DecisionTable::Row& row) {
    return row.operation == a.operation && std::bit_width(row.bytes) == std::bit_width(mean_bytes);
  };
  const auto row = std::ranges::find_if(simulated_, is_alike);
  return row == simulated_.end() ? nullptr : &row->ways.front().name;
}

PlannedCall CallPlanner::plan(const CallArguments& a, bool waits) const {
  require_sense(a);
  const auto ranks = static_cast<std::size_t>(transport_.size());
  const bool are_known = !traits(a.operation).sizes_are_own;
  const bool differ = !a.block_bytes.empty() && are_known;
  const std::size_t known_bytes = are_known ? a.bytes : 0;
  const std::size_t mean_bytes = differ ? known_bytes / ranks : known_bytes;
  PlannedCall plan{.signature = {.bytes = known_bytes,
                                 .blocks = differ ? hash(a.block_bytes) : 0,
                                 .element_bytes = a.element_bytes,
                                 .operation = static_cast<std::int32_t>(a.operation),
                                 .root = a.root,
                                 .ordered = is_ordered(a) ? 1 : 0,
                                 .automatic = a.algorithm == "auto" ? 1 : 0},
                   .offsets = offsets_of(a, ranks, transport_.rank()),
                   .bytes = a.bytes};
  sign(plan, choice(a, mean_bytes, waits, plan.reason));
  plan.is_open = !plan.is_stock() && may_be_stock(a, waits);
  if (!plan.is_stock()) {
    plan.segments = plan.choice.segments > 0
                        ? plan.choice.segments
                        : select_segments(*plan.choice.algorithm, group_, mean_bytes, options_);
  }
  if (plan.choice.background && a.reducer != nullptr) plan.reducer = a.reducer->name();
  return plan;
}

std::int64_t CallPlanner::round_ns(const PlannedCall& plan) const {
  const Algorithm* const algorithm = plan.choice.algorithm;
  const int pieces = algorithm == nullptr || algorithm->piece_count == nullptr
                         ? 1
                         : algorithm->piece_count(algorithm->passing(group_.ranks, group_.hosts));
  const double segment_bytes = static_cast<double>(plan.signature.bytes) / pieces / plan.segments;
  return std::llround(message_ns(options_.link, plan.operation(), segment_bytes));
}

std::vector<std::int64_t> CallPlanner::trusted(const PlannedCall& plan, std::vector<std::int64_t> arrival_ns,
                                               const PredictionError& error) const {
  const bool doubtful = plan.is_automatic() && !is_worth_planning(plan.operation(), error, round_ns(plan));
  return doubtful ? std::vector<std::int64_t>{} : std::move(arrival_ns);
}

RankSchedule CallPlanner::part(const PlannedCall& plan, std::vector<std::int64_t> arrival_ns) const {
  const Algorithm& chosen = *plan.choice.algorithm;
  const bool is_blind = plan.is_automatic() && arrival_ns.empty();
  const Algorithm& algorithm = is_blind ? without_arrivals(chosen) : chosen;
  const bool is_cut = &algorithm == &chosen || plan.choice.segments > 0;
  RankSchedule mine = make_rank_schedule(
      algorithm,
      {.operation = algorithm.operation,
       .ranks = transport_.size(),
       .root = plan.signature.root,
       .segments =
           is_cut ? plan.segments : select_segments(algorithm, group_, plan.signature.bytes, options_),
       .ordered = plan.signature.ordered != 0,
       .arrival_ns = std::move(arrival_ns),
       .round_ns = round_ns(plan),
       .host = algorithm.composition != nullptr ? host_of_rank_ : std::vector<int>{}},
      transport_.rank());
  // Always, not only if it has begun early: the order of combining, hence rounding, shall not depend on who came when.
  const bool early = plan.choice.background && is_reduction(algorithm.operation) && !mine.shape.ordered;
  return early ? combine_own_last(mine) : mine;
}

Layout CallPlanner::layout(const PlannedCall& plan, const Shape& shape, std::span<const std::byte> send,
                           std::span<std::byte> recv) const {
  return make_layout(shape, transport_.rank(), plan.offsets, plan.signature.element_bytes,
                     head_for(plan.choice.algorithm->segmentation, options_.head_bytes), send, recv);
}

}  // namespace papfft::comm
