// SPDX-License-Identifier: MIT
// Options that `papfft bench local` and `papfft tune` share: which local transforms.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/command_line.hpp"
#include "fft/kernel/fftw_plan.hpp"

namespace papfft::app {

struct TransformSizes {
  std::vector<std::string> sizes = {"2^8..2^20"};
  std::vector<std::string> precisions = {"float", "double"};
  std::vector<std::string> domains = {"complex", "real"};

  void declare(cli::Command& command);
  /// The lengths, in the order given, none twice. @throws UsageError
  [[nodiscard]] std::vector<std::size_t> lengths() const;
  /// Of one domain: forward, inverse.
  [[nodiscard]] static std::vector<fft::PlanKind> kinds(std::string_view domain);
};

/// These commands measure this process. @throws UsageError  a launcher started it
void refuse_launcher(std::string_view command);

}  // namespace papfft::app
