// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/choose/decision_table.hpp"
#include "comm/choose/select.hpp"
#include "comm/engine/layout.hpp"
#include "comm/schedule/core/schedule.hpp"
#include "comm/transport/transport.hpp"
#include "papfft/collectives.hpp"

namespace papfft::comm {

/// What must be the same on all ranks of a call. Compared and sent as bytes, hence without padding.
struct CallSignature {
  std::uint64_t bytes =
      0;  ///< of one block, of the vector, or of all blocks together; 0 if only their owners know
  std::uint64_t blocks = 0;  ///< a hash of the blocks' sizes, where they differ
  std::uint64_t element_bytes = 0;
  std::int32_t operation = 0;
  std::int32_t root = 0;
  std::int32_t ordered = 0;
  std::int32_t background = 0;
  std::int32_t automatic = 0;  ///< "auto" chose
  std::int32_t segments = 0;   ///< that were asked for, or 0
  std::array<char, 32> algorithm{};
  /// The reducer's name, in a check of the arguments. Plans that have their reducer's name elsewhere do without.
  std::array<char, 64> reducer{};

  /// In one line, also if another rank sent nonsense.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const CallSignature&, const CallSignature&) = default;
};

/// Who chose, see CallStatistics::reason.
inline constexpr std::string_view kByRules = "the rules";

/// What a call comes down to, before there are buffers.
struct PlannedCall {
  CallSignature signature;
  Choice choice = {};
  int segments = 1;
  std::string_view reason = "the caller";  ///< who chose, see CallStatistics; lives for ever
  std::string reducer = {};                ///< its name, where a copy of it can work in the background
  std::vector<std::size_t> offsets = {};   ///< of the blocks and of their end, as make_layout wants them
  std::size_t bytes = 0;                   ///< CallArguments::bytes
  bool is_open = false;  ///< "auto" chose one of ours; the MPI library could serve the call, too

  [[nodiscard]] Operation operation() const { return static_cast<Operation>(signature.operation); }
  [[nodiscard]] bool is_stock() const { return choice.algorithm == nullptr; }
  [[nodiscard]] bool is_automatic() const { return signature.automatic != 0; }
  /// May begin before its caller comes.
  [[nodiscard]] bool is_background() const { return signature.background != 0; }
};

/// The same call by the MPI library's own collective.
[[nodiscard]] PlannedCall as_stock(PlannedCall plan);

/// Says how calls are to be carried out: which algorithm in how many segments, this rank's part of the schedule, where its
/// data lie, how many messages are under way. Pure but for the group's facts and its options: no messages, no clock.
class CallPlanner {
 public:
  /// @param transport, options  must outlive this object
  CallPlanner(const Transport& transport, const Options& options);

  /// From now on "auto" may leave calls to the MPI library.
  void offer_stock() { has_stock_ = true; }
  /// From now on somebody watches how long the MPI library's calls last, so that "auto" may leave calls to it although
  /// Options::stuck_after is set. The same on all ranks.
  void stock_is_watched() { is_stock_watched_ = true; }
  /// From now on "auto" chooses by what was measured, where that says something. The same on all ranks.
  /// @param tuned_stock  calls may go by an algorithm of the MPI library's that the table names
  void use_decisions(DecisionTable decisions, bool tuned_stock) {
    simulated_.clear();
    decisions_ = std::move(decisions);
    has_tuned_stock_ = tuned_stock;
  }
  /// From now on "auto" goes this way, which was simulated, in calls of about that size that are waited for, where nothing was measured.
  /// The same on all ranks.
  void add_simulated(DecisionTable::Row row) { simulated_.push_back(std::move(row)); }
  [[nodiscard]] const GroupSize& group() const { return group_; }
  /// From now on somebody may predict when the ranks come.
  void expect_arrivals() { expects_arrivals_ = true; }
  /// From now on calls may begin before their callers come: there is somebody to run them.
  void offer_background(bool offered) { has_background_ = offered; }

  /// @param waits  the caller waits for the call's end, so that "auto" may leave it to the MPI library
  /// @throws std::invalid_argument  no such root or algorithm, or block sizes that make no sense
  [[nodiscard]] PlannedCall plan(const CallArguments& arguments, bool waits = true) const;
  /// The arrivals that a call shall be planned by: "auto" plans by none that may be too far off.
  [[nodiscard]] std::vector<std::int64_t> trusted(const PlannedCall& plan,
                                                  std::vector<std::int64_t> arrival_ns,
                                                  const PredictionError& error) const;
  /// This rank's part of the schedule. @param arrival_ns  expected arrivals, or empty
  [[nodiscard]] RankSchedule part(const PlannedCall& plan, std::vector<std::int64_t> arrival_ns) const;
  /// Sizes always, pointers where send and recv have data.
  [[nodiscard]] Layout layout(const PlannedCall& plan, const Shape& shape, std::span<const std::byte> send,
                              std::span<std::byte> recv) const;
  [[nodiscard]] Window window(const PlannedCall& plan, const Shape& shape) const {
    return select_window(shape, plan.signature.bytes, options_);
  }
  [[nodiscard]] std::size_t answered_from_bytes(const PlannedCall& plan) const {
    return comm::answered_from_bytes(plan.operation(), plan.signature.bytes, options_.link);
  }

 private:
  /// How long a segment takes to be sent and combined, by the link model.
  [[nodiscard]] std::int64_t round_ns(const PlannedCall& plan) const;
  /// No call of the MPI library's is taken for stuck that only has much to move.
  [[nodiscard]] bool may_be_watched(const CallArguments& arguments) const;
  /// "auto" may leave the call to the MPI library.
  [[nodiscard]] bool may_be_stock(const CallArguments& arguments, bool waits) const;
  /// @param reason  who chose, if it is not the caller
  [[nodiscard]] Choice choice(const CallArguments& arguments, std::size_t mean_bytes, bool waits,
                              std::string_view& reason) const;
  [[nodiscard]] const std::string* simulated_way(const CallArguments& arguments,
                                                 std::size_t mean_bytes) const;
  [[nodiscard]] std::optional<Choice> decided(const CallArguments& arguments, std::size_t mean_bytes,
                                              bool may_be_stock, bool is_short,
                                              std::string_view& reason) const;
  void require_sense(const CallArguments& arguments) const;

  const Transport& transport_;
  const Options& options_;
  std::vector<int> host_of_rank_;  // empty: each rank has its own
  GroupSize group_;
  std::optional<DecisionTable> decisions_;
  std::vector<DecisionTable::Row> simulated_;  // one per operation and number of bits of the size
  bool has_tuned_stock_ = false;
  bool has_stock_ = false;
  bool is_stock_watched_ = false;
  bool has_background_ = false;
  bool expects_arrivals_ = false;
};

/// @throws std::invalid_argument  sizes of blocks that the operation does not take, or another number of them than ranks
void require_block_sizes(const CallArguments& arguments, int ranks);

}  // namespace papfft::comm
