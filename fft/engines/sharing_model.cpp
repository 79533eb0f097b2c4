// SPDX-License-Identifier: MIT
#include "fft/engines/sharing_model.hpp"

#include <algorithm>
#include <cmath>

#include "fft/local/local_kernel.hpp"

namespace papfft::fft {

namespace {

// Of one core, in single precision; half of it in double. A present-day server's, rounded down.
constexpr double kOwnKernelsPerSecond = 2e10;
constexpr double kFftwPerSecond = 8e9;
// A pass that reads and writes memory.
constexpr double kBytesPerSecond = 4e9;
// What a core spends on a message's byte, be it sent or received over a network: copies, and TCP. Within a host one copy, made
// by whoever receives.
constexpr double kSecondsPerMessageByte = 0.5e-9;
// Streams and farms put short vectors together, and streams cut long ones, into messages of this size.
constexpr double kMessageBytes = 1 << 18;
// What whole vectors get of a link's speed, both ways at once: measured on 8 hosts, where streams' blocks got 0.94.
constexpr double kFarmLinkShare = 0.75;
constexpr double kMostFarmBytes = 1 << 30;
// A farm is done when its last rank is; with fewer vectors, some ranks would sit idle meanwhile.
constexpr std::uint64_t kVectorsPerRank = 4;
// From this length on a rank's threads share a vector that comes alone.
constexpr std::uint64_t kShortestForThreads = std::uint64_t{1} << 16U;
constexpr double kWorthIt = 0.95;

double vector_bytes(const SharedWork& work) {
  return static_cast<double>(work.length) * static_cast<double>(work.sample_bytes) * (work.real ? 1 : 2);
}

double operations_per_second(const SharedWork& work) {
  const PlanKind kind = work.real ? PlanKind::real_forward : PlanKind::complex_forward;
  const bool own = default_kernel(kind, work.length) == LocalKernel::own;
  return (own ? kOwnKernelsPerSecond : kFftwPerSecond) * (work.sample_bytes > 4 ? 0.5 : 1);
}

}  // namespace

SharingEstimate estimate_sharing(const SharedWork& work) {
  const double ranks = work.ranks;
  const double bytes = vector_bytes(work);
  const double length = static_cast<double>(work.length);
  const double operations = 5 * length * std::log2(std::max(length, 2.0)) / (work.real ? 2 : 1);
  const double one_thread_s = operations / operations_per_second(work);
  const double compute_s = one_thread_s / work.threads;
  const bool threads_help = work.length >= kShortestForThreads && !work.real;
  const double pass_s = bytes / kBytesPerSecond;
  const double byte_s = work.link.beta_ns_per_byte * 1e-9;
  const double others = (ranks - 1) / ranks;
  const double messages_s = byte_s < kSecondsPerMessageByte ? pass_s : 2 * bytes * kSecondsPerMessageByte;
  const auto latency_s = [&](double messages) { return messages * work.link.alpha_ns * 1e-9; };

  SharingEstimate estimate;
  estimate.alone_s = one_thread_s / (threads_help ? work.root_threads : 1);
  estimate.stream_s = std::max(others * (bytes * byte_s) + latency_s(others * bytes / kMessageBytes),
                               4 * pass_s + others * messages_s + compute_s / ranks);
  estimate.farm_s = estimate.alone_s;
  const double deal_s = pass_s + messages_s + latency_s(std::min(1.0, bytes / kMessageBytes));
  if (work.ranks > 1 && deal_s < compute_s) {
    const double link_s = bytes * byte_s / kFarmLinkShare;
    const double dealt_per_s = 1 / std::max({link_s, deal_s, compute_s / (ranks - 1)});
    const double own_per_s = (1 - dealt_per_s * deal_s) / compute_s;
    estimate.farm_s = 1 / (dealt_per_s + own_per_s);
  }
  return estimate;
}

std::string_view to_string(Sharing sharing) noexcept {
  switch (sharing) {
    case Sharing::alone:
      return "alone";
    case Sharing::stream:
      return "stream";
    case Sharing::farm:
      break;
  }
  return "farm";
}

Sharing choose_sharing(const SharedWork& work, const SharingEstimate& estimate, bool can_split) {
  const auto ranks = static_cast<std::uint64_t>(work.ranks);
  const bool enough = work.vectors == 0 || work.vectors >= kVectorsPerRank * ranks;
  const bool has_room = 2 * static_cast<double>(2 * ranks + 2) * vector_bytes(work) <= kMostFarmBytes;
  Sharing best = Sharing::alone;
  double best_s = kWorthIt * estimate.alone_s;
  if (enough && has_room && estimate.farm_s < best_s) {
    best = Sharing::farm;
    best_s = estimate.farm_s;
  }
  if (can_split && estimate.stream_s < best_s) best = Sharing::stream;
  return best;
}

comm::LinkModel memory_link() {
  return {.alpha_ns = 1000, .beta_ns_per_byte = 0.25, .gamma_ns_per_byte = 0.25};
}

}  // namespace papfft::fft
