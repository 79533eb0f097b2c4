// SPDX-License-Identifier: MIT
#include "comm/engine/farm.hpp"

#include <algorithm>
#include <array>

#include "comm/engine/farm_messages.hpp"
#include "comm/engine/farm_root.hpp"

namespace papfft::comm {

namespace {

using farm::Messages;

constexpr std::size_t kWindowBytes = std::size_t{1} << 30;
constexpr std::size_t kMostInWindow = 1024;

/// One run at another rank than the root: tasks come into two slots, in turns.
class Worker {
 public:
  Worker(CallEngine& engine, FarmBuffers& buffers)
      : engine_(engine), buffers_(buffers), messages_(engine.transport()) {
    for (Slot& slot : slots_) {
      slot.task = buffers_.tasks.lend();
      slot.result = buffers_.results.lend();
      expect_task(slot);
    }
    expect_word();
  }

  /// Until the root says that it has had every result. @return tasks
  std::uint64_t run(const Farm::Work& work) {
    farm::Seldom poll;
    const Farm::MoveOn move_on = [&] {
      if (poll.due()) (void)messages_.poll();
    };
    std::uint64_t tasks = 0;
    while (true) {
      Slot& next = slots_[tasks % slots_.size()];
      engine_.wait(
          [&] { return messages_.poll(); }, [&] { return ended_ || (next.received && next.sent); },
          [&] { return engine_.waits() + "rank 0 (task " + std::to_string(tasks) + " of its own)"; });
      if (ended_) break;
      work({next.task, buffers_.tasks.bytes()}, {next.result, buffers_.results.bytes()}, move_on);
      next.sent = false;
      messages_.send(0, Service::farm_result, {next.result, buffers_.results.bytes()},
                     [&next] { next.sent = true; });
      expect_task(next);
      ++tasks;
      (void)messages_.poll();
    }
    for (const Slot& slot : slots_) {
      buffers_.tasks.give_back(slot.task);
      buffers_.results.give_back(slot.result);
    }
    return tasks;
  }

 private:
  struct Slot {
    std::byte* task = nullptr;
    std::byte* result = nullptr;
    bool received = false;
    bool sent = true;
  };

  void expect_task(Slot& slot) {
    slot.received = false;
    messages_.receive(0, Service::farm_task, {slot.task, buffers_.tasks.bytes()},
                      [&slot] { slot.received = true; });
  }

  void expect_word() {
    messages_.receive(0, Service::farm_word, std::as_writable_bytes(std::span(&word_, 1)), [this] {
      ended_ = word_ == farm::kEnd;
      if (!ended_) expect_word();
    });
  }

  CallEngine& engine_;
  FarmBuffers& buffers_;
  std::array<Slot, farm::kPerRank> slots_;
  std::int64_t word_ = farm::kWait;
  bool ended_ = false;
  Messages messages_;  // last, so that it goes before what it may still write to
};

std::uint64_t run_worker(CallEngine& engine, FarmBuffers& buffers, const Farm::Work& work) {
  const std::uint64_t tasks = Worker(engine, buffers).run(work);
  const std::int64_t word = farm::kEnd;
  Messages messages(engine.transport());
  messages.send(0, Service::farm_word, std::as_bytes(std::span(&word, 1)), [] {});
  engine.wait([&] { return messages.poll(); }, [&] { return messages.all_ended(); },
              [&] { return engine.waits() + "rank 0 to end the farm"; });
  return tasks;
}

}  // namespace

std::size_t Farm::most_under_way() const {
  const std::size_t by_bytes = kWindowBytes / std::max<std::size_t>(buffers_.results.bytes(), 1);
  return std::max(std::min(by_bytes, kMostInWindow), static_cast<std::size_t>(comm_.size()) + 2);
}

std::uint64_t Farm::run(const Source& source, const Work& work, const Sink& sink, const Own& own) {
  CallEngine& engine = comm_.engine();
  if (comm_.rank() != 0) return run_worker(engine, buffers_, work);
  return farm::Root(engine, buffers_, most_under_way(), {source, work, sink, own}).run();
}

}  // namespace papfft::comm
