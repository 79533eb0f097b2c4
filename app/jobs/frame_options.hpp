// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "app/cli/command_line.hpp"
#include "fft/spectral/window.hpp"

namespace papfft::app {

/// How a recording is cut into frames, and what becomes of their spectra: for spectrogram, psd and correlate.
struct FrameOptions {
  std::size_t nperseg = 256;
  std::optional<std::size_t> noverlap;  ///< nothing: a share of nperseg
  std::string window;
  double alpha = 0.25;
  std::string scaling = "density";
  std::string detrend = "constant";
  double rate_hz = 0;  ///< 0: the file's, or 1
  bool log_frequency = false;

  /// @param default_overlap  for --help: "nperseg/8"
  void declare(cli::Command& app, const std::string& default_overlap);
  /// @throws UsageError  options that do not fit together
  void check() const;
  [[nodiscard]] fft::Scaling parsed_scaling() const {
    return scaling == "density" ? fft::Scaling::density : fft::Scaling::spectrum;
  }
};

}  // namespace papfft::app
