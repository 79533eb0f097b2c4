// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "papfft/options.hpp"

namespace papfft::fft {

/// Many transforms that ranks could share, and what is known of their hosts and network.
struct SharedWork {
  std::uint64_t length = 0;               ///< N, in the time domain
  std::uint64_t vectors = 0;              ///< 0: many
  bool real = false;                      ///< real samples: half the work and half the bytes
  std::size_t sample_bytes = 0;           ///< of a real number: 4 or 8
  std::vector<int> ranks_per_host = {1};  ///< the root's host first
  int threads = 1;                        ///< of each rank, at least
  int root_threads = 1;                   ///< of the root, if it works alone
  comm::LinkModel link = {};              ///< each host's, which its ranks share

  [[nodiscard]] int ranks() const { return std::reduce(ranks_per_host.begin(), ranks_per_host.end()); }
};

/// Seconds per vector in the long run, by a model: whichever takes longest of the link of the root's host, the root's thread for
/// messages, and all cores. Of P ranks, F are on other hosts than the root; messages to the others are copies in memory.
///
///   alone    5 N log2 N operations by the root's threads
///   stream   link    F/P of the vector's bytes each way, in messages of 256 KiB or so
///            root    split and assemble, two passes over memory each, and the messages
///            cores   the operations, by P ranks
///   farm     the root's own vectors, beside those that it deals out: 1 / (own rate + rates dealt within its host and beyond)
///            link    whole vectors, which use the link less well
///            root    a copy and the messages for a vector that it deals out, the operations for one of its own
///            cores   the operations of a vector that is dealt out, by the other ranks
///
/// A rank's threads share long complex vectors, and short ones that come several at a time.
///
/// The machine's speed is assumed (the constants in the .cpp), as a choice that timed something could be another one, with
/// other last bits, in the next run.
struct SharingEstimate {
  double alone_s = 0;
  double stream_s = 0;
  double farm_s = 0;  ///< alone_s where dealing out costs the root more than the transform itself
};

[[nodiscard]] SharingEstimate estimate_sharing(const SharedWork& work);

enum class Sharing { alone, stream, farm };

[[nodiscard]] std::string_view to_string(Sharing sharing) noexcept;

/// What it takes: seconds per vector. @param sharing  what choose_sharing() has said
[[nodiscard]] double seconds_of(Sharing sharing, const SharingEstimate& estimate) noexcept;

/// The fastest by the model. Ranks are only used if that is estimated to save a twentieth of the time at least; a farm only if
/// there are enough vectors to keep all ranks busy, and the root has room for those under way.
/// @param can_split  ranks can share one vector; else no stream
[[nodiscard]] Sharing choose_sharing(const SharedWork& work, const SharingEstimate& estimate, bool can_split);

/// Another way to use the cores of the same hosts.
struct OtherLayout {
  bool one_rank_per_host = false;  ///< else a rank for each thread, each with one
  int threads = 1;                 ///< of each rank
  double vector_s = 0;             ///< seconds per vector by the best way to share
};

/// Whether one rank per host with all threads, or a rank for each thread, would save a twentieth of the time at least, by the
/// model. @param vector_s  what the present layout needs. @return the better of both; nothing: neither would
[[nodiscard]] std::optional<OtherLayout> faster_layout(const SharedWork& work, double vector_s);

/// For messages among the ranks of one host: copies in its memory.
[[nodiscard]] comm::LinkModel memory_link();

}  // namespace papfft::fft
