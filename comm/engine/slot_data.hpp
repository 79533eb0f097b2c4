// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "comm/engine/layout.hpp"
#include "comm/progress/progress.hpp"
#include "comm/schedule/core/schedule.hpp"
#include "papfft/reducer.hpp"

namespace papfft::comm {

/// What happens to the bytes of one rank: where each slot's value is, what a message sends and where it lands, and what an op does
/// to the slots. When an op may start is not decided here (progress.hpp).
///
/// A value stays where it is until an op needs it elsewhere: in the caller's input, in the caller's output, or staged in memory of
/// the layer.
class SlotData {
 public:
  /// @param program  of the rank; used for as long as ops are
  /// @throws std::invalid_argument  if the program combines and there is no reducer
  SlotData(const Program& program, const SlotSizes& sizes, Layout layout, const Reducer* reducer);

  /// The op has been started. What is returned stays alive and in place until apply(op).
  [[nodiscard]] std::span<const std::byte> to_send(int op);
  [[nodiscard]] std::span<std::byte> to_receive(int op);
  /// Instead of to_receive, for a message that is to be combined and comes by pieces. @param now  each is combined as it comes, so the
  /// op's slots must have their values; else they wait together for apply(op)
  void begin_pieces(int op, bool now);
  void take(int op, std::size_t offset, std::span<const std::byte> piece);
  /// Carries out what the op does to the slots once its message is over. Releases what was staged for the message.
  void apply(int op);

  /// The caller's buffers are known now. What came early goes to its place, while other messages are still under way.
  void bind(Layout where, const Progress& progress);
  /// The same after restart(), for buffers of the same sizes.
  void bind(const std::byte* send, std::byte* recv, const Progress& progress);
  /// All ops have ended: values that are not where the caller wants them go there.
  void deliver();
  /// After deliver(): as new, on other buffers of the same sizes; nullptr: not known yet.
  void restart(const std::byte* send, std::byte* recv, const Reducer* reducer);

  /// Of a program that combines.
  [[nodiscard]] std::size_t element_bytes() const { return reducer_->element_bytes(); }
  [[nodiscard]] std::size_t bytes_of(int op) const { return messages_[static_cast<std::size_t>(op)].bytes; }
  /// Received so far into memory of the layer.
  [[nodiscard]] std::uint64_t bytes_staged() const { return staged_; }

 private:
  using Bytes = std::shared_ptr<std::byte[]>;
  struct Message {  // of one op
    std::size_t bytes = 0;
    std::byte* landing = nullptr;  // where a receive puts its bytes
    Bytes buffer = {};             // keeps packed or staged bytes alive
    bool is_combined = false;      // piece by piece, into sums_
  };
  struct Slot {
    const std::byte* at = nullptr;  // the present value
    Bytes owner = {};               // of staged values; then the value may be overwritten in place
  };
  /// Who uses a slot. Op indices, or -1.
  struct Uses {
    int first_writer = -1;
    int last_writer = -1;
    int last = -1;    // the last op that names the slot
    int readers = 0;  // ops that send or copy the slot, or combine it into another
  };

  /// nullptr: there is none, or the caller's buffer is not known yet.
  [[nodiscard]] const std::byte* input(std::size_t s) const {
    return has_input_ ? layout_.input[s] : nullptr;
  }
  [[nodiscard]] std::byte* output(std::size_t s) const { return has_output_ ? layout_.output[s] : nullptr; }
  void place_values(const Progress& progress);
  Bytes allocate(std::size_t bytes);
  void note_uses(int op);
  template <typename Where>
  [[nodiscard]] bool is_contiguous(BlockRange range, Where where) const;
  [[nodiscard]] bool have_one_owner(BlockRange range, const Bytes& owner) const;
  [[nodiscard]] std::size_t first_filled(const Op& op) const;
  void find_overlap();
  [[nodiscard]] bool lands_in_output(int op) const;
  void copy(std::size_t slot, std::size_t source);
  void combine(int op, std::size_t slot, std::size_t source, const std::byte* incoming);
  [[nodiscard]] Slot sum_of(int op, std::size_t slot, std::size_t source, const std::byte* landing);

  const Program& program_;
  Layout layout_;
  bool has_input_ = true;  // as far as the layout has places
  bool has_output_ = true;
  const Reducer* reducer_;
  std::vector<Message> messages_;  // per op
  std::vector<Slot> slots_;
  std::vector<Slot> sums_ = {};  // per slot: of the message that is combined into it piece by piece
  std::vector<Uses> uses_;       // per slot
  bool is_in_place_ = false;     // the caller's input and output share memory
  std::uint64_t staged_ = 0;
  /// What was staged and is no longer, for what is staged next.
  struct Spare {
    std::size_t bytes = 0;
    Bytes buffer = {};
  };
  static constexpr std::size_t kMostSpare = 16;
  static constexpr std::size_t kLongestKept = std::size_t{256} << 10U;  // an execution may be kept for long
  std::vector<Spare> spare_ = {};
  Spare long_spare_ =
      {};  // the newest of the longer ones, until the end of the call: new memory costs a fault per page
};

}  // namespace papfft::comm
