// SPDX-License-Identifier: MIT
// The files of --timeline, brought to a form that can be drawn.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/report/json_file.hpp"

namespace papfft::app::report {

/// What a rank does for a while. Where it does several at once, the later in this list says most.
enum class Activity : std::uint8_t {
  other_work,  ///< a phase of the job that is not computing: read, split, write, ...
  computing,
  waiting,  ///< for vectors or tasks, outside of any collective call
  in_call,
  late_sender,
  late_receiver,
  wait_at_nxn,
  background,  ///< a call that has begun before its caller came
  beside       ///< a call that goes on beside its caller
};
inline constexpr std::size_t kActivities = 9;
/// "computes", ...
[[nodiscard]] std::string_view to_string(Activity activity);

struct TraceSlice {
  std::size_t rank = 0;
  Activity activity = Activity::other_work;
  int lane = 0;  ///< of those of one rank and activity that overlap
  std::string name = {};
  double begin_s = 0;  ///< from the first event of the job
  double end_s = 0;
};

struct TraceMessage {
  std::size_t from = 0;
  std::size_t to = 0;
  double begin_s = 0;  ///< the sender handed it over
  double end_s = 0;    ///< the receiver has seen it
};

/// A time of a rank, or of a lane of it, in which the same says most.
struct Stretch {
  const TraceSlice* slice = nullptr;  ///< that says most; of several, that which began last
  double begin_s = 0;
  double end_s = 0;
};

/// Cuts time into stretches, in their order; not where there is no slice. @param slices  by beginning
[[nodiscard]] std::vector<Stretch> stretches(const std::vector<const TraceSlice*>& slices);

/// A computation reaches the point from where its end is predicted.
struct TraceEdge {
  std::size_t rank = 0;
  double at_s = 0;
};

/// One job. Its texts are clean (clean_text()), whatever the file held.
struct Trace {
  std::string file = {};
  std::string command = {};
  std::string machine = {};             ///< "host h0, cores 2, ..."
  std::string machine_name = {};        ///< "h0, 2 cores, Open MPI v4.1.4."
  std::vector<std::string> ranks = {};  ///< names; at least one
  std::vector<std::string> hosts = {};  ///< per rank its host's name; none where the file names none
  std::vector<TraceSlice> slices =
      {};  ///< by beginning; of those that begin together, what contains others first
  std::vector<TraceMessage> messages = {};
  std::vector<TraceEdge> edges = {};
  std::uint64_t dropped = 0;  ///< events that are not in the file because there were too many
  double end_s = 0;           ///< of the last slice
  std::string json = {};      ///< the whole file

  /// For how long each rank did what, by rank and activity. Each moment counts once, for what says most, and not at all if nothing
  /// is known of it. Only what the rank does itself: neither Activity::background nor Activity::beside.
  [[nodiscard]] std::vector<std::array<double, kActivities>> times_s() const;
};

/// Makes a trace of its events.
class TraceBuilder {
 public:
  explicit TraceBuilder(std::string path) : path_(std::move(path)) {}

  /// @throws io::DataError  naming the event, if it is none of those that --timeline writes
  void add(const Json& event);
  /// @param document  without the events. @param text  the whole file
  /// @throws io::DataError  it is another program's; or nothing is in it
  [[nodiscard]] Trace finish(const Json& document, std::string text) &&;

 private:
  struct Departure {
    std::size_t rank = 0;
    double at_s = 0;
  };

  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] double number(const Json& event, const char* name, double most) const;
  [[nodiscard]] std::string text(const Json& event, const char* name) const;
  void add_slice(const Json& event, std::size_t rank);
  void add_flow(const Json& event, std::size_t rank, bool arrives);

  std::string path_;
  std::uint64_t count_ = 0;
  Trace trace_;
  std::map<std::int64_t, Departure> under_way_;  // messages, by their number
};

}  // namespace papfft::app::report
