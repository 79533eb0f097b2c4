// SPDX-License-Identifier: MIT
#include "fft/sharing_model.hpp"

#include <algorithm>
#include <cmath>

namespace papfft::fft {

namespace {

// Of one core, in single precision; half of it in double. A present-day server's, rounded down.
constexpr double kOperationsPerSecond = 1e10;
// A pass that reads and writes memory.
constexpr double kBytesPerSecond = 4e9;
// Streams and farms put short vectors together, and streams cut long ones, into messages of this size.
constexpr double kMessageBytes = 1 << 18;
// What whole vectors get of a link's speed, both ways at once: measured on 8 hosts, where streams' blocks got 0.94.
constexpr double kFarmLinkShare = 0.75;
constexpr double kMostFarmBytes = 1 << 30;
// A farm is done when its last rank is; with fewer vectors, some ranks would sit idle meanwhile.
constexpr std::uint64_t kVectorsPerRank = 4;

double vector_bytes(const SharedWork& work) {
  return static_cast<double>(work.length) * static_cast<double>(work.sample_bytes) * (work.real ? 1 : 2);
}

}  // namespace

SharingEstimate estimate_sharing(const SharedWork& work) {
  const double ranks = work.ranks;
  const double bytes = vector_bytes(work);
  const double length = static_cast<double>(work.length);
  const double operations = 5 * length * std::log2(std::max(length, 2.0)) / (work.real ? 2 : 1);
  const double speed = kOperationsPerSecond * (work.sample_bytes > 4 ? 0.5 : 1);
  const double pass_s = bytes / kBytesPerSecond;
  const double others = (ranks - 1) / ranks;
  const double link_s = others * bytes * work.link.beta_ns_per_byte * 1e-9;
  const auto messages_s = [&](double messages) { return messages * work.link.alpha_ns * 1e-9; };

  SharingEstimate estimate;
  estimate.alone_s = operations / speed;
  const double share_s = estimate.alone_s / ranks;
  const double stream_link_s = link_s + messages_s((ranks - 1) * bytes / ranks / kMessageBytes);
  estimate.stream_s = std::max(stream_link_s, 4 * pass_s + share_s);
  const double farm_link_s =
      link_s / kFarmLinkShare + messages_s(others * std::min(1.0, bytes / kMessageBytes));
  estimate.farm_s = std::max(farm_link_s, 2 * pass_s + share_s);
  return estimate;
}

bool farm_is_better(const SharedWork& work, const SharingEstimate& estimate) {
  const auto ranks = static_cast<std::uint64_t>(work.ranks);
  const bool enough = work.vectors == 0 || work.vectors >= kVectorsPerRank * ranks;
  const double under_way = 2 * static_cast<double>(2 * ranks + 2) * vector_bytes(work);
  return enough && under_way <= kMostFarmBytes && estimate.farm_s < estimate.stream_s;
}

comm::LinkModel memory_link() {
  return {.alpha_ns = 1000, .beta_ns_per_byte = 0.25, .gamma_ns_per_byte = 0.25};
}

}  // namespace papfft::fft
