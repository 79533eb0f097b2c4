// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// P ranks as P threads of one process, so that whatever runs on a Transport can be tested without mpirun and
/// under ThreadSanitizer. After facebookincubator/gloo's `spawnThreads`.
///
/// Nothing is ever buffered: a send ends when its receive has been posted. If a rank's body throws, the other
/// ranks' next poll throws too, so that no test waits for ever.
class ThreadGroup {
 public:
  /// @param seed  not 0: ended messages are reported late and out of order, by pseudo-random choice.
  /// @param host_of_rank  as Transport's; empty: all on one host
  /// @param piped_from_bytes  messages of so many bytes between ranks of a host go through pipes; 0: none does
  explicit ThreadGroup(int size, std::uint32_t seed = 0, std::vector<int> host_of_rank = {},
                       std::size_t piped_from_bytes = 0);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  /// Runs body(transport) on every rank and waits; rethrows the first exception.
  void run(const std::function<void(Transport&)>& body);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace papfft::comm
