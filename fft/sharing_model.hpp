// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

#include "papfft/options.hpp"

namespace papfft::fft {

/// Many transforms that ranks could share, and what is known of their network.
struct SharedWork {
  std::uint64_t length = 0;      ///< N, in the time domain
  std::uint64_t vectors = 0;     ///< 0: many
  bool real = false;             ///< real samples: half the work and half the bytes
  std::size_t sample_bytes = 0;  ///< of a real number: 4 or 8
  int ranks = 1;
  comm::LinkModel link;
};

/// Seconds per vector in the long run, by a model: whichever takes longest of the root's link, its core, and all cores.
///
///   link    (P-1)/P of the vector's bytes, in messages of 256 KiB or so; a farm's whole vectors use the link less well
///   root    split and assemble: two passes over memory each. A farm's root copies instead.
///   cores   5 N log2 N operations, by P ranks or by one
///
/// The machine's speed is assumed (kOperationsPerSecond, kBytesPerSecond), as a choice that timed something could be another
/// one, with other last bits, in the next run.
struct SharingEstimate {
  double alone_s = 0;
  double stream_s = 0;
  double farm_s = 0;
};

[[nodiscard]] SharingEstimate estimate_sharing(const SharedWork& work);

/// Whether whole vectors should be dealt out rather than each be shared: the farm is estimated to be faster, there are
/// enough vectors to keep all ranks busy, and the root has room for those under way.
[[nodiscard]] bool farm_is_better(const SharedWork& work, const SharingEstimate& estimate);

/// For messages among the ranks of one host: copies in its memory.
[[nodiscard]] comm::LinkModel memory_link();

}  // namespace papfft::fft
