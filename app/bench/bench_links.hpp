// SPDX-License-Identifier: MIT
// The links of a job, as the benchmarks' bounds and measurements see them: which ranks share a host, what the cables between
// hosts carry, what memory carries.
#pragma once
#include <mpi.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/bench/bench_common.hpp"
#include "app/bench/least_run_time.hpp"
#include "papfft/collectives.hpp"

namespace papfft::app {

/// What `papfft cluster run` says about its cables, in the variable PAPFFT_CLUSTER_LINK:
/// "rate_bits_per_s=1000000000 burst_bytes=250000", of the fastest cable and the largest burst.
struct ToldCable {
  double beta_ns_per_byte = 0;  ///< of the data in full Ethernet frames, whose headers take 54 of 1514 bytes
  double burst_bytes = 0;

  /// @throws UsageError  the text says something else
  [[nodiscard]] static ToldCable parse(const std::string& text);
  /// Nothing where the variable is not set.
  [[nodiscard]] static std::optional<ToldCable> from_environment();
};

class BenchLinks {
 public:
  /// Collective over MPI_COMM_WORLD. @param root  of the operations: its link is measured
  explicit BenchLinks(int root);

  [[nodiscard]] int host_count() const;
  [[nodiscard]] const std::vector<int>& host_of_rank() const { return host_; }
  [[nodiscard]] int ranks_on_root_host() const;
  /// Of what is shared by all ranks, so much leaves the root's host; on a single host, the root's own memory.
  [[nodiscard]] double share_elsewhere() const;
  /// The time that so many bytes need out of the root's host, or into it; on a single host, to be copied.
  /// @param bursts  how many bursts of the cable help meanwhile; may be a fraction
  [[nodiscard]] double root_host_ns(double bytes, double bursts) const;
  [[nodiscard]] bool between_hosts() const { return host_count() > 1; }

  /// From a rank of another host to the root, if there is another host; long enough for the rate that the link sustains.
  [[nodiscard]] comm::LinkProbe rate_probe() const;
  /// What segments are chosen by: messages as calls have them, between two hosts if there are two.
  [[nodiscard]] comm::LinkProbe segment_probe() const;

  /// Of the rates that were measured, before and after a run, the higher one counts: no bound must be above what is possible.
  void add_measurement(const comm::LinkModel& link);

  /// What a bound is computed by. @param block_bytes  how much is copied at a time, at the most
  [[nodiscard]] Links for_bound(std::size_t block_bytes) const;

  /// {"between": "hosts", "hosts": 8, "beta_ns_per_byte": ..., "beta_from": "papfft cluster", ...}
  [[nodiscard]] io::Json json() const;
  /// The same as a sentence.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] double beta_ns_per_byte() const;
  [[nodiscard]] double copy_ns_per_byte(std::size_t bytes) const;

  int root_;
  std::vector<int> host_;  // of each rank: the lowest rank there
  std::optional<ToldCable> told_ = ToldCable::from_environment();
  std::optional<double> measured_beta_ns_;
  mutable std::map<std::size_t, double> copy_ns_per_byte_;  // as measured, by the number of bytes
};

}  // namespace papfft::app
