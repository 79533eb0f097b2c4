// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "app/io/source.hpp"

namespace papfft::app::io {

/// The end of the name of an index: a file that says which files hold the shares of a result that was left with the ranks.
inline constexpr std::string_view shares_suffix = ".index.json";

/// Such a result as one signal: element k of a row is element k / P of the same row in file k modulo P, or each file holds
/// everything. All files must be where the index is.
/// @throws DataError  the index, or a file that it names, cannot be used
[[nodiscard]] std::unique_ptr<Source> open_shares(const std::string& index_path);

}  // namespace papfft::app::io
