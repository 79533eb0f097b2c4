// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace papfft::app::report {

using Json = nlohmann::ordered_json;

struct JsonFile {
  std::string text;  ///< as it is in the file
  Json document;
};

/// Reads a file of our own commands, whatever it may hold.
/// @param trace_event  is told of each element of a list "traceEvents" at the top; these are not in the document, as there may
///                     be millions of them
/// @throws io::DataError  it cannot be read, is no JSON, or nests deeper than any of ours; what trace_event throws
[[nodiscard]] JsonFile read_json_file(const std::string& path,
                                      const std::function<void(const Json&)>& trace_event);

}  // namespace papfft::app::report
