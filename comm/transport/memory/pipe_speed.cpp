// SPDX-License-Identifier: MIT
#include "comm/transport/memory/pipe_speed.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>

namespace papfft::comm {

namespace {
/// On an AMD EPYC, 2 to 5 times a copy between neighbours, 12 to 30 times between cores that share no cache (docs/explanation/ranks-of-one-host.md).
constexpr double kDear = 12;
constexpr int kSlowInARow = 2;  // one may have been interrupted
constexpr int kFirstRest = 16;
constexpr int kLongestRest = 1024;
}  // namespace

double copy_ns_per_byte() {
  static const double best = [] {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t kBytes = 16384;
    std::array<unsigned char, kBytes> from{};
    std::array<unsigned char, kBytes> to{};
    auto least = std::chrono::nanoseconds::max();
    for (int i = 0; i < 8; ++i) {
      from[0] = static_cast<unsigned char>(i + to[kBytes - 1]);
      const auto begin = Clock::now();
      std::memcpy(to.data(), from.data(), kBytes);
      asm volatile("" : : "r"(to.data()) : "memory");  // the copy is wanted
      least = std::min(least, std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin));
    }
    return static_cast<double>(std::max<std::int64_t>(1, least.count())) / kBytes;
  }();
  return best;
}

void PipeSpeed::wrote(std::size_t bytes, std::int64_t ns) {
  if (static_cast<double>(ns) <= kDear * copy_ns_per_byte() * static_cast<double>(bytes)) {
    slow_ = rest_ = 0;
  } else if (++slow_ >= kSlowInARow) {
    rest_ = std::clamp(2 * rest_, kFirstRest, kLongestRest);
    resting_ = rest_;
    slow_ = kSlowInARow - 1;  // the next slow one is enough
  }
}

bool PipeSpeed::pays() {
  if (resting_ == 0) return true;
  --resting_;
  return false;
}

}  // namespace papfft::comm
