// SPDX-License-Identifier: MIT
#include "app/report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "app/io/errors.hpp"
#include "app/report/canvas.hpp"
#include "app/report/figure.hpp"

namespace papfft::app::report {
namespace {

constexpr double kMostRanks = 1 << 16;
constexpr double kMostUs = 1e13;  // a hundred days
constexpr double kMostThreads = 1e6;
constexpr int kThreadsPerGroup = 1000;  // as app/run/timeline.cpp numbers them

/// Nothing: it is not drawn as a slice.
std::optional<Activity> activity_of(const std::string& category, const std::string& name, bool is_message) {
  if (is_message) return std::nullopt;
  if (category == "compute") return Activity::computing;
  if (category == "phase" && name.starts_with("MPI_")) return Activity::in_call;
  if (category == "phase") return name == "wait" ? Activity::waiting : Activity::other_work;
  if (category == "call") return Activity::in_call;
  if (category == "started") return Activity::beside;
  if (category == "background") return Activity::background;
  if (category != "wait") return std::nullopt;
  if (name == "Late Sender") return Activity::late_sender;
  return name == "Late Receiver" ? Activity::late_receiver : Activity::wait_at_nxn;
}

/// "scatter" of "scatter lin".
std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

std::string machine_text(const Json& about) {
  std::string text;
  if (!about.contains("machine") || !about.at("machine").is_object()) return text;
  for (const auto& [name, value] : about.at("machine").items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return clean_text(text);
}

/// The part that fits below a picture.
std::string machine_name(const Json& about) {
  std::string text;
  if (!about.contains("machine") || !about.at("machine").is_object()) return text;
  for (const char* name : {"host", "cores", "mpi"}) {
    if (!about.at("machine").contains(name)) continue;
    const Json& json = about.at("machine").at(name);
    const std::string value = json.is_string() ? json.get<std::string>() : json.dump();
    text += (text.empty() ? "" : ", ") + (std::string_view(name) == "cores" ? cores_text(value) : value);
  }
  return clean_text(text.empty() ? text : text + ".");
}

}  // namespace

std::string_view to_string(Activity activity) {
  static constexpr std::array<std::string_view, kActivities> kNames = {"other work",
                                                                       "computes",
                                                                       "waits for vectors or tasks",
                                                                       "in a collective call",
                                                                       "Late Sender",
                                                                       "Late Receiver",
                                                                       "Wait at N x N",
                                                                       "in the background, before its caller",
                                                                       "call that goes on beside"};
  return kNames[static_cast<std::size_t>(activity)];
}

std::vector<Stretch> stretches(const std::vector<const TraceSlice*>& slices) {
  struct Change {
    double at_s;
    bool begins;
    const TraceSlice* slice;
  };
  std::vector<Change> changes;
  for (const TraceSlice* slice : slices) {
    changes.push_back({slice->begin_s, true, slice});
    changes.push_back({slice->end_s, false, slice});
  }
  std::ranges::stable_sort(changes, {}, &Change::at_s);
  std::array<std::vector<const TraceSlice*>, kActivities> open;
  std::vector<Stretch> result;
  double since_s = 0;
  for (const Change& change : changes) {
    const auto most =
        std::find_if(open.rbegin(), open.rend(), [](const auto& list) { return !list.empty(); });
    if (most != open.rend() && change.at_s > since_s) result.push_back({most->back(), since_s, change.at_s});
    since_s = change.at_s;
    auto& list = open[static_cast<std::size_t>(change.slice->activity)];
    if (change.begins)
      list.push_back(change.slice);
    else
      std::erase(list, change.slice);
  }
  return result;
}

std::vector<std::array<double, kActivities>> Trace::times_s() const {
  std::vector<std::vector<const TraceSlice*>> own(ranks.size());
  for (const TraceSlice& slice : slices) {
    if (slice.activity < Activity::background) own[slice.rank].push_back(&slice);
  }
  std::vector<std::array<double, kActivities>> sums(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Stretch& stretch : stretches(own[rank]))
      sums[rank][static_cast<std::size_t>(stretch.slice->activity)] += stretch.end_s - stretch.begin_s;
  }
  return sums;
}

void TraceBuilder::fail(const std::string& what) const {
  throw io::DataError(path_,
                      fmt::format("event {} {}; what would work: the output of --timeline", count_, what));
}

double TraceBuilder::number(const Json& event, const char* name, double most) const {
  if (!event.contains(name) || !event.at(name).is_number()) fail(fmt::format("has no number '{}'", name));
  const double value = event.at(name).get<double>();
  if (!(value >= 0 && value <= most)) fail(fmt::format("has a '{}' that cannot be", name));
  return value;
}

std::string TraceBuilder::text(const Json& event, const char* name) const {
  if (!event.contains(name) || !event.at(name).is_string()) fail(fmt::format("has no text '{}'", name));
  return clean_text(event.at(name).get<std::string>());
}

void TraceBuilder::add(const Json& event) {
  ++count_;
  if (!event.is_object()) fail("is no object");
  const std::string phase = text(event, "ph");
  const auto rank = static_cast<std::size_t>(number(event, "pid", kMostRanks));
  const std::string name = text(event, "name");
  if (trace_.ranks.size() <= rank) {
    trace_.ranks.resize(rank + 1);
    trace_.hosts.resize(rank + 1);
  }
  if (phase == "X") {
    add_slice(event, rank);
  } else if (phase == "i") {
    if (name == "edge") trace_.edges.push_back({rank, number(event, "ts", kMostUs) * 1e-6});
  } else if (phase == "s" || phase == "f") {
    add_flow(event, rank, phase == "f");
  } else if (phase != "M") {
    fail(fmt::format("is of the kind '{}', which --timeline does not write", phase));
  } else if (name == "process_name") {
    if (!event.contains("args") || !event.at("args").is_object()) fail("has no 'args'");
    trace_.ranks[rank] = text(event.at("args"), "name");
    if (event.at("args").contains("host")) trace_.hosts[rank] = text(event.at("args"), "host");
  }
}

void TraceBuilder::add_slice(const Json& event, std::size_t rank) {
  const double begin_us = number(event, "ts", kMostUs);
  const double length_us = number(event, "dur", kMostUs);
  TraceSlice slice{.rank = rank, .begin_s = begin_us * 1e-6, .end_s = (begin_us + length_us) * 1e-6};
  slice.name = text(event, "name");
  trace_.end_s = std::max(trace_.end_s, slice.end_s);
  const bool is_message =
      event.contains("args") && event.at("args").is_object() && event.at("args").contains("peer");
  const auto activity = activity_of(text(event, "cat"), slice.name, is_message);
  if (!activity) return;
  slice.activity = *activity;
  slice.lane = static_cast<int>(number(event, "tid", kMostThreads)) % kThreadsPerGroup;
  trace_.slices.push_back(std::move(slice));
}

void TraceBuilder::add_flow(const Json& event, std::size_t rank, bool arrives) {
  const double at_s = number(event, "ts", kMostUs) * 1e-6;
  const auto id = static_cast<std::int64_t>(number(event, "id", 1e15));
  if (!arrives) {
    under_way_[id] = {rank, at_s};
    return;
  }
  const auto sent = under_way_.find(id);
  if (sent == under_way_.end()) fail("is the end of a message that nobody has sent");
  trace_.messages.push_back(
      {.from = sent->second.rank, .to = rank, .begin_s = sent->second.at_s, .end_s = at_s});
  under_way_.erase(sent);
}

Trace TraceBuilder::finish(const Json& document, std::string text) && {
  const auto wrong = [&](const char* what) {
    throw io::DataError(path_, fmt::format("{}; what would work: the output of --timeline", what));
  };
  if (!document.at("traceEvents").is_array()) wrong("has no list 'traceEvents'");
  const Json about = document.value("otherData", Json());
  if (!about.is_object() || !about.contains("papfft")) wrong("is a trace that another program wrote");
  if (trace_.slices.empty()) wrong("is a trace of nothing: no rank did anything");
  trace_.file = path_;
  trace_.machine = machine_text(about);
  trace_.machine_name = machine_name(about);
  if (about.contains("command") && about.at("command").is_string())
    trace_.command = clean_text(about.at("command").get<std::string>());
  for (const char* name : {"dropped_calls", "dropped_events"}) {
    if (about.contains(name) && about.at(name).is_number_unsigned())
      trace_.dropped += about.at(name).get<std::uint64_t>();
  }
  for (std::size_t r = 0; r < trace_.ranks.size(); ++r) {
    if (trace_.ranks[r].empty()) trace_.ranks[r] = fmt::format("rank {}", r);
  }
  if (std::ranges::any_of(trace_.hosts, &std::string::empty)) trace_.hosts.clear();
  // A phase that is nothing but a call is shown as the call.
  std::set<std::string> called;
  for (const TraceSlice& slice : trace_.slices) {
    if (slice.activity == Activity::in_call) called.insert(first_word(slice.name));
  }
  std::erase_if(trace_.slices, [&](const TraceSlice& slice) {
    return slice.activity == Activity::other_work && called.contains(slice.name);
  });
  std::ranges::stable_sort(trace_.slices, {},
                           [](const TraceSlice& s) { return std::tuple(s.begin_s, -s.end_s, s.activity); });
  trace_.json = std::move(text);
  return std::move(trace_);
}

}  // namespace papfft::app::report
