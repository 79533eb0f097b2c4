// SPDX-License-Identifier: MIT
#include "fft/engines/sharing_model.hpp"

#include <algorithm>
#include <cmath>

#include "fft/engines/shared_transform.hpp"
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

/// How many of a rank's threads work on what it gets at a time: one vector of so many samples, or several short ones.
int busy_threads(const SharedWork& work, int threads, std::uint64_t length, bool several) {
  return several || (length >= kShortestForThreads && !work.real) ? threads : 1;
}

/// What dealing out whole vectors adds to the root's own.
struct Dealt {
  double per_s = 0;
  double root_share = 0;  ///< of the root's time
};

/// @param most_per_s  by link and cores. @param left  of the root's time
Dealt deal(double deal_s, double compute_s, double most_per_s, double left) {
  if (deal_s >= compute_s) return {};  // the root is done with the vector itself sooner
  const double per_s = std::min(most_per_s, left / deal_s);
  return {per_s, per_s * deal_s};
}

}  // namespace

SharingEstimate estimate_sharing(const SharedWork& work) {
  const double ranks = work.ranks();
  const double near = work.ranks_per_host.front() - 1;  // on the root's host
  const double far = ranks - near - 1;
  const double bytes = vector_bytes(work);
  const double length = static_cast<double>(work.length);
  const double operations = 5 * length * std::log2(std::max(length, 2.0)) / (work.real ? 2 : 1);
  const double one_thread_s = operations / operations_per_second(work);
  const double pass_s = bytes / kBytesPerSecond;
  const double byte_s = work.link.beta_ns_per_byte * 1e-9;
  const double far_messages_s = byte_s < kSecondsPerMessageByte ? pass_s : 2 * bytes * kSecondsPerMessageByte;
  const auto latency_s = [](double messages, const comm::LinkModel& link) {
    return messages * link.alpha_ns * 1e-9;
  };

  SharingEstimate estimate;
  const bool come_together = 2 * bytes <= kMessageBytes;
  estimate.alone_s = one_thread_s / busy_threads(work, work.root_threads, work.length, come_together);

  const double far_bytes = far / ranks * bytes;
  const int of_block =
      busy_threads(work, work.threads, work.length / static_cast<std::uint64_t>(work.ranks()), false);
  estimate.stream_s = std::max(
      far_bytes * byte_s + latency_s(far_bytes / kMessageBytes, work.link),
      4 * pass_s + near / ranks * pass_s + far / ranks * far_messages_s + one_thread_s / of_block / ranks);

  const bool are_dealt_together = 2 * bytes * (work.real ? 2 : 1) <= kMessageBytes;
  const double compute_s = one_thread_s / busy_threads(work, work.threads, work.length, are_dealt_together);
  const double messages = std::min(1.0, bytes / kMessageBytes);
  const double near_s = 2 * pass_s + latency_s(messages, memory_link());
  const double far_s = pass_s + far_messages_s + latency_s(messages, work.link);
  const Dealt within = deal(near_s, compute_s, near / compute_s, 1);
  const Dealt beyond = deal(far_s, compute_s, std::min(kFarmLinkShare / (bytes * byte_s), far / compute_s),
                            1 - within.root_share);
  const double own_per_s = (1 - within.root_share - beyond.root_share) / compute_s;
  const bool deals = within.per_s + beyond.per_s > 0;
  estimate.farm_s = deals ? 1 / (within.per_s + beyond.per_s + own_per_s) : estimate.alone_s;
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
  const auto ranks = static_cast<std::uint64_t>(work.ranks());
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

double seconds_of(Sharing sharing, const SharingEstimate& estimate) noexcept {
  switch (sharing) {
    case Sharing::alone:
      return estimate.alone_s;
    case Sharing::stream:
      return estimate.stream_s;
    case Sharing::farm:
      break;
  }
  return estimate.farm_s;
}

std::optional<OtherLayout> faster_layout(const SharedWork& work, double vector_s) {
  const auto hosts = static_cast<int>(work.ranks_per_host.size());
  const int cores = work.ranks() * work.threads;
  std::optional<OtherLayout> best;
  double best_s = kWorthIt * vector_s;
  for (const bool one_rank_per_host : {true, false}) {
    SharedWork other = work;
    other.threads = one_rank_per_host ? std::max(1, cores / hosts) : 1;
    other.root_threads = std::max(work.root_threads, other.threads);
    for (int& ranks : other.ranks_per_host) ranks = one_rank_per_host ? 1 : ranks * work.threads;
    const bool can_split = can_share(other.length, false, other.ranks()) ||
                           (other.real && can_share(other.length, true, other.ranks()));
    const SharingEstimate estimate = estimate_sharing(other);
    const double other_s = seconds_of(choose_sharing(other, estimate, can_split), estimate);
    if (other_s >= best_s) continue;
    best = {one_rank_per_host, other.threads, other_s};
    best_s = other_s;
  }
  return best;
}

comm::LinkModel memory_link() {
  return {.alpha_ns = 1000, .beta_ns_per_byte = 0.25, .gamma_ns_per_byte = 0.25};
}

}  // namespace papfft::fft
