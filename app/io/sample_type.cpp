// SPDX-License-Identifier: MIT
#include "app/io/sample_type.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace papfft::app::io {
namespace {

using Component = SampleType::Component;

struct ComponentName {
  std::string_view sigmf;  // empty: SigMF has no such type
  std::string_view numpy;
  Component component;
  std::size_t bytes;
};

constexpr std::array kComponents = {
    ComponentName{"f32", "f4", Component::floating, 4},
    ComponentName{"f64", "f8", Component::floating, 8},
    ComponentName{"i8", "i1", Component::signed_integer, 1},
    ComponentName{"u8", "u1", Component::unsigned_integer, 1},
    ComponentName{"i16", "i2", Component::signed_integer, 2},
    ComponentName{"u16", "u2", Component::unsigned_integer, 2},
    ComponentName{"i32", "i4", Component::signed_integer, 4},
    ComponentName{"u32", "u4", Component::unsigned_integer, 4},
    ComponentName{"", "f2", Component::floating, 2},
    ComponentName{"", "i8", Component::signed_integer, 8},
    ComponentName{"", "u8", Component::unsigned_integer, 8},
};

const ComponentName& name_of(const SampleType& type) {
  return *std::find_if(kComponents.begin(), kComponents.end(), [&](const ComponentName& entry) {
    return entry.component == type.component && entry.bytes == type.component_bytes;
  });
}

template <typename Number>
Number byte_swapped(Number value) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(Number)>>(value);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Number>(bytes);
}

template <typename Wire, typename T>
void decode_as(std::span<const std::byte> bytes, bool swap, std::span<T> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Wire value;
    std::memcpy(&value, bytes.data() + i * sizeof(Wire), sizeof(Wire));
    out[i] = static_cast<T>(swap ? byte_swapped(value) : value);
  }
}

template <typename I1, typename I2, typename I4, typename I8, typename T>
void decode_integers(std::span<const std::byte> bytes, std::size_t component_bytes, bool swap,
                     std::span<T> out) {
  switch (component_bytes) {
    case 1:
      return decode_as<I1>(bytes, swap, out);
    case 2:
      return decode_as<I2>(bytes, swap, out);
    case 4:
      return decode_as<I4>(bytes, swap, out);
    default:
      return decode_as<I8>(bytes, swap, out);
  }
}

/// IEEE 754's binary16: a sign, 5 bits of exponent, 10 of mantissa.
float from_half(std::uint16_t bits) {
  const unsigned exponent = bits >> 10U & 31U;
  const auto mantissa = static_cast<float>(bits & 1023U);
  float value = 0;
  if (exponent == 31) {
    value = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
  }
  return (bits >> 15U) != 0 ? -value : value;
}

template <typename T>
void decode_halves(std::span<const std::byte> bytes, bool swap, std::span<T> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    out[i] = static_cast<T>(from_half(swap ? byte_swapped(value) : value));
  }
}

template <typename T>
void decode_floats(std::span<const std::byte> bytes, std::size_t component_bytes, bool swap,
                   std::span<T> out) {
  switch (component_bytes) {
    case 2:
      return decode_halves(bytes, swap, out);
    case 4:
      return decode_as<float>(bytes, swap, out);
    default:
      return decode_as<double>(bytes, swap, out);
  }
}

std::vector<std::string> all_raw_types() {
  std::vector<std::string> names;
  for (const ComponentName& entry : kComponents) {
    for (const bool is_complex : {true, false}) {
      for (const bool big_endian : {false, true}) {
        if (entry.sigmf.empty() || (entry.bytes == 1 && big_endian)) continue;
        names.push_back(raw_type_name({entry.component, entry.bytes, is_complex, big_endian}));
      }
    }
  }
  return names;
}

}  // namespace

std::optional<SampleType> raw_type_from(std::string_view name) {
  for (const ComponentName& entry : kComponents) {
    if (entry.sigmf.empty() || name.size() <= entry.sigmf.size()) continue;
    if (name.substr(1, entry.sigmf.size()) != entry.sigmf) continue;
    const std::string_view order = name.substr(1 + entry.sigmf.size());
    if ((name[0] != 'c' && name[0] != 'r') ||
        !(entry.bytes == 1 ? order.empty() : order == "_le" || order == "_be")) {
      return std::nullopt;
    }
    return SampleType{entry.component, entry.bytes, name[0] == 'c', order == "_be"};
  }
  return std::nullopt;
}

std::string raw_type_name(const SampleType& type) {
  const std::string_view order = type.component_bytes == 1 ? "" : type.big_endian ? "_be" : "_le";
  return fmt::format("{}{}{}", type.is_complex ? 'c' : 'r', name_of(type).sigmf, order);
}

std::string raw_type_names() { return fmt::format("{}", fmt::join(all_raw_types(), ", ")); }

std::optional<SampleType> npy_type_from(std::string_view descr) {
  if (descr.size() < 3) return std::nullopt;
  const char order = descr[0];
  const std::string_view name = descr.substr(1);
  SampleType type;
  if (name == "c8" || name == "c16") {
    type.component_bytes = name == "c8" ? 4 : 8;
    type.is_complex = true;
  } else {
    const auto* const entry = std::find_if(kComponents.begin(), kComponents.end(),
                                           [&](const ComponentName& known) { return known.numpy == name; });
    if (entry == kComponents.end()) return std::nullopt;
    type.component = entry->component;
    type.component_bytes = entry->bytes;
  }
  switch (order) {
    case '<':
      return type;
    case '>':
      type.big_endian = type.component_bytes > 1;
      return type;
    case '=':
      type.big_endian = type.component_bytes > 1 && std::endian::native == std::endian::big;
      return type;
    case '|':  // "has no byte order"
      return type.component_bytes == 1 ? std::optional(type) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::string npy_descr(const SampleType& type) {
  const char order = type.component_bytes == 1 ? '|' : type.big_endian ? '>' : '<';
  if (type.is_complex) return fmt::format("{}c{}", order, type.sample_bytes());
  return fmt::format("{}{}", order, name_of(type).numpy);
}

std::string npy_type_names() {
  std::vector<std::string_view> names = {"c8", "c16"};
  for (const ComponentName& entry : kComponents) names.push_back(entry.numpy);
  return fmt::format("{}", fmt::join(names, ", "));
}

template <typename T>
void decode(std::span<const std::byte> bytes, const SampleType& type, std::span<T> out) {
  const bool swap = type.component_bytes > 1 && type.big_endian != (std::endian::native == std::endian::big);
  switch (type.component) {
    case Component::floating:
      return decode_floats(bytes, type.component_bytes, swap, out);
    case Component::signed_integer:
      return decode_integers<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(
          bytes, type.component_bytes, swap, out);
    case Component::unsigned_integer:
      return decode_integers<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(
          bytes, type.component_bytes, swap, out);
  }
}

template <typename T>
void swap_bytes(std::span<T> components) {
  for (T& value : components) value = byte_swapped(value);
}

template void decode(std::span<const std::byte>, const SampleType&, std::span<float>);
template void decode(std::span<const std::byte>, const SampleType&, std::span<double>);
template void swap_bytes(std::span<float>);
template void swap_bytes(std::span<double>);

}  // namespace papfft::app::io
