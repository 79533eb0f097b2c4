// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/waiting.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>

namespace papfft::comm::preload {

namespace {

/// Until when a rank has to wait at least, whatever the algorithm.
std::int64_t needed_ns(const RecordedCall& call, std::size_t rank) {
  const OperationTraits& row = traits(call.operation);
  const auto root = static_cast<std::size_t>(call.root);
  const auto arrival = [&](std::size_t r) { return call.ranks[r].arrival_ns; };
  if (row.before == Holder::root) return arrival(root);
  if (row.after == Holder::root && rank != root) return arrival(rank);
  return std::ranges::max(call.ranks, {}, &RecordedArrival::arrival_ns).arrival_ns;
}

void add(WaitingRow& row, const RecordedCall& call) {
  const auto [first, last] = std::ranges::minmax(call.ranks, {}, &RecordedArrival::arrival_ns);
  ++row.calls;
  row.imbalance_ns += last.arrival_ns - first.arrival_ns;
  for (std::size_t r = 0; r < call.ranks.size(); ++r) {
    const RecordedArrival& rank = call.ranks[r];
    row.inside_ns += rank.exit_ns - rank.arrival_ns;
    row.waiting_ns += std::max<std::int64_t>(0, std::min(needed_ns(call, r), rank.exit_ns) - rank.arrival_ns);
  }
}

}  // namespace

std::vector<WaitingRow> waiting_rows(const ArrivalRecording& recording) {
  using Key = std::tuple<Operation, int, std::uint64_t>;
  std::map<Key, WaitingRow> rows;
  std::map<Key, std::vector<std::int64_t>> times_last;
  for (const RecordedCall& call : recording.calls) {
    const Key key(call.operation, is_rooted(call.operation) ? call.root : 0, call.bytes);
    WaitingRow& row = rows[key];
    std::tie(row.operation, row.root, row.bytes) = key;
    add(row, call);
    std::vector<std::int64_t>& times = times_last[key];
    times.resize(call.ranks.size());
    const auto last = std::ranges::max_element(call.ranks, {}, &RecordedArrival::arrival_ns);
    ++times[static_cast<std::size_t>(last - call.ranks.begin())];
  }
  std::vector<WaitingRow> result;
  for (auto& [key, row] : rows) {
    const std::vector<std::int64_t>& times = times_last[key];
    const auto most = std::ranges::max_element(times);
    row.last_rank = static_cast<int>(most - times.begin());
    row.times_last = *most;
    result.push_back(row);
  }
  std::ranges::stable_sort(result, std::ranges::greater(), &WaitingRow::inside_ns);
  return result;
}

std::string waiting_text(const ArrivalRecording& recording, std::size_t most_rows) {
  const std::vector<WaitingRow> rows = waiting_rows(recording);
  if (rows.empty()) return {};
  std::string text =
      "  calls on MPI_COMM_WORLD and its duplicates    imbalance  s in calls  of these waiting\n"
      "  operation       root       bytes   calls    ms per call    per rank    for others  mostly last\n";
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    const WaitingRow& row = rows[i];
    const std::string root = is_rooted(row.operation) ? std::to_string(row.root) : "-";
    const auto calls = static_cast<double>(row.calls);
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(),
                  "  %-15.15s %4s %11llu %7lld %14.3f %11.3f %11.0f %%  rank %d (%.0f %%)\n",
                  to_string(row.operation).data(), root.c_str(), static_cast<unsigned long long>(row.bytes),
                  static_cast<long long>(row.calls), static_cast<double>(row.imbalance_ns) * 1e-6 / calls,
                  static_cast<double>(row.inside_ns) * 1e-9 / recording.ranks,
                  100 * static_cast<double>(row.waiting_ns) /
                      static_cast<double>(std::max<std::int64_t>(1, row.inside_ns)),
                  row.last_rank, 100 * static_cast<double>(row.times_last) / calls);
    text += line.data();
  }
  if (rows.size() > most_rows)
    text += "  and " + std::to_string(rows.size() - most_rows) + " kinds of calls with less time\n";
  if (recording.dropped > 0) text += "  " + std::to_string(recording.dropped) + " calls more were not kept\n";
  return text;
}

namespace {

/// "name": [what `value` says of each rank]
template <typename Value>
std::string list_json(const char* name, const RecordedCall& call, Value value) {
  std::string text;
  for (const RecordedArrival& rank : call.ranks)
    text += (text.empty() ? "" : ", ") + std::string(value(rank));
  return std::string(", \"") + name + "\": [" + text + "]";
}

}  // namespace

std::string recording_json(const ArrivalRecording& recording) {
  std::string calls;
  for (const RecordedCall& call : recording.calls) {
    calls +=
        (calls.empty() ? "" : ",\n  ") + std::string("{\"operation\": \"") +
        std::string(to_string(call.operation)) + "\", \"algorithm\": \"" + call.algorithm +
        "\", \"root\": " + std::to_string(call.root) + ", \"bytes\": " + std::to_string(call.bytes) +
        list_json("compute_ns", call, [](const RecordedArrival& r) { return std::to_string(r.compute_ns); }) +
        list_json("arrival_ns", call, [](const RecordedArrival& r) { return std::to_string(r.arrival_ns); }) +
        list_json("predicted_ns", call,
                  [](const RecordedArrival& r) {
                    return r.predicted_ns ? std::to_string(*r.predicted_ns) : std::string("null");
                  }) +
        list_json("exit_ns", call, [](const RecordedArrival& r) { return std::to_string(r.exit_ns); }) + "}";
  }
  return "{\"arrivals\": " + std::to_string(kRecordingVersion) +
         ", \"ranks\": " + std::to_string(recording.ranks) +
         ", \"dropped_calls\": " + std::to_string(recording.dropped) + ",\n \"calls\": [" + calls + "]}\n";
}

}  // namespace papfft::comm::preload
