// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "app/io/sample_type.hpp"

namespace papfft::app::io {

/// What a SigMF recording's metadata says of its samples (https://sigmf.org, version 1.x).
struct SigmfMeta {
  SampleType type;
  double sample_rate_hz = 0;  ///< 0: not given
  std::string dataset;        ///< the data file's name, when it is not that of the metadata with -data
};

/// Reads the text of a .sigmf-meta file; annotations and everything else that does not tell how to read samples is skipped.
/// @param file for messages. @throws DataError when it is no JSON, lacks a known datatype, or asks for what is not supported:
/// several channels, bytes between the samples, a dataset in another folder, metadata alone.
[[nodiscard]] SigmfMeta parse_sigmf_meta(const std::string& file, std::string_view text);

}  // namespace papfft::app::io
