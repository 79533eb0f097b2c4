// SPDX-License-Identifier: MIT
#include "comm/arrival/clock_track.hpp"

#include <algorithm>
#include <cmath>

namespace papfft::comm {

void ClockTrack::add(std::int64_t local_ns, std::int64_t reference_ns) {
  if (!knots_.empty()) {
    const Knot& last = knots_.back();
    if (local_ns <= last.local_ns) return;
    // A better estimate may set the other clock back; told times shall not go back with it.
    reference_ns = std::max(reference_ns, last.local_ns + last.ahead_ns);
  }
  knots_.push_back({local_ns, reference_ns - local_ns});
}

std::int64_t ClockTrack::to_reference(std::int64_t local_ns) const {
  if (knots_.empty()) return local_ns;
  const auto after = std::ranges::upper_bound(knots_, local_ns, {}, &Knot::local_ns);
  if (after == knots_.begin()) return local_ns + after->ahead_ns;
  const Knot& before = *(after - 1);
  if (after == knots_.end()) return local_ns + before.ahead_ns;
  const double share = static_cast<double>(local_ns - before.local_ns) /
                       static_cast<double>(after->local_ns - before.local_ns);
  return local_ns + before.ahead_ns +
         std::llround(share * static_cast<double>(after->ahead_ns - before.ahead_ns));
}

}  // namespace papfft::comm
