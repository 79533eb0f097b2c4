// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "comm/model/platform.hpp"

namespace papfft::comm {

/// 1024 hosts with alpha 8 us and beta 8 ns per byte. A process has one.
inline Platform& crossbar() {
  static const std::unique_ptr<Platform> platform =
      open_simgrid_platform(PAPFFT_PLATFORMS "/crossbar-1gbps.xml", NetworkModel::plain);
  return *platform;
}

}  // namespace papfft::comm
