// SPDX-License-Identifier: MIT
#include "app/run/pulse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

namespace papfft::app {

namespace {

using std::chrono::milliseconds;

constexpr unsigned char kLives = 1;
constexpr unsigned char kBye = 2;
constexpr int kTag = 1;
constexpr milliseconds kPulseEvery{200};
constexpr milliseconds kAtLeast{5000};  // beyond the watchdogs' time, in which their speaker is found

}  // namespace

/// Another rank. Messages use its memory.
struct Pulse::Peer {
  comm::Rank rank = 0;
  unsigned char heard = 0;
  int receive = -1;  // tickets
  int send = -1;
  bool has_gone = false;
  comm::Patience silence;
};

Pulse::Pulse(milliseconds stuck_after, Alarm alarm)
    : transport_(MPI_COMM_WORLD, false),
      limit_(stuck_after + std::max(stuck_after / 2, kAtLeast)),
      looks_per_beat_(static_cast<int>(std::max<std::int64_t>(1, stuck_after / kPulseEvery / 8))),
      alarm_(std::move(alarm)),
      channel_(transport_.open()),
      peers_(std::make_shared<std::vector<Peer>>()) {
  const bool root = transport_.rank() == 0;
  for (comm::Rank r = root ? 1 : 0; r < (root ? transport_.size() : 1); ++r)
    peers_->push_back({.rank = r, .silence = {}});
  channel_->keep(peers_);
  if (!transport_.threads_allowed()) {
    tell(kBye);
    return;
  }
  for (Peer& peer : *peers_) expect(peer);
  thread_ = std::thread([this] { watch(); });
}

Pulse::~Pulse() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (std::uncaught_exceptions() > 0) {  // the job is about to be aborted: no message will move any more
    (void)channel_.release();
    return;
  }
  try {
    tell(kBye);
  } catch (const std::exception&) {  // the job is ending
  }
}

void Pulse::tell(const unsigned char& what) {
  for (Peer& peer : *peers_) {
    if (peer.send >= 0 && what != kBye) continue;  // the last one has not left
    peer.send = channel_->isend(peer.rank, kTag, std::as_bytes(std::span(&what, 1)));
  }
}

void Pulse::expect(Peer& peer) {
  peer.receive = channel_->irecv(peer.rank, kTag, std::as_writable_bytes(std::span(&peer.heard, 1)));
}

void Pulse::listen() {
  ended_.clear();
  while (channel_->poll(ended_)) {  // the first time it may tell only of what has been sent since
  }
  for (const int ticket : ended_) {
    for (Peer& peer : *peers_) {
      if (peer.send == ticket) peer.send = -1;
      if (peer.receive != ticket) continue;
      peer.silence = {};
      peer.has_gone = peer.heard == kBye;
      peer.receive = -1;
      if (!peer.has_gone) expect(peer);
    }
  }
}

/// The thread.
void Pulse::watch() {
  std::unique_lock lock(mutex_);
  try {
    int looks = 0;
    do {
      if (looks++ % looks_per_beat_ == 0) tell(kLives);
      listen();
      for (Peer& peer : *peers_) {
        if (peer.has_gone || peer.silence.look() < limit_) continue;
        lock.unlock();
        alarm_(comm::StuckError(
            fmt::format("no progress for {} ms: rank {} waits for any message of rank {}, which was stopped "
                        "or cannot be reached",
                        limit_.count(), transport_.rank(), peer.rank),
            true, fmt::format("rank {} waits for any message of rank {}", transport_.rank(), peer.rank)));
        return;
      }
    } while (!changed_.wait_for(lock, kPulseEvery, [this] { return stopping_; }));
  } catch (
      const std::exception&) {  // the job is ending, or there is no memory: silence is not noticed any more
  }
}

}  // namespace papfft::app
