// SPDX-License-Identifier: MIT
#include "app/jobs/input_options.hpp"

#include <fmt/format.h>

#include "app/cli/exit_code.hpp"
#include "app/io/writer.hpp"

namespace papfft::app {

void InputOptions::declare(cli::Command& app, const std::string& formats_out) {
  app.add_option(
         "IN", in,
         "input: .npy, .wav, .flac, .ogg, .aiff, SigMF, raw samples (--format), or - for standard input")
      ->required();
  app.add_option("-o,--output", out, "output, may be given several times: " + formats_out)->required();
  app.add_option("--format", raw_type,
                 "the input is raw samples of this SigMF type, e.g. cf32_le, ri16_le, cu8");
  cli::Option* const one = app.add_option(
      "--channel", channel, "which channel of a sound to read, from 0 (default: the mean of all)");
  app.add_flag("--iq", iq, "the two channels of a sound are I and Q: the parts of complex samples")
      ->excludes(one);
  app.add_flag("--force", force, "an output may replace an input");
  app.add_option("--precision", precision, "float or double")
      ->envname("PAPFFT_PRECISION")
      ->one_of({"float", "double"})
      ->capture_default_str();
}

void InputOptions::declare_each_channel(cli::Command& app, bool& apart) {
  app.add_flag("--each-channel", apart, "a row of results for each channel of a sound (default: their mean)")
      ->excludes(app.get_option("--channel"))
      ->excludes(app.get_option("--iq"));
}

std::unique_ptr<io::Source> InputOptions::open() const {
  auto source = open_file(in, channel);
  if (channel && !source->info().is_sound) {
    throw UsageError(source->name() + ": --channel is for sounds");
  }
  if ((iq || each_channel) && !source->info().is_sound) {
    throw UsageError(fmt::format("{}: {} is for sounds", source->name(), iq ? "--iq" : "--each-channel"));
  }
  return source;
}

std::unique_ptr<io::Source> InputOptions::open_file(const std::string& path,
                                                    std::optional<unsigned> of_channel) const {
  using Channels = io::SourceOptions::Channels;
  io::SourceOptions options;
  options.channel = of_channel;
  options.channels = iq ? Channels::parts : each_channel ? Channels::rows : Channels::one;
  options.any_dimensions = any_dimensions;
  if (!raw_type.empty()) {
    options.raw_type = io::raw_type_from(raw_type);
    if (!options.raw_type) {
      throw UsageError("--format " + raw_type + ": no such sample type; known: " + io::raw_type_names());
    }
  }
  return io::open_source(path, options);
}

void InputOptions::check_formats() const {
  for (const std::string& path : out) {
    if (io::format_of(path) == io::OutputFormat::wav && !writes_sound) {
      throw io::UnsuitableOutput(
          path, "what this command writes is no sound; what would work: .npy, .raw, .csv, .png, .svg");
    }
  }
}

}  // namespace papfft::app
