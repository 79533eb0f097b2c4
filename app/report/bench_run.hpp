// SPDX-License-Identifier: MIT
// The files of `papfft bench ... --json`, `papfft simulate --json` and `papfft record`, brought to one form.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/json_file.hpp"

namespace papfft::app::report {

enum class BenchKind { collective, simulate, schedule, fft, predictor, record, guidelines };

/// Repeated measurements of one thing.
struct Spread {
  double center = 0;  ///< the median; the mean where a file has no median
  double low = 0;     ///< the tenth percentile; the least where a file has none
  double high = 0;    ///< the ninetieth percentile; the greatest where a file has none
};

/// Every rank's times of every call, in seconds from the call's first arrival: rank r of call i at [i * ranks + r].
struct Calls {
  std::vector<double> arrival_s = {};
  std::vector<double> exit_s = {};
  std::vector<double> predicted_s = {};  ///< the arrival, as predicted at the edge; NaN: it was not
};

/// The messages of one call, in the order of their beginnings. Times in seconds from the call's first arrival.
struct Messages {
  struct Message {
    std::size_t from = 0;
    std::size_t to = 0;
    std::int64_t bytes = 0;
    double begin_s = 0;
    double end_s = 0;
    double combined_s = 0;  ///< the receiver has combined it; end_s where there is nothing to combine
    bool critical = false;  ///< the last exit would have been earlier, had it been faster
  };
  std::vector<Message> messages = {};
  std::vector<double> arrival_s = {};  ///< per rank
  std::vector<double> exit_s = {};     ///< per rank
  std::vector<int> host = {};          ///< per rank, any numbers; empty: each rank has its own
};

/// A promise about `auto`, and what measurements say about it.
struct Promise {
  std::string operation = {};
  std::string guideline = {};  ///< "stock", "best", ...
  Spread peer = {};            ///< run time of the one that `auto` is compared with
  double ratio = 1;            ///< run time of `auto` / that of the peer
  double p = 1;                ///< how likely chance alone would make `auto` look so slow
  std::string verdict = {};
  bool violated = false;
};

/// One algorithm in one situation. Times in seconds.
struct BenchRow {
  std::string algorithm = {};
  std::string pattern = {};  ///< of the arrivals; empty: the measurement has none
  std::int64_t ranks = 1;
  std::int64_t bytes = 0;     ///< of the whole vector; fft: of the samples
  std::int64_t segments = 0;  ///< 0: not told
  double max_delay_s = 0;
  Spread run = {};  ///< run time; schedule: of planning; fft: per vector; predictor: of the fixed work
  std::vector<double> samples_s = {};     ///< of `run`, one by one; empty in files without them
  std::optional<Spread> elapsed = {};     ///< exit - arrival, mean over the ranks
  std::optional<Spread> after_last = {};  ///< from the last arrival to the last exit
  std::vector<double> imbalance = {};     ///< of each call: spread of the arrivals / time of one message
  std::optional<Spread> prediction_error = {};
  std::optional<double> efficiency = {};
  std::optional<double> over_best = {};
  std::optional<double> memory_bytes = {};
  std::optional<double> vectors_per_s = {};
  std::optional<Calls> calls = {};  ///< at least one call, if any
  std::optional<Messages> messages = {};
  std::optional<Promise> promise = {};  ///< guidelines: of every row
  bool correct = true;
};

/// One file. Its texts are clean (clean_text()), whatever the file held.
struct BenchRun {
  std::string file;
  BenchKind kind = BenchKind::collective;
  std::string operation;
  /// What was the same for all rows, as text by name: seed, compute_ms, ..., host, cores, mpi. What the rows tell themselves
  /// (algorithms, ranks, bytes, patterns) is not among them.
  std::map<std::string, std::string> settings;
  std::optional<double> alpha_us;  ///< as measured in this run
  std::optional<double> beta_ns_per_byte;
  std::optional<double> beta_after_ns_per_byte;  ///< the same link, measured again at the end
  bool centers_are_means = false;
  bool has_percentiles = true;  ///< else lows (and, for means, highs) are the extremes
  std::vector<BenchRow> rows;   ///< at least one
  std::string json;             ///< the whole document, on one line

  /// Within kLinkDrift, as far as is known.
  [[nodiscard]] bool link_was_steady() const;
  /// "the link took 8.3 ns per byte before the run and 16.1 after it"
  [[nodiscard]] std::string link_drift_text() const;
};

/// How far the speed of a link may be off at the end of a run for its times to count.
constexpr double kLinkDrift = 0.1;
[[nodiscard]] bool is_steady_link(double before, double after);

/// @throws io::DataError  the file cannot be read, is no JSON, or not of these kinds; says which row lacks what
[[nodiscard]] BenchRun read_bench_run(const std::string& path);

/// The same of a document that has been read. @throws io::DataError
[[nodiscard]] BenchRun to_bench_run(const std::string& path, const Json& document);

/// "collective", ... @return a word for headings and file names
[[nodiscard]] std::string_view to_string(BenchKind kind);

}  // namespace papfft::app::report
