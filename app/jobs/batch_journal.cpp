// SPDX-License-Identifier: MIT
#include "app/jobs/batch_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace papfft::app {

namespace {

/// Of samples from all over a file, to notice when it has changed. Nothing is known of a pipe yet.
std::string fingerprint(io::Source& input) {
  constexpr std::uint64_t kPlaces = 16;
  constexpr std::uint64_t kSamples = 1024;  // each
  const std::uint64_t total = input.sample_count().value_or(0);
  if (!input.info().any_order || total == 0) return "unknown";
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  std::vector<std::complex<double>> samples(std::min(kSamples, total));
  for (std::uint64_t i = 0; i < kPlaces; ++i) {
    const std::uint64_t first = (total - samples.size()) / (kPlaces - 1) * i;
    (void)input.read<std::complex<double>>(first, std::span(samples));
    for (const std::byte b : std::as_bytes(std::span(samples))) {
      hash = (hash ^ std::to_integer<unsigned>(b)) * 1099511628211U;
    }
  }
  return fmt::format("{:016x}", hash);
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

}  // namespace

io::RowJournal batch_journal(const TransformOptions& options, const TransformPlan& plan, int ranks,
                             io::Source& input) {
  const bool shared = plan.engine == Engine::dif || plan.engine == Engine::stream;
  std::string content = "papfft transform --resume\n";
  const auto line = [&](const char* name, const auto& value) {
    content += fmt::format("{}: {}\n", name, value);
  };
  line("input", options.io.in);
  line("fingerprint", fingerprint(input));
  line("vectors", plan.rows == kUnknownRows ? "unknown" : std::to_string(plan.rows));
  line("length", plan.length);
  line("format", options.io.raw_type.empty() ? "the input's" : options.io.raw_type);
  line("channel", options.io.channel ? std::to_string(*options.io.channel) : "mean");
  line("precision", options.io.precision);
  line("inverse", yes_or_no(options.inverse));
  line("norm", options.norm);
  line("real", yes_or_no(options.real));
  line("full", yes_or_no(options.full));
  return {.content = std::move(content),
          .how = shared ? fmt::format("each shared by {} ranks", ranks) : "each by one rank"};
}

}  // namespace papfft::app
