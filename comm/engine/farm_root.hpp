// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "comm/engine/call_engine.hpp"
#include "comm/engine/farm.hpp"
#include "comm/engine/farm_messages.hpp"
#include "comm/engine/farm_trials.hpp"
#include "comm/engine/farm_turn.hpp"

namespace papfft::comm::farm {

/// The root's words to all others.
class Announcer {
 public:
  Announcer(Transport& transport, std::chrono::milliseconds silence)
      : words_(static_cast<std::size_t>(transport.size() - 1)), silence_(silence), messages_(transport) {}

  bool poll() { return messages_.poll(); }
  [[nodiscard]] bool all_ended() const { return messages_.all_ended(); }
  void tell(Word word);
  /// Now and then, as a rank may get no task for long.
  void reassure();
  /// Of each rank, the word that it has given up its receives.
  void expect_answers();

 private:
  struct Words {
    std::int64_t told = kWait;
    std::int64_t answer = kWait;
  };
  std::vector<Words> words_;  // of ranks 1, 2, ...
  std::chrono::milliseconds silence_;
  Clock::time_point last_ = Clock::now();
  Messages messages_;  // last, so that it goes before what it may still write to
};

/// One run of a farm at its root.
class Root {
 public:
  /// What the caller gives.
  struct Work {
    const Farm::Source& source;
    const Farm::Work& work;
    const Farm::Sink& sink;
    const Farm::Own& own;
  };

  Root(CallEngine& engine, FarmBuffers& buffers, std::size_t most_under_way, const Work& work);

  /// @return tasks that the root has worked on
  std::uint64_t run();

 private:
  struct Entry {  // a task between source and sink
    std::byte* result = nullptr;
    bool done = false;
  };
  struct Other {
    int host = 0;  // 0: the root's own
    int tasks = 0;
    std::optional<Clock::time_point> first_sent;  // while the only one that it has is on its way
  };

  bool deliver();
  bool take_one();
  [[nodiscard]] Rank next_rank();
  [[nodiscard]] const std::vector<Candidate>& candidates();
  [[nodiscard]] std::size_t first_sends();
  Farm::Feed deal_to(Rank to);
  Farm::Feed work_here();
  Farm::Feed make_own(std::span<std::byte> result, const Farm::MoveOn& move_on);
  void adapt_sends(std::size_t before);
  void wait();
  void end_others();
  [[nodiscard]] std::string waits_for_results() const;

  CallEngine& engine_;
  FarmBuffers& buffers_;
  std::size_t most_under_way_;
  Work given_;
  Messages messages_;
  Announcer announcer_;
  std::vector<Other> others_;
  std::vector<Candidate> candidates_;  // what is to know of these at present
  std::size_t behind_link_ = 0;        // others that are on other hosts
  std::deque<Entry> order_;
  bool ended_ = false;
  bool quiet_ = false;  // the source had nothing when it was asked last
  std::size_t sends_at_once_;
  Trials trials_;
  std::size_t away_ = 0;  // tasks that others have
  std::uint64_t own_tasks_ = 0;
};

}  // namespace papfft::comm::farm
