// SPDX-License-Identifier: MIT
// Which way to carry out a call is the fastest, by simulation. Pure: no messages, no clock, the same result on every rank.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/choose/machine_profile.hpp"
#include "comm/choose/select.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "papfft/options.hpp"

namespace papfft::comm {

/// What messages cost on the two levels of a machine. Latency passes beside other messages.
struct MachineLinks {
  LevelProfile between = {};
  /// The link's defaults are those of two ranks that have a core each.
  LevelProfile inside = {.link = {.alpha_ns = 1000, .beta_ns_per_byte = 0.2, .latency_ns = 1000}};

  /// Those of a profile, where it knows them.
  [[nodiscard]] static MachineLinks of(const MachineProfile& profile);
};

/// A call whose ways are compared.
struct RankedCall {
  Operation operation = Operation::scatter;
  Hosts hosts{1, {}};
  Rank root = 0;
  std::size_t bytes = 0;  ///< of a block (per-rank operations) or of the vector
  bool is_crowded = false;

  [[nodiscard]] GroupSize group() const { return GroupSize(hosts, is_crowded); }
};

/// When the ranks come to a call.
struct ArrivalCase {
  std::string name;
  std::vector<std::int64_t> delay_ns;  ///< one per rank
};

/// All ranks come together.
[[nodiscard]] ArrivalCase all_together(int ranks);
/// What a choice has to fear where arrivals are not known: all together; and by 0.3, 1 and 3 times `message_ns` at the most, every rank
/// late at random, one rank late, half of the ranks late. The same ranks in each call.
[[nodiscard]] std::vector<ArrivalCase> unknown_arrivals(int ranks, Rank root, double message_ns);

/// A way with its simulated times.
struct SimulatedWay {
  std::string
      name;  ///< with its number of segments if that is not what a call would choose: "circulant@hosts/24"
  std::vector<double> run_ns;  ///< first arrival to last exit, in each case of arrivals
  double worst_slowdown = 1;   ///< the largest of: run time / that of the best way in this case
  std::size_t worst_case = 0;  ///< the index of that case
};

/// How much slower than the best a way is where it does worst.
struct WorstSlowdown {
  double slowdown = 1;
  std::size_t in_case = 0;
};
/// @param times  of each way, its times in each case of arrivals, all in one unit; equally many
/// @return for each way the largest of: its time / the least of all ways' in this case
[[nodiscard]] std::vector<WorstSlowdown> worst_slowdowns(std::span<const std::vector<double>> times);

struct Ranking {
  std::vector<SimulatedWay>
      ways;  ///< the least worst slow-down first, then the least run time in the first case
  struct LeftOut {
    std::string name;
    std::string why;
    double least_ns = 0;     ///< the way takes this or more in each case; 0: not known
    bool is_beaten = false;  ///< which is more than some other way takes
  };
  std::vector<LeftOut> left_out;

  [[nodiscard]] const SimulatedWay* find(std::string_view name) const;
};

/// How much a ranking may take.
struct RankingLimits {
  /// Ways that take more steps are left out: about one per op of the schedule, each of which takes a few microseconds per case of
  /// arrivals. The number is estimated from a few ranks' programs.
  std::int64_t most_steps = 1'000'000;
  /// Asked before each way: there is time for one more. The cheapest ways go first, or those whose ports are busy for the
  /// shortest time if only the best is looked for.
  std::function<bool()> may_go_on = [] { return true; };
  /// The best few are tried in other numbers of segments, too.
  bool cuts_anew = true;
  /// Only the best way is looked for, and this one is compared with it, which begins. A way is left out if its ports are busy longer than
  /// the best so far takes. With one case of arrivals its simulation ends when it has taken clearly longer than the best so far. Empty: all
  /// ways are of interest.
  std::string compared = {};
};

/// The algorithms that can serve a call without knowing arrivals, flat and, on several hosts with several ranks, composed. None whose
/// sums may differ between the ranks.
[[nodiscard]] std::vector<std::string> candidate_ways(Operation operation, const GroupSize& group);

/// Those of a call. Where ranks are numbered host by host, `@byhost` changes nothing and is left out.
[[nodiscard]] std::vector<std::string> candidate_ways(const RankedCall& call);

/// What "auto" takes for the call if arrivals are not known, nothing was measured and there is no MPI library.
[[nodiscard]] std::string rule_choice(const RankedCall& call, const LinkModel& between);

/// Simulates the ways of a call: each as a call would cut it into segments, and the best few in other numbers of segments, too. With one case
/// of arrivals this ranks by time, with several by the worst slow-down.
/// @param ways   names of algorithms of ours
/// @param cases  at least one, each with a delay per rank
/// @throws std::invalid_argument  no cases, or a name that is not known
[[nodiscard]] Ranking rank_ways(const RankedCall& call, const MachineLinks& links,
                                std::span<const std::string> ways, std::span<const ArrivalCase> cases,
                                const RankingLimits& limits = {});

/// A way whose worst slow-down is that much larger than the best way's is a bad choice.
inline constexpr double kBadChoice = 1.1;

/// Of one way, while a program runs: some 10 ms for each case of arrivals.
inline constexpr std::int64_t kStepsAtRunTime = 12'000;

/// What "auto" takes in place of rule_choice() where it knows the links: the same, unless a simulation where arrivals are not known
/// finds it a bad choice. Then the way with the least worst slow-down, among the few that are the fastest if all come together.
/// Within the limits; if they leave out what the rules say, that stays.
[[nodiscard]] std::string simulated_choice(const RankedCall& call, const MachineLinks& links,
                                           const RankingLimits& limits);

}  // namespace papfft::comm
