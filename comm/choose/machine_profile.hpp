// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "papfft/options.hpp"

namespace papfft::comm {

/// What messages cost on one level of a machine, as it was measured: inside a host, or between hosts.
struct LevelProfile {
  LinkModel link = {};
  std::size_t eager_bytes =
      0;  ///< the longest message that the library sends before its receiver asks; 0: not known
  bool is_duplex = true;  ///< messages both ways at once take about as long as messages one way
};

/// What was measured of a machine, beside its collective calls. As lines of a text:
///
///     hosts-named node#
///     cores-per-rank 0.5
///     link inside alpha_ns=350 beta_ns_per_byte=0.12 gamma_ns_per_byte=0.25 latency_ns=900 eager_bytes=4096 duplex=yes
///     link between alpha_ns=9400 beta_ns_per_byte=8.34 gamma_ns_per_byte=0.25 latency_ns=60000 eager_bytes=65464 duplex=yes
///
/// A link may leave out all but alpha_ns and beta_ns_per_byte. The others are those of LinkModel then, or not known.
struct MachineProfile {
  std::optional<LevelProfile> inside = {};
  std::optional<LevelProfile> between = {};
  std::string hosts_named = {};  ///< rank 0's host, with '#' for each number in the name; empty: not known
  double cores_per_rank = 0;     ///< on the host that has the fewest; 0: not known

  /// Takes a line that begins with `word`, if it is one of these. @return  it is
  /// @throws std::invalid_argument  what is wrong with the rest
  bool read(std::string_view word, std::string_view rest);
  /// The lines; none of what is not known.
  [[nodiscard]] std::string text() const;
};

}  // namespace papfft::comm
