// SPDX-License-Identifier: MIT
#include "app/jobs/frame_options.hpp"

#include <fmt/format.h>

#include "app/cli/exit_code.hpp"

namespace papfft::app {

void FrameOptions::declare(cli::Command& app, const std::string& default_overlap) {
  app.add_option("--nperseg", nperseg, "samples per frame")->positive()->capture_default_str();
  app.add_option("--noverlap,--overlap", noverlap,
                 "samples that two neighbouring frames share (default: " + default_overlap + ")")
      ->count_from_0();
  app.add_option("--window", window, "each frame is multiplied by it")
      ->one_of(fft::kWindowNames)
      ->capture_default_str();
  app.add_option("--alpha", alpha, "the share of the tukey window that is tapered")
      ->finite()
      ->capture_default_str();
  app.add_option("--scaling", scaling, "density (per Hz) or spectrum")
      ->one_of({"density", "spectrum"})
      ->capture_default_str();
  app.add_option("--detrend", detrend,
                 "subtract each frame's mean (constant), its line (linear) or nothing (none)")
      ->one_of({"constant", "linear", "none"})
      ->capture_default_str();
  app.add_option("--rate", rate_hz, "sample rate in Hz, if the file does not tell it")->positive();
  app.add_flag("--log-frequency", log_frequency, "logarithmic frequency axis in pictures of real samples");
}

void FrameOptions::check() const {
  if (noverlap && *noverlap >= nperseg) {
    throw UsageError(fmt::format("--noverlap {} must be below --nperseg {}", *noverlap, nperseg));
  }
}

}  // namespace papfft::app
