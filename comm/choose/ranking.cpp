// SPDX-License-Identifier: MIT
#include "comm/choose/ranking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "comm/bounds/host_bounds.hpp"
#include "comm/choose/link_limits.hpp"
#include "comm/model/port_times.hpp"
#include "comm/model/simulator.hpp"
#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

constexpr double kTicksPerNs = 1000;   // a byte may take less than a nanosecond
constexpr std::size_t kCutAnew = 3;    // so many of the best ways are tried in other numbers of segments
constexpr std::size_t kFinalists = 4;  // so many of the fastest are simulated where ranks come late
constexpr int kCheapSteps = 4;         // of a planner take as long as one of the simulator
constexpr double kForEverNs = 1e15;    // whoever takes longer than eleven days is not given up
/// A way that takes so much longer than the best so far is given up. One that takes a little longer may win in other numbers of segments.
constexpr double kHopeless = 1.25;

/// Open MPI's limit inside a host (btl_vader_eager_limit), headers included.
constexpr std::size_t kInsideEagerBytes = 4096;

std::int64_t eager_bytes(const LevelProfile& level, std::size_t usual) {
  return static_cast<std::int64_t>(level.eager_bytes > 0 ? level.eager_bytes : usual);
}

Ticks ticks(double ns) { return std::llround(ns * kTicksPerNs); }

/// SplitMix64: a number that looks random, the same everywhere.
std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Of the first of several segments, where they are not equal.
std::optional<std::size_t> head_bytes(Segmentation segmentation, std::size_t bytes) {
  const std::size_t limit = Options{}.head_bytes;
  if (segmentation == Segmentation::head_and_rest) return std::min(limit, bytes);
  if (segmentation == Segmentation::short_or_long) return bytes <= limit ? bytes : 0;
  return std::nullopt;
}

/// Bytes of each slot.
std::vector<std::int64_t> slot_bytes(const Algorithm& algorithm, const Shape& shape, std::size_t bytes) {
  const auto segments = static_cast<std::size_t>(shape.segments);
  const std::optional<std::size_t> head = head_bytes(algorithm.segmentation, bytes);
  std::vector<std::int64_t> result;
  for (int slot = 0; slot < shape.slots(); ++slot) {
    const auto s = static_cast<std::size_t>(shape.segment_of(slot));
    const std::size_t size =
        head ? (s == 0 ? *head : bytes - *head) : bytes * (s + 1) / segments - bytes * s / segments;
    result.push_back(static_cast<std::int64_t>(size));
  }
  return result;
}

/// One way to carry out a call.
struct Way {
  std::string name;
  const Algorithm* algorithm = nullptr;
  int segments = 1;
  bool is_cut_as_asked = false;
  std::int64_t steps = 0;  // to plan and to simulate, about
  double least_ns = 0;     // it takes this or more; 0: nobody has looked
};

/// The simulated machine and the ways on it.
class Contest {
 public:
  Contest(const RankedCall& call, const MachineLinks& links)
      : call_(call), group_(call.group()), host_(static_cast<std::size_t>(group_.ranks)) {
    for (Rank r = 0; r < group_.ranks; ++r) host_[static_cast<std::size_t>(r)] = call.hosts.of(r);
    const LinkModel& between = links.between.link;
    const LinkModel& inside = links.inside.link;
    options_.link = between;
    machine_ = {.alpha = ticks(between.alpha_ns),
                .beta = ticks(between.beta_ns_per_byte),
                .gamma = ticks(between.gamma_ns_per_byte),
                .duplex = links.between.is_duplex,
                .host_of_rank = host_,
                .inside = {.alpha = ticks(inside.alpha_ns),
                           .beta = ticks(inside.beta_ns_per_byte),
                           .gamma = ticks(inside.gamma_ns_per_byte),
                           .latency = ticks(inside.latency_ns),
                           .eager_bytes = eager_bytes(links.inside, kInsideEagerBytes)},
                .latency = ticks(between.latency_ns),
                .eager_bytes = eager_bytes(links.between, kLinkLimits.longest_segment_bytes())};
  }
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  /// @param looks_at_ports  to know the least time
  [[nodiscard]] Way way(const std::string& name, bool looks_at_ports) const {
    const Choice choice = choose(call_.operation, name, group_, call_.bytes, false);
    if (choice.algorithm == nullptr)
      throw std::invalid_argument("'" + name + "' is the MPI library's: it cannot be simulated");
    Way way{name, choice.algorithm, choice.segments, choice.segments > 0};
    if (!way.is_cut_as_asked)
      way.segments = select_segments(*choice.algorithm, group_, call_.bytes, options_);
    way.steps = estimated_steps(way);
    if (looks_at_ports) way.least_ns = least_ns(way);
    return way;
  }

  struct Times {
    std::vector<double> run_ns = {};  // in each case
    bool is_given_up = false;         // the last of these, or more
  };

  /// @param most_ns  a run that takes longer is given up
  [[nodiscard]] Times times(const Way& way, std::span<const ArrivalCase> cases, double most_ns) const {
    const Schedule schedule = make_schedule(*way.algorithm, request(way));
    const std::vector<std::int64_t> sizes = slot_bytes(*way.algorithm, schedule.shape, call_.bytes);
    Conduct conduct{.window = select_window(schedule.shape, call_.bytes, options_)};
    if (most_ns < kForEverNs) conduct.most_run_time = ticks(most_ns);
    Times result;
    for (const ArrivalCase& arrivals : cases) {
      std::vector<Ticks> at;
      for (const std::int64_t delay_ns : arrivals.delay_ns)
        at.push_back(ticks(static_cast<double>(delay_ns)));
      const Simulation run = simulate(schedule, sizes, at, machine_, conduct);
      result.run_ns.push_back(static_cast<double>(run.run_time) / kTicksPerNs);
      result.is_given_up = run.is_given_up;
      if (run.is_given_up) break;
    }
    return result;
  }

 private:
  [[nodiscard]] Request request(const Way& way) const {
    const double segment_bytes = static_cast<double>(call_.bytes) / way.segments;
    return {.operation = call_.operation,
            .ranks = group_.ranks,
            .root = call_.root,
            .segments = way.segments,
            .round_ns = std::llround(message_ns(options_.link, call_.operation, segment_bytes)),
            .host = host_};
  }

  /// From the programs of the root and of three others. A plan in rounds gives each segment once to every rank. Where it is part of a
  /// composition, every rank makes it anew. In other compositions, every rank looks at every slot.
  [[nodiscard]] std::int64_t estimated_steps(const Way& way) const {
    const Algorithm& algorithm = *way.algorithm;
    const bool is_composed = algorithm.composition != nullptr;
    const std::int64_t ranks = group_.ranks;
    if ((is_composed ? algorithm.flat : &algorithm)->local == nullptr) {
      const std::int64_t passing = algorithm.passing(group_.ranks, group_.hosts);
      return std::int64_t{2} * way.segments * (is_composed ? ranks + passing * ranks / kCheapSteps : ranks);
    }
    std::int64_t looked_at = 0;
    const auto size_of = [&, plan = request(way)](int from_root) {
      const Rank rank = (call_.root + from_root) % group_.ranks;
      const RankSchedule part = make_rank_schedule(algorithm, plan, rank);
      if (is_composed) looked_at = part.shape.slots() / kCheapSteps;
      return std::int64_t{part.program.size()};
    };
    const std::array others = {1, group_.ranks / 2, group_.ranks - 1};
    std::int64_t sum = 0;
    for (const int other : others) sum += size_of(other);
    return size_of(0) + sum * (ranks - 1) / std::ssize(others) + ranks * looked_at;
  }

  /// From the programs of all ranks on the root's host and on another one. Who plans for all ranks at once is not asked for a part.
  [[nodiscard]] double least_ns(const Way& way) const {
    const Algorithm& algorithm = *way.algorithm;
    // slot_bytes() cuts blocks of pairs evenly.
    const auto segments = static_cast<std::size_t>(way.segments);
    const std::size_t bytes =
        traits(call_.operation).is_per_pair() ? call_.bytes / segments * segments : call_.bytes;
    Ticks least = bound_on_hosts(call_.operation, call_.hosts, call_.root, static_cast<std::int64_t>(bytes),
                                 {.alpha = machine_.alpha,
                                  .beta = machine_.beta,
                                  .inside_alpha = machine_.inside.alpha,
                                  .inside_beta = machine_.inside.beta});
    if ((algorithm.composition != nullptr ? algorithm.flat : &algorithm)->local != nullptr) {
      const int roots = call_.hosts.of(call_.root);
      PortTimes ports(machine_, call_.hosts);
      for (const int host : std::set{roots, (roots + call_.hosts.count() / 2) % call_.hosts.count()}) {
        for (const Rank rank : call_.hosts.members(host)) {
          const RankSchedule part = make_rank_schedule(algorithm, request(way), rank);
          ports.add(rank, part.program, SlotSizes(slot_bytes(algorithm, part.shape, call_.bytes)));
        }
      }
      least = std::max(least, ports.least());
    }
    return static_cast<double>(least) / kTicksPerNs;
  }

  const RankedCall& call_;
  GroupSize group_;
  std::vector<int> host_;
  Options options_;
  Machine machine_;
};

void judge(Ranking& ranking) {
  std::vector<std::vector<double>> times;
  for (const SimulatedWay& way : ranking.ways) times.push_back(way.run_ns);
  const std::vector<WorstSlowdown> worst = worst_slowdowns(times);
  for (std::size_t w = 0; w < worst.size(); ++w) {
    ranking.ways[w].worst_slowdown = worst[w].slowdown;
    ranking.ways[w].worst_case = worst[w].in_case;
  }
  std::ranges::stable_sort(ranking.ways, {}, [](const SimulatedWay& way) {
    return std::pair(way.worst_slowdown, way.run_ns.front());
  });
}

void require_cases(std::span<const ArrivalCase> cases, int ranks) {
  const auto fits = [&](const ArrivalCase& c) {
    return c.delay_ns.size() == static_cast<std::size_t>(ranks);
  };
  if (cases.empty() || !std::ranges::all_of(cases, fits))
    throw std::invalid_argument("rank_ways: needs cases of arrivals, with a delay for each rank");
}

}  // namespace

MachineLinks MachineLinks::of(const MachineProfile& profile) {
  MachineLinks links;
  if (profile.between) links.between = *profile.between;
  if (profile.inside) links.inside = *profile.inside;
  return links;
}

ArrivalCase all_together(int ranks) {
  return {"none", std::vector<std::int64_t>(static_cast<std::size_t>(ranks))};
}

std::vector<ArrivalCase> unknown_arrivals(int ranks, Rank root, double message_ns) {
  std::vector<Rank> by_chance(
      static_cast<std::size_t>(ranks));  // the root comes last: it alone is late in no case
  std::iota(by_chance.begin(), by_chance.end(), 0);
  std::ranges::sort(by_chance, {},
                    [&](Rank r) { return std::pair(r == root, scrambled(static_cast<std::uint64_t>(r))); });
  std::vector<ArrivalCase> cases = {all_together(ranks)};
  for (const auto& [times, text] : {std::pair(0.3, "0.3"), std::pair(1.0, "1"), std::pair(3.0, "3")}) {
    const double most_ns = times * message_ns;
    ArrivalCase uniform = all_together(ranks);
    ArrivalCase one = uniform;
    ArrivalCase half = uniform;
    for (std::size_t i = 0; i < by_chance.size(); ++i) {
      const auto rank = static_cast<std::size_t>(by_chance[i]);
      const double part = static_cast<double>(scrambled(rank + 1) >> 11U) * 0x1p-53;
      uniform.delay_ns[rank] = std::llround(part * most_ns);
      if (i == 0) one.delay_ns[rank] = std::llround(most_ns);
      if (i < by_chance.size() / 2) half.delay_ns[rank] = std::llround(most_ns);
    }
    uniform.name = std::string("uniform x") + text;
    one.name = std::string("one late x") + text;
    half.name = std::string("half late x") + text;
    for (ArrivalCase* c : {&uniform, &one, &half}) cases.push_back(std::move(*c));
  }
  return cases;
}

std::vector<WorstSlowdown> worst_slowdowns(std::span<const std::vector<double>> times) {
  std::vector<WorstSlowdown> worst(times.size(), {.slowdown = 0});
  const std::size_t cases = times.empty() ? 0 : times.front().size();
  for (std::size_t c = 0; c < cases; ++c) {
    double best = std::numeric_limits<double>::infinity();
    for (const std::vector<double>& way : times) best = std::min(best, way[c]);
    for (std::size_t w = 0; w < times.size(); ++w) {
      const double slowdown = best > 0 ? times[w][c] / best : 1;
      if (slowdown > worst[w].slowdown) worst[w] = {slowdown, c};
    }
  }
  return worst;
}

const SimulatedWay* Ranking::find(std::string_view name) const {
  const auto at = std::ranges::find(ways, name, &SimulatedWay::name);
  return at == ways.end() ? nullptr : &*at;
}

std::vector<std::string> candidate_ways(Operation operation, const GroupSize& group) {
  std::vector<std::string> names;
  for (const Algorithm* a : algorithms()) {
    if (a->operation != operation || a->uses_arrival || a->may_differ) continue;
    names.emplace_back(a->name);
    for (const Composition* c : compositions()) {
      if (group.has_levels() && c->serves(*a))
        names.push_back(std::string(a->name) + "@" + std::string(c->name));
    }
  }
  return names;
}

std::vector<std::string> candidate_ways(const RankedCall& call) {
  std::vector<std::string> names = candidate_ways(call.operation, call.group());
  std::vector<int> host_of_rank(static_cast<std::size_t>(call.hosts.rank_count()));
  for (std::size_t r = 0; r < host_of_rank.size(); ++r) host_of_rank[r] = call.hosts.of(static_cast<Rank>(r));
  if (std::ranges::is_sorted(host_of_rank)) {
    std::erase_if(names, [by_host = "@" + std::string(kByHost.name)](const std::string& name) {
      return name.ends_with(by_host);
    });
  }
  return names;
}

std::string rule_choice(const RankedCall& call, const LinkModel& between) {
  const GroupSize group = call.group();
  const std::size_t bytes = as_on_usual_link(call.bytes, group, between);
  return std::string(
      never_by_arrivals(select_algorithm(call.operation, group, bytes, false), group, bytes).name);
}

namespace {

/// Simulates one way after another.
class Tournament {
 public:
  Tournament(const RankedCall& call, const MachineLinks& links, std::span<const ArrivalCase> cases,
             const RankingLimits& limits)
      : contest_(call, links), cases_(cases), limits_(limits), seeks_best_(!limits.compared.empty()) {}

  [[nodiscard]] Way way(const std::string& name) const { return contest_.way(name, seeks_best_); }

  /// The least promising ways last.
  void run(std::vector<Way> ways) {
    std::ranges::stable_sort(ways, {}, [&](const Way& way) {
      const bool is_compared = way.name == limits_.compared;
      return std::tuple(!is_compared, seeks_best_ ? way.least_ns : 0, way.steps);
    });
    for (const Way& way : ways) run(way);
    judge(ranking_);
  }

  /// The best ways in other numbers of segments.
  [[nodiscard]] std::vector<Way> cut_anew() const {
    std::vector<Way> anew;
    std::size_t count = 0;
    for (const SimulatedWay& best : ranking_.ways) {
      const Way usual = way(best.name);
      if (usual.is_cut_as_asked || usual.algorithm->segmentation != Segmentation::even) continue;
      if (++count > kCutAnew) break;
      for (const int segments : {usual.segments / 2, usual.segments * 2, usual.segments * 4}) {
        if (segments >= 1) anew.push_back(way(best.name + "/" + std::to_string(segments)));
      }
    }
    return anew;
  }

  [[nodiscard]] Ranking take() {
    for (Ranking::LeftOut& way : ranking_.left_out) way.is_beaten = way.least_ns >= ceiling_ns_;
    return std::move(ranking_);
  }

 private:
  void run(const Way& way) {
    if (ranking_.find(way.name) != nullptr) return;
    if (const std::string why = why_not(way); !why.empty()) {
      ranking_.left_out.push_back({way.name, why, way.least_ns});
      return;
    }
    Contest::Times times = contest_.times(way, cases_, most_ns(way));
    if (times.is_given_up) {
      ranking_.left_out.push_back({way.name, takes_or_more(times.run_ns.back()), times.run_ns.back()});
      return;
    }
    ranking_.ways.push_back({.name = way.name, .run_ns = std::move(times.run_ns)});
    // In each case somebody is no slower than this.
    ceiling_ns_ = std::min(ceiling_ns_, std::ranges::max(ranking_.ways.back().run_ns));
  }

  /// Where ranks do not come together, a way may be slow in one case and still have the least worst slow-down.
  [[nodiscard]] double most_ns(const Way& way) const {
    if (!seeks_best_ || cases_.size() > 1 || way.name == limits_.compared) return kForEverNs;
    return std::min(kForEverNs, (way.is_cut_as_asked ? 1 : kHopeless) * ceiling_ns_);
  }

  [[nodiscard]] static std::string takes_or_more(double ns) {
    return "takes " + std::to_string(std::llround(ns / 1e3)) + " us or more";
  }

  [[nodiscard]] bool is_beaten(const Way& way) const {
    return seeks_best_ && way.name != limits_.compared && way.least_ns >= ceiling_ns_;
  }

  /// Empty: it is simulated.
  [[nodiscard]] std::string why_not(const Way& way) const {
    if (is_beaten(way)) return takes_or_more(way.least_ns);
    if (way.steps > limits_.most_steps) return "takes about " + std::to_string(way.steps) + " steps";
    return limits_.may_go_on() ? "" : "no time is left";
  }

  Contest contest_;
  std::span<const ArrivalCase> cases_;
  const RankingLimits& limits_;
  bool seeks_best_;
  double ceiling_ns_ = std::numeric_limits<double>::infinity();
  Ranking ranking_ = {};
};

}  // namespace

Ranking rank_ways(const RankedCall& call, const MachineLinks& links, std::span<const std::string> names,
                  std::span<const ArrivalCase> cases, const RankingLimits& limits) {
  require_cases(cases, call.hosts.rank_count());
  Tournament tournament(call, links, cases, limits);
  std::vector<Way> ways;
  for (const std::string& name : names) ways.push_back(tournament.way(name));
  tournament.run(std::move(ways));
  if (limits.cuts_anew) tournament.run(tournament.cut_anew());
  return tournament.take();
}

std::string simulated_choice(const RankedCall& call, const MachineLinks& links, const RankingLimits& limits) {
  const int ranks = call.hosts.rank_count();
  const LevelProfile& level = call.hosts.count() > 1 ? links.between : links.inside;
  std::string by_rules = rule_choice(call, level.link);
  // Of messages that share a link it knows too little: it finds an all-to-all at once much faster than one partner at a time, which was
  // measured to be the faster one.
  const OperationTraits& row = traits(call.operation);
  if (row.is_per_pair() || row.sizes_are_own) return by_rules;
  std::vector<std::string> names = candidate_ways(call);
  if (std::ranges::find(names, by_rules) == names.end()) names.push_back(by_rules);
  const Ranking together = rank_ways(call, links, names, std::array{all_together(ranks)}, limits);
  std::vector<std::string> finalists = {by_rules};
  for (const SimulatedWay& way : together.ways) {
    if (finalists.size() > kFinalists) break;
    if (way.name != by_rules) finalists.push_back(way.name);
  }
  const double message = message_ns(level.link, call.operation,
                                    static_cast<double>(vector_bytes(call.operation, call.bytes, ranks)));
  RankingLimits as_they_are = limits;
  as_they_are.cuts_anew = false;
  const Ranking ranking =
      rank_ways(call, links, finalists, unknown_arrivals(ranks, call.root, message), as_they_are);
  const SimulatedWay* const rules = ranking.find(by_rules);
  if (rules == nullptr || rules->worst_slowdown <= kBadChoice * ranking.ways.front().worst_slowdown)
    return by_rules;
  return ranking.ways.front().name;
}

}  // namespace papfft::comm
