// SPDX-License-Identifier: MIT
#include "comm/choose/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "comm/choose/link_limits.hpp"
#include "comm/choose/usual_machine.hpp"

namespace papfft::comm {

static_assert(Options{}.chunk_bytes <= kLinkLimits.longest_segment_bytes(), "a chunk needs no handshake");

namespace {
constexpr int kMostSegments = 1024;  // a schedule's ops take memory and time, too
constexpr int kMostAsked = 1 << 16;
/// Where a plan has one send per round, more than what hides the latency lets later messages overtake earlier ones: the
/// network shares a link among its messages, not in order. Even two share, see one_at_a_time.
constexpr int kSendsInRounds = 2;
/// Messages inside a host share no link; a few hide the time until the other end notices.
constexpr int kInside = 4;
/// Of sums fewer: on 8 hosts of 4 ranks with two cores, a reduction of 8 MB takes 0.9 of the time that it takes with four under way.
constexpr int kSumsInside = 2;
// Reductions that are planned by predictions off by more rounds than these are slower than without any
// (tests/unit/schedule/reduce_test.cpp).
constexpr double kWorthRounds = 2;
// Predictions must be better than none by more than chance (docs/explanation/predictor.md).
constexpr double kWorthShare = 0.75;

/// The argument in [1, most] of a function that first falls and then rises.
template <typename Cost>
int least(int most, Cost cost) {
  int low = 1;
  int high = most;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (cost(middle) <= cost(middle + 1)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// What "auto" may know about a call.
struct Call {
  Operation operation;
  GroupSize group;
  std::size_t bytes;  // of a block or of the vector
  bool ordered;

  [[nodiscard]] int ranks() const { return group.ranks; }
};

/// "auto" for one operation.
struct Rule {
  /// Shorter calls are the MPI library's, where there is one. 0: none is.
  std::size_t own_from_bytes = 0;
  /// nullptr: the first of the registry that can serve the call.
  const Algorithm& (*choose)(const Call&) = nullptr;
  /// For several hosts with several ranks, if not ordered: from how many bytes on which composition. "": none, but what `choose` gives.
  /// What is shorter goes as among one rank per host (leaders_choice).
  std::size_t levels_from_bytes = 0;
  std::string_view among_hosts = {};
  /// And from how many bytes for each host, where its rounds are as many as the hosts.
  std::size_t levels_from_host_bytes = 0;
  /// Among more than kFewRanks ranks with a host each, calls of so many bytes are ours although they are short. 0: none is.
  std::size_t own_among_many_from_bytes = 0;
  std::size_t own_among_many_to_bytes = 0;
  /// On which composition instead, where the smallest of the hosts has one rank, which leaves one lane. "": on the same.
  std::string_view with_one_lane = {};
};

bool is_tree_for_small(const Call& c) { return c.bytes <= kSmallBlockBytes && c.ranks() > kFewRanks; }
bool is_linear(const Call& c) {
  return c.group.is_one_host() || c.bytes <= kLinkLimits.longest_segment_bytes();
}

const Algorithm& choose_scatter(const Call& c) {
  if (is_tree_for_small(c)) return scatter_bnom;
  return is_linear(c) ? scatter_lin : scatter_sln;
}

/// On 48 hosts the root has taken 48 blocks of 1 KB in 0.8 of the time of the tree, and 48 of 2 KB in half. Simulated, it takes 1024 of 1 KB in
/// 1.8 times the time of the tree, since each costs it as much as a longer one would.
const Algorithm& choose_gather(const Call& c) {
  const std::size_t of_tree = c.ranks() > kManyLeaves ? kFlatGatherBytes : kOwnGatherBytes;
  if (c.bytes < of_tree && c.ranks() > kFewRanks) return gather_bnom;
  return is_linear(c) ? gather_lin : gather_credit;
}

const Algorithm& choose_bcast(const Call& c) {
  return c.bytes <= kSmallVectorBytes || c.ranks() <= 2 ? bcast_bnom : bcast_circulant;
}

const Algorithm& choose_reduce(const Call& c) {
  if (c.bytes <= kSmallVectorBytes || c.ranks() <= 2) return reduce_bnom;
  return c.ordered ? reduce_rab : reduce_papbi;
}

/// Not gossip, which plans by arrivals: with delays of up to 50 ms on 8 hosts it takes 1.06 (2 MB) to 1.18 times (8 MB) as long as the ring.
const Algorithm& choose_allgather(const Call& c) {
  const bool doubles_well =
      c.ranks() > kMeasuredRanks && std::has_single_bit(static_cast<unsigned>(c.ranks()));
  if (c.bytes < kOwnAllgatherBytes) return doubles_well ? allgather_recursive_doubling : allgather_circulant;
  return allgather_ring;
}

const Algorithm& choose_allgatherv(const Call& c) {
  // By P broadcasts at once a rank sends P-1 messages or more.
  const bool has_short_messages = c.bytes <= kSmallBlockBytes || c.ranks() > kMeasuredRanks;
  return has_short_messages ? allgatherv_circulant_q : allgatherv_circulant;
}

/// Not census: the same bits on all ranks are worth two rounds.
const Algorithm& choose_allreduce(const Call& c) {
  if (c.ordered || c.bytes <= kSmallVectorBytes) return allreduce_recursive_doubling;
  return c.bytes >= kRingBytesPerRank * static_cast<std::size_t>(c.ranks()) ? allreduce_ring
                                                                            : allreduce_circulant;
}

const Algorithm& choose_reduce_scatter(const Call& c) {
  // Twice the messages hide combining and latency: simulated on 1024 hosts at 1 Gb/s, circulant takes 1.08 to 1.22 times as long.
  if (!c.ordered && c.ranks() > kMeasuredRanks) return reduce_scatter_circulant_halves;
  // Halving moves block by block, and combines beside the messages. Other numbers of ranks than powers of two cost it twice the bytes.
  const bool halves_well = std::has_single_bit(static_cast<unsigned>(c.ranks())) &&
                           c.bytes >= kSmallVectorBytes && c.bytes < kOwnBlockBytes;
  if (c.ordered || halves_well) return reduce_scatter_recursive_halving;
  return c.bytes >= kOwnBlockBytes ? reduce_scatter_circulant_n : reduce_scatter_circulant;
}

/// One partner at a time: on 8 hosts pairwise exchange took 0.75 to 0.9 of the time of all at once. Among many hosts the latency of each
/// step counts more than that. Of short blocks, on 48 hosts bruck took 0.94 (256 bytes) and 0.83 (1 KB) of the time of circulant.
const Algorithm& choose_alltoall(const Call& c) {
  if (c.group.has_levels() && c.bytes < kOneMessagePerHostBytes)
    return find_algorithm(c.operation, c.group.hosts > kMeasuredRanks ? "linear@hosts" : "pairwise@hosts");
  if (c.bytes > kSmallBlockBytes) return alltoall_pairwise;
  return c.ranks() > kFewRanks ? alltoall_bruck : alltoall_circulant;
}

// By nothing that a size has to do with: only their owners know the sizes.
const Algorithm& choose_alltoallv(const Call& c) {
  return c.ranks() > kMeasuredRanks ? alltoallv_linear : alltoallv_pairwise;
}
const Algorithm& choose_gatherv(const Call& c) {
  return c.group.is_one_host() ? gatherv_lin : gatherv_credit;
}
const Algorithm& choose_scatterv(const Call& c) {
  return c.group.is_one_host() ? scatterv_lin : scatterv_sln;
}

constexpr auto kRules = [] {
  std::array<Rule, kOperations.size()> rules;
  const auto of = [&](Operation operation) -> Rule& { return rules.at(static_cast<std::size_t>(operation)); };
  // The compositions are measured on 8 hosts of 4 ranks with 1 Gb/s Ethernet.
  of(Operation::scatter) = {kLinkLimits.eager_bytes + 1, choose_scatter, kLinkLimits.eager_bytes + 1,
                            "sln@hosts"};
  of(Operation::gather) = {kOwnGatherBytes, choose_gather, kFlatGatherBytes};
  of(Operation::bcast) = {kOwnBcastBytes, choose_bcast, kLevelsVectorBytes, "circulant@hosts"};
  of(Operation::reduce) = {kOwnReduceBytes, choose_reduce, kLevelsReduceBytes, "chain@hosts",
                           kRingBytesPerRank};
  of(Operation::allgather) = {kOwnAllgatherBytes, choose_allgather, kLevelsBlockBytes, "ring@lanes"};
  of(Operation::allgatherv) = {kOwnAllgatherBytes, choose_allgatherv, kLevelsBlockBytes, "ring@lanes"};
  of(Operation::allreduce) = {kOwnAllreduceBytes, choose_allreduce, kLevelsAllreduceBytes, "ring@lanes",
                              kLanesBytesPerHost};
  // On hosts of 1, 2, 3, 4 and 2 ranks ring@byhost takes 0.80 (1 MB) and 0.85 (8 MB) of the time of ring@lanes.
  of(Operation::reduce_scatter) = {.own_from_bytes = kOwnBlockBytes,
                                   .choose = choose_reduce_scatter,
                                   .levels_from_bytes = kLevelsBlockBytes,
                                   .among_hosts = "ring@lanes",
                                   .with_one_lane = "ring@byhost"};
  of(Operation::alltoall) = {.own_from_bytes = kOwnPairBytes,
                             .choose = choose_alltoall,
                             .own_among_many_from_bytes = kManyPairsFromBytes,
                             .own_among_many_to_bytes = kManyPairsToBytes};
  of(Operation::alltoallv) = {0, choose_alltoallv};
  of(Operation::gatherv) = {0, choose_gatherv};
  of(Operation::scatterv) = {0, choose_scatterv};
  return rules;
}();

const Rule& rule(Operation operation) { return kRules.at(static_cast<std::size_t>(operation)); }

/// Whether lanes shorten what each leader would have to do alone. Simulated on 1024 hosts of 4 ranks, where a reduce-scatter of 1 MB by
/// leaders takes 1.3 times as long. Among fewer hosts compositions were measured.
bool prefers_lanes(const Algorithm& flat, const GroupSize& group, std::size_t vector) {
  if (group.hosts <= kMeasuredRanks) return false;
  if (flat.operation == Operation::reduce) return vector >= kLanesAmongManyReduceBytes;
  if (flat.operation == Operation::reduce_scatter) return vector >= kLanesAmongManyBytes;
  return &flat == &allgather_recursive_doubling;
}

/// What one rank per host would choose for what its host has, for these leaders. A flat algorithm crosses each link as often as the
/// host has ranks: simulated on 8 hosts of 4 ranks, it takes up to four times as long with short messages as well.
const Algorithm& leaders_choice(const Rule& chosen, Operation operation, const GroupSize& group,
                                std::size_t bytes) {
  if (moves_per_rank(operation))
    bytes = bytes * static_cast<std::size_t>(group.ranks) / static_cast<std::size_t>(group.hosts);
  const Algorithm& flat = chosen.choose({operation, GroupSize(group.hosts), bytes, false});
  const Composition& composition =
      prefers_lanes(flat, group, vector_bytes(operation, bytes, group.hosts)) ? kInLanes : kAmongLeaders;
  if (!composition.serves(flat)) return flat;
  return find_algorithm(operation, std::string(flat.name) + "@" + std::string(composition.name));
}

/// How often two messages under way each way make the longest path of a vector's segments longer, where links are shared fairly:
/// a message shares that of its sender and that of its receiver (docs/measurements.md, "How many messages").
constexpr double kSharingAtBothEnds = 3;

/// Whether a plan in rounds had better have one message under way each way.
///
/// One at a time, each message that a rank sends waits for the latency of the one before, or for its combining. Two hide that, but
/// share the link, so that the earlier, which others wait for, takes longer. In rounds S-1+q segments follow each other, q of
/// them on the longest path. In a tree of blocks these are q messages and all the blocks, of which the root sends the half that
/// goes farthest no sooner than the rest.
bool one_at_a_time(const Shape& shape, std::size_t bytes, const LinkModel& link) {
  const auto q = static_cast<double>(std::bit_width(static_cast<unsigned>(std::max(1, shape.ranks) - 1)));
  const auto m = static_cast<double>(bytes);
  if (moves_per_rank(shape.operation))
    return q * link.latency_ns < link.beta_ns_per_byte * m * (shape.ranks - 1);
  const double segment = m / std::max(1, shape.segments);
  const double combining_ns = is_reduction(shape.operation) ? link.gamma_ns_per_byte * segment : 0;
  const double hidden_ns = (shape.segments - 1 + q) * (link.latency_ns + combining_ns);
  return hidden_ns < kSharingAtBothEnds * q * link.beta_ns_per_byte * segment;
}

/// What the link carries in one latency.
double bytes_in_latency(const LinkModel& link) {
  return link.latency_ns / std::max(1e-3, link.beta_ns_per_byte);
}

/// A segment that is under way for so many latencies hides what its handshake costs: on a fast link longer ones are better than such
/// as need no handshake.
constexpr double kLatenciesPerSegment = 4;
/// What a vector takes that is sent without answers.
constexpr double kLatenciesWithoutAnswers = 64;

std::size_t longest_segment_bytes(const GroupSize& group, const LinkModel& link) {
  if (group.is_one_host()) return kMemoryLimits.longest_segment_bytes();
  return std::max(kLinkLimits.longest_segment_bytes(),
                  static_cast<std::size_t>(kLatenciesPerSegment * bytes_in_latency(link)));
}

/// @param from  where the number begins in a name such as "circulant/64"
int parse_segments(std::string_view name, std::size_t from, const Algorithm* algorithm) {
  if (algorithm == nullptr || algorithm->segmentation != Segmentation::even) {
    throw std::invalid_argument("'" + std::string(name) + "': " + std::string(name.substr(0, from - 1)) +
                                " takes no number of segments");
  }
  int segments = 0;
  const auto [end, error] = std::from_chars(name.data() + from, name.data() + name.size(), segments);
  if (error != std::errc() || end != name.data() + name.size() || segments < 1 || segments > kMostAsked) {
    throw std::invalid_argument("'" + std::string(name) + "': the number of segments is 1 to " +
                                std::to_string(kMostAsked));
  }
  return segments;
}
}  // namespace

/// Every message that a rank sends in an allreduce or reduce-scatter contains its own contribution. Little more than the
/// first receives could go ahead of the caller, and what they bring would be staged and combined in a step of its own. Nor is there
/// anything to gain in one host's memory: a copy is made by whoever receives, and the background thread would take its core. Where ranks
/// share cores, background threads take them from ranks that all have something to send: on 8 hosts of 4 ranks an allgather is 1.1 to
/// 1.3 times faster without. An all-to-all that begins early leaves the order of its exchanges, and takes 1.2 times as long.
bool gains_early(Operation operation, const GroupSize& group) {
  if (group.is_one_host() || traits(operation).is_per_pair()) return false;
  return is_rooted(operation) || (!is_reduction(operation) && !group.is_crowded);
}

Choice choose(Operation operation, std::string_view name, const GroupSize& group, std::size_t bytes,
              bool ordered) {
  if (name.starts_with(kStockPrefix))
    return {.stock = StockAlgorithm::parse(name.substr(kStockPrefix.size()))};
  if (const std::size_t slash = name.find('/'); slash != std::string_view::npos) {
    Choice choice = choose(operation, name.substr(0, slash), group, bytes, ordered);
    choice.segments = parse_segments(name, slash + 1, choice.algorithm);
    return choice;
  }
  if (name == "mpi") return {};
  if (name == "auto") {
    return {&select_algorithm(operation, group, bytes, ordered), gains_early(operation, group)};
  }
  const std::string_view flat = name.substr(0, name.find('@'));
  const auto is_known = [&](std::string_view word) {
    return std::ranges::any_of(
        algorithms(), [&](const Algorithm* a) { return a->operation == operation && a->name == word; });
  };
  if (!is_known(flat) && flat.starts_with('b') && is_known(flat.substr(1))) {
    return {&find_algorithm(operation, name.substr(1)), true};
  }
  return {&find_algorithm(operation, name), false};  // throws, naming what is known
}

std::string Choice::name() const {
  if (algorithm != nullptr) return std::string(algorithm->name);
  return stock.number == 0 ? "mpi" : std::string(kStockPrefix) + stock.text();
}

const Algorithm& select_algorithm(Operation operation, const GroupSize& group, std::size_t bytes,
                                  bool ordered) {
  const Rule& chosen = rule(operation);
  const OperationTraits& row = traits(operation);
  const bool may_pass_leaders = !row.is_per_pair() && !row.sizes_are_own;
  if (group.has_levels() && !ordered && chosen.choose != nullptr && may_pass_leaders) {
    const bool is_composed = !chosen.among_hosts.empty();
    const std::size_t enough = chosen.levels_from_host_bytes * static_cast<std::size_t>(group.hosts);
    if (is_composed && bytes >= std::max(chosen.levels_from_bytes, enough)) {
      const bool is_other = group.per_host == 1 && !chosen.with_one_lane.empty();
      return find_algorithm(operation, is_other ? chosen.with_one_lane : chosen.among_hosts);
    }
    if (is_composed || bytes < chosen.levels_from_bytes)
      return leaders_choice(chosen, operation, group, bytes);
  }
  if (chosen.choose != nullptr) return chosen.choose({operation, group, bytes, ordered});
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->operation == operation && (algorithm->can_be_ordered || !ordered)) return *algorithm;
  }
  return find_algorithm(operation, "auto");  // throws, naming what is known
}

std::size_t as_on_usual_link(std::size_t bytes, const GroupSize& group, const LinkModel& link) {
  if (group.is_one_host()) return bytes;
  // Where ranks share cores, a message waits for its rank to run, longer than for the network. So it did when the sizes were measured.
  const auto of_a_message = [&](const LinkModel& l) {
    return l.beta_ns_per_byte / (group.is_crowded ? 1.0 : std::max(1.0, l.alpha_ns + l.latency_ns));
  };
  return static_cast<std::size_t>(static_cast<double>(bytes) * of_a_message(link) /
                                  of_a_message(LinkModel{}));
}

bool prefers_stock(Operation operation, const GroupSize& group, std::size_t bytes) {
  const Rule& known = rule(operation);
  if (group.is_one_host()) {
    // Two copies at once beat the kernel's one as soon as there is a pipe to use.
    const std::size_t without_pipes = std::max(known.own_from_bytes, kLinkLimits.eager_bytes + 1);
    return bytes < (group.has_pipes ? kOwnPipedBytes : without_pipes);
  }
  const bool is_among_many = group.ranks > kFewRanks && group.ranks == group.hosts;
  if (is_among_many && bytes > 0 && bytes >= known.own_among_many_from_bytes &&
      bytes <= known.own_among_many_to_bytes)
    return false;
  const bool composed = group.has_levels() && !known.among_hosts.empty();
  return bytes < (composed ? known.levels_from_bytes : known.own_from_bytes);
}

bool is_worth_planning(Operation operation, const PredictionError& error, std::int64_t round_ns) {
  const auto error_ns = static_cast<double>(error.error_ns);
  if (error_ns > kWorthShare * static_cast<double>(error.together_ns)) return false;
  return !is_reduction(operation) || error_ns <= kWorthRounds * static_cast<double>(round_ns);
}

const Algorithm& without_arrivals(const Algorithm& chosen) {
  constexpr std::array kOthers = {std::pair{&reduce_papbi, &reduce_circulant},
                                  std::pair{&allgather_gossip, &allgather_ring}};
  const Algorithm* const flat = chosen.composition == nullptr ? &chosen : chosen.flat;
  for (const auto& [by_arrivals, other] : kOthers) {
    if (flat != by_arrivals) continue;
    if (chosen.composition == nullptr) return *other;
    return find_algorithm(chosen.operation,
                          std::string(other->name) + "@" + std::string(chosen.composition->name));
  }
  return chosen;
}

const Algorithm& never_by_arrivals(const Algorithm& chosen, const GroupSize& group, std::size_t bytes) {
  const Algorithm* const flat = chosen.composition == nullptr ? &chosen : chosen.flat;
  const bool is_between = bytes > kRadixFromBytes && bytes <= kRadixToBytes;
  const bool is_among_many = !group.is_one_host() && chosen.passing(group.ranks, group.hosts) > 2;
  if ((flat != &reduce_papbi && flat != &reduce_bnom) || !is_between || !is_among_many)
    return without_arrivals(chosen);
  if (chosen.composition == nullptr) return reduce_rxk;
  return find_algorithm(chosen.operation,
                        std::string(reduce_rxk.name) + "@" + std::string(chosen.composition->name));
}

std::size_t vector_bytes(Operation operation, std::size_t bytes, int ranks) {
  std::size_t product = bytes;
  if (moves_per_rank(operation) && __builtin_mul_overflow(bytes, static_cast<std::size_t>(ranks), &product))
    return std::numeric_limits<std::size_t>::max();
  return product;
}

double message_ns(const LinkModel& link, Operation operation, double bytes) {
  const double per_byte = link.beta_ns_per_byte + (is_reduction(operation) ? link.gamma_ns_per_byte : 0);
  return link.alpha_ns + per_byte * bytes;
}

int select_segments(const Algorithm& algorithm, const GroupSize& group, std::size_t bytes,
                    const Options& options) {
  const int ranks = algorithm.passing(group.ranks, group.hosts);
  // What leaders pass on are the blocks of a host together.
  if (moves_per_rank(algorithm.operation))
    bytes = bytes * static_cast<std::size_t>(group.ranks) / static_cast<std::size_t>(ranks);
  bytes /= static_cast<std::size_t>(algorithm.shares(group.per_host));
  switch (algorithm.segmentation) {
    case Segmentation::whole:
      return 1;
    case Segmentation::head_and_rest:
    case Segmentation::short_or_long:
      return 2;
    case Segmentation::chunks:
      return static_cast<int>(
          std::max<std::size_t>(1, (bytes + options.chunk_bytes - 1) / options.chunk_bytes));
    case Segmentation::even:
      break;
  }
  // Of two ranks on a host, none hands segments on, and without a reduction none combines them.
  if (group.is_one_host() && ranks == 2 && !is_reduction(algorithm.operation)) return 1;
  const int pieces = algorithm.piece_count == nullptr ? 1 : algorithm.piece_count(ranks);
  const std::size_t whole = bytes / static_cast<std::size_t>(pieces);
  const auto pieces_of = [&](std::size_t longest) {
    return static_cast<int>(std::clamp<std::size_t>((whole + longest - 1) / longest, 1, kMostSegments));
  };
  const std::size_t longest = longest_segment_bytes(group, options.link);
  const bool has_model = algorithm.round_count != nullptr && !group.is_one_host();  // it is that of a network
  if (!has_model) return moves_per_rank(algorithm.operation) ? 1 : pieces_of(longest);
  // Two messages under way hide half of the latency. Among few ranks that was measured to cost nothing, among many it is simulated to.
  const double waiting_ns = ranks > kMeasuredRanks ? options.link.latency_ns / 2 : 0;
  const int shortest_path = least(kMostSegments, [&](int segments) {
    const double segment = static_cast<double>(whole) / segments;
    return static_cast<double>(algorithm.round_count(ranks, segments)) *
           (waiting_ns + message_ns(options.link, algorithm.operation, segment));
  });
  const bool is_of_leaders = ranks != group.ranks && group.is_crowded;
  // The longest that need no handshake: on 8 hosts of 4 ranks with two cores, a reduction of 2 MB in segments of 60 KB takes 0.6 of the
  // time that it takes in segments of 64 KB, and less than with any shorter ones. One of 8 MB in segments of 64 KB takes 0.8 of the time
  // that it takes in segments of 80 KB, which it got where the burst of a shaped link made the link look fast.
  const bool passes_sums_on = is_reduction(algorithm.operation) && shortest_path > 1;
  if (is_of_leaders && passes_sums_on) return pieces_of(kLinkLimits.longest_segment_bytes());
  // Around a ring shorter segments shorten no path. But a rank that is late holds up less: on 8 hosts an allgather of 8 MB takes 0.85 of
  // the time that it takes in whole blocks.
  const int best = std::max(pieces_of(longest), shortest_path);
  return is_of_leaders ? std::min(best, std::max(1, static_cast<int>(whole / kLevelsSegmentBytes))) : best;
}

/// Without answers the window bounds nothing: MPI calls a message below its eager limit sent when it is in the socket's buffer. There
/// it lies with many others, which leave in any order. What a rank has not given to the network when its call ends waits for the
/// rank's next call. On 8 hosts with 1 Gb/s Ethernet, answers raise a broadcast of 2 MB from 0.8 of the bound to the whole bound,
/// and an allreduce from 0.8 to 0.9. Reductions, allgathers and reduce-scatters gained nothing in the same measurement. Gathers go
/// by credits. The end of a shorter message is no news: it is over before its receiver's answer could be here. Of a short vector
/// never so much waits in the network that its order matters: there a broadcast without answers took 0.7 of the time with them at
/// 256 KB, 0.9 at 512 KB, 1.05 at 1 MB.
std::size_t answered_from_bytes(Operation operation, std::size_t bytes, const LinkModel& link) {
  const bool takes_answers = operation == Operation::bcast || operation == Operation::allreduce;
  const double in_latency = bytes_in_latency(link);
  if (!takes_answers || static_cast<double>(bytes) < kLatenciesWithoutAnswers * in_latency) return kNoAnswers;
  return static_cast<std::size_t>(in_latency);
}

Window select_window(const Shape& shape, std::size_t bytes, const Options& options) {
  Window window{.inside_sends = is_reduction(shape.operation) ? kSumsInside : kInside,
                .inside_receives = kInside};
  if (shape.single_port && one_at_a_time(shape, bytes, options.link)) {
    // Who sends one block after another decides their order, so each may find its receive posted.
    if (traits(shape.operation).is_per_pair()) window.receives = std::max(1, options.receives_in_flight);
    return window;
  }
  const int sends =
      shape.single_port ? std::min(options.sends_in_flight, kSendsInRounds) : options.sends_in_flight;
  window.sends = std::max(1, sends);
  window.receives = std::max(1, options.receives_in_flight);
  return window;
}

}  // namespace papfft::comm
