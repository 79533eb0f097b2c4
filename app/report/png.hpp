// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "app/report/canvas.hpp"

namespace papfft::app::report {

/// @param rgb  width × height × 3 bytes, row-major, top row first.
/// @return     the bytes of a PNG file.
/// @throws std::runtime_error  libpng cannot encode it (no memory, more than 2^31 rows, ...).
[[nodiscard]] std::string encode_png(std::size_t width, std::size_t height,
                                     std::span<const std::uint8_t> rgb);

/// The same with a palette: a third of the size for colour maps.
[[nodiscard]] std::string encode_png(const IndexedImage& image);

}  // namespace papfft::app::report
