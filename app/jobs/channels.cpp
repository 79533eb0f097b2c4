// SPDX-License-Identifier: MIT
#include "app/jobs/channels.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/cli/exit_code.hpp"

namespace papfft::app {

Channels::Channels(const InputOptions& input, const std::vector<std::string>& paths, bool apart) {
  if (std::ranges::count(paths, "-") > 1)
    throw UsageError("standard input (-) can be read once: name a file for the other");
  for (const std::string& path : paths) add(input, path, apart);
  if (input.channel &&
      std::ranges::none_of(channels_, [](const Channel& c) { return c.source->info().is_sound; }))
    throw UsageError(name_ + ": --channel is for sounds");
}

void Channels::add(const InputOptions& input, const std::string& path, bool apart) {
  const std::shared_ptr<io::Source> source = input.open_file(path, input.channel);
  const io::SignalInfo& info = source->info();
  name_ += (name_.empty() ? "" : " and ") + source->name();
  const bool is_file = std::filesystem::is_regular_file(path);
  if (info.rows > 1 && !is_file) {
    throw UsageError(fmt::format("{}: its {} rows are read side by side, for which it must be a file",
                                 source->name(), info.rows));
  }
  if (!apart || input.channel || info.channels <= 1) {
    for (std::uint64_t row = 0; row < info.rows; ++row) {
      channels_.push_back({source, row * info.length.value_or(0), info.length});
    }
    return;
  }
  if (!is_file) {
    throw UsageError(fmt::format("{}: its {} channels are read side by side, for which it must be a file",
                                 source->name(), info.channels));
  }
  for (unsigned c = 0; c < info.channels; ++c)
    channels_.push_back({input.open_file(path, c), 0, info.length});
}

bool Channels::is_complex() const {
  return std::ranges::any_of(channels_, [](const Channel& c) { return c.source->info().is_complex; });
}

bool Channels::any_order() const {
  return std::ranges::all_of(channels_, [](const Channel& c) { return c.source->info().any_order; });
}

bool Channels::two_dimensional() const {
  return std::ranges::any_of(channels_, [](const Channel& c) { return c.source->info().two_dimensional; });
}

std::optional<std::uint64_t> Channels::length() const {
  std::optional<std::uint64_t> longest = 0;
  for (const Channel& channel : channels_) {
    if (!channel.length) return std::nullopt;
    longest = std::max(*longest, *channel.length);
  }
  return longest;
}

bool Channels::equally_long() const {
  return std::ranges::all_of(channels_,
                             [&](const Channel& c) { return c.length == channels_.front().length; });
}

double Channels::sample_rate_hz() const {
  double rate_hz = 0;
  for (const Channel& channel : channels_) {
    const double other_hz = channel.source->info().sample_rate_hz;
    if (rate_hz > 0 && other_hz > 0 && other_hz != rate_hz) {
      throw UsageError(fmt::format("{}: their sample rates are {} and {} Hz; resample one of them", name_,
                                   rate_hz, other_hz));
    }
    if (other_hz > 0) rate_hz = other_hz;
  }
  return rate_hz;
}

}  // namespace papfft::app
