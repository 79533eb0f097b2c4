// SPDX-License-Identifier: MIT
#include "app/io/sigmf.hpp"

#include <fmt/core.h>

#include <cmath>

#include "app/io/errors.hpp"
#include "app/io/json.hpp"

namespace papfft::app::io {
namespace {

constexpr int kDeepestNesting = 1000;  // extensions may nest as they like

/// Keeps what is read below; annotations may be most of the file.
class MetaReader : public Json::Reader {
 public:
  [[nodiscard]] bool keeps_member(std::string_view name) override {
    return name == "global" || name == "captures";
  }
};

Json parse_kept(const std::string& file, std::string_view text) {
  try {
    MetaReader reader;
    return Json::parse(text, reader, kDeepestNesting);
  } catch (const JsonError& error) {
    throw DataError(file, fmt::format("is not SigMF metadata: {}", error.what()));
  }
}

// A count that SigMF lets be absent.
std::uint64_t count_or(const std::string& file, const Json& object, const char* key, std::uint64_t absent) {
  const Json* found = object.find(key);
  if (found == nullptr) return absent;
  if (!found->is_number_unsigned()) throw DataError(file, fmt::format("{} must be a whole number", key));
  return found->get<std::uint64_t>();
}

void require_plain_samples(const std::string& file, const Json& meta) {
  const Json& global = meta["global"];
  if (count_or(file, global, "core:num_channels", 1) != 1) {
    throw DataError(file, "has several channels in one data file; recordings with one channel are supported");
  }
  std::uint64_t foreign_bytes = count_or(file, global, "core:trailing_bytes", 0);
  const Json* captures = meta.find("captures");
  if (captures != nullptr && captures->is_array()) {
    for (const Json& capture : *captures) {
      if (capture.is_object()) foreign_bytes |= count_or(file, capture, "core:header_bytes", 0);
    }
  }
  if (foreign_bytes != 0) {
    throw DataError(file, "its data file has headers or trailers among the samples, which are not supported");
  }
  const Json* metadata_only = global.find("core:metadata_only");
  if (metadata_only != nullptr && *metadata_only == true) {
    throw DataError(file, "describes a recording that comes without its samples (core:metadata_only)");
  }
}

}  // namespace

SigmfMeta parse_sigmf_meta(const std::string& file, std::string_view text) {
  const Json meta = parse_kept(file, text);
  if (!meta.is_object() || !meta.contains("global") || !meta["global"].is_object()) {
    throw DataError(file, "is not SigMF metadata: it has no \"global\" object");
  }
  const Json& global = meta["global"];
  const Json* datatype = global.find("core:datatype");
  if (datatype == nullptr || !datatype->is_string()) {
    throw DataError(file, "does not name its samples' type (core:datatype)");
  }
  const auto type = raw_type_from(datatype->text());
  if (!type) {
    throw DataError(file,
                    fmt::format("core:datatype '{}' is not one of {}", datatype->text(), raw_type_names()));
  }
  SigmfMeta result{.type = *type, .sample_rate_hz = 0, .dataset = {}};

  const Json* rate = global.find("core:sample_rate");
  if (rate != nullptr) {
    result.sample_rate_hz = rate->is_number() ? rate->get<double>() : -1;
    if (!(result.sample_rate_hz > 0) || !std::isfinite(result.sample_rate_hz)) {
      throw DataError(file, "core:sample_rate must be a positive number of samples per second");
    }
  }
  const Json* dataset = global.find("core:dataset");
  if (dataset != nullptr) {
    // Metadata from elsewhere must not choose which of the user's files are read.
    if (!dataset->is_string() || dataset->text().find('/') != std::string::npos || dataset->text().empty()) {
      throw DataError(file, "core:dataset must name a file in the same folder");
    }
    result.dataset = dataset->text();
  }
  require_plain_samples(file, meta);
  return result;
}

}  // namespace papfft::app::io
