// SPDX-License-Identifier: MIT
#include "app/jobs/transform_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "app/cli/exit_code.hpp"
#include "app/run/job.hpp"

namespace papfft::app {

namespace {

constexpr std::size_t kLongest = std::size_t{1} << 28U;

std::optional<std::size_t> parse_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// 1000, 2^10
std::optional<std::size_t> parse_length(std::string_view text) {
  std::optional<std::size_t> length;
  if (text.starts_with("2^")) {
    const auto exponent = parse_number(text.substr(2));
    if (exponent && *exponent < 32) length = std::size_t{1} << *exponent;
  } else {
    length = parse_number(text);
  }
  return length && *length > 0 && *length <= kLongest ? length : std::nullopt;
}

}  // namespace

void TransformSizes::declare(cli::Command& command) {
  command.add_option("--sizes", sizes, "lengths: 1000 or 2^10; A..B: A and its doubles up to B")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--precision", precisions, "of the samples")
      ->delimiter(',')
      ->one_of({"float", "double"})
      ->capture_default_str();
  command.add_option("--domain", domains, "what the samples are")
      ->delimiter(',')
      ->one_of({"complex", "real"})
      ->capture_default_str();
}

std::vector<std::size_t> TransformSizes::lengths() const {
  std::vector<std::size_t> found;
  for (const std::string& text : sizes) {
    const std::size_t dots = text.find("..");
    const auto first = parse_length(std::string_view(text).substr(0, dots));
    const auto last =
        dots == std::string::npos ? first : parse_length(std::string_view(text).substr(dots + 2));
    if (!first || !last || *last < *first) {
      throw UsageError(
          fmt::format("--sizes {}: what would work: lengths up to 2^28 such as 1000 or 2^10, and ranges such "
                      "as 2^8..2^20",
                      text));
    }
    for (std::size_t length = *first; length <= *last; length *= 2) {
      if (std::find(found.begin(), found.end(), length) == found.end()) found.push_back(length);
    }
  }
  return found;
}

std::vector<fft::PlanKind> TransformSizes::kinds(std::string_view domain) {
  if (domain == "real") return {fft::PlanKind::real_forward, fft::PlanKind::real_inverse};
  return {fft::PlanKind::complex_forward, fft::PlanKind::complex_inverse};
}

void refuse_launcher(std::string_view command) {
  if (is_launched()) {
    throw UsageError(fmt::format(
        "{} measures one process's own transforms; what would work: papfft {} ..., without mpirun", command,
        command));
  }
}

}  // namespace papfft::app
