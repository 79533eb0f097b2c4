// SPDX-License-Identifier: MIT
// For rooms that still use nlohmann's values; goes with the last of them.
#pragma once
#include <nlohmann/json.hpp>

#include "app/io/json.hpp"
#include "app/io/recording_file.hpp"

namespace papfft::app::io {

inline nlohmann::ordered_json bridged(const Json& json) { return nlohmann::ordered_json::parse(json.dump()); }
inline Json bridged(const nlohmann::ordered_json& json) { return Json::parse(json.dump()); }
/// Found by nlohmann's own conversions.
inline void to_json(nlohmann::ordered_json& to, const Json& from) { to = bridged(from); }
[[nodiscard]] inline comm::ArrivalRecording recording_of(const nlohmann::ordered_json& document) {
  return recording_of(bridged(document));
}

}  // namespace papfft::app::io
