// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace papfft::app::report {

/// `4096`, `64K`, `8M`, `2G`: a whole number, K, M and G being powers of 1024.
/// @throws std::invalid_argument  saying what is expected; beyond 2^63 - 1, too
[[nodiscard]] std::uint64_t parse_byte_count(std::string_view text);

/// The shortest text that parse_byte_count() reads as `bytes`.
[[nodiscard]] std::string byte_count_text(std::uint64_t bytes);

}  // namespace papfft::app::report
