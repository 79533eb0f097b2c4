// SPDX-License-Identifier: MIT
// What `papfft bench collective` has measured, and how it is written: JSON, CSV, every call one by one.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/bench/bench_links.hpp"
#include "app/bench/collective_options.hpp"
#include "app/bench/collective_settings.hpp"
#include "app/bench/least_run_time.hpp"
#include "app/report/text_table.hpp"

namespace papfft::app {

/// One rank's view of one call; sent as bytes.
struct CallRecord {
  std::int64_t arrival_ns = 0;
  std::int64_t exit_ns = 0;
  std::int64_t prediction_error_ns = -1;  ///< -1: not predicted
  std::int64_t predicted_ns = 0;          ///< the arrival, if it was
  std::int64_t planned = 0;
  std::int64_t begun_early = 0;
  std::int64_t correct = 0;
  std::int64_t segments = 0;
  double thread_share = 0;
};

/// From the first arrival to the last exit. @param records  of all ranks, of one call
[[nodiscard]] double run_time_ms(std::span<const CallRecord> records);

/// What the calls of one contender in one case were like, at rank 0; times in ms.
struct CollectiveRow {
  std::string algorithm;
  std::optional<StockAlgorithm> stock = {};  ///< if stock MPI's algorithm was chosen
  Case size = {};
  std::vector<double> run = {};
  std::vector<double> elapsed = {};
  std::vector<double> after_last = {};  ///< from the last arrival to the last exit
  std::vector<double> bound = {};       ///< empty until finish()
  std::vector<double> efficiency = {};  ///< the share of the bound
  std::vector<double> imbalance = {};
  std::vector<double> prediction_error = {};
  std::vector<CallRecord> calls = {};  ///< of all ranks, call after call, those that count
  double first = -1;
  int planned = 0;      ///< calls
  int begun_early = 0;  ///< calls of which some rank had begun before it came
  double thread_share = 0;
  int segments = 0;  ///< 0: not cut by us
  bool correct = true;

  /// One call. @param message_ns  the time of a message of the operation's size
  void add(std::span<const CallRecord> records, bool counts, double message_ns);
  /// The bounds of all calls that count.
  void finish(const CallSize& call, const Links& links);
};

/// How calls were measured, for a file's settings.
[[nodiscard]] io::Json measurement_json(const CollectiveOptions& options);

/// All that is written about a run.
struct CollectiveResult {
  const CollectiveOptions& options;
  const CollectiveSettings& settings;
  int ranks = 0;
  HostLayout layout;
  comm::LinkModel link = {};        ///< as measured before
  comm::LinkModel link_after = {};  ///< and after
  comm::LinkModel segment_link = {};
  io::Json machine = {};
  io::Json bound_link = {};
  std::string bound_text = {};
  std::vector<CollectiveRow> rows = {};

  /// The row of another contender in the same case; nullptr: it takes no part.
  [[nodiscard]] const CollectiveRow* peer(const CollectiveRow& row, std::string_view algorithm) const;
  [[nodiscard]] io::Json document() const;
  [[nodiscard]] std::string csv() const;
  /// For people.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] io::Json row_json(const CollectiveRow& row) const;
  [[nodiscard]] io::Json calls_json(const CollectiveRow& row) const;
  [[nodiscard]] io::Json settings_json() const;
  [[nodiscard]] double max_delay_ms(const ArrivalPattern& pattern) const;
  [[nodiscard]] std::string table() const;
};

/// Every rank's times of every call, as CSV.
class RawCalls {
 public:
  void add(const CollectiveOptions& options, const CollectiveRow& row, std::span<const CallRecord> records,
           int round);
  [[nodiscard]] std::string csv() const { return table_.csv(); }

 private:
  report::TextTable table_{{"op", "algorithm", "bytes", "pattern", "iteration", "warmup", "rank",
                            "arrival_ns", "exit_ns", "prediction_error_ns", "planned", "begun_early",
                            "correct"}};
};

}  // namespace papfft::app
