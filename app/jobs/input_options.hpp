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
  bool force = false;           ///< an output may replace the input
  bool writes_sound = false;    ///< .wav is among the outputs' formats

  void declare(cli::Command& app, const std::string& formats_out);
  /// For messages.
  [[nodiscard]] std::string name() const { return in == "-" ? "standard input" : in; }
  /// @throws UsageError  a --format that is not known, a --channel of what has none; io::DataError
  [[nodiscard]] std::unique_ptr<io::Source> open() const;
  /// The same of another file, or of another channel.
  [[nodiscard]] std::unique_ptr<io::Source> open_file(const std::string& path,
                                                      std::optional<unsigned> of_channel) const;
  /// Before the work: can each output be written, in a known format, and does none replace the input by mistake?
  /// @throws io::OutputError, UsageError
  void check_outputs() const;
};

}  // namespace papfft::app
