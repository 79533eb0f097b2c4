// SPDX-License-Identifier: MIT
#include "app/io/recording_file.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <optional>
#include <string>

#include "comm/schedule/core/registry.hpp"

namespace papfft::app::io {

namespace {

using comm::ArrivalRecording;
using comm::RecordedArrival;
using comm::RecordedCall;

constexpr int kDeepest = 8;                             // ours nest three deep
constexpr std::size_t kLongest = std::size_t{1} << 28;  // as many rows as may be, with long numbers
constexpr std::size_t kLongestName = 64;
constexpr std::int64_t kMostCallBytes = std::int64_t{1} << 60;

[[noreturn]] void fail(const std::string& what) { throw comm::TraceError("trace: " + what); }

/// A call of the document, with errors that say which.
class Call {
 public:
  Call(const Json& json, std::size_t number, std::size_t ranks)
      : json_(json), number_(number), ranks_(ranks) {
    if (!json.is_object()) wrong("is no object");
  }

  [[noreturn]] void wrong(const std::string& what) const {
    fail("call " + std::to_string(number_) + " " + what);
  }

  [[nodiscard]] std::string text(const char* name) const {
    const Json* found = json_.find(name);
    if (found == nullptr || !found->is_string()) wrong("has no text '" + std::string(name) + "'");
    std::string value = found->text();
    if (value.size() > kLongestName ||
        !std::ranges::all_of(value, [](char c) { return c > ' ' && c <= '~' && c != ','; })) {
      wrong("has a '" + std::string(name) + "' that is no name");
    }
    return value;
  }

  [[nodiscard]] std::int64_t number(const char* name, std::int64_t most) const {
    const Json* found = json_.find(name);
    return whole(found == nullptr ? Json() : *found, name, 0, most);
  }

  /// That of a rank. @return nothing: null
  [[nodiscard]] std::optional<std::int64_t> of_rank(const char* name, std::size_t rank,
                                                    std::int64_t least) const {
    const Json* found = json_.find(name);
    if (found == nullptr || !found->is_array() || found->size() != ranks_)
      wrong("has not one '" + std::string(name) + "' per rank");
    const Json& value = (*found)[rank];
    if (value.is_null()) return std::nullopt;
    return whole(value, name, least, comm::kMostTraceNs);
  }

  [[nodiscard]] std::int64_t needed(const char* name, std::size_t rank, std::int64_t least) const {
    const std::optional<std::int64_t> value = of_rank(name, rank, least);
    if (!value) wrong("lacks a number in '" + std::string(name) + "'");
    return *value;
  }

 private:
  [[nodiscard]] std::int64_t whole(const Json& value, const char* name, std::int64_t least,
                                   std::int64_t most) const {
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most) &&
                                value.get<std::int64_t>() >= least
                          : value.is_number_integer() && value.get<std::int64_t>() >= least;
    if (!fits) {
      wrong("has a '" + std::string(name) + "' that is no whole number from " + std::to_string(least) +
            " to " + std::to_string(most));
    }
    return value.get<std::int64_t>();
  }

  const Json& json_;
  std::size_t number_;
  std::size_t ranks_;
};

RecordedCall call_of(const Json& json, std::size_t number, std::size_t ranks) {
  const Call c(json, number, ranks);
  RecordedCall call;
  const std::string operation = c.text("operation");
  try {
    call.operation = comm::parse_operation(operation);
  } catch (const std::invalid_argument&) {
    c.wrong("is of no operation '" + operation + "'");
  }
  call.algorithm = c.text("algorithm");
  call.root = static_cast<int>(c.number("root", static_cast<std::int64_t>(ranks) - 1));
  call.bytes = static_cast<std::uint64_t>(c.number("bytes", kMostCallBytes));
  for (std::size_t r = 0; r < ranks; ++r) {
    RecordedArrival& arrival = call.ranks.emplace_back();
    arrival.compute_ns = c.needed("compute_ns", r, 0);
    arrival.arrival_ns = c.needed("arrival_ns", r, 0);
    arrival.predicted_ns = c.of_rank("predicted_ns", r, -comm::kMostTraceNs);
    arrival.exit_ns = c.needed("exit_ns", r, arrival.arrival_ns);
  }
  return call;
}

bool is_json(std::istream& in) {
  using Traits = std::istream::traits_type;
  return in.peek() == Traits::to_int_type('{');
}

ArrivalRecording read_json(std::istream& in) {
  std::string text;
  std::array<char, 1 << 16> part{};
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kLongest) fail("it is too long");
  }
  try {
    return recording_of(Json::parse(text, kDeepest));
  } catch (const JsonError& e) {
    switch (e.kind()) {
      case JsonError::Kind::depth:
        fail("it nests deeper than any recording");
      case JsonError::Kind::syntax:
        fail("is no whole JSON (at byte " + std::to_string(e.byte()) + " of " + std::to_string(text.size()) +
             ")");
      default:
        fail("has a number that is out of range");
    }
  }
}

}  // namespace

Json to_json(const ArrivalRecording& recording) {
  Json calls = Json::array();
  for (const RecordedCall& call : recording.calls) {
    Json entry = {{"operation", comm::to_string(call.operation)},
                  {"algorithm", call.algorithm},
                  {"root", call.root},
                  {"bytes", call.bytes}};
    for (const RecordedArrival& a : call.ranks) {
      entry["compute_ns"].push_back(a.compute_ns);
      entry["arrival_ns"].push_back(a.arrival_ns);
      entry["predicted_ns"].push_back(a.predicted_ns ? Json(*a.predicted_ns) : Json());
      entry["exit_ns"].push_back(a.exit_ns);
    }
    calls.push_back(std::move(entry));
  }
  return {{"arrivals", comm::kRecordingVersion},
          {"ranks", recording.ranks},
          {"dropped_calls", recording.dropped},
          {"calls", std::move(calls)}};
}

ArrivalRecording recording_of(const Json& document) {
  const Json* version = document.find("arrivals");
  if (version == nullptr) fail("is JSON, but no recording: it has no 'arrivals'");
  if (*version != comm::kRecordingVersion) {
    fail("is of another version of the format; this program reads version " +
         std::to_string(comm::kRecordingVersion));
  }
  const Json* calls = document.find("calls");
  if (calls == nullptr || !calls->is_array()) fail("has no list 'calls'");
  const Json ranks = document.value("ranks", Json());
  const auto most = static_cast<std::int64_t>(comm::kMostTraceRows);
  if (!ranks.is_number_unsigned() || ranks.get<std::uint64_t>() > comm::kMostTraceRows)
    fail("has no number of 'ranks' from 0 to " + std::to_string(most));
  ArrivalRecording recording{.ranks = ranks.get<int>(), .calls = {}};
  if (const Json dropped = document.value("dropped_calls", Json()); dropped.is_number_unsigned())
    recording.dropped = dropped.get<std::uint64_t>();
  const auto per_call = static_cast<std::size_t>(recording.ranks);
  if (!calls->empty() && per_call == 0) fail("has calls of no ranks");
  if (calls->empty()) recording.ranks = 0;  // as in the text form
  if (calls->size() * per_call > comm::kMostTraceRows)
    fail("more than " + std::to_string(comm::kMostTraceRows) + " calls times ranks");
  for (const Json& call : *calls) {
    recording.calls.push_back(call_of(call, recording.calls.size(), per_call));
  }
  return recording;
}

ArrivalRecording read_recording(std::istream& in) {
  return is_json(in) ? read_json(in) : comm::read_recording(in);
}

comm::ArrivalTrace parse_trace(std::istream& in) {
  return is_json(in) ? comm::replay(read_json(in)) : comm::parse_trace(in);
}

}  // namespace papfft::app::io
