// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "app/io/source.hpp"

namespace papfft::app {

/// Where a job's samples come from and its results go to; the same in all jobs.
struct InputOptions {
  std::string in;
  std::vector<std::string> out;
  std::string raw_type;  ///< --format
  std::string precision = "double";
  std::optional<unsigned> channel;
  bool each_channel = false;    ///< a row for each channel of a sound
  bool iq = false;              ///< a sound's two channels are the parts of complex samples
  bool any_dimensions = false;  ///< .npy files of more than two dimensions are welcome
  bool force = false;           ///< an output may replace an input
  bool writes_sound = false;    ///< .wav is among the outputs' formats

  void declare(cli::Command& app, const std::string& formats_out);
  /// --each-channel, of commands that have it. After declare().
  static void declare_each_channel(cli::Command& app, bool& apart);
  /// For messages.
  [[nodiscard]] std::string name() const { return in == "-" ? "standard input" : in; }
  /// @throws UsageError  a --format that is not known, a --channel of what has none; io::DataError
  [[nodiscard]] std::unique_ptr<io::Source> open() const;
  /// The same of another file, or of another channel.
  [[nodiscard]] std::unique_ptr<io::Source> open_file(const std::string& path,
                                                      std::optional<unsigned> of_channel) const;
  /// Before the work: is each output of a format that is known and suits the command? @throws io::UnsuitableOutput
  void check_formats() const;
};

}  // namespace papfft::app
