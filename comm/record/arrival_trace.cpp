// SPDX-License-Identifier: MIT
#include "comm/record/arrival_trace.hpp"

#include <algorithm>
#include <charconv>
#include <istream>
#include <ostream>
#include <string_view>
#include <tuple>
#include <utility>

#include "comm/schedule/core/registry.hpp"

namespace papfft::comm {

namespace {

constexpr std::string_view kMagic = "# papfft arrivals ";
constexpr std::string_view kEnd = "# end: ";
constexpr std::string_view kHeading =
    "call,rank,operation,algorithm,root,bytes,compute_ns,arrival_ns,predicted_ns,exit_ns";
constexpr std::size_t kColumns = 10;
constexpr std::string_view kDelayHeading = "iteration,rank,delay_ns";

constexpr std::size_t kLongestLine = 4096;
constexpr int kMostLines = 1 << 22;
constexpr std::int64_t kMostCount = 1'000'000'000;  // of calls and ranks

[[noreturn]] void fail(const std::string& what) { throw TraceError("trace: " + what); }
[[noreturn]] void fail(int line, const std::string& what) {
  throw TraceError("trace, line " + std::to_string(line) + ": " + what);
}

/// As much of it as fits into a message of one line.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string shown(text.substr(0, kMost));
  std::ranges::replace_if(
      shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + shown + (text.size() > kMost ? "..." : "") + "'";
}

template <typename Integer>
bool parse_whole(std::string_view text, Integer& value) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end;
}

/// The lines of a file that may be anything.
class Lines {
 public:
  explicit Lines(std::istream& in) : in_(*in.rdbuf()) {}

  /// @return false at the end. @throws TraceError  the line is too long to be one of ours
  bool next() {
    constexpr auto kEof = std::char_traits<char>::eof();
    text_.clear();
    ++number_;
    int c = in_.sbumpc();
    if (c == kEof) return false;
    if (number_ > kMostLines) fail("more than " + std::to_string(kMostLines) + " lines");
    for (; c != kEof && c != '\n'; c = in_.sbumpc()) {
      if (text_.size() == kLongestLine) fail(number_, "is too long");
      text_.push_back(static_cast<char>(c));
    }
    if (!text_.empty() && text_.back() == '\r') text_.pop_back();
    return true;
  }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::streambuf& in_;
  std::string text_;
  int number_ = 0;
};

struct Row {
  std::int64_t call = 0;  // or iteration
  std::int64_t rank = 0;
  int line = 0;
  RecordedCall of = {};
  RecordedArrival arrival = {};
};

/// Rows of all ranks of all calls, in this order. @return how many ranks. @throws TraceError
template <typename AnyRow>
std::int64_t sort_complete(std::vector<AnyRow>& rows, const char* word) {
  std::ranges::stable_sort(rows, {}, [](const AnyRow& r) { return std::pair(r.call, r.rank); });
  const std::int64_t ranks = std::ranges::max_element(rows, {}, &AnyRow::rank)->rank + 1;
  std::int64_t call = 0;
  std::int64_t rank = 0;
  for (const AnyRow& row : rows) {
    if (std::pair(row.call, row.rank) < std::pair(call, rank)) {
      fail(row.line, std::string(word) + " " + std::to_string(row.call) + ", rank " +
                         std::to_string(row.rank) + " is there twice");
    }
    if (std::pair(row.call, row.rank) != std::pair(call, rank)) break;  // a hole, reported below
    if (++rank == ranks) {
      rank = 0;
      ++call;
    }
  }
  if (call * ranks + rank != static_cast<std::int64_t>(rows.size()) || rank != 0) {
    fail(std::string(word) + " " + std::to_string(call) + " has no rank " + std::to_string(rank));
  }
  return ranks;
}

template <typename AnyRow>
void keep(std::vector<AnyRow>& rows, AnyRow row) {
  if (rows.size() == kMostTraceRows) fail("more than " + std::to_string(kMostTraceRows) + " rows");
  rows.push_back(std::move(row));
}

Row parse_row(std::string_view text, int line) {
  std::vector<std::string_view> cells;
  for (std::size_t from = 0; from <= text.size() && cells.size() <= kColumns;) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    cells.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  if (cells.size() != kColumns) {
    fail(line, quoted(text) + " has not the " + std::to_string(kColumns) + " columns of the heading");
  }
  const auto number = [&](std::size_t column, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    if (!parse_whole(cells[column], value) || value < least || value > most) {
      fail(line, "column " + std::to_string(column + 1) + ": " + quoted(cells[column]) +
                     " is no whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  };
  Row row{.call = number(0, 0, kMostCount), .rank = number(1, 0, kMostCount), .line = line};
  try {
    row.of.operation = parse_operation(cells[2]);
  } catch (const std::invalid_argument&) {
    fail(line, "no operation " + quoted(cells[2]));
  }
  row.of.algorithm = cells[3];
  row.of.root = static_cast<int>(number(4, 0, kMostCount));
  row.of.bytes = static_cast<std::uint64_t>(number(5, 0, std::int64_t{1} << 60));
  row.arrival.compute_ns = number(6, 0, kMostTraceNs);
  row.arrival.arrival_ns = number(7, 0, kMostTraceNs);
  if (!cells[8].empty()) row.arrival.predicted_ns = number(8, -kMostTraceNs, kMostTraceNs);
  row.arrival.exit_ns = number(9, row.arrival.arrival_ns, kMostTraceNs);
  return row;
}

/// After the first line.
ArrivalRecording read_rows(Lines& lines) {
  ArrivalRecording recording;
  std::vector<Row> rows;
  bool has_heading = false;
  bool has_end = false;
  while (lines.next()) {
    const std::string_view text = lines.text();
    if (text.empty()) continue;
    if (has_end) fail(lines.number(), "comes after the end");
    if (text.starts_with(kEnd)) {
      if (text != std::string(kEnd) + std::to_string(rows.size()) + " rows") {
        fail(lines.number(), quoted(text) + ", but there are " + std::to_string(rows.size()));
      }
      has_end = true;
    } else if (text.front() == '#') {
      constexpr std::string_view kDropped = "# dropped calls: ";
      if (text.starts_with(kDropped)) (void)parse_whole(text.substr(kDropped.size()), recording.dropped);
    } else if (!has_heading) {
      if (text != kHeading)
        fail(lines.number(), quoted(text) + " is not the heading " + std::string(kHeading));
      has_heading = true;
    } else {
      keep(rows, parse_row(text, lines.number()));
    }
  }
  if (!has_end) fail("the end is missing: the file was cut off");
  if (rows.empty()) return recording;
  const std::int64_t ranks = sort_complete(rows, "call");
  recording.ranks = static_cast<int>(ranks);
  for (Row& row : rows) {
    if (row.rank == 0) {
      if (row.of.root >= ranks) fail(row.line, "no rank " + std::to_string(row.of.root) + " to be the root");
      recording.calls.push_back(row.of);
    }
    RecordedCall& call = recording.calls.back();
    if (std::tie(row.of.operation, row.of.algorithm, row.of.root, row.of.bytes) !=
        std::tie(call.operation, call.algorithm, call.root, call.bytes)) {
      fail(row.line, "is another call than that of rank 0");
    }
    call.ranks.push_back(row.arrival);
  }
  return recording;
}

/// @throws TraceError  it is not the first line of a recording that we know
void check_version(std::string_view text) {
  int version = 0;
  if (!parse_whole(text.substr(kMagic.size()), version)) fail(1, quoted(text) + " names no version");
  if (version != kRecordingVersion) {
    fail(1, "version " + std::to_string(version) + " of the format; this program reads version " +
                std::to_string(kRecordingVersion));
  }
}

struct Delay {
  std::int64_t call = 0;  // the iteration
  std::int64_t rank = 0;
  int line = 0;
  std::int64_t delay_ns = 0;
};

/// Lines iteration,rank,delay_ns, of which the first has been read.
ArrivalTrace read_delays(Lines& lines) {
  std::vector<Delay> rows;
  bool heading_possible = true;
  do {
    const std::string_view text = lines.text();
    if (text.empty() || text.front() == '#') continue;
    if (std::exchange(heading_possible, false) && text == kDelayHeading) continue;
    const std::size_t one = text.find(',');
    const std::size_t two = one == std::string_view::npos ? one : text.find(',', one + 1);
    Delay row{.line = lines.number()};
    if (two == std::string_view::npos || !parse_whole(text.substr(0, one), row.call) ||
        !parse_whole(text.substr(one + 1, two - one - 1), row.rank) ||
        !parse_whole(text.substr(two + 1), row.delay_ns) || row.call < 0 || row.call > kMostCount ||
        row.rank < 0 || row.rank > kMostCount || row.delay_ns < 0 || row.delay_ns > kMostTraceNs) {
      fail(lines.number(), quoted(text) + " is no " + std::string(kDelayHeading));
    }
    keep(rows, row);
  } while (lines.next());
  if (rows.empty()) fail("it is empty");
  const std::int64_t ranks = sort_complete(rows, "iteration");
  ArrivalTrace trace{.iterations = static_cast<int>(static_cast<std::int64_t>(rows.size()) / ranks),
                     .ranks = static_cast<int>(ranks),
                     .delay_ns = {}};
  for (const Delay& row : rows) trace.delay_ns.push_back(row.delay_ns);
  return trace;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text.substr(0, kLongestLine / 2);
}

}  // namespace

void write_recording(std::ostream& out, const ArrivalRecording& recording,
                     const std::vector<std::string>& remarks) {
  out << kMagic << kRecordingVersion << '\n';
  for (const std::string& remark : remarks) out << "# " << one_line(remark) << '\n';
  if (recording.dropped > 0) out << "# dropped calls: " << recording.dropped << '\n';
  out << kHeading << '\n';
  std::size_t rows = 0;
  for (std::size_t c = 0; c < recording.calls.size(); ++c) {
    const RecordedCall& call = recording.calls[c];
    for (std::size_t r = 0; r < call.ranks.size(); ++r, ++rows) {
      const RecordedArrival& a = call.ranks[r];
      out << c << ',' << r << ',' << to_string(call.operation) << ',' << call.algorithm << ',' << call.root
          << ',' << call.bytes << ',' << a.compute_ns << ',' << a.arrival_ns << ',';
      if (a.predicted_ns) out << *a.predicted_ns;
      out << ',' << a.exit_ns << '\n';
    }
  }
  out << kEnd << rows << " rows\n";
}

ArrivalRecording read_recording(std::istream& in) {
  Lines lines(in);
  if (!lines.next()) fail("it is empty");
  if (!lines.text().starts_with(kMagic)) {
    fail(1, quoted(lines.text()) + " is not " + quoted(std::string(kMagic) + "1"));
  }
  check_version(lines.text());
  return read_rows(lines);
}

ArrivalTrace replay(const ArrivalRecording& recording) {
  const auto after_computing = [](const RecordedCall& call) {
    const auto computed = [](const RecordedArrival& a) { return a.compute_ns > 0; };
    const auto root = static_cast<std::size_t>(call.root);
    const auto others = std::ranges::count_if(call.ranks, computed) - (computed(call.ranks[root]) ? 1 : 0);
    return 2 * others >= std::ssize(call.ranks) - 1;
  };
  const bool any = std::ranges::any_of(recording.calls, after_computing);
  ArrivalTrace trace{.ranks = recording.ranks, .delay_ns = {}};
  for (const RecordedCall& call : recording.calls) {
    if (any && !after_computing(call)) continue;
    const std::int64_t first = std::ranges::min(call.ranks, {}, &RecordedArrival::arrival_ns).arrival_ns;
    for (const RecordedArrival& a : call.ranks) trace.delay_ns.push_back(a.arrival_ns - first);
    ++trace.iterations;
  }
  if (trace.iterations == 0) fail("no call was recorded");
  return trace;
}

ArrivalTrace parse_trace(std::istream& in) {
  Lines lines(in);
  if (!lines.next()) fail("it is empty");
  if (!lines.text().starts_with(kMagic)) return read_delays(lines);
  check_version(lines.text());
  return replay(read_rows(lines));
}

}  // namespace papfft::comm
