// SPDX-License-Identifier: MIT
// Recorded arrivals in either form: the text of arrival_trace.hpp, or JSON.
#pragma once
#include <iosfwd>

#include "app/io/json.hpp"
#include "comm/record/arrival_trace.hpp"

namespace papfft::app::io {

/// {"arrivals": 1, "ranks": 2, "dropped_calls": 0, "calls": [{"operation": "gather", "algorithm": "bsls", "root": 0,
/// "bytes": 131072, "compute_ns": [20113456, 0], "arrival_ns": [...], "predicted_ns": [null, ...], "exit_ns": [...]}, ...]}
[[nodiscard]] Json to_json(const comm::ArrivalRecording& recording);

/// The same again; what else is there is passed over. Numbers as in the text form.
/// @throws comm::TraceError  naming the call
[[nodiscard]] comm::ArrivalRecording recording_of(const Json& document);

/// Either form: JSON begins with a brace. @throws comm::TraceError
[[nodiscard]] comm::ArrivalRecording read_recording(std::istream& in);

/// As comm::parse_trace(), and JSON too. @throws comm::TraceError
[[nodiscard]] comm::ArrivalTrace parse_trace(std::istream& in);

}  // namespace papfft::app::io
