// SPDX-License-Identifier: MIT
#include "comm/engine/simulated_ways.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>

#include "comm/engine/call_engine.hpp"

namespace papfft::comm {

namespace {

/// Of the time that the calls have taken so far, by the model. One way more may be under way then.
constexpr double kShare = 0.5;
constexpr double kMostNs = 5e8;

}  // namespace

void SimulatedWays::use(const MachineProfile& machine) {
  links_.reset();
  kinds_.clear();
  const GroupSize& group = engine_.planner().group();
  // Where ranks share cores a message costs more than the simulator knows, and the rules were measured there. Whoever fixes alpha or
  // beta has another machine in mind.
  if (group.ranks == 1 || group.is_crowded || !engine_.options().learn_link) return;
  const bool is_known =
      (group.hosts == 1 || machine.between) && (group.hosts == group.ranks || machine.inside);
  if (is_known) links_ = MachineLinks::of(machine);
}

bool SimulatedWays::improve(const PlannedCall& plan) {
  if (!links_ || plan.reason != kByRules || plan.is_stock() || plan.signature.ordered != 0) return false;
  const OperationTraits& row = traits(plan.operation());
  if (row.sizes_are_own || row.is_per_pair()) return false;
  const auto ranks = static_cast<std::size_t>(engine_.transport().size());
  const std::size_t bytes = plan.signature.blocks != 0 ? plan.signature.bytes / ranks : plan.signature.bytes;
  Kind& kind = kinds_[{plan.operation(), static_cast<unsigned>(std::bit_width(bytes))}];
  const std::size_t whole = vector_bytes(plan.operation(), bytes, engine_.transport().size());
  kind.modelled_ns += message_ns(engine_.options().link, plan.operation(), static_cast<double>(whole));
  if (kind.modelled_ns < kind.next_try_ns) return false;
  std::array<char, 64> name{};  // the last character is 0
  if (engine_.rank() == 0) chosen(plan, bytes, kind.modelled_ns).copy(name.data(), name.size() - 1);
  const auto word = std::as_writable_bytes(std::span(name));
  engine_.run_own(Operation::bcast, word, word, name.size(), "bnom");
  if (name.front() == '\0') {
    kind.next_try_ns = 4 * kind.modelled_ns;
    return false;
  }
  kind.next_try_ns = std::numeric_limits<double>::infinity();
  engine_.planner().add_simulated({plan.operation(), bytes, {{name.data()}}});
  return true;
}

std::string SimulatedWays::chosen(const PlannedCall& plan, std::size_t bytes, double modelled_ns) const {
  using std::chrono::steady_clock;
  const Transport& transport = engine_.transport();
  const RankedCall call{.operation = plan.operation(),
                        .hosts = Hosts(transport.size(), transport.host_of_rank()),
                        .root = plan.signature.root,
                        .bytes = bytes};
  const std::chrono::nanoseconds budget(std::llround(std::min(kMostNs, kShare * modelled_ns)));
  const auto end = steady_clock::now() + budget;
  const auto is_in_time = [end] { return steady_clock::now() < end; };
  std::string name =
      simulated_choice(call, *links_, {.most_steps = kStepsAtRunTime, .may_go_on = is_in_time});
  return is_in_time() ? name : std::string();
}

}  // namespace papfft::comm
