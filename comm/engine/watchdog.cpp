// SPDX-License-Identifier: MIT
#include "comm/engine/watchdog.hpp"

#include <algorithm>
#include <memory>

#include "comm/engine/stuck_council.hpp"
#include "papfft/errors.hpp"

namespace papfft::comm {

namespace {

using std::chrono::milliseconds;

/// The speaker stays this long, so that its verdict leaves before it ends the job.
constexpr milliseconds kLeave{100};

}  // namespace

Watchdog::Watchdog(Transport& transport, const Options& options) : transport_(transport), options_(options) {}
Watchdog::~Watchdog() = default;

void Watchdog::report(const std::string& mine) {
  council_ = std::make_unique<StuckCouncil>(transport_, mine);
  council_->listen(std::clamp(options_.stuck_after / 2, milliseconds(200), milliseconds(2000)),
                   options_.longest_nap);
  const bool speaks = council_->must_speak();
  if (speaks) {
    council_->tell_verdict();
    council_->listen(kLeave, options_.longest_nap);
  }
  throw StuckError(
      "no progress for " + std::to_string(options_.stuck_after.count()) + " ms: " + council_->text(), speaks,
      mine);
}

}  // namespace papfft::comm
