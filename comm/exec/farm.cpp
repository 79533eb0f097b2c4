// SPDX-License-Identifier: MIT
#include "comm/exec/farm.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "comm/exec/collectives_impl.hpp"

namespace papfft::comm {

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::unique_ptr<std::byte[]>;

constexpr int kPerRank = 2;
constexpr auto kAskAgain = std::chrono::milliseconds(1);
constexpr auto kLongestSilence = std::chrono::seconds(5);

/// What the root says beside the tasks. kWait: a quiet source shall not look like a stuck root.
enum Word : std::int64_t { kEnd, kWait };

// In the upper half of the tags, beside the watchdog's and the session's.
int task_tag(const Transport& t) { return t.max_tag() - 8; }
int result_tag(const Transport& t) { return t.max_tag() - 9; }
int word_tag(const Transport& t) { return t.max_tag() - 10; }

Bytes allocate(std::size_t bytes) {  // aligned for any number type
  return std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1));
}

/// Messages, each with what is to be done when it has ended.
class Messages {
 public:
  explicit Messages(Transport& transport) : transport_(transport), channel_(transport.open()) {}
  void send(Rank to, int tag, std::span<const std::byte> data, std::function<void()> then) {
    then_[channel_->isend(to, tag, data)] = std::move(then);
  }
  void receive(Rank from, int tag, std::span<std::byte> data, std::function<void()> then) {
    then_[channel_->irecv(from, tag, data)] = std::move(then);
  }
  bool poll() {
    ended_.clear();
    channel_->poll(ended_);
    std::vector<std::function<void()>>
        calls;  // these may start messages, which may get the same tickets again
    for (const int ticket : ended_) calls.push_back(std::move(then_.at(ticket)));
    for (const int ticket : ended_) then_.erase(ticket);
    for (const auto& call : calls) call();
    return !ended_.empty();
  }
  [[nodiscard]] Transport& transport() { return transport_; }

 private:
  Transport& transport_;
  std::unique_ptr<Channel> channel_;
  std::map<int, std::function<void()>> then_;
  std::vector<int> ended_;
};

}  // namespace

std::uint64_t Farm::run(const Source& source, const Work& work, const Sink& sink) {
  return comm_.rank() == 0 ? run_root(source, work, sink) : run_other(work);
}

std::uint64_t Farm::run_root(const Source& source, const Work& work, const Sink& sink) {
  Collectives::Impl& x = comm_.impl();
  struct Slot {
    Bytes task;
    Bytes result;
    bool sent = true;
    bool done = false;
  };
  const int ranks = comm_.size();
  std::vector<Slot> slots(static_cast<std::size_t>(kPerRank * ranks + 2));
  for (Slot& slot : slots) slot = {allocate(task_bytes_), allocate(result_bytes_)};
  std::vector<int> busy(static_cast<std::size_t>(ranks), 0);
  std::vector<std::int64_t> words(static_cast<std::size_t>(ranks), kWait);
  int words_open = 0;
  Messages messages(x.transport);
  std::uint64_t given = 0;
  std::uint64_t taken = 0;  // by the sink
  std::uint64_t own = 0;
  bool ended = false;
  bool quiet = false;
  auto last_word = Clock::now();

  const auto tell = [&](std::int64_t word) {
    last_word = Clock::now();
    std::ranges::fill(words, word);
    for (Rank r = 1; r < ranks; ++r) {
      ++words_open;
      messages.send(r, word_tag(x.transport),
                    std::as_bytes(std::span(&words[static_cast<std::size_t>(r)], 1)), [&] { --words_open; });
    }
  };
  const auto hand_over = [&](Slot& slot, Rank to) {
    const auto t = static_cast<std::size_t>(to);
    ++busy[t];
    slot.sent = slot.done = false;
    messages.receive(to, result_tag(x.transport), {slot.result.get(), result_bytes_}, [&slot, &busy, t] {
      --busy[t];
      slot.done = true;
    });
    messages.send(to, task_tag(x.transport), {slot.task.get(), task_bytes_}, [&slot] { slot.sent = true; });
  };
  const auto ring = [&](std::uint64_t i) -> Slot& { return slots[i % slots.size()]; };
  const auto oldest_is_done = [&] { return taken < given && ring(taken).done && ring(taken).sent; };
  const auto has_room = [&] { return !ended && given - taken < slots.size(); };
  const auto someone_is_free = [&] {
    return std::any_of(busy.begin() + 1, busy.end(), [](int b) { return b < kPerRank; });
  };

  while (!(ended && taken == given)) {
    bool any = messages.poll();
    while (oldest_is_done()) {
      sink({ring(taken).result.get(), result_bytes_});
      ++taken;
      any = true;
    }
    if (has_room()) {
      Slot& slot = ring(given);
      const Feed feed = source({slot.task.get(), task_bytes_});
      quiet = feed == Feed::later;
      ended = feed == Feed::end;
      if (feed == Feed::task) {
        ++given;
        if (someone_is_free()) {
          hand_over(slot, static_cast<Rank>(std::min_element(busy.begin() + 1, busy.end()) - busy.begin()));
        } else {
          work({slot.task.get(), task_bytes_}, {slot.result.get(), result_bytes_});
          slot.done = true;
          ++own;
        }
      }
      any = any || !quiet;
      if (quiet && words_open == 0 && Clock::now() - last_word > kLongestSilence) tell(kWait);
    }
    if (any) continue;
    const auto until = Clock::now() + kAskAgain;
    bool polled = false;
    x.wait([&] { return messages.poll() && (polled = true); },
           [&] { return polled || oldest_is_done() || (quiet && Clock::now() >= until); },
           [&] {
             std::string text = "rank 0 waits for the results of rank";
             for (Rank r = 1; r < ranks; ++r) {
               if (busy[static_cast<std::size_t>(r)] > 0) text += " " + std::to_string(r);
             }
             return text;
           },
           quiet && taken == given);
  }
  const auto told = [&] { return words_open == 0; };
  const auto what = [] { return std::string("rank 0 waits for the others to hear of the end"); };
  x.wait([&] { return messages.poll(); }, told, what);
  tell(kEnd);
  x.wait([&] { return messages.poll(); }, told, what);
  return own;
}

std::uint64_t Farm::run_other(const Work& work) {
  Collectives::Impl& x = comm_.impl();
  struct Slot {
    Bytes task;
    Bytes result;
    bool received = false;
    bool sent = true;
  };
  std::array<Slot, kPerRank> slots;
  std::int64_t word = kWait;
  Messages messages(x.transport);
  bool ended = false;
  std::uint64_t own = 0;
  const auto expect_task = [&](Slot& slot) {
    slot.received = false;
    messages.receive(0, task_tag(x.transport), {slot.task.get(), task_bytes_},
                     [&slot] { slot.received = true; });
  };
  std::function<void()> expect_word = [&] {
    messages.receive(0, word_tag(x.transport), std::as_writable_bytes(std::span(&word, 1)), [&] {
      ended = word == kEnd;
      if (!ended) expect_word();
    });
  };
  for (Slot& slot : slots) {
    slot.task = allocate(task_bytes_);
    slot.result = allocate(result_bytes_);
    expect_task(slot);
  }
  expect_word();
  while (true) {
    Slot& next = slots[own % slots.size()];
    x.wait([&] { return messages.poll(); }, [&] { return ended || (next.received && next.sent); },
           [&] {
             return "rank " + std::to_string(x.transport.rank()) + " waits for rank 0 (task " +
                    std::to_string(own) + " of its own)";
           });
    if (ended) return own;  // after the root has had every result
    work({next.task.get(), task_bytes_}, {next.result.get(), result_bytes_});
    next.sent = false;
    messages.send(0, result_tag(x.transport), {next.result.get(), result_bytes_},
                  [&next] { next.sent = true; });
    expect_task(next);
    ++own;
    (void)messages.poll();
  }
}

}  // namespace papfft::comm
