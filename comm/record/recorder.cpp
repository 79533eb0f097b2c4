// SPDX-License-Identifier: MIT
#include "papfft/recorder.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "comm/arrival/clock_track.hpp"
#include "comm/engine/steady_clock.hpp"
#include "comm/record/arrival_trace.hpp"

namespace papfft::comm {

namespace {

constexpr std::int64_t kReadClockEveryNs = 1'000'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

struct Interval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// A call as it is sent to the root.
struct Call {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  std::int64_t compute_ns = 0;
  std::int64_t arrival_ns = 0;
  std::int64_t predicted_ns = kNever;
  std::int64_t exit_ns = 0;
  std::int64_t early_ns = kNever;
  std::int32_t root = 0;
  std::uint8_t operation = 0;
  bool started = false;
  std::array<char, 28> algorithm{};

  [[nodiscard]] auto key() const { return std::tuple(started, started ? operation : 0, number); }
};

/// All ranks' values at the root, some at a time; elsewhere nothing.
template <typename Value>
std::vector<std::vector<Value>> to_root(Collectives& comm, const std::vector<Value>& mine) {
  constexpr std::size_t kAtOnce = 4096;
  const bool root = comm.rank() == 0;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::uint64_t count = mine.size();
  std::vector<std::uint64_t> counts(root ? ranks : 0);
  comm.gather<std::uint64_t>(std::span(&count, 1), counts, 0, "lin");
  std::uint64_t most = root ? std::ranges::max(counts) : 0;
  comm.bcast<std::uint64_t>(std::span(&most, 1), 0, "bnom");
  std::vector<std::vector<Value>> all(counts.size());
  std::vector<Value> part(std::min<std::size_t>(most, kAtOnce));
  std::vector<Value> parts(root ? ranks * part.size() : 0);
  for (std::size_t first = 0; first < most; first += part.size()) {
    const std::size_t here = std::min(part.size(), mine.size() - std::min(first, mine.size()));
    std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(std::min(first, mine.size())), here, part.begin());
    comm.gather<Value>(part, parts, 0, "lin");
    for (std::size_t r = 0; r < all.size(); ++r) {
      const std::size_t there = std::min<std::size_t>(part.size(), counts[r] - std::min(first, counts[r]));
      const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(r * part.size());
      all[r].insert(all[r].end(), begin, begin + static_cast<std::ptrdiff_t>(there));
    }
  }
  return all;
}

}  // namespace

/// As it is sent to the root.
struct Recorder::Event {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t bytes = 0;
  std::int32_t peer = -1;
  std::int32_t tag = 0;
  TimelineEvent::Kind kind = TimelineEvent::Kind::span;
  bool early = false;
  std::array<char, 26> name{};
};

struct Recorder::State {
  explicit State(std::size_t most_calls_in) : most_calls(most_calls_in) {}

  // The caller holds the mutex.
  void read_clock() {
    const std::int64_t before_ns = steady_now_ns();
    const std::int64_t reference_ns = clock();
    track.add(before_ns + (steady_now_ns() - before_ns) / 2, reference_ns);
  }

  /// Sorted, with what was computed before each, on the clock that was followed.
  [[nodiscard]] std::vector<Call> finished_calls() const {
    std::vector<Call> result = calls;
    std::ranges::sort(result, {}, &Call::arrival_ns);
    auto next = computations.begin();
    for (Call& call : result) {
      for (; next != computations.end() && next->end_ns <= call.arrival_ns; ++next) {
        call.compute_ns += next->end_ns - next->begin_ns;
      }
      call.arrival_ns = track.to_reference(call.arrival_ns);
      call.exit_ns = track.to_reference(call.exit_ns);
      if (call.predicted_ns != kNever) call.predicted_ns = track.to_reference(call.predicted_ns);
      if (call.early_ns != kNever) call.early_ns = track.to_reference(call.early_ns);
    }
    return result;
  }

  [[nodiscard]] std::vector<Event> finished_events() const {
    std::vector<Event> result = events;
    for (Event& event : result) {
      event.begin_ns = track.to_reference(event.begin_ns);
      event.end_ns = track.to_reference(event.end_ns);
    }
    return result;
  }

  mutable std::mutex mutex;
  const std::size_t most_calls;
  std::function<std::int64_t()> clock;
  ClockTrack track;
  std::vector<Call> calls;
  std::vector<Interval> computations;
  std::vector<Event> events;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_events = 0;
};

namespace {

std::int64_t first_arrival_ns(const RecordedCall& call) {
  return std::ranges::min(call.ranks, {}, &RecordedArrival::arrival_ns).arrival_ns;
}

/// Puts together what belongs together, on the clock that was followed. Gives up calls that not all ranks have.
ArrivalRecording match(const std::vector<std::vector<Call>>& of_ranks) {
  const std::size_t ranks = of_ranks.size();
  std::map<decltype(Call{}.key()), std::vector<const Call*>> calls;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (const Call& call : of_ranks[r]) {
      std::vector<const Call*>& same = calls[call.key()];
      same.resize(ranks);
      same[r] = &call;
    }
  }
  ArrivalRecording recording{.ranks = static_cast<int>(ranks), .calls = {}};
  for (const auto& [key, same] : calls) {
    if (std::ranges::count(same, nullptr) > 0) {
      ++recording.dropped;
      continue;
    }
    const Call& call = *same.front();
    RecordedCall& recorded = recording.calls.emplace_back();
    recorded = {.operation = static_cast<Operation>(call.operation),
                .algorithm = call.algorithm.data(),
                .root = call.root,
                .bytes = call.bytes,
                .ranks = {},
                .started = call.started};
    for (const Call* part : same) {
      RecordedArrival& arrival = recorded.ranks.emplace_back();
      arrival = {.compute_ns = part->compute_ns, .arrival_ns = part->arrival_ns, .exit_ns = part->exit_ns};
      if (part->predicted_ns != kNever) arrival.predicted_ns = part->predicted_ns;
      if (part->early_ns != kNever) arrival.early_ns = part->early_ns;
    }
  }
  std::ranges::stable_sort(recording.calls, {}, first_arrival_ns);
  return recording;
}

/// The greatest of the ranks' values, at the root.
std::uint64_t most_at_root(Collectives& comm, std::uint64_t mine) {
  std::vector<std::uint64_t> all(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0);
  comm.gather<std::uint64_t>(std::span(&mine, 1), all, 0, "lin");
  return all.empty() ? 0 : std::ranges::max(all);
}

}  // namespace

Recorder::Recorder(std::size_t most_calls, std::size_t most_events)
    : most_events_(most_events), state_(std::make_unique<State>(most_calls)) {}
Recorder::~Recorder() = default;

void Recorder::follow(std::function<std::int64_t()> clock) {
  const std::lock_guard lock(state_->mutex);
  state_->clock = std::move(clock);
  state_->read_clock();
}

void Recorder::unfollow() {
  const std::lock_guard lock(state_->mutex);
  if (state_->clock) state_->read_clock();
  state_->clock = nullptr;
}

void Recorder::call_ended(const CallRecord& call) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.calls.size() >= s.most_calls) {
    ++s.dropped;
    return;
  }
  if (s.clock && call.exit_ns - s.track.last_ns() > kReadClockEveryNs) s.read_clock();
  Call kept{.number = call.number,
            .bytes = call.bytes,
            .arrival_ns = call.arrival_ns,
            .predicted_ns = call.predicted_ns.value_or(kNever),
            .exit_ns = call.exit_ns,
            .early_ns = call.early_ns.value_or(kNever),
            .root = call.root,
            .operation = static_cast<std::uint8_t>(call.operation),
            .started = call.started};
  call.algorithm.copy(kept.algorithm.data(), kept.algorithm.size() - 1);
  s.calls.push_back(kept);
}

void Recorder::computed(std::chrono::steady_clock::time_point begin,
                        std::chrono::steady_clock::time_point end) {
  State& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    if (s.computations.size() < s.most_calls) s.computations.push_back({steady_ns(begin), steady_ns(end)});
  }
  span("compute", begin, end);
}

ArrivalRecording Recorder::collect(Collectives& comm) const {
  Timeline timeline = collect_all(comm, false);
  if (timeline.calls.calls.empty()) return timeline.calls;
  const std::int64_t first_ns = first_arrival_ns(timeline.calls.calls.front());
  for (RecordedCall& call : timeline.calls.calls) {
    for (RecordedArrival& arrival : call.ranks) {
      arrival.arrival_ns -= first_ns;
      arrival.exit_ns -= first_ns;
      if (arrival.predicted_ns) *arrival.predicted_ns -= first_ns;
      if (arrival.early_ns) *arrival.early_ns -= first_ns;
    }
  }
  return timeline.calls;
}

Timeline Recorder::collect_timeline(Collectives& comm) const { return collect_all(comm, true); }

Timeline Recorder::collect_all(Collectives& comm, bool with_events) const {
  std::uint64_t dropped = 0;
  std::uint64_t dropped_events = 0;
  std::vector<Call> mine;
  std::vector<Event> my_events;
  {  // `comm` may be one that we observe
    const std::lock_guard lock(state_->mutex);
    dropped = state_->dropped;
    dropped_events = state_->dropped_events;
    mine = state_->finished_calls();
    if (with_events) my_events = state_->finished_events();
  }
  Timeline timeline;
  dropped = most_at_root(comm, dropped);
  timeline.dropped_events = most_at_root(comm, dropped_events);
  const std::vector<std::vector<Call>> all = to_root(comm, mine);
  std::vector<std::vector<Event>> all_events;
  if (with_events) all_events = to_root(comm, my_events);
  if (comm.rank() != 0) return {};
  timeline.calls = match(all);
  timeline.calls.dropped += dropped;
  for (const std::vector<Event>& events : all_events) {
    std::vector<TimelineEvent>& to = timeline.events.emplace_back();
    to.reserve(events.size());
    for (const Event& event : events) {
      to.push_back({.kind = event.kind,
                    .name = event.name.data(),
                    .peer = event.peer,
                    .tag = event.tag,
                    .bytes = event.bytes,
                    .early = event.early,
                    .begin_ns = event.begin_ns,
                    .end_ns = event.end_ns});
    }
  }
  return timeline;
}

void Recorder::keep(const Event& event) {
  if (most_events_ == 0) return;
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.events.size() >= most_events_) {
    ++s.dropped_events;
    return;
  }
  s.events.push_back(event);
}

void Recorder::message_ended(const MessageRecord& message) {
  keep({.begin_ns = message.begin_ns,
        .end_ns = message.end_ns,
        .bytes = message.bytes,
        .peer = message.peer,
        .tag = message.tag,
        .kind = message.sent ? TimelineEvent::Kind::send : TimelineEvent::Kind::receive,
        .early = message.early});
}

void Recorder::span(std::string_view name, std::chrono::steady_clock::time_point begin,
                    std::chrono::steady_clock::time_point end) {
  Event event{.begin_ns = steady_ns(begin), .end_ns = steady_ns(end)};
  name.copy(event.name.data(), event.name.size() - 1);
  keep(event);
}

void Recorder::instant(std::string_view name) {
  const std::int64_t now_ns = steady_now_ns();
  Event event{.begin_ns = now_ns, .end_ns = now_ns, .kind = TimelineEvent::Kind::instant};
  name.copy(event.name.data(), event.name.size() - 1);
  keep(event);
}

}  // namespace papfft::comm
