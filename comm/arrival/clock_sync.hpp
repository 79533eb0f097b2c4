// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/arrival/background.hpp"
#include "comm/arrival/clock_model.hpp"
#include "comm/arrival/outbox.hpp"
#include "comm/transport/transport.hpp"

namespace papfft::comm {

/// A clock in ns that never goes back; its zero is arbitrary.
using ClockSource = std::function<std::int64_t()>;
[[nodiscard]] ClockSource monotonic_clock();
/// For tests: `clock`, ahead by offset_ns at the time of this call and running faster by drift_ppb.
[[nodiscard]] ClockSource skewed_clock(ClockSource clock, std::int64_t offset_ns, std::int64_t drift_ppb);

/// Rank 0's clock, known to every rank: each asks rank 0 in bursts of ping-pongs, at the start and again in every
/// period, at a time that both sides know, so that both sleep in between.
///
/// Owns a channel and one tag of the transport. step(), due() and the readings may be called by any thread.
class ClockSync final : public BackgroundTask {
 public:
  struct Settings {
    int first_burst = 40;  ///< ping-pongs of synchronise()
    int burst = 10;        ///< of each refreshment
    std::chrono::nanoseconds period = std::chrono::seconds(5);
  };

  /// @param transport  must outlive this object. @throws std::invalid_argument if a setting is not positive.
  ClockSync(Transport& transport, ClockSource local, const Settings& settings, int tag);
  ClockSync(Transport& transport, ClockSource local, int tag)
      : ClockSync(transport, std::move(local), Settings{}, tag) {}
  ~ClockSync() override;

  /// Collective; waits until this rank knows the clock. Rank 0 serves one rank after another. Before any step().
  /// @throws TransportError (so may step() and close()).
  void synchronise();

  bool step() override;
  [[nodiscard]] Clock::time_point due() const override;

  /// Collective; ends bursts under way. No step() after it.
  void close();

  [[nodiscard]] std::int64_t local_now_ns() const { return local_(); }
  /// Now, on rank 0's clock.
  [[nodiscard]] std::int64_t now_ns() const;
  [[nodiscard]] std::int64_t to_reference(std::int64_t local_ns) const;
  /// How wrong now_ns() may be; 0 on rank 0.
  [[nodiscard]] std::int64_t uncertainty_ns() const;
  [[nodiscard]] std::int64_t drift_ppb() const;
  /// Bursts that this rank has completed (rank 0: 0).
  [[nodiscard]] int bursts() const;

 private:
  struct Ping {
    std::int64_t sequence = 0;  // kBye ends the conversation
  };
  struct Pong {
    std::int64_t remote_ns = 0;
    std::int64_t next_ns = 0;  // when the next burst is due, reference clock
  };

  bool step_locked();
  bool serve(std::int64_t now_ns);
  bool ask(std::int64_t now_ns);
  void take_pong();
  void expect_ping(Rank from);
  void begin_burst(int count);

  Transport& transport_;
  ClockSource local_;
  Settings settings_;
  int tag_;
  bool reference_;  // this is rank 0

  mutable std::mutex step_mutex_;
  Outbox outbox_;
  std::vector<int> ended_;
  std::int64_t next_ns_ = 0;    // next round; local clock
  std::int64_t active_ns_ = 0;  // begin of the present round, or its last message
  // Rank 0:
  struct Client {
    Ping ping;
    int ticket = -1;
    int owed = 0;  // pings of the present round that have not come
    bool waits = false;
    bool gone = false;
  };
  std::vector<Client> clients_;
  Rank turn_ = -1;  // the only one to be answered, or -1
  // Others:
  Pong pong_;
  int pong_ticket_ = -1;
  int left_ = 0;  // ping-pongs of this burst
  std::int64_t send_ns_ = 0;
  std::vector<PingPong> samples_;
  bool closing_ = false;

  mutable std::mutex model_mutex_;  // held for moments only
  ClockModel model_;
  int bursts_ = 0;

  std::unique_ptr<Channel> channel_;  // last, so that it goes before the buffers that it may still write to
};

}  // namespace papfft::comm
