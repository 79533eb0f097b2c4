// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "app/io/json.hpp"

namespace papfft::app::report {

using Json = io::Json;

/// The whole file. @throws io::DataError  it cannot be read, or is longer than any of ours
[[nodiscard]] std::string read_text(const std::string& path);

/// Reads a document of our own commands, whatever it may hold.
/// @param path         for messages
/// @param trace_event  is told of each element of a list "traceEvents" at the top; these are not in the document, as there may
///                     be millions of them
/// @throws io::DataError  it is no JSON, or nests deeper than any of ours; what trace_event throws
[[nodiscard]] Json parse_json(const std::string& path, std::string_view text,
                              const std::function<void(const Json&)>& trace_event);

}  // namespace papfft::app::report
