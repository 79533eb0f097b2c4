// SPDX-License-Identifier: MIT
#include "app/model/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "app/cli/exit_code.hpp"
#include "app/model/reduction_formulas.hpp"
#include "app/model/simulated_call.hpp"
#include "comm/bounds/arrival_bounds.hpp"
#include "comm/bounds/host_bounds.hpp"
#include "comm/choose/select.hpp"
#include "comm/engine/layout.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/schedule/core/transform.hpp"

namespace papfft::app {

namespace {

using comm::Ticks;

/// A schedule, of which as few programs as possible are in memory: one, where each rank plans by itself.
class Plan {
 public:
  Plan(const comm::Choice& choice, comm::Request request)
      : algorithm_(*choice.algorithm),
        request_(std::move(request)),
        combines_own_last_(choice.background && comm::is_reduction(request_.operation) && !request_.ordered) {
    if (algorithm_.local != nullptr) {
      make(0);
    } else {
      (void)whole();
    }
  }

  [[nodiscard]] const comm::Shape& shape() const { return whole_ ? whole_->shape : one_.shape; }
  /// Until the next one is asked for.
  [[nodiscard]] const comm::Program& program(comm::Rank rank) {
    if (whole_) return whole_->programs[static_cast<std::size_t>(rank)];
    if (one_.rank != rank) make(rank);
    return one_.program;
  }
  /// All programs.
  [[nodiscard]] const comm::Schedule& whole() {
    if (!whole_) {
      whole_ = comm::make_schedule(algorithm_, request_);
      if (combines_own_last_) whole_ = comm::combine_own_last(*whole_);
    }
    return *whole_;
  }

 private:
  void make(comm::Rank rank) {
    one_ = comm::make_rank_schedule(algorithm_, request_, rank);
    if (combines_own_last_) one_ = comm::combine_own_last(one_);
  }

  const comm::Algorithm& algorithm_;
  comm::Request request_;
  bool combines_own_last_;
  std::optional<comm::Schedule> whole_;
  comm::RankSchedule one_;
};

class Simulation {
 public:
  Simulation(const SimulateOptions& options, const SimulateSettings& settings)
      : options_(options), settings_(settings) {}

  std::vector<SimulatedRow> run() {
    std::vector<SimulatedRow> rows;
    for (const int ranks : settings_.ranks) {
      require_room_for(ranks);
      for (const std::uint64_t bytes : settings_.bytes) {
        for (const ArrivalPattern& asked : settings_.patterns) {
          const ArrivalPattern pattern = asked.for_message(vector_ns(bytes));
          const std::size_t first = rows.size();
          for (const std::string& name : settings_.algorithms) add_rows(rows, name, ranks, bytes, pattern);
          const std::span<SimulatedRow> of_case = std::span(rows).subspan(first);
          compare(of_case);
          if (!settings_.wants_bound()) continue;
          const double bound_ns = SimulatedRow::mean(bounds_ns(ranks, bytes, pattern));
          for (SimulatedRow& row : of_case) row.bound_ns = bound_ns;
        }
      }
    }
    return rows;
  }

 private:
  void require_room_for(int ranks) const {
    if (options_.root >= ranks)
      throw UsageError(fmt::format("no rank {} among {} as --root", options_.root, ranks));
    if (!settings_.platform) return;
    const int hosts = comm::Hosts(ranks, settings_.hosts).count();
    if (hosts <= settings_.platform->host_count()) return;
    throw UsageError(fmt::format("{} has {} hosts; what would work: {} up to that", options_.platform,
                                 settings_.platform->host_count(),
                                 settings_.hosts.empty() ? "--ranks" : "--hosts"));
  }

  /// The bound is no algorithm, and so not the best one.
  static void compare(std::span<SimulatedRow> rows) {
    std::optional<double> best;
    for (const SimulatedRow& row : rows) {
      if (row.algorithm != kBoundName) best = std::min(best.value_or(row.mean_run_ns()), row.mean_run_ns());
    }
    for (SimulatedRow& row : rows) row.over_best = best.value_or(0) > 0 ? row.mean_run_ns() / *best : 1;
  }

  /// What the whole vector takes over a link.
  [[nodiscard]] double vector_ns(std::uint64_t bytes) const {
    const comm::Machine& machine = settings_.machine;
    return ns_of(machine.alpha) + ns_of(machine.beta) * static_cast<double>(bytes);
  }

  /// Of ranks with a host and ports of their own, if arrivals matter to the operation's bound.
  [[nodiscard]] double arrivals_bound_ns(std::uint64_t block, std::vector<std::int64_t> arrivals) const {
    if (!comm::has_bound_by_arrivals(settings_.operation) || !settings_.hosts.empty() || block == 0) return 0;
    for (std::int64_t& arrival : arrivals) arrival *= kTicksPerNs;
    return ns_of(comm::bound_by_arrivals(settings_.operation, arrivals, static_cast<std::int64_t>(block),
                                         settings_.machine.beta, options_.root));
  }

  /// On SimGrid's links alpha is latency: other messages pass meanwhile.
  [[nodiscard]] comm::HostCosts least_costs() const {
    const comm::Machine& machine = settings_.machine;
    const bool is_latency = settings_.platform != nullptr;
    return {.alpha = is_latency ? 0 : machine.alpha,
            .beta = machine.beta,
            .inside_alpha = is_latency ? 0 : machine.inside.alpha,
            .inside_beta = machine.inside.beta,
            .card_ports = machine.card_ports};
  }

  /// The least run time of each call.
  [[nodiscard]] std::vector<double> bounds_ns(int ranks, std::uint64_t bytes,
                                              const ArrivalPattern& pattern) const {
    const comm::Hosts hosts(ranks, settings_.hosts);
    const double moving =
        ns_of(comm::bound_on_hosts(settings_.operation, hosts, options_.root,
                                   static_cast<std::int64_t>(block_bytes(ranks, bytes)), least_costs()));
    std::vector<double> result;
    for (int iteration = 0; iteration < options_.iterations; ++iteration) {
      const std::vector<std::int64_t> arrivals = arrivals_ns(pattern, iteration, ranks);
      const auto [first, last] = std::ranges::minmax(arrivals);
      result.push_back(std::max({moving, static_cast<double>(last - first),
                                 arrivals_bound_ns(block_bytes(ranks, bytes), arrivals)}));
    }
    return result;
  }

  [[nodiscard]] SimulatedRow bound_row(int ranks, std::uint64_t bytes, const ArrivalPattern& pattern) const {
    const std::vector<double> bounds = bounds_ns(ranks, bytes, pattern);
    return {.algorithm = kBoundName,
            .ranks = ranks,
            .bytes = bytes,
            .pattern = pattern.spec(),
            .segments = 1,
            .run_ns = bounds,
            .elapsed_ns = bounds};
  }

  [[nodiscard]] comm::GroupSize group_of(int ranks) const {
    return comm::GroupSize(comm::Hosts(ranks, settings_.hosts));
  }

  void add_rows(std::vector<SimulatedRow>& rows, const std::string& name, int ranks, std::uint64_t bytes,
                const ArrivalPattern& pattern) const {
    if (name == kBoundName) {
      rows.push_back(bound_row(ranks, bytes, pattern));
      return;
    }
    if (is_uni_greedy(name)) {
      rows.push_back(computed(
          name, ranks, bytes, pattern,
          by_uni_greedy(name, settings_.machine, ranks, options_.root, bytes, options_.most_segments)));
      return;
    }
    if (is_formula(name)) {
      for (const int segments : settings_.segments) {
        rows.push_back(
            computed(name, ranks, bytes, pattern,
                     by_formula(name, settings_.machine, ranks, bytes, segments, options_.most_segments)));
      }
      return;
    }
    const comm::Choice choice =
        comm::choose(settings_.operation, name, group_of(ranks), block_bytes(ranks, bytes), options_.ordered);
    const auto simulated = [&](int segments) {
      return simulate(choice, name, ranks, bytes, pattern, segments);
    };
    switch (choice.algorithm->segmentation) {
      case comm::Segmentation::whole:
        rows.push_back(simulated(1));
        return;
      case comm::Segmentation::head_and_rest:
      case comm::Segmentation::short_or_long:
        rows.push_back(simulated(2));
        return;
      case comm::Segmentation::chunks: {
        const std::size_t chunk = comm::Options{}.chunk_bytes;
        rows.push_back(simulated(
            static_cast<int>(std::max<std::size_t>(1, (block_bytes(ranks, bytes) + chunk - 1) / chunk))));
        return;
      }
      case comm::Segmentation::even:
        break;
    }
    if (choice.segments > 0) {
      rows.push_back(simulated(choice.segments));
      return;
    }
    for (const int segments : settings_.segments) {
      rows.push_back(segments == kBestSegments ? best_of(simulated, bytes)
                     : segments == kChosenSegments
                         ? simulated(chosen_segments(*choice.algorithm, ranks, bytes))
                         : simulated(segments));
    }
  }

  /// Those of a call that knows these links.
  [[nodiscard]] comm::Options call_options() const {
    comm::Options options;
    options.link = {.alpha_ns = ns_of(settings_.machine.alpha),
                    .beta_ns_per_byte = ns_of(settings_.machine.beta),
                    .gamma_ns_per_byte = ns_of(settings_.machine.gamma)};
    if (settings_.platform) options.link.latency_ns = settings_.platform->link().latency_ns;
    return options;
  }

  [[nodiscard]] int chosen_segments(const comm::Algorithm& algorithm, int ranks, std::uint64_t bytes) const {
    return comm::select_segments(algorithm, group_of(ranks), block_bytes(ranks, bytes), call_options());
  }

  /// A row whose time is the same in each call.
  [[nodiscard]] SimulatedRow computed(const std::string& name, int ranks, std::uint64_t bytes,
                                      const ArrivalPattern& pattern, const ComputedReduction& found) const {
    const double ns = ns_of(found.time);
    const auto calls = static_cast<std::size_t>(options_.iterations);
    return {.algorithm = name,
            .ranks = ranks,
            .bytes = bytes,
            .pattern = pattern.spec(),
            .segments = found.segments,
            .run_ns = std::vector<double>(calls, ns),
            .elapsed_ns = std::vector<double>(calls, ns)};
  }

  /// Over numbers of segments that grow by an eighth at a time, until it has become a third slower than the best.
  template <typename Simulated>
  [[nodiscard]] SimulatedRow best_of(Simulated simulated, std::uint64_t bytes) const {
    const auto most = static_cast<int>(
        std::clamp<std::uint64_t>(bytes, 1, static_cast<std::uint64_t>(options_.most_segments)));
    SimulatedRow best = simulated(1);
    for (int segments = 2; segments <= most; segments = std::max(segments + 1, segments + segments / 8)) {
      SimulatedRow row = simulated(segments);
      if (row.mean_run_ns() < best.mean_run_ns())
        best = std::move(row);
      else if (row.mean_run_ns() > 4.0 / 3 * best.mean_run_ns() && segments > 8)
        break;
    }
    return best;
  }

  [[nodiscard]] std::size_t block_bytes(int ranks, std::uint64_t bytes) const {
    return comm::moves_per_rank(settings_.operation) ? bytes / static_cast<std::uint64_t>(ranks) : bytes;
  }

  [[nodiscard]] std::vector<std::int64_t> arrivals_ns(const ArrivalPattern& pattern, int iteration,
                                                      int ranks) const {
    std::vector<std::int64_t> result;
    result.reserve(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) result.push_back(pattern.delay_ns(iteration, r, ranks, options_.root));
    return result;
  }

  /// Arrivals as they were predicted, with normally distributed errors: the same for all algorithms.
  [[nodiscard]] std::vector<std::int64_t> predicted_ns(std::vector<std::int64_t> arrival_ns,
                                                       int iteration) const {
    if (settings_.prediction_error_ns == 0) return arrival_ns;
    std::seed_seq seed{options_.seed, static_cast<std::uint64_t>(iteration)};
    std::mt19937_64 random(seed);
    std::normal_distribution<double> error(0, static_cast<double>(settings_.prediction_error_ns));
    for (std::int64_t& arrival : arrival_ns) arrival += std::llround(error(random));
    return arrival_ns;
  }

  [[nodiscard]] std::vector<std::int64_t> sizes(const comm::Algorithm& algorithm, const comm::Shape& shape,
                                                std::size_t bytes) const {
    const std::vector<std::size_t> cuts = comm::cut(
        bytes, shape.segments, 1, comm::head_for(algorithm.segmentation, comm::Options{}.head_bytes));
    std::vector<std::int64_t> result(static_cast<std::size_t>(shape.slots()));
    for (int slot = 0; slot < shape.slots(); ++slot) {
      const auto s = static_cast<std::size_t>(shape.segment_of(slot));
      result[static_cast<std::size_t>(slot)] = static_cast<std::int64_t>(cuts[s + 1] - cuts[s]);
    }
    return result;
  }

  [[nodiscard]] SimulatedRow simulate(const comm::Choice& choice, const std::string& name, int ranks,
                                      std::uint64_t bytes, const ArrivalPattern& pattern,
                                      int segments) const {
    const comm::Algorithm& algorithm = *choice.algorithm;
    const comm::Machine& machine = settings_.machine;
    const std::size_t block = block_bytes(ranks, bytes);
    SimulatedRow row{
        .algorithm = name, .ranks = ranks, .bytes = bytes, .pattern = pattern.spec(), .segments = segments};
    std::optional<Plan> plan;
    std::vector<std::int64_t> slot_bytes;
    for (int iteration = 0; iteration < options_.iterations; ++iteration) {
      std::vector<Ticks> arrivals = arrivals_ns(pattern, iteration, ranks);
      if (!plan || algorithm.uses_arrival) {
        const int pieces = algorithm.piece_count == nullptr ? 1 : algorithm.piece_count(ranks);
        const auto segment_ns = [&](Ticks per_byte) {
          return per_byte * static_cast<std::int64_t>(block) / pieces / segments / kTicksPerNs;
        };
        const std::int64_t round = machine.alpha / kTicksPerNs + segment_ns(machine.beta + machine.gamma);
        // Only where combining keeps the message's ends busy is it part of the plan.
        const bool beside = settings_.platform || machine.combining == comm::Combining::overlapped;
        plan.emplace(choice, comm::Request{.operation = settings_.operation,
                                           .ranks = ranks,
                                           .root = options_.root,
                                           .segments = segments,
                                           .ordered = options_.ordered,
                                           .arrival_ns = predicted_ns(arrivals, iteration),
                                           .round_ns = round,
                                           .combine_ns = beside ? 0 : segment_ns(machine.gamma),
                                           .host = settings_.hosts});
        slot_bytes = sizes(algorithm, plan->shape(), block);
      }
      const comm::Conduct conduct{
          .window = settings_.window.value_or(comm::select_window(plan->shape(), block, call_options())),
          .early = choice.background ? comm::Early::background : comm::Early::nothing};
      if (settings_.platform) {
        const comm::PlatformRun result = settings_.platform->replay(
            plan->whole(), slot_bytes, arrivals, options_.gamma_ns, conduct, settings_.hosts);
        row.run_ns.push_back(result.run_ns);
        row.elapsed_ns.push_back(result.elapsed_ns);
        continue;
      }
      for (Ticks& arrival : arrivals) arrival *= kTicksPerNs;
      const comm::Simulation result = comm::simulate(
          plan->shape(), [&](comm::Rank r) -> const comm::Program& { return plan->program(r); }, slot_bytes,
          arrivals, machine, conduct);
      row.run_ns.push_back(ns_of(result.run_time));
      row.elapsed_ns.push_back(result.elapsed_mean() / static_cast<double>(kTicksPerNs));
      row.after_last_ns.push_back(ns_of(std::ranges::max(result.exit) - std::ranges::max(arrivals)));
      if (options_.messages && iteration == 0) {
        row.messages = messages_json(plan->whole(), result, slot_bytes, arrivals, settings_.hosts);
      }
    }
    row.segments = plan->shape().segments;
    return row;
  }

  const SimulateOptions& options_;
  const SimulateSettings& settings_;
};

}  // namespace

double SimulatedRow::mean(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

std::vector<SimulatedRow> run_simulation(const SimulateOptions& options, const SimulateSettings& settings) {
  return Simulation(options, settings).run();
}

}  // namespace papfft::app
