// SPDX-License-Identifier: MIT
// Schedules on a network of links, where messages that share a link share its rate. Other than the simulator of one-port links
// (simulator.hpp) this needs a library; the program loads it when it is wanted.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/model/simulator.hpp"
#include "comm/schedule/core/schedule.hpp"
#include "papfft/options.hpp"

namespace papfft::comm {

/// What happened in virtual time.
struct PlatformRun {
  std::vector<double> exit_ns;  ///< per rank: arrived, and all its ops ended
  double run_ns = 0;            ///< max exit - min arrival
  double elapsed_ns = 0;        ///< mean of exit - arrival
};

/// A network with hosts at its ends. Rank r lives on host r unless replay() is told otherwise.
class Platform {
 public:
  Platform() = default;
  virtual ~Platform() = default;
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  [[nodiscard]] virtual int host_count() const = 0;

  /// What a message between the first two hosts costs while nothing else moves. Alpha is its latency, all of which hides behind
  /// other messages, so latency_ns is the same. Gamma is 0.
  [[nodiscard]] virtual LinkModel link() const = 0;

  /// What a message between two ranks of the first host costs. All 0 if the platform gives its hosts no loopback.
  [[nodiscard]] virtual LinkModel inside_link() const = 0;

  /// Runs a schedule as simulate() does, by the same rules for what a rank may post when, except that
  /// - a message takes the route's latency and its share of the rate of every link on the way (no ports, so a rank has as many
  ///   messages under way as its window admits);
  /// - a rank combines one op at a time, beside its messages (Combining::overlapped).
  /// @param slot_bytes    size of each slot, shape.slots() of them
  /// @param arrival_ns    when each rank calls the operation, >= 0
  /// @param host_of_rank  ranks with the same number share a host of the platform, with its links and its cores; the platform's
  ///                      hosts are taken in the order of their first ranks. Empty: each rank has a host of its own
  /// @throws std::invalid_argument  the arguments do not fit the schedule, or the ranks need more hosts than there are
  /// @throws std::runtime_error     the schedule deadlocks
  [[nodiscard]] virtual PlatformRun replay(const Schedule& schedule, std::span<const std::int64_t> slot_bytes,
                                           std::span<const std::int64_t> arrival_ns, double gamma_ns_per_byte,
                                           const Conduct& conduct, std::span<const int> host_of_rank) = 0;
  /// The same with one rank per host.
  [[nodiscard]] PlatformRun replay(const Schedule& schedule, std::span<const std::int64_t> slot_bytes,
                                   std::span<const std::int64_t> arrival_ns, double gamma_ns_per_byte,
                                   const Conduct& conduct) {
    return replay(schedule, slot_bytes, arrival_ns, gamma_ns_per_byte, conduct, {});
  }
};

/// How SimGrid computes the time of a message.
enum class NetworkModel : std::uint8_t {
  plain,  ///< CM02: latency + bytes / rate, as the file says, shared fairly; nothing for acknowledgements
  tcp  ///< LV08: SimGrid's default, fitted to TCP: latency * 13.01, rate * 0.97, acknowledgements take 5 % of the way back
};

/// A platform file of SimGrid: clusters, fat trees, dragonflies, whatever it can read. Ranks live on the hosts in the order of
/// their names, in which numbers count as numbers. In the library papfft_simgrid; SimGrid is under the LGPL, version 2.1.
/// SimGrid knows one platform per process, so this can be called once.
/// @throws std::invalid_argument  what is wrong with the file, in one line
/// @throws std::logic_error       called again
[[nodiscard]] std::unique_ptr<Platform> open_simgrid_platform(const std::string& file, NetworkModel model);

}  // namespace papfft::comm
