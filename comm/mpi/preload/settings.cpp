// SPDX-License-Identifier: MIT
#include "comm/mpi/preload/settings.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

namespace papfft::comm::preload {

namespace {

using Variable = std::function<const char*(const char*)>;

[[noreturn]] void refuse(const char* name, std::string_view value, const std::string& what_works) {
  throw std::invalid_argument(std::string(name) + "='" + std::string(value) + "': expected " + what_works);
}

template <std::size_t n>
std::size_t index_of(const char* name, std::string_view value, const std::array<std::string_view, n>& words) {
  const auto found = std::ranges::find(words, value);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string known;
  for (const std::string_view word : words) known += (known.empty() ? "" : ", ") + std::string(word);
  refuse(name, value, known);
}

/// @return fallback  the variable is not set
std::int64_t number(const Variable& variable, const char* name, std::int64_t most, std::int64_t fallback) {
  const char* text = variable(name);
  if (text == nullptr) return fallback;
  const std::string_view view(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size() || value < 0 || value > most)
    refuse(name, view, "a whole number from 0 to " + std::to_string(most));
  return value;
}

std::array<bool, kOperationCount> parse_operations(const char* name, std::string_view value) {
  std::array<bool, kOperationCount> taken{};
  if (value == "all") {
    taken.fill(true);
    return taken;
  }
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    taken.at(index_of(name, value.substr(0, comma), kOperationNames)) = true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return taken;
}

}  // namespace

Settings::Settings() {
  for (const OperationTraits& row : kOperations)
    operations.at(static_cast<std::size_t>(row.operation)) = !row.sizes_are_own;
}

Settings Settings::parse(const Variable& variable) {
  Settings s;
  if (const char* mode = variable("PAPFFT_PRELOAD"))
    s.mode = static_cast<Mode>(index_of("PAPFFT_PRELOAD", mode, kModeNames));
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  s.least_bytes = static_cast<std::size_t>(
      number(variable, "PAPFFT_PRELOAD_BYTES", kMost, static_cast<std::int64_t>(s.least_bytes)));
  if (variable("PAPFFT_PRELOAD_COMMUNICATORS") != nullptr)
    s.most_communicators = static_cast<int>(number(variable, "PAPFFT_PRELOAD_COMMUNICATORS", kMost, 0));
  if (const char* names = variable("PAPFFT_PRELOAD_OPERATIONS"))
    s.operations = parse_operations("PAPFFT_PRELOAD_OPERATIONS", names);
  if (const char* thread = variable("PAPFFT_THREAD"))
    s.thread = static_cast<Thread>(index_of("PAPFFT_THREAD", thread, kThreadNames));
  s.takes_started = number(variable, "PAPFFT_NONBLOCKING", 1, 0) == 1;
  s.is_reproducible = number(variable, "PAPFFT_REPRODUCIBLE", 1, 0) == 1;
  if (s.mode == Mode::observe) s.report = "-";
  if (const char* report = variable("PAPFFT_PRELOAD_REPORT"))
    s.report = std::string_view(report) == "off" ? "" : report;
  if (const char* recording = variable("PAPFFT_PRELOAD_RECORDING")) s.recording = recording;
  return s;
}

std::size_t Settings::least_bytes_of(Operation operation) const {
  if (!takes(operation)) return std::numeric_limits<std::size_t>::max();
  return traits(operation).sizes_are_own ? 0 : std::max<std::size_t>(least_bytes, 1);
}

std::string_view Settings::algorithm_of(Operation operation) const {
  if (!is_reproducible || !is_reduction(operation)) return "auto";
  return operation == Operation::reduce ? "rab" : "ring/1";
}

std::uint64_t Settings::hash() const {
  std::uint64_t h = 0xcbf29ce484222325U;  // FNV-1a
  const auto add = [&](std::uint64_t value) { h = (h ^ value) * 0x100000001b3U; };
  add(static_cast<std::uint64_t>(mode));
  add(least_bytes);
  for (const bool taken : operations) add(taken ? 1 : 0);
  add(static_cast<std::uint64_t>(most_communicators.value_or(-1)));
  add(takes_started ? 1 : 0);
  add(is_reproducible ? 1 : 0);
  add(report.empty() ? 0 : 1);
  add(recording.empty() ? 0 : 1);
  return h;
}

}  // namespace papfft::comm::preload
