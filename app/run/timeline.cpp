// SPDX-License-Identifier: MIT
#include "app/run/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "app/io/atomic_file.hpp"
#include "app/run/wait_states.hpp"

namespace papfft::app {

namespace {

using comm::RecordedArrival;
using comm::RecordedCall;
using comm::TimelineEvent;

/// Groups of threads of a rank; a group has as many as overlap.
enum Group : int { kComputation, kCalls, kBackground, kStarted, kSends, kReceives };
constexpr const char* kGroupNames[] = {"computation", "collective calls", "background", "calls gone on with",
                                       "sends",       "receives"};
constexpr int kThreadsPerGroup = 1000;
constexpr std::int64_t kShortestWaitNs = 1000;

/// Anything with a beginning and an end.
struct Slice {
  Group group = kComputation;
  Interval time;
  std::string name;
  const char* category = "";
  io::Json arguments = {};
  std::optional<std::size_t> event = {};  ///< of messages: which of the rank's events
};

/// Writes in pieces, so that a long job's file is not put together in memory.
class EventWriter {
 public:
  EventWriter(const std::string& path, std::int64_t zero_ns, const io::Json& about)
      : file_(path), zero_ns_(zero_ns) {
    text_ = "{\"displayTimeUnit\": \"ms\",\n\"otherData\": " + about.dump() + ",\n\"traceEvents\": [\n";
  }

  void slice(int rank, int thread, const Slice& s) {
    begin(rank, thread);
    text_ +=
        fmt::format(R"("ph":"X","name":{},"cat":"{}","ts":{},"dur":{})", io::Json(s.name).dump(), s.category,
                    microseconds(s.time.begin_ns - zero_ns_), microseconds(s.time.end_ns - s.time.begin_ns));
    end(s.arguments);
  }

  void instant(int rank, int thread, const std::string& name, std::int64_t at_ns) {
    begin(rank, thread);
    text_ += fmt::format(R"("ph":"i","s":"t","cat":"compute","name":{},"ts":{})", io::Json(name).dump(),
                         microseconds(at_ns - zero_ns_));
    end({});
  }

  /// One end of an arrow: it points from and to the slices of these threads that are under way then.
  void flow(bool arrives, std::size_t id, int rank, int thread, const char* category, std::int64_t at_ns) {
    begin(rank, thread);
    text_ += fmt::format(R"({},"id":{},"name":"message","cat":"{}","ts":{})",
                         arrives ? R"("ph":"f","bp":"e")" : R"("ph":"s")", id, category,
                         microseconds(at_ns - zero_ns_));
    end({});
  }

  /// @param what  process_name, thread_sort_index, ...
  void metadata(int rank, int thread, const char* what, const io::Json& arguments) {
    begin(rank, thread);
    text_ += fmt::format(R"("ph":"M","name":"{}")", what);
    end(arguments);
  }

  void finish() {
    file_.write(text_ + "\n]}\n");
    file_.commit();
  }

 private:
  static std::string microseconds(std::int64_t ns) {
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns / 1000), std::abs(ns % 1000));
  }

  void begin(int rank, int thread) {
    if (!std::exchange(first_, false)) text_ += ",\n";
    text_ += fmt::format(R"({{"pid":{},"tid":{},)", rank, thread);
  }

  void end(const io::Json& arguments) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    if (!arguments.is_null()) text_ += ",\"args\":" + arguments.dump();
    text_ += "}";
    if (text_.size() < kPiece) return;
    file_.write(text_);
    text_.clear();
  }

  io::AtomicFile file_;
  std::int64_t zero_ns_;
  std::string text_;
  bool first_ = true;
};

std::int64_t earliest_ns(const comm::Timeline& timeline) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const RecordedCall& call : timeline.calls.calls) {
    for (const RecordedArrival& a : call.ranks)
      first = std::min({first, a.arrival_ns, a.early_ns.value_or(first)});
  }
  for (const auto& events : timeline.events) {
    for (const TimelineEvent& event : events) first = std::min(first, event.begin_ns);
  }
  return first;
}

/// What happened to each rank in its calls.
std::vector<std::vector<Slice>> call_slices(const comm::Timeline& timeline, std::size_t ranks) {
  std::vector<std::vector<Slice>> slices(ranks);
  for (const RecordedCall& call : timeline.calls.calls) {
    const std::string name = fmt::format("{} {}", comm::to_string(call.operation), call.algorithm);
    std::vector<std::int64_t> arrival_ns;
    std::vector<std::int64_t> exit_ns;
    for (std::size_t r = 0; r < ranks; ++r) {
      const RecordedArrival& a = call.ranks[r];
      arrival_ns.push_back(a.arrival_ns);
      exit_ns.push_back(a.exit_ns);
      Slice slice{call.started ? kStarted : kCalls,
                  {a.arrival_ns, a.exit_ns},
                  name,
                  call.started ? "started" : "call",
                  {{"root", call.root}, {"bytes", call.bytes}}};
      if (a.predicted_ns) {
        slice.arguments["predicted_minus_true_us"] =
            static_cast<double>(*a.predicted_ns - a.arrival_ns) * 1e-3;
      }
      slices[r].push_back(slice);
      if (a.early_ns) {
        slices[r].push_back(
            {kBackground, {*a.early_ns, a.arrival_ns}, name + ", before its caller", "background", {}});
      }
    }
    if (call.started) continue;  // nobody waits in it
    for (const Wait& wait : classify_waits(call.operation, call.root, arrival_ns, exit_ns)) {
      if (wait.end_ns - wait.begin_ns < kShortestWaitNs) continue;
      slices[static_cast<std::size_t>(wait.rank)].push_back({kCalls,
                                                             {wait.begin_ns, wait.end_ns},
                                                             std::string(to_string(wait.state)),
                                                             "wait",
                                                             {{"for_rank", wait.for_rank}}});
    }
  }
  return slices;
}

void add_events(std::vector<Slice>& slices, const std::vector<TimelineEvent>& events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TimelineEvent& event = events[i];
    const Interval time{event.begin_ns, event.end_ns};
    const bool sent = event.kind == TimelineEvent::Kind::send;
    if (event.kind == TimelineEvent::Kind::span) {
      slices.push_back({kComputation, time, event.name, event.name == "compute" ? "compute" : "phase", {}});
    } else if (event.kind != TimelineEvent::Kind::instant) {
      slices.push_back({sent ? kSends : kReceives,
                        time,
                        fmt::format("{} {}", sent ? "to" : "from", event.peer),
                        event.early ? "background" : "message",
                        {{"peer", event.peer}, {"bytes", event.bytes}, {"early", event.early}},
                        i});
    }
  }
}

/// @return the thread of each event that is a message
std::vector<int> write_rank(EventWriter& out, int rank, std::vector<Slice> slices,
                            const std::vector<TimelineEvent>& events) {
  std::vector<int> thread_of(events.size());
  // What contains others comes first.
  std::ranges::stable_sort(
      slices, {}, [](const Slice& s) { return std::tuple(s.group, s.time.begin_ns, -s.time.end_ns); });
  std::map<int, std::string> threads = {{kComputation * kThreadsPerGroup, kGroupNames[kComputation]}};
  for (auto from = slices.begin(); from != slices.end();) {
    const Group group = from->group;
    const auto to = std::find_if(from, slices.end(), [&](const Slice& s) { return s.group != group; });
    std::vector<Interval> times;
    for (auto s = from; s != to; ++s) times.push_back(s->time);
    // A rank is in one call and one phase at a time; what is within these is drawn upon them.
    const bool nested = group == kComputation || group == kCalls;
    const std::vector<int> lanes = nested ? std::vector<int>(times.size(), 0) : assign_lanes(times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const int lane = std::min(lanes[i], kThreadsPerGroup - 1);
      const int thread = group * kThreadsPerGroup + lane;
      threads.try_emplace(
          thread, lane == 0 ? kGroupNames[group] : fmt::format("{} {}", kGroupNames[group], lane + 1));
      const Slice& slice = from[static_cast<std::ptrdiff_t>(i)];
      out.slice(rank, thread, slice);
      if (slice.event) thread_of[*slice.event] = thread;
    }
    from = to;
  }
  for (const TimelineEvent& event : events) {
    if (event.kind == TimelineEvent::Kind::instant) {
      out.instant(rank, kComputation * kThreadsPerGroup, event.name, event.begin_ns);
    }
  }
  for (const auto& [thread, name] : threads) {
    out.metadata(rank, thread, "thread_name", {{"name", name}});
    out.metadata(rank, thread, "thread_sort_index", {{"sort_index", thread}});
  }
  return thread_of;
}

/// An arrow from each send to its receive. It begins with the one, and ends just before the other does: what is at a slice's
/// end is not within it.
void write_flows(EventWriter& out, const std::vector<std::vector<TimelineEvent>>& events,
                 const std::vector<std::vector<int>>& threads) {
  std::size_t id = 0;
  for (const MessageEnds& ends : match_messages(events)) {
    const TimelineEvent& send = events[ends.sender][ends.send];
    const TimelineEvent& receive = events[ends.receiver][ends.receive];
    const char* category = send.early || receive.early ? "background" : "message";
    ++id;
    out.flow(false, id, static_cast<int>(ends.sender), threads[ends.sender][ends.send], category,
             send.begin_ns);
    out.flow(true, id, static_cast<int>(ends.receiver), threads[ends.receiver][ends.receive], category,
             std::max(receive.begin_ns, receive.end_ns - 1));
  }
}

}  // namespace

void write_timeline(const std::string& path, const comm::Timeline& timeline,
                    const std::vector<std::string>& hosts, const io::Json& about) {
  EventWriter out(path, earliest_ns(timeline), about);
  const std::vector<std::vector<Slice>> calls = call_slices(timeline, hosts.size());
  std::vector<std::vector<int>> threads;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    const int rank = static_cast<int>(r);
    out.metadata(rank, 0, "process_name",
                 {{"name", fmt::format("rank {} ({})", rank, hosts[r])}, {"host", hosts[r]}});
    out.metadata(rank, 0, "process_sort_index", {{"sort_index", rank}});
    std::vector<Slice> slices = calls[r];
    add_events(slices, timeline.events[r]);
    threads.push_back(write_rank(out, rank, std::move(slices), timeline.events[r]));
  }
  write_flows(out, timeline.events, threads);
  out.finish();
}

}  // namespace papfft::app
