// SPDX-License-Identifier: MIT
#include "app/run/arrival_pattern.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace papfft::app {

using comm::ArrivalTrace;
using comm::Rank;
using comm::TraceError;

namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument(what); }

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

template <typename Integer>
bool parse_whole(std::string_view text, Integer& value) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end;
}

/// The finaliser of splitmix64: every input bit changes every output bit with probability 1/2.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::uint64_t hash(std::uint64_t seed, std::int64_t iteration, Rank rank) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
  const std::uint64_t of_iteration =
      mix(mix(seed + kGolden) + static_cast<std::uint64_t>(iteration) + kGolden);
  return mix(of_iteration + (static_cast<std::uint64_t>(rank) + 1) * kGolden);
}

/// In (0, 1]; 53 bits.
double unit(std::uint64_t h) { return (static_cast<double>(h >> 11) + 1) * 0x1p-53; }

std::int64_t scaled(std::int64_t ns, double factor) { return std::llround(static_cast<double>(ns) * factor); }

/// How far rank r is along the ranks, 0 .. 1.
double position(Rank rank, int ranks) {
  return ranks == 1 ? 0 : static_cast<double>(rank) / static_cast<double>(ranks - 1);
}

}  // namespace

/// The one list of patterns: parsing, help and error messages come from it.
struct PatternTable {
  enum class Argument : std::uint8_t { none, delay, number_and_delay, file };
  struct Row {
    std::string_view name;
    Argument argument;
    std::string_view usage;
    std::string_view summary;
    ArrivalPattern::Delay delay;
  };
  using P = ArrivalPattern;
  using I = std::int64_t;

  static constexpr std::array<Row, 14> rows{{
      {"none", Argument::none, "none", "nobody is late", [](const P&, I, Rank, int, Rank) -> I { return 0; }},
      {"flat", Argument::delay, "flat:D", "all ranks by D",
       [](const P& p, I, Rank, int, Rank) { return p.delay_ns_; }},
      {"ascending", Argument::delay, "ascending:D", "from rank 0 not at all to the last rank by D",
       [](const P& p, I, Rank r, int n, Rank) { return scaled(p.delay_ns_, position(r, n)); }},
      {"descending", Argument::delay, "descending:D", "from rank 0 by D to the last rank not at all",
       [](const P& p, I, Rank r, int n, Rank) { return scaled(p.delay_ns_, position(n - 1 - r, n)); }},
      {"uniform", Argument::delay, "uniform:D", "every rank anew between 0 and D",
       [](const P& p, I i, Rank r, int, Rank) { return scaled(p.delay_ns_, unit(hash(p.seed_, i, r))); }},
      {"exponential", Argument::delay, "exponential:D",
       "every rank anew, exponentially distributed with mean D",
       [](const P& p, I i, Rank r, int, Rank) {
         return scaled(p.delay_ns_, -std::log(unit(hash(p.seed_, i, r))));
       }},
      {"first-late", Argument::delay, "first-late:D", "rank 0 by D",
       [](const P& p, I, Rank r, int, Rank) { return r == 0 ? p.delay_ns_ : 0; }},
      {"last-late", Argument::delay, "last-late:D", "the last rank by D",
       [](const P& p, I, Rank r, int n, Rank) { return r == n - 1 ? p.delay_ns_ : 0; }},
      {"root-late", Argument::delay, "root-late:D", "the root by D",
       [](const P& p, I, Rank r, int, Rank root) { return r == root ? p.delay_ns_ : 0; }},
      {"half-late", Argument::delay, "half-late:D", "the upper half of the ranks by D",
       [](const P& p, I, Rank r, int n, Rank) { return r >= (n + 1) / 2 ? p.delay_ns_ : 0; }},
      {"bell", Argument::delay, "bell:D", "a bell curve over the ranks, D in the middle",
       [](const P& p, I, Rank r, int n, Rank) {
         const double sigmas = n == 1 ? 0 : 6 * position(r, n) - 3;
         return scaled(p.delay_ns_, std::exp(-sigmas * sigmas / 2));
       }},
      {"late", Argument::number_and_delay, "late:RANK:D", "rank RANK by D",
       [](const P& p, I, Rank r, int n, Rank) {
         if (p.number_ >= n) {
           fail("arrival pattern " + in_quotes(p.spec_) + ": there are only " + std::to_string(n) + " ranks");
         }
         return r == p.number_ ? p.delay_ns_ : 0;
       }},
      {"k-late", Argument::number_and_delay, "k-late:K:D", "K ranks, drawn anew each time, by D",
       [](const P& p, I i, Rank r, int n, Rank) -> I {
         // Late are those with the K smallest hashes.
         const auto mine = std::pair(hash(p.seed_, i, r), r);
         int before = 0;
         for (Rank other = 0; other < n; ++other)
           before += std::pair(hash(p.seed_, i, other), other) < mine ? 1 : 0;
         return before < p.number_ ? p.delay_ns_ : 0;
       }},
      {"trace", Argument::file, "trace:FILE",
       "as recorded by a job's --record (.csv or .json), or CSV lines iteration,rank,delay_ns",
       [](const P& p, I i, Rank r, int n, Rank) {
         const ArrivalTrace& trace = *p.trace_;
         if (n > trace.ranks) {
           fail("arrival pattern " + in_quotes(p.spec_) + " was recorded on " + std::to_string(trace.ranks) +
                " ranks; there are " + std::to_string(n));
         }
         return trace.delay_ns[static_cast<std::size_t>((i % trace.iterations) * trace.ranks + r)];
       }},
  }};
};

std::string known_arrival_patterns() {
  constexpr std::size_t kColumn = 16;
  std::string text;
  for (const PatternTable::Row& row : PatternTable::rows) {
    text += "  " + std::string(row.usage) + std::string(kColumn - row.usage.size(), ' ') +
            std::string(row.summary) + "\n";
  }
  return text +
         "  with D such as 250us, 1.5ms or 2s; in bench collective and simulate also 2x: twice the time that "
         "the whole vector takes over a link";
}

std::int64_t parse_duration_ns(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  constexpr double kLongestNs = 10 * 86400e9;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const std::string_view unit_name(at, static_cast<std::size_t>(end - at));
  const auto* found = std::ranges::find(kUnits, unit_name, [](const auto& u) { return u.first; });
  const double factor = found != kUnits.end() ? found->second : (unit_name.empty() && value == 0 ? 1 : 0);
  if (error != std::errc{} || factor == 0 || !(value >= 0) || value * factor > kLongestNs) {
    fail("duration " + in_quotes(text) +
         ": expected a number with ns, us, ms or s, such as 1.5ms, at most 10 days");
  }
  return std::llround(value * factor);
}

namespace {

/// "2x", "0.25x": so many messages; nothing for any other text.
std::optional<double> parse_messages(std::string_view text) {
  constexpr double kMost = 1e6;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const bool is_factor = error == std::errc{} && std::string_view(at, end) == "x";
  return is_factor && value >= 0 && value <= kMost ? std::optional(value) : std::nullopt;
}

}  // namespace

ArrivalPattern ArrivalPattern::parse(std::string_view spec, std::uint64_t seed, TraceReader read_trace) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  const bool has_argument = colon != std::string_view::npos;
  std::string_view argument = has_argument ? spec.substr(colon + 1) : std::string_view{};
  const auto* row = std::ranges::find(PatternTable::rows, name, &PatternTable::Row::name);
  if (row == PatternTable::rows.end()) {
    std::string known;
    for (const PatternTable::Row& r : PatternTable::rows) known += std::string(r.usage) + ", ";
    fail("no arrival pattern " + in_quotes(name) + "; known are " + known +
         "with D such as 250us, 1.5ms or 2s");
  }
  if (has_argument == (row->argument == PatternTable::Argument::none)) {
    fail("arrival pattern " + in_quotes(spec) + ": expected " + std::string(row->usage));
  }
  ArrivalPattern pattern;
  pattern.spec_ = spec;
  pattern.seed_ = seed;
  pattern.delay_ = row->delay;
  if (row->argument == PatternTable::Argument::file) {
    std::ifstream file{std::string(argument)};
    if (!file)
      throw TraceError("arrival pattern " + in_quotes(spec) + ": cannot read " + in_quotes(argument));
    try {
      pattern.trace_ = std::make_shared<const ArrivalTrace>(read_trace(file));
    } catch (const TraceError& e) {
      throw TraceError("arrival pattern " + in_quotes(spec) + ": " + e.what());
    } catch (const std::ios_base::failure&) {  // as of a folder
      throw TraceError("arrival pattern " + in_quotes(spec) + ": cannot read " + in_quotes(argument));
    }
    return pattern;
  }
  if (row->argument == PatternTable::Argument::number_and_delay) {
    const std::size_t second = argument.find(':');
    if (second == std::string_view::npos || !parse_whole(argument.substr(0, second), pattern.number_) ||
        pattern.number_ < 0) {
      fail("arrival pattern " + in_quotes(spec) + ": expected " + std::string(row->usage));
    }
    argument = argument.substr(second + 1);
  }
  if (row->argument == PatternTable::Argument::none) return pattern;
  pattern.messages_ = parse_messages(argument);
  if (!pattern.messages_) pattern.delay_ns_ = parse_duration_ns(argument);
  return pattern;
}

ArrivalPattern ArrivalPattern::for_message(double message_ns) const {
  ArrivalPattern timed = *this;
  if (messages_) timed.delay_ns_ = std::llround(*messages_ * message_ns);
  timed.messages_.reset();
  return timed;
}

std::int64_t ArrivalPattern::delay_ns(std::int64_t iteration, Rank rank, int ranks, Rank root) const {
  if (iteration < 0 || rank < 0 || rank >= ranks || root < 0 || root >= ranks) {
    fail("arrival pattern: no iteration " + std::to_string(iteration) + ", rank " + std::to_string(rank) +
         " and root " + std::to_string(root) + " among " + std::to_string(ranks) + " ranks");
  }
  if (messages_) {
    fail("arrival pattern " + in_quotes(spec_) +
         ": what would work: a time such as 5ms; times of a message are for bench collective and simulate");
  }
  return delay_(*this, iteration, rank, ranks, root);
}

}  // namespace papfft::app
