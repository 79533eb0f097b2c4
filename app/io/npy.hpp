// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/io/byte_input.hpp"
#include "app/io/sample_type.hpp"

namespace papfft::app::io {

/// numpy's file format, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html: magic, version, header length,
/// header (a Python dictionary's text), the array's bytes.
struct NpyHeader {
  SampleType type;
  std::vector<std::uint64_t> shape;  ///< at least one dimension, none of which is 0
  bool column_order = false;         ///< the first index is the fastest (Fortran's order), and this matters
  std::uint64_t data_offset = 0;     ///< bytes before the array
  std::uint64_t sample_count = 0;    ///< the product of the shape, known not to overflow in bytes
};

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Reads the header and checks it against the size of `input`, where that is known.
/// @throws DataError when it is no .npy file, a version, type or shape that is not supported, empty, or truncated.
[[nodiscard]] NpyHeader read_npy_header(ByteInput& input);

/// Magic, version 1.0, length and dictionary as numpy itself writes them, byte for byte (numpy >= 1.23).
/// The whole is a multiple of 64 bytes. @param shape C order, one or more dimensions.
[[nodiscard]] std::string make_npy_header(const SampleType& type, std::span<const std::uint64_t> shape);

}  // namespace papfft::app::io
