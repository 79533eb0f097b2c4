// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "papfft/collectives.hpp"
#include "papfft/observer.hpp"
#include "papfft/recording.hpp"
#include "papfft/timeline.hpp"

namespace papfft::comm {

/// Keeps when this rank arrived at its collective calls and left them. At the end it collects the times of all ranks:
///
/// ```cpp
/// papfft::comm::MpiSession session(MPI_COMM_WORLD);
/// papfft::comm::Recorder recorder;
/// session.observe(&recorder);
/// recorder.follow([&] { return session.now_ns(); });
/// session.gather<double>(mine, whole, 0, "bsls");
/// recorder.unfollow();
/// session.observe(nullptr);
/// const papfft::comm::ArrivalRecording all_calls = recorder.collect(session);      // at rank 0
/// ```
///
/// On request it also keeps what the rank did otherwise, and every message: collect_timeline().
///
/// Any thread may call its functions at any time. Memory: 100 bytes per call, 64 per other event.
class PAPFFT_API Recorder final : public Observer {
 public:
  /// @param most_calls, most_events  so many are kept, and later ones are only counted. 0 events: no timeline is wanted
  explicit Recorder(std::size_t most_calls = kMostCalls, std::size_t most_events = 0);
  ~Recorder() override;

  /// From now on times are those of this clock, in ns. It is read beside the local clock now and then.
  void follow(std::function<std::int64_t()> clock);
  /// Reads that clock a last time, and never again.
  void unfollow();

  void call_ended(const CallRecord& call) override;
  [[nodiscard]] bool wants_messages() const override { return most_events_ > 0; }
  void message_ended(const MessageRecord& message) override;
  /// This rank computed from `begin` to `end`.
  void computed(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end);
  /// This rank did something else from `begin` to `end`. @param name  up to 25 characters
  void span(std::string_view name, std::chrono::steady_clock::time_point begin,
            std::chrono::steady_clock::time_point end);
  /// Something happens now.
  void instant(std::string_view name);

  /// Collective, once. A call that some rank has not made or not kept is left out.
  /// @return at rank 0: what all ranks have recorded; elsewhere nothing. Times count from the first arrival.
  /// @throws as Collectives
  [[nodiscard]] ArrivalRecording collect(Collectives& comm) const;
  /// The same with all other events; times are those of the clock.
  [[nodiscard]] Timeline collect_timeline(Collectives& comm) const;

  static constexpr std::size_t kMostCalls = std::size_t{1} << 20;

 private:
  struct PAPFFT_LOCAL State;
  struct PAPFFT_LOCAL Event;
  void keep(const Event& event);
  [[nodiscard]] Timeline collect_all(Collectives& comm, bool with_events) const;
  std::size_t most_events_;
  std::unique_ptr<State> state_;
};

}  // namespace papfft::comm
