// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "papfft/collectives.hpp"

namespace papfft::comm {

/// Tasks of one size, from the root (rank 0) to whichever rank is free, and their results back in the tasks' order.
///
/// A rank holds two tasks at a time: one to work on, and one on its way, so that it need not wait in between. A rank that
/// is late or slow simply gets fewer; the root itself takes a task when the others have enough. At most 2P + 2 tasks lie
/// between source and sink: a source is not asked for more until the oldest result is there.
class Farm {
 public:
  enum class Feed : std::uint8_t { task, later, end };
  /// At the root: fills the next task, says that there is none now, or that there will be none.
  using Source = std::function<Feed(std::span<std::byte> task)>;
  /// On any rank. In another thread than the caller's never.
  using Work = std::function<void(std::span<const std::byte> task, std::span<std::byte> result)>;
  /// At the root, in the order of the tasks.
  using Sink = std::function<void(std::span<const std::byte> result)>;

  /// Not collective. @param comm  must outlive this object; one farm at a time runs on it
  Farm(Collectives& comm, std::size_t task_bytes, std::size_t result_bytes)
      : comm_(comm), task_bytes_(task_bytes), result_bytes_(result_bytes) {}

  /// Collective; source and sink matter at the root alone. @return tasks that this rank has worked on
  /// @throws TransportError, StuckError; what source, work and sink throw, on their rank: end the job then
  std::uint64_t run(const Source& source, const Work& work, const Sink& sink);

 private:
  std::uint64_t run_root(const Source& source, const Work& work, const Sink& sink);
  std::uint64_t run_other(const Work& work);

  Collectives& comm_;
  std::size_t task_bytes_;
  std::size_t result_bytes_;
};

}  // namespace papfft::comm
