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

#include "comm/exec/collectives_impl.hpp"
#include "comm/predict/pure/arrival_trace.hpp"
#include "comm/predict/pure/clock_track.hpp"

namespace papfft::comm {

namespace {

constexpr std::int64_t kReadClockEveryNs = 1'000'000'000;
constexpr std::int64_t kNotPredicted = std::numeric_limits<std::int64_t>::min();

/// A call as it is sent to the root.
struct Call {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  std::int64_t compute_ns = 0;
  std::int64_t arrival_ns = 0;
  std::int64_t predicted_ns = kNotPredicted;
  std::int64_t exit_ns = 0;
  std::int32_t root = 0;
  std::uint8_t operation = 0;
  bool started = false;
  std::array<char, 28> algorithm{};

  [[nodiscard]] auto key() const { return std::tuple(started, started ? operation : 0, number); }
};

struct Interval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
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
      if (call.predicted_ns != kNotPredicted) call.predicted_ns = track.to_reference(call.predicted_ns);
    }
    return result;
  }

  mutable std::mutex mutex;
  const std::size_t most_calls;
  std::function<std::int64_t()> clock;
  ClockTrack track;
  std::vector<Call> calls;
  std::vector<Interval> computations;
  std::uint64_t dropped = 0;
};

namespace {

/// Puts together what belongs together. Gives up calls that not all ranks have.
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
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
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
                .ranks = {}};
    for (const Call* part : same) {
      RecordedArrival& arrival = recorded.ranks.emplace_back();
      arrival = {.compute_ns = part->compute_ns, .arrival_ns = part->arrival_ns, .exit_ns = part->exit_ns};
      if (part->predicted_ns != kNotPredicted) arrival.predicted_ns = part->predicted_ns;
      first_ns = std::min(first_ns, part->arrival_ns);
    }
  }
  for (RecordedCall& call : recording.calls) {
    for (RecordedArrival& arrival : call.ranks) {
      arrival.arrival_ns -= first_ns;
      arrival.exit_ns -= first_ns;
      if (arrival.predicted_ns) *arrival.predicted_ns -= first_ns;
    }
  }
  std::ranges::stable_sort(recording.calls, {}, [](const RecordedCall& call) {
    return std::ranges::min(call.ranks, {}, &RecordedArrival::arrival_ns).arrival_ns;
  });
  return recording;
}

}  // namespace

Recorder::Recorder(std::size_t most_calls) : state_(std::make_unique<State>(most_calls)) {}
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
            .predicted_ns = call.predicted_ns.value_or(kNotPredicted),
            .exit_ns = call.exit_ns,
            .root = call.root,
            .operation = static_cast<std::uint8_t>(call.operation),
            .started = call.started};
  call.algorithm.copy(kept.algorithm.data(), kept.algorithm.size() - 1);
  s.calls.push_back(kept);
}

void Recorder::computed(std::chrono::steady_clock::time_point begin,
                        std::chrono::steady_clock::time_point end) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.computations.size() < s.most_calls) s.computations.push_back({steady_ns(begin), steady_ns(end)});
}

ArrivalRecording Recorder::collect(Collectives& comm) const {
  std::uint64_t dropped = 0;
  std::vector<Call> mine;
  {  // `comm` may be one that we observe
    const std::lock_guard lock(state_->mutex);
    dropped = state_->dropped;
    mine = state_->finished_calls();
  }
  std::vector<std::uint64_t> all_dropped(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 0);
  comm.gather<std::uint64_t>(std::span(&dropped, 1), all_dropped, 0, "lin");
  const std::vector<std::vector<Call>> all = to_root(comm, mine);
  if (comm.rank() != 0) return {};
  ArrivalRecording recording = match(all);
  recording.dropped += std::ranges::max(all_dropped);
  return recording;
}

}  // namespace papfft::comm
