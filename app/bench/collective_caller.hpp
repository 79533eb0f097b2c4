// SPDX-License-Identifier: MIT
// How the benchmarks of collectives make one call: new data, barriers, the compute phase, the operation, the check.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/bench/bench_common.hpp"
#include "app/bench/call_timer.hpp"
#include "app/bench/collective_data.hpp"
#include "app/bench/collective_options.hpp"
#include "app/bench/collective_rows.hpp"
#include "app/bench/collective_settings.hpp"
#include "app/bench/mock_ups.hpp"
#include "app/bench/stock_peer.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

/// What all calls of a benchmark share.
struct CallGroup {
  /// Collective over MPI_COMM_WORLD.
  CallGroup(Job& job, const CollectiveOptions& options);

  OwnComm comm;
  CallAlarm watch;
  /// Its clock is the same on all ranks.
  comm::MpiSession session;
  CallTimer timer{comm, session};
  /// For calls without predictions; nullptr: the session makes them.
  std::unique_ptr<comm::Communicator> plain;
  std::uint64_t calls = 0;

  /// Who makes the calls of ours.
  [[nodiscard]] comm::Collectives& ours() {
    return plain ? static_cast<comm::Collectives&>(*plain) : session;
  }
};

/// Makes the calls of one operation.
class CollectiveCaller {
 public:
  /// Collective. All must live longer than this object.
  CollectiveCaller(CallGroup& group, const CollectiveOptions& options, const CollectiveSettings& settings,
                   const comm::Hosts& hosts);

  /// Makes the communicator of a contender that is stock MPI by a chosen algorithm; the best is looked for anew in each case.
  /// Collective. @return that algorithm; nothing for other contenders
  std::optional<StockAlgorithm> choose_stock(std::size_t contender, CollectiveData& data);

  /// One call by a contender. Collective. @param round  decides the delays; warm-up counts, too
  [[nodiscard]] CallRecord call(CollectiveData& data, const ArrivalPattern& pattern, std::size_t contender,
                                int round);

 private:
  [[nodiscard]] std::unique_ptr<StockPeer> make_peer(const Contender& contender, const comm::Hosts& hosts);
  [[nodiscard]] CallRecord record_of(CollectiveData& data, std::size_t contender,
                                     std::chrono::nanoseconds total);
  template <typename Call>
  [[nodiscard]] CallRecord announced(const std::string& name, std::chrono::nanoseconds total, Call call);
  [[nodiscard]] CallRecord posted(CollectiveData& data, const std::string& name,
                                  std::chrono::nanoseconds total);
  template <typename Call>
  [[nodiscard]] CallRecord timed(const std::string& name, Call call);
  [[nodiscard]] std::chrono::nanoseconds before_edge(std::chrono::nanoseconds total) const;

  CallGroup& group_;
  const CollectiveOptions& options_;
  const CollectiveSettings& settings_;
  std::optional<StockAlgorithms> stock_;
  std::vector<std::unique_ptr<comm::Communicator>> chosen_;  ///< of the contenders that have one
  std::vector<std::unique_ptr<StockPeer>> peers_;            ///< and of those that have one
  MockUps mock_ups_;
};

/// Says on stderr which rank got wrong data, if any did. @return whether all were right
bool tell_wrong_data(std::span<const CallRecord> records, comm::Operation operation,
                     const std::string& algorithm, const Case& size, int round);

}  // namespace papfft::app
