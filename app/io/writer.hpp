// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/io/atomic_file.hpp"
#include "app/io/sample_type.hpp"

namespace papfft::app::io {

enum class OutputFormat { npy, raw, csv, wav, png, svg };

/// By the extension, in any case: .npy, .raw and .bin (raw samples), .csv, .wav, .png, .svg. "-" and names in /dev and /proc that
/// have none of these are npy.
/// @throws OutputError listing the known extensions.
[[nodiscard]] OutputFormat format_of(const std::string& path);
/// @throws as format_of()
[[nodiscard]] bool is_picture(const std::string& path);

/// In each of these: Sample is float, double or std::complex of either. `rows`: so many rows of equal length, one after
/// another; nothing: one-dimensional. The file appears only when complete (AtomicFile).
/// @throws OutputError when any byte cannot be written; std::invalid_argument when samples.size() is no multiple of `rows`, or
/// a row is not as long as the axis.

/// numpy's f4, f8, c8 or c16 in this machine's byte order, of shape {length} or {rows, length}.
template <typename Sample>
void write_npy(const std::string& path, std::span<const Sample> samples,
               std::optional<std::size_t> rows = {});

/// The samples' bytes, least significant byte first unless `big_endian`.
template <typename Sample>
void write_raw(const std::string& path, std::span<const Sample> samples, bool big_endian = false);

/// A first column: what each sample of a row belongs to.
struct CsvAxis {
  std::string name;  ///< with its unit, such as "frequency_hz"
  std::span<const double> values;
};

/// One line per sample under a line of names: row (when `rows` is given), the axis, then "value" or "re,im". Numbers have the
/// fewest digits that read back as the same number.
template <typename Sample>
void write_csv(const std::string& path, std::span<const Sample> samples,
               const std::optional<CsvAxis>& axis = {}, std::optional<std::size_t> rows = {});

/// As numbers, by the extension: write_npy(), write_raw() or write_csv().
/// @param axis_values  asked for a table alone
/// @throws std::invalid_argument  the name is a picture's or a sound's
template <typename Sample>
void write_numbers(const std::string& path, std::span<const Sample> samples, std::optional<std::size_t> rows,
                   const std::string& axis_name, const std::function<std::vector<double>()>& axis_values);

/// As numbers of any shape, which raw files do not keep; tables have one or two dimensions.
/// @throws OutputError  also: a picture, a sound, a table of more dimensions
template <typename Sample>
void write_array(const std::string& path, std::span<const Sample> samples,
                 std::span<const std::size_t> shape);

/// Appends samples as they lie in .npy (in this machine's byte order) and raw files, for results that come in pieces.
template <typename Sample>
void write_samples(AtomicFile& file, std::span<const Sample> samples, bool big_endian);

}  // namespace papfft::app::io
