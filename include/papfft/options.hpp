// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "papfft/export.h"

namespace papfft::comm {

/// What a waiting thread does with its core.
enum class WaitPolicy : std::uint8_t {
  spin,      ///< polls without pause: lowest latency, for ranks that own their cores
  yield,     ///< polls, letting others run in between
  nap,       ///< sleeps between polls, 10 us at first, then up to longest_nap
  automatic  ///< spins for 50 us, unless ranks outnumber cores; then yields, and naps after 3 ms
};

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 4> kWaitNames = {"spin", "yield", "nap", "auto"};

/// @throws std::invalid_argument unless `name` is one of kWaitNames.
[[nodiscard]] PAPFFT_API WaitPolicy parse_wait_policy(std::string_view name);
[[nodiscard]] PAPFFT_API std::string_view to_string(WaitPolicy policy);

/// What messages cost, by Hockney's model: a message of m bytes takes alpha + beta m, and combining it takes gamma m
/// more. Alpha is what a message adds while others are under way, which is less than the latency of one alone. The
/// defaults are those of 1 Gb/s Ethernet. The model decides the number of segments of algorithms that work in rounds, so
/// it must be the same on all ranks.
struct LinkModel {
  double alpha_ns = 8000;
  double beta_ns_per_byte = 8;
  double gamma_ns_per_byte = 0.25;
  /// How much later a message goes if it waits for the end of the one before. Messages under way hide this time. It is
  /// not measured, because it depends less on the network than on the ranks, which notice a message late while they share
  /// cores or sleep.
  double latency_ns = 80000;
};

/// Settings of the collective layer. Each can also be set in the environment, see Options::from_environment.
struct Options {
  WaitPolicy wait = WaitPolicy::automatic;
  std::chrono::microseconds longest_nap{100};
  /// Messages under way per rank. More of them hide latency; fewer need less memory and buffer space in the network.
  int sends_in_flight = 8;
  int receives_in_flight = 8;
  /// A collective that makes no progress for this long throws StuckError. 0: it waits for ever.
  std::chrono::milliseconds stuck_after{0};
  /// How long a root whose source has no data may stay silent. No rank takes it for stuck that early.
  [[nodiscard]] std::chrono::milliseconds longest_silence() const {
    constexpr std::chrono::milliseconds kLongest = std::chrono::seconds(5);
    return stuck_after.count() == 0 ? kLongest
                                    : std::clamp(stuck_after / 4, std::chrono::milliseconds(1), kLongest);
  }
  /// Before each collective, compare the arguments of all ranks. This costs a small round trip and synchronises the ranks.
  bool check_arguments = false;
  /// First segment of a linear-synchronised gather. Blocks of a gatherv or an alltoallv up to this size go at once.
  std::size_t head_bytes = 32768;
  /// Chunk of a receiver-driven gather: just below MPI's eager limit (64 KiB over TCP), so that a chunk needs no handshake, and
  /// long enough that a link of 10 Gb/s is as busy as by one long message.
  std::size_t chunk_bytes = 64512;
  /// Chunks that the root keeps under way; 0: as many as the network carries best, found out during the gather.
  int credits = 0;

  /// Ranks of a host pass messages through memory that they share, where all of them want that, can, and have a core each.
  bool share_memory = true;

  /// See LinkModel and Collectives::measure_link.
  LinkModel link = {};
  /// A Session's constructor, or the call by which a group has moved 1 MB, measures the link between hosts, which takes about 20 ms
  /// at 1 Gb/s. Its alpha and beta, rounded to powers, take the place of those in `link`.
  bool learn_link = true;

  /// Now and then a call that "auto" gives to an algorithm of ours goes by the MPI library, where that could serve it, and
  /// the faster of the two ways gets the other calls. So floating-point sums may round differently from run to run.
  bool guard = true;

  /// The defaults, changed by PAPFFT_WAIT, PAPFFT_NAP_US, PAPFFT_SENDS, PAPFFT_RECEIVES, PAPFFT_STUCK_MS,
  /// PAPFFT_CHECK (0 or 1), PAPFFT_HEAD_BYTES, PAPFFT_CHUNK_BYTES, PAPFFT_CREDITS, PAPFFT_SHARE_MEMORY (0 or 1), PAPFFT_LEARN_LINK
  /// (0 or 1), PAPFFT_GUARD (0 or 1), PAPFFT_ALPHA_NS, PAPFFT_BETA_NS and PAPFFT_GAMMA_NS (these two per byte), and
  /// PAPFFT_LATENCY_NS. Times may have fractions. Whoever sets alpha or beta knows the link: it is not measured then, unless
  /// PAPFFT_LEARN_LINK says so.
  /// @throws std::invalid_argument naming the variable, if one does not make sense.
  [[nodiscard]] PAPFFT_API static Options from_environment();
};

}  // namespace papfft::comm
