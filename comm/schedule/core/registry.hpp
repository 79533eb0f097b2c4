// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/schedule/core/composition.hpp"
#include "comm/schedule/core/schedule.hpp"
#include "comm/schedule/core/transfer_rounds.hpp"

namespace papfft::comm {

/// What a generator may know: plain values, the same on every rank.
struct Request {
  Operation operation = Operation::scatter;
  int ranks = 1;
  Rank root = 0;
  int segments = 1;  ///< see Shape::segments
  /// The reduction is not commutative: combine in rank order, or throw.
  bool ordered = false;
  /// When each rank is expected, on one clock. Size `ranks`, or empty: all at once.
  std::vector<std::int64_t> arrival_ns = {};
  /// Time of one round, i.e. of one segment sent and combined; used by algorithms that plan in rounds.
  std::int64_t round_ns = 0;
  /// How much of it is combining, for which the sender need not stay; 0: combining costs nothing beside the messages.
  std::int64_t combine_ns = 0;
  /// The host of each rank, by any number. Size `ranks`, or empty: each rank has its own. Only compositions look at it.
  std::vector<int> host = {};
};

/// How the caller's bytes are cut into the `segments` of a Request.
enum class Segmentation : std::uint8_t {
  whole,          ///< always one segment
  even,           ///< any number of equal segments
  head_and_rest,  ///< two: a first segment of fixed size, and all the rest
  short_or_long,  ///< two, one of them empty: the first has blocks of up to Options::head_bytes, the second longer ones
  chunks  ///< segments of Options::chunk_bytes, below the size from which messages need a handshake
};

/// One algorithm: a pure generator and what a user may know about it. Each is defined in a file of its own,
/// <operation>/<name>.cpp, and listed in registry.def; everything else enumerates the registry.
struct Algorithm {
  Operation operation = Operation::scatter;
  std::string_view name;
  std::string_view summary;  ///< one line
  std::string_view rounds;   ///< messages one after another, P ranks, q = ceil(log2 P), S segments
  std::string_view bytes;    ///< through the busiest port, for m bytes per rank (or in the vector)
  std::string_view source;
  Segmentation segmentation = Segmentation::even;
  bool uses_arrival = false;  ///< plans by Request::arrival_ns
  /// Only the root's part depends on them: what the others send and receive is the same whatever the arrivals.
  bool plans_root_alone = false;
  bool can_be_ordered = false;  ///< reductions: honours Request::ordered
  bool may_differ =
      false;  ///< floating-point sums may differ between ranks in the last bits; never chosen by "auto"
  /// Operations on one vector that cut it into so many equal pieces first: segments are those of each piece.
  int (*piece_count)(int ranks) = nullptr;
  /// Exactly one of the three. `local` makes one rank's part alone, in O(log P) space or that of its own part;
  /// `transfers` plans round by round, from which each rank takes its own.
  Schedule (*whole)(const Request&) = nullptr;
  RankSchedule (*local)(const Request&, Rank) = nullptr;
  TransferPlanner transfers = nullptr;
  /// How many rounds of one segment each follow each other; where known, the number of segments is chosen by it.
  std::int64_t (*round_count)(int ranks, int segments) = nullptr;
  /// Both or neither: `flat` on several ranks per host. Then none of the three above is given.
  const Algorithm* flat = nullptr;
  const Composition* composition = nullptr;

  /// Among how many of `ranks` ranks on so many hosts the segments are passed on.
  [[nodiscard]] int passing(int ranks, int hosts) const {
    return composition != nullptr && composition->among_leaders ? hosts : ranks;
  }
  /// Into how many shares the data are cut first, each passed on by itself. @param per_host  ranks on the smallest host
  [[nodiscard]] int shares(int per_host) const {
    return composition != nullptr && composition->in_lanes ? per_host : 1;
  }
};

/// All algorithms, by operation, then in the order of registry.def; behind these what register_algorithms() has added.
[[nodiscard]] std::span<const Algorithm* const> algorithms();

/// Adds algorithms that are not in registry.def, such as planners that exist for comparison. What is there already is left
/// alone. For the beginning of a program: no other thread may use the registry meanwhile, and all ranks add the same.
/// @param more  live for ever
void register_algorithms(std::span<const Algorithm* const> more);

/// By its name, or by "NAME@COMPOSITION". May be called by several threads.
/// @throws std::invalid_argument  naming those known for the operation, if `name` is not among them.
[[nodiscard]] const Algorithm& find_algorithm(Operation operation, std::string_view name);

/// @throws std::invalid_argument  listing the known operations.
[[nodiscard]] Operation parse_operation(std::string_view name);

/// The schedule of all ranks. @throws std::invalid_argument  if the request makes no sense (no such root, not one
/// arrival per rank, segments < 1) or the algorithm cannot serve it (order).
[[nodiscard]] Schedule make_schedule(const Algorithm& algorithm, const Request& request);

/// One rank's part of the same schedule. @throws as make_schedule.
[[nodiscard]] RankSchedule make_rank_schedule(const Algorithm& algorithm, const Request& request, Rank rank);

#define PAPFFT_ALGORITHM(name) extern const Algorithm name;
#include "comm/schedule/core/registry.def"
#undef PAPFFT_ALGORITHM

}  // namespace papfft::comm
