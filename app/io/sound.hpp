// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace papfft::app::io {

/// Whether a file that begins so is one of the kinds of sound that open_sound() reads: WAV (RIFF, RF64), FLAC, Ogg, AIFF.
/// @param head at least the first 12 bytes.
[[nodiscard]] bool is_sound(std::string_view head);

}  // namespace papfft::app::io
