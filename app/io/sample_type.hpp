// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <complex>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace papfft::app::io {

template <typename Sample>
inline constexpr bool is_complex_v = false;
template <typename T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

/// How one sample lies in a file: a number, or a complex number as two (real part first).
struct SampleType {
  enum class Component { floating, signed_integer, unsigned_integer };

  Component component = Component::floating;
  std::size_t component_bytes = 8;  ///< 2 (only to be read), 4 or 8 for floating, 1, 2, 4 or 8 for integers
  bool is_complex = false;
  bool big_endian = false;  ///< false when component_bytes is 1

  [[nodiscard]] constexpr std::size_t components() const { return is_complex ? 2 : 1; }
  [[nodiscard]] constexpr std::size_t sample_bytes() const { return components() * component_bytes; }
  bool operator==(const SampleType&) const = default;
};

/// The type of samples in memory: Sample is float, double or std::complex of either.
template <typename Sample>
[[nodiscard]] constexpr SampleType sample_type_of() {
  return {.component_bytes = sizeof(Sample) / (is_complex_v<Sample> ? 2 : 1),
          .is_complex = is_complex_v<Sample>,
          .big_endian = std::endian::native == std::endian::big};
}

/// SigMF's datatype names (SigMF 1.0, "dataset format"): c or r, then f32 f64 i8 u8 i16 u16 i32 u32, then _le or _be unless
/// 8 bits. Integers keep their values: neither scaled to +-1 nor centred.
/// @return nothing when `name` is none of these.
[[nodiscard]] std::optional<SampleType> raw_type_from(std::string_view name);
[[nodiscard]] std::string raw_type_name(const SampleType& type);
/// Every name raw_type_from knows, for messages: "cf32_le, cf32_be, ...".
[[nodiscard]] std::string raw_type_names();

/// numpy's array-protocol strings, such as "<c16" or "|u1". @return nothing when `descr` is not a supported type.
[[nodiscard]] std::optional<SampleType> npy_type_from(std::string_view descr);
[[nodiscard]] std::string npy_descr(const SampleType& type);
/// Every type npy_type_from knows, without the byte order: "f4, f8, ...".
[[nodiscard]] std::string npy_type_names();

/// Converts components (not samples) as they lie in a file into T (float or double).
/// @pre bytes.size() == out.size() * type.component_bytes.
template <typename T>
void decode(std::span<const std::byte> bytes, const SampleType& type, std::span<T> out);

/// Reverses the bytes of each component in place; T is float or double.
template <typename T>
void swap_bytes(std::span<T> components);

/// The components of complex samples, or the samples themselves. [complex.numbers.general] allows the cast.
template <typename Sample>
[[nodiscard]] auto components_of(std::span<Sample> samples) {
  using Value = std::remove_const_t<Sample>;
  if constexpr (is_complex_v<Value>) {
    using T = std::conditional_t<std::is_const_v<Sample>, const typename Value::value_type,
                                 typename Value::value_type>;
    return std::span<T>(reinterpret_cast<T*>(samples.data()), 2 * samples.size());
  } else {
    return samples;
  }
}

}  // namespace papfft::app::io
