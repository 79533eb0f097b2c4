// SPDX-License-Identifier: MIT
// Transforms along any axes of an array, and cosine transforms.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/io/source.hpp"
#include "app/jobs/transform_plan.hpp"
#include "app/run/job.hpp"
#include "fft/engines/array_fft.hpp"

namespace papfft::app {

/// Whether the options and the input ask for more than Fourier transforms of vectors or of rows.
[[nodiscard]] bool is_array_transform(const TransformOptions& options, const io::SignalInfo& info);

/// @param what  asks for such a transform: an option, or the input by its shape. @throws UsageError  other options do not fit
void check_array_transform(const TransformOptions& options, const std::string& what);

/// --axes, counted from 0. @throws UsageError  there are no such axes
[[nodiscard]] std::vector<std::size_t> parse_axes(const std::string& text, std::size_t dimensions);

/// What is to be done with an array, axis by axis. @throws UsageError
[[nodiscard]] std::vector<fft::AxisStep> array_steps(const TransformOptions& options,
                                                     std::span<const std::size_t> shape, bool is_complex);

/// Collective. @param input  nullptr elsewhere than at the root. @tparam T  float or double
template <typename T>
void transform_array(Job& job, const TransformOptions& options, std::shared_ptr<io::Source> input);

}  // namespace papfft::app
