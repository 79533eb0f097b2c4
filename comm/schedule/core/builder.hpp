// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "comm/schedule/core/schedule.hpp"

namespace papfft::comm {

/// Writes one rank's program and derives its data dependencies, so that no generator can get them wrong.
///
/// An op waits for the last writer of every slot it reads (read after write), and a writing op also for the
/// readers and the writer of the slots it overwrites. Ops that join as they come (joins_as_it_comes) do not wait for each other, and
/// whoever uses their slots next waits for all of them. Dependencies that only pace an algorithm ("serve the next
/// rank after this one") are named by the generator in `after`, where a negative index stands for none.
class ProgramBuilder {
 public:
  /// @param slots  how many there are; only the stretch that ops name takes memory and time
  explicit ProgramBuilder(int slots) : slot_count_(slots) {}

  int send(Rank peer, BlockRange blocks, int round = 0, const std::vector<int>& after = {}) {
    return add({.kind = OpKind::send, .peer = peer, .blocks = blocks, .round = round}, after);
  }
  int recv(Rank peer, BlockRange blocks, int round = 0, const std::vector<int>& after = {}) {
    return add({.kind = OpKind::recv, .peer = peer, .blocks = blocks, .round = round}, after);
  }
  int recv_combine(Rank peer, BlockRange blocks, int round = 0, const std::vector<int>& after = {}) {
    return add({.kind = OpKind::recv_combine, .peer = peer, .blocks = blocks, .round = round}, after);
  }
  int copy(int from, BlockRange to, int round = 0, const std::vector<int>& after = {}) {
    return add({.kind = OpKind::copy, .blocks = to, .from = from, .round = round}, after);
  }
  int combine(int from, BlockRange to, int round = 0, const std::vector<int>& after = {}) {
    return add({.kind = OpKind::combine, .blocks = to, .from = from, .round = round}, after);
  }
  /// Any op; @return its index. @throws std::out_of_range if it names a slot that does not exist.
  int add(const Op& op, const std::vector<int>& after = {});

  [[nodiscard]] Program take() { return std::move(program_); }

 private:
  struct Slot {
    int writer = -1;
    std::vector<int> readers;  // since the last write
    std::vector<int> joined;   // since the last write, in any order
  };
  void join(BlockRange range, int index);
  void read(BlockRange range, int index);
  void write(BlockRange range, int index);
  std::span<Slot> slots(BlockRange range);

  Program program_;
  int slot_count_;
  int first_slot_ = 0;
  std::vector<Slot> slots_;  // from first_slot_ on
  std::vector<int> needed_;  // of the op being added
};

}  // namespace papfft::comm
