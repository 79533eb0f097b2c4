// SPDX-License-Identifier: MIT
#include "app/io/sigmf.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/io/errors.hpp"

namespace papfft::app::io {
namespace {

using nlohmann::json;

// Keeps what is read below; annotations may be most of the file.
bool keep(int depth, json::parse_event_t event, const json& parsed) {
  return depth != 1 || event != json::parse_event_t::key || parsed == "global" || parsed == "captures";
}

json parse_kept(const std::string& file, std::string_view text) {
  try {
    return json::parse(text, keep);
  } catch (const json::exception& error) {
    throw DataError(file, fmt::format("is not SigMF metadata: {}", error.what()));
  }
}

// A count that SigMF lets be absent.
std::uint64_t count_or(const std::string& file, const json& object, const char* key, std::uint64_t absent) {
  const auto found = object.find(key);
  if (found == object.end()) return absent;
  if (!found->is_number_unsigned()) throw DataError(file, fmt::format("{} must be a whole number", key));
  return found->get<std::uint64_t>();
}

void require_plain_samples(const std::string& file, const json& meta) {
  const json& global = meta["global"];
  if (count_or(file, global, "core:num_channels", 1) != 1) {
    throw DataError(file, "has several channels in one data file; recordings with one channel are supported");
  }
  std::uint64_t foreign_bytes = count_or(file, global, "core:trailing_bytes", 0);
  const auto captures = meta.find("captures");
  if (captures != meta.end() && captures->is_array()) {
    for (const json& capture : *captures) {
      if (capture.is_object()) foreign_bytes |= count_or(file, capture, "core:header_bytes", 0);
    }
  }
  if (foreign_bytes != 0) {
    throw DataError(file, "its data file has headers or trailers among the samples, which are not supported");
  }
  const auto metadata_only = global.find("core:metadata_only");
  if (metadata_only != global.end() && *metadata_only == true) {
    throw DataError(file, "describes a recording that comes without its samples (core:metadata_only)");
  }
}

}  // namespace

SigmfMeta parse_sigmf_meta(const std::string& file, std::string_view text) {
  const json meta = parse_kept(file, text);
  if (!meta.is_object() || !meta.contains("global") || !meta["global"].is_object()) {
    throw DataError(file, "is not SigMF metadata: it has no \"global\" object");
  }
  const json& global = meta["global"];
  const auto datatype = global.find("core:datatype");
  if (datatype == global.end() || !datatype->is_string()) {
    throw DataError(file, "does not name its samples' type (core:datatype)");
  }
  const auto type = raw_type_from(datatype->get_ref<const std::string&>());
  if (!type) {
    throw DataError(file, fmt::format("core:datatype '{}' is not one of {}",
                                      datatype->get_ref<const std::string&>(), raw_type_names()));
  }
  SigmfMeta result{.type = *type, .sample_rate_hz = 0, .dataset = {}};

  const auto rate = global.find("core:sample_rate");
  if (rate != global.end()) {
    result.sample_rate_hz = rate->is_number() ? rate->get<double>() : -1;
    if (!(result.sample_rate_hz > 0) || !std::isfinite(result.sample_rate_hz)) {
      throw DataError(file, "core:sample_rate must be a positive number of samples per second");
    }
  }
  const auto dataset = global.find("core:dataset");
  if (dataset != global.end()) {
    // Metadata from elsewhere must not choose which of the user's files are read.
    if (!dataset->is_string() || dataset->get_ref<const std::string&>().find('/') != std::string::npos ||
        dataset->get_ref<const std::string&>().empty()) {
      throw DataError(file, "core:dataset must name a file in the same folder");
    }
    result.dataset = dataset->get<std::string>();
  }
  require_plain_samples(file, meta);
  return result;
}

}  // namespace papfft::app::io
