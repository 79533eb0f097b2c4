// SPDX-License-Identifier: MIT
#include "comm/engine/farm_root.hpp"

#include <algorithm>

#include "comm/schedule/core/hosts.hpp"

namespace papfft::comm::farm {

namespace {

constexpr auto kAskAgain = std::chrono::milliseconds(1);
constexpr std::size_t kLeastSends = 2;  // one that moves, and one that hides its latency

}  // namespace

void Announcer::tell(Word word) {
  last_ = Clock::now();
  for (std::size_t i = 0; i < words_.size(); ++i) {
    words_[i].told = word;
    messages_.send(static_cast<Rank>(i) + 1, Service::farm_word, std::as_bytes(std::span(&words_[i].told, 1)),
                   [] {});
  }
}

void Announcer::reassure() {
  (void)messages_.poll();
  if (messages_.all_ended() && Clock::now() - last_ > silence_) tell(kWait);
}

void Announcer::expect_answers() {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    messages_.receive(static_cast<Rank>(i) + 1, Service::farm_word,
                      std::as_writable_bytes(std::span(&words_[i].answer, 1)), [] {});
  }
}

Root::Root(CallEngine& engine, FarmBuffers& buffers, std::size_t most_under_way, const Work& work)
    : engine_(engine),
      buffers_(buffers),
      most_under_way_(most_under_way),
      given_(work),
      messages_(engine.transport()),
      announcer_(engine.transport(), engine.options().longest_silence()),
      others_(static_cast<std::size_t>(engine.transport().size() - 1)),
      sends_at_once_(kLeastSends) {
  const Hosts hosts(engine.transport().size(), engine.transport().host_of_rank());  // the root's is the first
  for (std::size_t i = 0; i < others_.size(); ++i) {
    others_[i].host = hosts.of(static_cast<Rank>(i) + 1);
    if (others_[i].host != 0) ++behind_link_;
  }
}

std::uint64_t Root::run() {
  while (!(ended_ && order_.empty())) {
    bool any = messages_.poll();
    any = deliver() || any;
    if (!ended_ && order_.size() < most_under_way_) any = take_one() || any;
    announcer_.reassure();
    if (!any) wait();
  }
  end_others();
  return own_tasks_;
}

void Root::end_others() {
  const auto wait_for_messages = [&] {
    engine_.wait(
        [&] {
          const bool spoken = announcer_.poll();
          return messages_.poll() || spoken;
        },
        [&] { return messages_.all_ended() && announcer_.all_ended(); },
        [] { return std::string("rank 0 waits for the others to hear of the end"); });
  };
  wait_for_messages();
  announcer_.tell(kEnd);
  // Only when a rank has given up its receives may another run send tasks.
  announcer_.expect_answers();
  wait_for_messages();
}

bool Root::deliver() {
  bool any = false;
  while (!order_.empty() && order_.front().done) {
    std::byte* const result = order_.front().result;
    given_.sink({result, buffers_.results.bytes()});
    order_.pop_front();
    buffers_.results.give_back(result);
    any = true;
  }
  return any;
}

/// @return whether the source had anything to say
bool Root::take_one() {
  const Rank to = next_rank();
  const Farm::Feed feed = to > 0 ? deal_to(to) : work_here();
  quiet_ = feed == Farm::Feed::later;
  if (quiet_) trials_.disturbed();
  ended_ = feed == Farm::Feed::end;
  return !quiet_;
}

/// Who gets the next task; 0: the root itself.
Rank Root::next_rank() {
  if (!trials_.deal()) return 0;
  const std::size_t next = farm::next_rank(candidates(), sends_at_once_);
  return next == others_.size() ? 0 : static_cast<Rank>(next) + 1;
}

const std::vector<Candidate>& Root::candidates() {
  const auto late = Clock::now() - kLongestOnTheWay;
  candidates_.clear();
  for (const Other& o : others_)
    candidates_.push_back({o.host, o.tasks, o.first_sent && *o.first_sent > late});
  return candidates_;
}

std::size_t Root::first_sends() { return first_sends_over_link(candidates()); }

Farm::Feed Root::deal_to(Rank to) {
  std::byte* const room = buffers_.tasks.lend();
  const Farm::Task task = given_.source({room, buffers_.tasks.bytes()});
  const bool elsewhere = task.bytes.data() != room;
  if (task.feed != Farm::Feed::task || elsewhere) buffers_.tasks.give_back(room);
  if (task.feed != Farm::Feed::task) return task.feed;
  Entry& entry = order_.emplace_back(Entry{.result = buffers_.results.lend()});
  Other& other = others_[static_cast<std::size_t>(to - 1)];
  if (other.tasks++ == 0) other.first_sent = Clock::now();
  messages_.receive(to, Service::farm_result, {entry.result, buffers_.results.bytes()},
                    [this, &entry, &other] {
                      entry.done = true;
                      --other.tasks;
                      trials_.task_done(false, --away_);
                    });
  messages_.send(to, Service::farm_task, task.bytes, [this, &other, elsewhere, room] {
    other.first_sent.reset();
    if (!elsewhere) buffers_.tasks.give_back(room);
  });
  ++away_;
  return Farm::Feed::task;
}

Farm::Feed Root::work_here() {
  const std::size_t sends_before = first_sends();
  Seldom poll;
  const Farm::MoveOn move_on = [&] {
    if (poll.due()) (void)messages_.poll();
  };
  std::byte* const result = buffers_.results.lend();
  const Farm::Feed feed = make_own({result, buffers_.results.bytes()}, move_on);
  if (feed != Farm::Feed::task) {
    buffers_.results.give_back(result);
    return feed;
  }
  order_.push_back({.result = result, .done = true});
  ++own_tasks_;
  trials_.task_done(true, away_);
  adapt_sends(sends_before);
  return feed;
}

/// The link has been idle if it has carried everything meanwhile; it is the limit if it has carried nothing.
void Root::adapt_sends(std::size_t before) {
  const std::size_t now = first_sends();
  if (before > 0 && now == 0) {
    sends_at_once_ = std::min(2 * sends_at_once_, std::max(kLeastSends, behind_link_));
  } else if (now > 0 && now == before) {
    sends_at_once_ = std::max(kLeastSends, sends_at_once_ - 1);
  }
}

Farm::Feed Root::make_own(std::span<std::byte> result, const Farm::MoveOn& move_on) {
  if (given_.own) return given_.own(result, move_on);
  std::byte* const room = buffers_.tasks.lend();
  const Farm::Task task = given_.source({room, buffers_.tasks.bytes()});
  if (task.feed == Farm::Feed::task) given_.work(task.bytes, result, move_on);
  buffers_.tasks.give_back(room);
  return task.feed;
}

/// Until something comes. Words are no sign of life of the others.
void Root::wait() {
  const auto until = Clock::now() + kAskAgain;
  bool came = false;
  engine_.wait(
      [&] {
        announcer_.reassure();
        return messages_.poll() && (came = true);
      },
      [&] { return came || (quiet_ && Clock::now() >= until); }, [&] { return waits_for_results(); },
      quiet_ && order_.empty());
}

std::string Root::waits_for_results() const {
  std::string text = "rank 0 waits for the results of rank";
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (others_[i].tasks > 0) text += " " + std::to_string(i + 1);
  }
  return text;
}

}  // namespace papfft::comm::farm
