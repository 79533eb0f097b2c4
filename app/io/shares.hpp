// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "app/io/source.hpp"

namespace papfft::app::io {

/// The end of the name of an index: a file that says which files hold the shares of a result that was left with the ranks.
inline constexpr std::string_view shares_suffix = ".index.json";

/// Which of P files has element k of a row, and where.
///   round_robin  file k modulo P, as element k / P of the same row
///   folded       the same, where k / P is even; else file P - (k modulo P), modulo P
///   pairs        file (k / 2) modulo P, two elements after each other
///   contiguous   file k / part, or the last one; each file has its elements in their order
///   everywhere   each file has all of them, in their order
enum class Layout { round_robin, folded, pairs, contiguous, everywhere };

/// What an index says.
[[nodiscard]] std::string_view to_string(Layout layout) noexcept;

/// Such a result as one signal. All files must be where the index is.
/// @throws DataError  the index, or a file that it names, cannot be used
[[nodiscard]] std::unique_ptr<Source> open_shares(const std::string& index_path);

}  // namespace papfft::app::io
