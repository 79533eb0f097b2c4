// SPDX-License-Identifier: MIT
#include "comm/engine/farm.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "comm/engine/collectives_impl.hpp"

namespace papfft::comm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPerRank = 2;
constexpr std::size_t kWindowBytes = std::size_t{1} << 30;
constexpr std::size_t kMostInWindow = 1024;
constexpr auto kAskAgain = std::chrono::milliseconds(1);
constexpr auto kPollEvery = std::chrono::microseconds(50);
/// A first task that is longer on its way is for a rank that is late: it does not use the link.
constexpr auto kLongestOnTheWay = std::chrono::seconds(1);
constexpr std::size_t kLeastSends = 2;  // one that moves, and one that hides its latency

/// What the root says beside the tasks. kWait: a rank that gets no task shall not take the root for stuck.
enum Word : std::int64_t { kEnd, kWait };

// In the upper half of the tags, beside the watchdog's and the session's.
int task_tag(const Transport& t) { return t.max_tag() - 8; }
int result_tag(const Transport& t) { return t.max_tag() - 9; }
int word_tag(const Transport& t) { return t.max_tag() - 10; }

/// Messages, each with what is to be done when it has ended.
class Messages {
 public:
  explicit Messages(Transport& transport) : channel_(transport.open()) {}
  void send(Rank to, int tag, std::span<const std::byte> data, std::function<void()> then) {
    then_[channel_->isend(to, tag, data)] = std::move(then);
  }
  void receive(Rank from, int tag, std::span<std::byte> data, std::function<void()> then) {
    then_[channel_->irecv(from, tag, data)] = std::move(then);
  }
  bool poll() {
    if (then_.empty()) return false;
    ended_.clear();
    channel_->poll(ended_);
    std::vector<std::function<void()>>
        calls;  // these may start messages, which may get the same tickets again
    for (const int ticket : ended_) calls.push_back(std::move(then_.at(ticket)));
    for (const int ticket : ended_) then_.erase(ticket);
    for (const auto& call : calls) call();
    return !ended_.empty();
  }
  [[nodiscard]] bool all_ended() const { return then_.empty(); }

 private:
  std::unique_ptr<Channel> channel_;
  std::map<int, std::function<void()>> then_;
  std::vector<int> ended_;
};

/// True at most once in a while.
class Seldom {
 public:
  bool due() {
    const auto now = Clock::now();
    if (now < next_) return false;
    next_ = now + kPollEvery;
    return true;
  }

 private:
  Clock::time_point next_;
};

/// Whether dealing out makes the whole faster, which depends on more than can be reckoned (copies, messages, caches, cores
/// that ranks share): the rates with and without are measured in turns, each when what was under way before has ended, and
/// the better way is kept for many times as long.
class Trials {
 public:
  [[nodiscard]] bool deal() const { return deal_; }

  /// The source had nothing: what has been measured means nothing.
  void disturbed() { steady_ = false; }

  /// @param here  by the root. @param away  tasks that others have now
  void task_done(bool here, std::size_t away) {
    const auto now = Clock::now();
    if (state_ == State::kept) {
      if (now < until_) return;
      change(State::with, now);
    }
    if (!steady_) {
      const bool ready = state_ == State::with ? !here : away == 0 || now - began_ > kLongestOnTheWay;
      if (ready) {
        steady_ = true;
        steady_since_ = now;
        tasks_ = returned_ = 0;
      }
      return;
    }
    ++tasks_;
    if (!here) ++returned_;
    const auto taken = now - steady_since_;
    if (tasks_ < kTasksOfTrial || taken < kLeastTrial) return;
    if (state_ == State::with) {
      if (returned_ < kReturnedOfTrial) return;
      rate_with_ = rate(taken);
      change(State::without, now);
      return;
    }
    const bool better_with = rate_with_ >= rate(taken);
    keep_for_ = better_with == kept_before_ ? std::min(2 * keep_for_, kMostKept) : kLeastKept;
    kept_before_ = better_with;
    until_ = now + keep_for_ * (now - first_began_);
    change(State::kept, now);
    deal_ = better_with;
  }

 private:
  enum class State { with, without, kept };
  static constexpr int kTasksOfTrial = 12;
  static constexpr int kReturnedOfTrial = 4;
  static constexpr auto kLeastTrial = std::chrono::milliseconds(10);
  static constexpr int kLeastKept = 16;  // times as long as both trials took
  static constexpr int kMostKept = 128;

  void change(State to, Clock::time_point now) {
    state_ = to;
    deal_ = to == State::with;
    steady_ = false;
    began_ = now;
    if (to == State::with) first_began_ = now;
  }
  [[nodiscard]] double rate(Clock::duration taken) const {
    return tasks_ / std::chrono::duration<double>(taken).count();
  }

  State state_ = State::with;
  bool deal_ = true;
  bool steady_ = false;
  int tasks_ = 0;
  int returned_ = 0;
  double rate_with_ = 0;
  int keep_for_ = kLeastKept;
  bool kept_before_ = true;
  Clock::time_point began_ = Clock::now();
  Clock::time_point first_began_ = began_;
  Clock::time_point steady_since_;
  Clock::time_point until_;
};

}  // namespace

/// One run, at the root.
class Farm::Root {
 public:
  Root(Farm& farm, const Source& source, const Work& work, const Sink& sink, const Own& own)
      : farm_(farm),
        source_(source),
        work_(work),
        sink_(sink),
        own_(own),
        x_(farm.comm_.impl()),
        messages_(x_.transport),
        voice_(x_.transport),
        others_(static_cast<std::size_t>(farm.comm_.size() - 1)),
        silence_(x_.options.longest_silence()) {}

  std::uint64_t run() {
    while (!(ended_ && order_.empty())) {
      bool any = messages_.poll();
      any = deliver() || any;
      if (!ended_ && order_.size() < farm_.most_under_way()) any = take_one() || any;
      speak();
      if (!any) wait();
    }
    const auto what = [] { return std::string("rank 0 waits for the others to hear of the end"); };
    const auto poll = [&] {
      const bool spoken = voice_.poll();
      return messages_.poll() || spoken;
    };
    const auto all_ended = [&] { return messages_.all_ended() && voice_.all_ended(); };
    x_.wait(poll, all_ended, what);
    tell(kEnd);
    // Only when a rank has given up its receives may another run send tasks.
    for (std::size_t i = 0; i < others_.size(); ++i) {
      voice_.receive(static_cast<Rank>(i) + 1, word_tag(x_.transport),
                     std::as_writable_bytes(std::span(&others_[i].answer, 1)), [] {});
    }
    x_.wait(poll, all_ended, what);
    return own_tasks_;
  }

 private:
  struct Entry {  // a task between source and sink
    std::byte* result = nullptr;
    bool done = false;
  };
  struct Other {
    int tasks = 0;
    std::optional<Clock::time_point> first_sent;  // while the only one that it has is on its way
    std::int64_t word = kWait;
    std::int64_t answer = kWait;
  };

  bool deliver() {
    bool any = false;
    while (!order_.empty() && order_.front().done) {
      std::byte* const result = order_.front().result;
      sink_({result, farm_.results_.bytes()});
      order_.pop_front();
      farm_.results_.give_back(result);
      any = true;
    }
    return any;
  }

  /// @return whether the source had anything to say
  bool take_one() {
    const Rank to = next_rank();
    const Feed feed = to > 0 ? deal_to(to) : work_here();
    quiet_ = feed == Feed::later;
    if (quiet_) trials_.disturbed();
    ended_ = feed == Feed::end;
    return !quiet_;
  }

  /// Who gets the next task; 0: the root itself. Ranks without a task come first, few of them at a time, as the link is
  /// shared by what is on its way; a second one is sent ahead when every rank has one.
  Rank next_rank() {
    if (!trials_.deal()) return 0;
    const auto fewest = std::ranges::min_element(others_, {}, &Other::tasks);
    if (fewest == others_.end() || fewest->tasks >= kPerRank) return 0;
    if (fewest->tasks == 0 && first_sends() >= sends_at_once_) return 0;
    return static_cast<Rank>(fewest - others_.begin()) + 1;
  }

  [[nodiscard]] std::size_t first_sends() const {
    const auto late = Clock::now() - kLongestOnTheWay;
    return static_cast<std::size_t>(
        std::ranges::count_if(others_, [&](const Other& o) { return o.first_sent && *o.first_sent > late; }));
  }

  Feed deal_to(Rank to) {
    std::byte* const room = farm_.tasks_.lend();
    const Task task = source_({room, farm_.tasks_.bytes()});
    const bool elsewhere = task.bytes.data() != room;
    if (task.feed != Feed::task || elsewhere) farm_.tasks_.give_back(room);
    if (task.feed != Feed::task) return task.feed;
    Entry& entry = order_.emplace_back(Entry{.result = farm_.results_.lend()});
    Other& other = others_[static_cast<std::size_t>(to - 1)];
    if (other.tasks++ == 0) other.first_sent = Clock::now();
    messages_.receive(to, result_tag(x_.transport), {entry.result, farm_.results_.bytes()},
                      [this, &entry, &other] {
                        entry.done = true;
                        --other.tasks;
                        trials_.task_done(false, --away_);
                      });
    messages_.send(to, task_tag(x_.transport), task.bytes, [this, &other, elsewhere, room] {
      other.first_sent.reset();
      if (!elsewhere) farm_.tasks_.give_back(room);
    });
    ++away_;
    return Feed::task;
  }

  Feed work_here() {
    const std::size_t sends_before = first_sends();
    Seldom poll;
    const MoveOn move_on = [&] {
      if (poll.due()) (void)messages_.poll();
    };
    std::byte* const result = farm_.results_.lend();
    const Feed feed = make_own({result, farm_.results_.bytes()}, move_on);
    if (feed != Feed::task) {
      farm_.results_.give_back(result);
      return feed;
    }
    order_.push_back({.result = result, .done = true});
    ++own_tasks_;
    trials_.task_done(true, away_);
    // The link has been idle if it has carried everything meanwhile; it is the limit if it has carried nothing.
    const std::size_t sends_now = first_sends();
    if (sends_before > 0 && sends_now == 0) {
      sends_at_once_ = std::min(2 * sends_at_once_, std::max(kLeastSends, others_.size()));
    } else if (sends_now > 0 && sends_now == sends_before) {
      sends_at_once_ = std::max(kLeastSends, sends_at_once_ - 1);
    }
    return feed;
  }

  Feed make_own(std::span<std::byte> result, const MoveOn& move_on) {
    if (own_) return own_(result, move_on);
    std::byte* const room = farm_.tasks_.lend();
    const Task task = source_({room, farm_.tasks_.bytes()});
    if (task.feed == Feed::task) work_(task.bytes, result, move_on);
    farm_.tasks_.give_back(room);
    return task.feed;
  }

  /// To everybody, now and then, as a rank may get no task for long.
  void speak() {
    (void)voice_.poll();
    if (voice_.all_ended() && Clock::now() - last_word_ > silence_) tell(kWait);
  }

  void tell(Word word) {
    last_word_ = Clock::now();
    for (std::size_t i = 0; i < others_.size(); ++i) {
      others_[i].word = word;
      voice_.send(static_cast<Rank>(i) + 1, word_tag(x_.transport),
                  std::as_bytes(std::span(&others_[i].word, 1)), [] {});
    }
  }

  /// Until something comes. Words are no sign of life of the others.
  void wait() {
    const auto until = Clock::now() + kAskAgain;
    bool came = false;
    x_.wait(
        [&] {
          speak();
          return messages_.poll() && (came = true);
        },
        [&] { return came || (quiet_ && Clock::now() >= until); },
        [&] {
          std::string text = "rank 0 waits for the results of rank";
          for (std::size_t i = 0; i < others_.size(); ++i) {
            if (others_[i].tasks > 0) text += " " + std::to_string(i + 1);
          }
          return text;
        },
        quiet_ && order_.empty());
  }

  Farm& farm_;
  const Source& source_;
  const Work& work_;
  const Sink& sink_;
  const Own& own_;
  Collectives::Impl& x_;
  Messages messages_;
  Messages voice_;  // words
  std::vector<Other> others_;
  std::chrono::milliseconds silence_;
  std::deque<Entry> order_;
  bool ended_ = false;
  bool quiet_ = false;  // the source had nothing when it was asked last
  std::size_t sends_at_once_ = kLeastSends;
  Trials trials_;
  std::size_t away_ = 0;  // tasks that others have
  std::uint64_t own_tasks_ = 0;
  Clock::time_point last_word_ = Clock::now();
};

std::size_t Farm::most_under_way() const {
  const std::size_t by_bytes = kWindowBytes / std::max<std::size_t>(results_.bytes(), 1);
  return std::max(std::min(by_bytes, kMostInWindow), static_cast<std::size_t>(comm_.size()) + 2);
}

std::uint64_t Farm::run(const Source& source, const Work& work, const Sink& sink, const Own& own) {
  return comm_.rank() == 0 ? Root(*this, source, work, sink, own).run() : run_other(work);
}

std::uint64_t Farm::run_other(const Work& work) {
  const std::uint64_t own = work_until_end(work);
  Collectives::Impl& x = comm_.impl();
  const std::int64_t word = kEnd;
  Messages messages(x.transport);
  messages.send(0, word_tag(x.transport), std::as_bytes(std::span(&word, 1)), [] {});
  x.wait([&] { return messages.poll(); }, [&] { return messages.all_ended(); },
         [&] { return "rank " + std::to_string(x.transport.rank()) + " waits for rank 0 to end the farm"; });
  return own;
}

std::uint64_t Farm::work_until_end(const Work& work) {
  Collectives::Impl& x = comm_.impl();
  struct Slot {
    std::byte* task = nullptr;
    std::byte* result = nullptr;
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
    messages.receive(0, task_tag(x.transport), {slot.task, tasks_.bytes()},
                     [&slot] { slot.received = true; });
  };
  std::function<void()> expect_word = [&] {
    messages.receive(0, word_tag(x.transport), std::as_writable_bytes(std::span(&word, 1)), [&] {
      ended = word == kEnd;
      if (!ended) expect_word();
    });
  };
  for (Slot& slot : slots) {
    slot.task = tasks_.lend();
    slot.result = results_.lend();
    expect_task(slot);
  }
  expect_word();
  Seldom poll;
  const MoveOn move_on = [&] {
    if (poll.due()) (void)messages.poll();
  };
  while (!ended) {
    Slot& next = slots[own % slots.size()];
    x.wait([&] { return messages.poll(); }, [&] { return ended || (next.received && next.sent); },
           [&] {
             return "rank " + std::to_string(x.transport.rank()) + " waits for rank 0 (task " +
                    std::to_string(own) + " of its own)";
           });
    if (ended) break;  // after the root has had every result
    work({next.task, tasks_.bytes()}, {next.result, results_.bytes()}, move_on);
    next.sent = false;
    messages.send(0, result_tag(x.transport), {next.result, results_.bytes()}, [&next] { next.sent = true; });
    expect_task(next);
    ++own;
    (void)messages.poll();
  }
  for (const Slot& slot : slots) {
    tasks_.give_back(slot.task);
    results_.give_back(slot.result);
  }
  return own;
}

}  // namespace papfft::comm
