// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "comm/engine/buffer_pool.hpp"
#include "papfft/collectives.hpp"

namespace papfft::comm {

/// A farm's memory, which stays for its next run.
struct FarmBuffers {
  BufferPool tasks;
  BufferPool results;
};

/// Tasks of one size, each worked on by whichever rank is free, the root (rank 0) included; results in the tasks' order.
///
/// The root deals tasks out as fast as its link takes them and works itself in between, so that over a slow link the rate is
/// the link's plus the root's own. Of the others, a rank holds two tasks at most: one to work on, and one on its way. A rank
/// that is late or slow simply gets fewer.
///
///     root    deal 1 | deal 2 | own 3 | own 4 | own 5 | deal 6 | own 7 ...         messages move in between (MoveOn)
///     rank 1  receive 1 ............. | work 1 | return 1 ......                    sink: 1, 2, 3, 4, 5 once 1 and 2 are back
///
/// What the root does for a task that it deals out (copies, messages) may take it longer than the task itself. So it measures
/// its rate with dealing and without, in turns, keeps the better way for many times as long, and measures again: a long
/// farm is hardly slower than its root alone. Who does a task is a matter of timing; what comes out is not, if `work` is the same everywhere.
///
/// Memory at the root: results between the oldest unfinished and the newest, most_under_way() of them at most, a GiB
/// unless there are many ranks or a result is longer than that allows for; a few tasks. Elsewhere: two of each. They
/// stay for the next run.
class Farm {
 public:
  enum class Feed : std::uint8_t { task, later, end };
  /// What a source has. The bytes lie in the room that was offered, or elsewhere, where they stay until the run has ended.
  struct Task {
    Feed feed = Feed::end;
    std::span<const std::byte> bytes = {};
  };
  /// To be called now and then by whoever works long, from the thread that called run(): moves messages meanwhile.
  using MoveOn = std::function<void()>;
  /// At the root: makes the next task, says that there is none now, or that there will be none.
  using Source = std::function<Task(std::span<std::byte> room)>;
  /// On any rank, in the thread that called run().
  using Work =
      std::function<void(std::span<const std::byte> task, std::span<std::byte> result, const MoveOn&)>;
  /// At the root: the next task, made and worked on where it is, without a copy.
  using Own = std::function<Feed(std::span<std::byte> result, const MoveOn&)>;
  /// At the root, in the order of the tasks.
  using Sink = std::function<void(std::span<const std::byte> result)>;

  /// Not collective. @param comm  must outlive this object; one farm at a time runs on it
  Farm(Collectives& comm, std::size_t task_bytes, std::size_t result_bytes)
      : comm_(comm), buffers_{BufferPool(task_bytes), BufferPool(result_bytes)} {}

  /// Collective; source, sink and own matter at the root alone. @param own  nothing: source and work are called instead
  /// @return tasks that this rank has worked on
  /// @throws TransportError, StuckError; what source, work, own and sink throw, on their rank: end the job then
  std::uint64_t run(const Source& source, const Work& work, const Sink& sink, const Own& own = {});

  /// Tasks between source and sink at most.
  [[nodiscard]] std::size_t most_under_way() const;

 private:
  Collectives& comm_;
  FarmBuffers buffers_;
};

}  // namespace papfft::comm
