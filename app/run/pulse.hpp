// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/engine/call_watch.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/errors.hpp"

namespace papfft::app {

/// Tells the ranks of a job that one of them has been stopped, or that its host is out of reach, wherever in their work they are. A
/// watchdog looks only at calls; but rank 0 may read a file for hours, or wait for a quiet pipe, and the others have to wait then.
/// Here rank 0 and each other rank tell each other now and then that they live, by a thread of their own.
class Pulse {
 public:
  /// Called by the thread when a rank was not heard of for a time and a half of `stuck_after`: a watchdog, which knows more, comes first.
  using Alarm = std::function<void(const comm::StuckError&)>;

  /// Collective over MPI_COMM_WORLD. Does nothing where MPI does not let threads call it. @throws comm::TransportError
  Pulse(std::chrono::milliseconds stuck_after, Alarm alarm);
  /// From now on this rank's silence means nothing.
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

 private:
  struct Peer;
  void watch();
  void listen();
  void expect(Peer& peer);
  /// @param what  lives as long as the program: messages use its memory
  void tell(const unsigned char& what);

  comm::MpiTransport transport_;
  std::chrono::milliseconds limit_;
  int looks_per_beat_;
  Alarm alarm_;
  std::unique_ptr<comm::Channel> channel_;
  std::shared_ptr<std::vector<Peer>> peers_;
  std::vector<int> ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace papfft::app
