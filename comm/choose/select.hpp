// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "comm/choose/stock_algorithm.hpp"
#include "comm/progress/progress.hpp"
#include "comm/schedule/core/hosts.hpp"
#include "comm/schedule/core/registry.hpp"
#include "papfft/options.hpp"

namespace papfft::comm {

/// How many ranks on how many hosts take part in a call.
struct GroupSize {
  int ranks;
  int hosts;
  int per_host;  ///< ranks on the smallest host
  /// On some host more ranks than cores, so that what a message costs a rank counts beside what it costs the network.
  bool is_crowded;
  /// Messages inside a host go through our own memory (Transport::has_pipes). Of groups on one host only, as all ranks must know it.
  bool has_pipes = false;

  GroupSize(int ranks_in = 1)
      : GroupSize(ranks_in, ranks_in) {}  // NOLINT(google-explicit-constructor): one rank per host
  /// As many ranks on each host, or nearly so.
  GroupSize(int ranks_in, int hosts_in, bool is_crowded_in = false)
      : ranks(ranks_in), hosts(hosts_in), per_host(ranks_in / hosts_in), is_crowded(is_crowded_in) {}
  explicit GroupSize(const Hosts& on, bool is_crowded_in = false)
      : ranks(on.rank_count()), hosts(on.count()), per_host(on.fewest_ranks()), is_crowded(is_crowded_in) {}
  /// All share one host, so that messages are copies in its memory.
  [[nodiscard]] bool is_one_host() const { return hosts == 1 && ranks > 1; }
  /// Some share a host, and there are several.
  [[nodiscard]] bool has_levels() const { return hosts > 1 && hosts < ranks; }
};

/// How a call is to be carried out.
struct Choice {
  const Algorithm* algorithm = nullptr;  ///< nullptr: the MPI library's own collective
  bool background = false;               ///< run before the caller arrives what does not need it
  int segments = 0;                      ///< as the user asked; 0: as select_segments says
  StockAlgorithm stock = {};             ///< of the MPI library, without an algorithm of ours
  /// The algorithm's, without what the other members say.
  [[nodiscard]] std::string name() const;
  friend bool operator==(const Choice&, const Choice&) = default;
};

/// What a user's word for an algorithm means: a name of the registry, such a name with `b` before it (in the
/// background) or with a number of segments behind it ("circulant/64"), "auto", "mpi", or one of the MPI library's algorithms ("mpi:3/64K"). Arguments as select_algorithm.
/// @throws std::invalid_argument  naming those known, if it is none of these
[[nodiscard]] Choice choose(Operation operation, std::string_view name, const GroupSize& group,
                            std::size_t bytes, bool ordered);

/// The algorithm that "auto" stands for. Pure, and of values that all ranks know, so that all choose alike.
/// @param bytes     one block (per-rank operations) or the vector.
/// @param ordered   the reduction is not commutative.
[[nodiscard]] const Algorithm& select_algorithm(Operation operation, const GroupSize& group,
                                                std::size_t bytes, bool ordered);

/// Whether "auto" had better leave a call to the MPI library, where there is one: for short messages, where it has less to do
/// per call than we have.
[[nodiscard]] bool prefers_stock(Operation operation, const GroupSize& group, std::size_t bytes);

/// Of predictions that have not been compared with what came.
inline constexpr std::int64_t kUnknownErrorNs = std::numeric_limits<std::int64_t>::max();

/// How far off predicted arrivals were of late, on average over the ranks.
struct PredictionError {
  std::int64_t error_ns = kUnknownErrorNs;
  std::int64_t together_ns = 0;  ///< how far off it would have been to say that all come together
  friend bool operator==(const PredictionError&, const PredictionError&) = default;
};

/// Whether "auto" should plan a call by predicted arrivals, or as if all came together.
/// @param round_ns  how long a segment takes to be sent and combined
[[nodiscard]] bool is_worth_planning(Operation operation, const PredictionError& error,
                                     std::int64_t round_ns);

/// Whether what runs before its caller comes makes the operation faster, so that "auto" runs it so.
[[nodiscard]] bool gains_early(Operation operation, const GroupSize& group);

/// What "auto" takes in place of its choice where there are no arrivals to plan by: of papbi, which would be bi-greedy then,
/// the circulant reduction, which takes as many rounds and is less upset by who comes late; of gossip the ring, whose messages are
/// fewer. Others stay.
[[nodiscard]] const Algorithm& without_arrivals(const Algorithm& chosen);

/// The same in a group whose ranks never predict arrivals, so that nothing has been cut for `chosen`: reductions of vectors that are
/// short, but not very short, go by rxk. @param bytes  of the vector, as on the usual link
[[nodiscard]] const Algorithm& never_by_arrivals(const Algorithm& chosen, const GroupSize& group,
                                                 std::size_t bytes);

/// Bytes of the whole vector; of blocks, of all that one rank has or gets. @param bytes  of a block or of the vector
/// @return at most what fits
[[nodiscard]] std::size_t vector_bytes(Operation operation, std::size_t bytes, int ranks);

/// Time of a message, and of combining it in a reduction.
[[nodiscard]] double message_ns(const LinkModel& link, Operation operation, double bytes);

/// Into how many segments the algorithm should cut a block (per-rank operations) or the vector, of so many bytes.
///
/// Where the algorithm tells its round_count, the S that makes round_count(P, S) * (alpha + beta * bytes / S) least, for a
/// reduction with beta + gamma. For the circulant broadcast that is CIR's Theorem 2, with S = sqrt((q-1) beta m / alpha).
/// But on a network segments are no longer than what is sent without a handshake, unless ranks share cores and leaders pass them around a
/// ring, or pass on what is no sum.
[[nodiscard]] int select_segments(const Algorithm& algorithm, const GroupSize& group, std::size_t bytes,
                                  const Options& options);

/// How many messages of this schedule a call keeps under way.
/// @param bytes  of a block (per-rank operations) or the vector
[[nodiscard]] Window select_window(const Shape& shape, std::size_t bytes, const Options& options);

/// So many bytes take as many times what a message costs beside its bytes (alpha and latency) on the link of LinkModel's defaults as
/// `bytes` do on `link`. The sizes from which "auto" takes one algorithm or another are those of that link.
[[nodiscard]] std::size_t as_on_usual_link(std::size_t bytes, const GroupSize& group, const LinkModel& link);

inline constexpr std::size_t kNoAnswers = std::numeric_limits<std::size_t>::max();
/// A send between hosts of so many bytes or more had better end when its receiver has begun to receive, as it bounds what is in the
/// network. kNoAnswers: none.
/// @param bytes  of the vector
[[nodiscard]] std::size_t answered_from_bytes(Operation operation, std::size_t bytes, const LinkModel& link);

}  // namespace papfft::comm
