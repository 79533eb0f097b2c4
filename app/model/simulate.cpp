// SPDX-License-Identifier: MIT
// papfft simulate: schedules in virtual time (Hockney's model), under any arrival pattern. No communication.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "app/bench/bench_common.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/number_checks.hpp"
#include "app/cli/version.hpp"
#include "app/model/platform.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "comm/choose/select.hpp"
#include "comm/engine/layout.hpp"
#include "comm/model/closed_forms.hpp"
#include "comm/model/simulator.hpp"
#include "comm/record/arrival_pattern.hpp"
#include "comm/schedule/core/transform.hpp"
#include "comm/schedule/family/uni_greedy.hpp"

namespace papfft::app {

namespace {

using comm::Operation;
using comm::Ticks;

constexpr Ticks kTicksPerNs = 1000;  // a byte may take less than a nanosecond
constexpr int kBestSegments = 0;
constexpr int kChosenSegments = -1;  // as a call would choose them

struct SimulateOptions {
  std::string operation = "reduce";
  std::vector<std::string> algorithms = {"all"};
  std::vector<int> ranks = {8};
  std::vector<std::string> bytes = {"1M"};
  std::vector<std::string> segments = {"best"};
  std::vector<std::string> arrivals = {"none"};
  int iterations = 1;
  std::uint64_t seed = 1;
  int root = 0;
  bool ordered = false;
  std::string alpha = "8us";
  double beta_ns = 8;
  double gamma_ns = 0.25;
  std::string ports = "bi";
  std::string combining = "overlapped";
  std::string window = "auto";
  std::string prediction_error = "0ns";
  int most_segments = 1024;
  std::string platform;
  std::string network = "plain";
  bool messages = false;
  std::string json;
  std::string csv;
  bool quiet = false;
};

/// "table-binary", ...: not simulated, but as the greedy reduction paper computes them.
constexpr std::string_view kClosedForm = "table-";
/// Of these by its Algorithm 1, for segments that are equal but for the last, or any.
constexpr std::string_view kUniGreedyEqual = "table-uni-greedy";
constexpr std::string_view kUniGreedyUneven = "table-uni-greedy-uneven";
constexpr std::uint64_t kMostBytesUneven = 16;  // may be cut in 2^15 ways
bool is_uni_greedy(std::string_view name) { return name == kUniGreedyEqual || name == kUniGreedyUneven; }
bool is_closed_form(std::string_view name) { return name.starts_with(kClosedForm); }

/// GRD Table I (one-way ports) or III (two-way), for q segments of s bytes. @throws UsageError  they have no such row
Ticks closed_form(std::string_view name, bool duplex, const comm::oracles::Reduction& machine, std::int64_t s,
                  int q) {
  const std::string_view row = name.substr(kClosedForm.size());
  if (row == "bnom") return q * machine.binomial(s);
  if (row == "chain") return duplex ? machine.bi_pipeline(s, q) : machine.uni_pipeline(s, q);
  if (row == "binary") return duplex ? machine.bi_binary(s, q) : machine.uni_binary(s, q);
  if (row == "rab" && duplex) return q * machine.butterfly(s);
  if (row == "bi-greedy" && duplex) return machine.bi_greedy(s, q);
  throw UsageError(
      fmt::format("no row '{}' in the greedy reduction paper's table for --ports {}; known: table-bnom, "
                  "table-chain, table-binary{}",
                  name, duplex ? "bi" : "uni",
                  duplex ? ", table-rab, table-bi-greedy" : ", table-uni-greedy, table-uni-greedy-uneven"));
}

/// "auto", "4" or "2:8". @return nothing for auto. @throws UsageError
std::optional<comm::Window> parse_window(std::string_view text) {
  if (text == "auto") return std::nullopt;
  constexpr int kMost = 1024;
  const auto number = [&](std::string_view digits) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 1 || value > kMost) {
      throw UsageError(
          fmt::format("--window {}: auto, a number from 1 to {}, or two with a colon between, sends:receives",
                      text, kMost));
    }
    return value;
  };
  const std::size_t colon = text.find(':');
  const int sends = number(text.substr(0, colon));
  return comm::Window{sends, colon == std::string_view::npos ? sends : number(text.substr(colon + 1))};
}

/// The words of the command line, with a meaning.
struct Settings {
  Operation operation = Operation::reduce;
  std::vector<std::string> algorithms;
  std::vector<std::uint64_t> bytes;
  std::vector<int> segments;  ///< or kBestSegments, kChosenSegments
  std::vector<comm::ArrivalPattern> patterns;
  comm::Machine machine;
  std::optional<comm::Window> window;  ///< nothing: as a call would have it
  std::int64_t prediction_error_ns = 0;
  std::unique_ptr<comm::Platform> platform;  ///< nullptr: one-port links, which `machine` describes

  /// @throws std::invalid_argument, UsageError, io::DataError
  explicit Settings(const SimulateOptions& o)
      : operation(comm::parse_operation(o.operation)), window(parse_window(o.window)) {
    for (const std::string& name : o.algorithms) {
      if (name == "all") {
        for (const comm::Algorithm* a : comm::algorithms()) {
          if (a->operation == operation && (a->can_be_ordered || !o.ordered))
            algorithms.emplace_back(a->name);
        }
        continue;
      }
      if (is_closed_form(name)) {
        const char* combining_there = is_uni_greedy(name) ? "exclusive" : "in-message";
        if (operation != Operation::reduce || !o.platform.empty() || o.combining != combining_there ||
            o.arrivals != std::vector<std::string>{"none"}) {
          throw UsageError(
              fmt::format("{}: the paper computes it for --op reduce, --combining {} and no arrivals", name,
                          combining_there));
        }
        if (!is_uni_greedy(name)) {
          (void)closed_form(name, o.ports == "bi", {.p = 4}, 1, 1);
        } else if (o.ports != "uni") {
          throw UsageError(name + ": the paper computes it for --ports uni");
        }
        algorithms.push_back(name);
        continue;
      }
      const comm::Choice choice = comm::choose(operation, name, 2, 0, o.ordered);
      if (choice.algorithm == nullptr)
        throw UsageError("simulate: the MPI library's own collectives are not schedules");
      algorithms.push_back(name);
    }
    for (const std::string& text : o.bytes) bytes.push_back(report::parse_byte_count(text));
    for (const std::string& text : o.segments) {
      if (text == "best" || text == "auto") {
        segments.push_back(text == "best" ? kBestSegments : kChosenSegments);
        continue;
      }
      segments.push_back(static_cast<int>(std::min<std::uint64_t>(report::parse_byte_count(text), 1 << 20)));
      if (segments.back() == 0) throw UsageError("--segments: at least 1, or best, or auto");
    }
    for (const std::string& text : o.arrivals) patterns.push_back(parse_arrivals(text, o.seed));
    const auto combining = [&] {
      if (o.combining == "overlapped") return comm::Combining::overlapped;
      return o.combining == "exclusive" ? comm::Combining::exclusive : comm::Combining::in_message;
    }();
    machine = {.alpha = comm::parse_duration_ns(o.alpha) * kTicksPerNs,
               .beta = std::llround(o.beta_ns * static_cast<double>(kTicksPerNs)),
               .gamma = std::llround(o.gamma_ns * static_cast<double>(kTicksPerNs)),
               .duplex = o.ports == "bi",
               .combining = combining};
    prediction_error_ns = comm::parse_duration_ns(o.prediction_error);
    if (o.platform.empty()) return;
    platform =
        open_platform(o.platform, o.network == "tcp" ? comm::NetworkModel::tcp : comm::NetworkModel::plain);
    const comm::LinkModel link = platform->link();
    machine.alpha = std::llround(link.alpha_ns * static_cast<double>(kTicksPerNs));
    machine.beta = std::llround(link.beta_ns_per_byte * static_cast<double>(kTicksPerNs));
  }
};

/// One algorithm in one situation.
struct Row {
  std::string algorithm;
  int ranks = 0;
  std::uint64_t bytes = 0;
  std::string pattern;
  int segments = 0;
  std::vector<double> run_ns = {};         // per iteration
  std::vector<double> elapsed_ns = {};     // means over the ranks
  std::vector<double> after_last_ns = {};  // last exit - last arrival; where known
  nlohmann::ordered_json messages = {};    // of the first call, if wanted
  double over_best = 1;                    // mean run time / that of the best algorithm here

  [[nodiscard]] double mean_run_ns() const { return mean(run_ns); }
  static double mean(const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  }
};

/// A schedule, of which as few programs as possible are in memory: one, where each rank plans by itself.
class Plan {
 public:
  Plan(const comm::Choice& choice, comm::Request request)
      : algorithm_(*choice.algorithm),
        request_(std::move(request)),
        combines_own_last_(choice.background && comm::is_reduction(request_.operation) && !request_.ordered) {
    if (algorithm_.local != nullptr) {
      make(0);
    } else {
      (void)whole();
    }
  }

  [[nodiscard]] const comm::Shape& shape() const { return whole_ ? whole_->shape : one_.shape; }
  /// Until the next one is asked for.
  [[nodiscard]] const comm::Program& program(comm::Rank rank) {
    if (whole_) return whole_->programs[static_cast<std::size_t>(rank)];
    if (one_.rank != rank) make(rank);
    return one_.program;
  }
  /// All programs.
  [[nodiscard]] const comm::Schedule& whole() {
    if (!whole_) {
      whole_ = comm::make_schedule(algorithm_, request_);
      if (combines_own_last_) whole_ = comm::combine_own_last(*whole_);
    }
    return *whole_;
  }

 private:
  void make(comm::Rank rank) {
    one_ = comm::make_rank_schedule(algorithm_, request_, rank);
    if (combines_own_last_) one_ = comm::combine_own_last(one_);
  }

  const comm::Algorithm& algorithm_;
  comm::Request request_;
  bool combines_own_last_;
  std::optional<comm::Schedule> whole_;
  comm::RankSchedule one_;
};

double ns_of(Ticks ticks) { return static_cast<double>(ticks) / static_cast<double>(kTicksPerNs); }

/// A call's messages, a list for each of their properties, and when the ranks came and left; in ns from the first arrival.
/// @throws UsageError  they are too many to be looked at
nlohmann::ordered_json messages_json(const comm::Schedule& schedule, const comm::Simulation& result,
                                     std::span<const std::int64_t> slot_bytes,
                                     std::span<const Ticks> arrivals) {
  using Json = nlohmann::ordered_json;
  constexpr std::size_t kMost = 20000;
  const Ticks first = std::ranges::min(arrivals);
  const auto ns = [&](Ticks at) { return ns_of(at - first); };
  std::set<std::pair<comm::Rank, int>> critical;
  for (const comm::OpRef& ref : result.critical_path) critical.emplace(ref.rank, ref.op);
  // The k-th send to a rank meets the k-th receive there.
  std::map<std::pair<comm::Rank, comm::Rank>, std::vector<int>> receives;
  for (comm::Rank r = 0; r < schedule.shape.ranks; ++r) {
    const comm::Program& program = schedule.programs[static_cast<std::size_t>(r)];
    for (int i = 0; i < program.size(); ++i) {
      if (comm::is_receive(program[i].kind)) receives[{program[i].peer, r}].push_back(i);
    }
  }
  Json json = {{"from", Json::array()},     {"to", Json::array()},         {"bytes", Json::array()},
               {"begin_ns", Json::array()}, {"end_ns", Json::array()},     {"combined_ns", Json::array()},
               {"critical", Json::array()}, {"arrival_ns", Json::array()}, {"exit_ns", Json::array()}};
  std::map<std::pair<comm::Rank, comm::Rank>, std::size_t> sent;
  for (comm::Rank r = 0; r < schedule.shape.ranks; ++r) {
    const comm::Program& program = schedule.programs[static_cast<std::size_t>(r)];
    for (int i = 0; i < program.size(); ++i) {
      const comm::Op& op = program[i];
      if (op.kind != comm::OpKind::send) continue;
      if (json["from"].size() == kMost) {
        throw UsageError(
            fmt::format("--messages: more than {} in one call; what would work: fewer --ranks or "
                        "--segments",
                        kMost));
      }
      std::int64_t bytes = 0;
      for (int slot = op.blocks.first; slot < op.blocks.last; ++slot)
        bytes += slot_bytes[static_cast<std::size_t>(slot)];
      const int receive = receives.at({r, op.peer})[sent[{r, op.peer}]++];
      const comm::OpTimes& times = result.at(r, i);
      json["from"].push_back(r);
      json["to"].push_back(op.peer);
      json["bytes"].push_back(bytes);
      json["begin_ns"].push_back(ns(times.start));
      json["end_ns"].push_back(ns(times.end));
      json["combined_ns"].push_back(ns(std::max(times.end, result.at(op.peer, receive).end)));
      json["critical"].push_back(critical.contains({r, i}) ? 1 : 0);
    }
    json["arrival_ns"].push_back(ns(arrivals[static_cast<std::size_t>(r)]));
    json["exit_ns"].push_back(ns(result.exit[static_cast<std::size_t>(r)]));
  }
  return json;
}

class Simulation {
 public:
  Simulation(const SimulateOptions& options, const Settings& settings)
      : options_(options), settings_(settings) {}

  std::vector<Row> run() {
    std::vector<Row> rows;
    for (const int ranks : options_.ranks) {
      if (options_.root >= ranks)
        throw UsageError(fmt::format("no rank {} among {} as --root", options_.root, ranks));
      if (settings_.platform && ranks > settings_.platform->host_count()) {
        throw UsageError(fmt::format("{} has {} hosts; what would work: --ranks up to that",
                                     options_.platform, settings_.platform->host_count()));
      }
      for (const std::uint64_t bytes : settings_.bytes) {
        for (const comm::ArrivalPattern& pattern : settings_.patterns) {
          const std::size_t first = rows.size();
          for (const std::string& name : settings_.algorithms) add_rows(rows, name, ranks, bytes, pattern);
          compare(std::span(rows).subspan(first));
        }
      }
    }
    return rows;
  }

 private:
  static void compare(std::span<Row> rows) {
    if (rows.empty()) return;
    const double best = std::ranges::min_element(rows, {}, &Row::mean_run_ns)->mean_run_ns();
    for (Row& row : rows) row.over_best = best > 0 ? row.mean_run_ns() / best : 1;
  }

  void add_rows(std::vector<Row>& rows, const std::string& name, int ranks, std::uint64_t bytes,
                const comm::ArrivalPattern& pattern) const {
    if (is_uni_greedy(name)) {
      rows.push_back(by_uni_greedy(name == kUniGreedyUneven, ranks, bytes, pattern));
      return;
    }
    if (is_closed_form(name)) {
      for (const int segments : settings_.segments)
        rows.push_back(by_formula(name, ranks, bytes, pattern, segments));
      return;
    }
    const comm::Choice choice = comm::choose(settings_.operation, name, ranks, bytes, options_.ordered);
    const auto simulated = [&](int segments) {
      return simulate(choice, name, ranks, bytes, pattern, segments);
    };
    switch (choice.algorithm->segmentation) {
      case comm::Segmentation::whole:
        rows.push_back(simulated(1));
        return;
      case comm::Segmentation::head_and_rest:
        rows.push_back(simulated(2));
        return;
      case comm::Segmentation::chunks: {
        const std::size_t chunk = comm::Options{}.chunk_bytes;
        rows.push_back(simulated(
            static_cast<int>(std::max<std::size_t>(1, (block_bytes(ranks, bytes) + chunk - 1) / chunk))));
        return;
      }
      case comm::Segmentation::even:
        break;
    }
    if (choice.segments > 0) {
      rows.push_back(simulated(choice.segments));
      return;
    }
    for (const int segments : settings_.segments) {
      rows.push_back(segments == kBestSegments ? best_of(simulated, bytes)
                     : segments == kChosenSegments
                         ? simulated(chosen_segments(*choice.algorithm, ranks, bytes))
                         : simulated(segments));
    }
  }

  /// Those of a call that knows these links.
  [[nodiscard]] comm::Options call_options() const {
    comm::Options options;
    options.link = {.alpha_ns = ns_of(settings_.machine.alpha),
                    .beta_ns_per_byte = ns_of(settings_.machine.beta),
                    .gamma_ns_per_byte = ns_of(settings_.machine.gamma)};
    if (settings_.platform) options.link.latency_ns = settings_.platform->link().latency_ns;
    return options;
  }

  [[nodiscard]] int chosen_segments(const comm::Algorithm& algorithm, int ranks, std::uint64_t bytes) const {
    return comm::select_segments(algorithm, ranks, block_bytes(ranks, bytes), call_options());
  }

  [[nodiscard]] Row by_formula(const std::string& name, int ranks, std::uint64_t bytes,
                               const comm::ArrivalPattern& pattern, int segments) const {
    const comm::oracles::Reduction machine{.p = ranks,
                                           .alpha = settings_.machine.alpha,
                                           .beta = settings_.machine.beta,
                                           .gamma = settings_.machine.gamma};
    const auto m = static_cast<std::int64_t>(bytes);
    const auto time = [&](int q) {
      return closed_form(name, settings_.machine.duplex, machine, (m + q - 1) / q, q);
    };
    int best = std::max(segments, 1);
    const auto most = static_cast<int>(std::clamp<std::int64_t>(m, 1, options_.most_segments));
    for (int q = 2; segments <= 0 && q <= most; ++q) best = time(q) < time(best) ? q : best;
    return computed(name, ranks, bytes, pattern, best, time(best));
  }

  /// The best way to cut the vector for uni-greedy (GRD section VIII): into segments of ceil(m/q) bytes, of which the last may be
  /// smaller, or in any of 2^(m-1) ways.
  [[nodiscard]] Row by_uni_greedy(bool uneven, int ranks, std::uint64_t bytes,
                                  const comm::ArrivalPattern& pattern) const {
    if (uneven && bytes > kMostBytesUneven) {
      throw UsageError(
          fmt::format("{}: {} bytes can be cut in too many ways; what would work: --bytes up to {}",
                      kUniGreedyUneven, bytes, kMostBytesUneven));
    }
    const comm::Machine& machine = settings_.machine;
    std::vector<Ticks> message;
    std::vector<Ticks> combining;
    std::optional<Ticks> least;
    std::size_t best = 1;
    const auto add = [&](std::uint64_t size) {
      message.push_back(machine.alpha + machine.beta * static_cast<Ticks>(size));
      combining.push_back(machine.gamma * static_cast<Ticks>(size));
    };
    const auto take = [&] {
      const Ticks time = comm::plan_uni_greedy(ranks, options_.root, message, combining, [](auto) {});
      if (!least || time < *least) best = message.size();
      least = std::min(least.value_or(time), time);
      message.clear();
      combining.clear();
    };
    const std::uint64_t m = std::max<std::uint64_t>(bytes, 1);
    const std::uint64_t most = std::min(m, static_cast<std::uint64_t>(options_.most_segments));
    for (std::uint64_t q = 1; !uneven && q <= most; ++q) {
      const std::uint64_t size = (m + q - 1) / q;
      for (std::uint64_t left = bytes; left > 0; left -= std::min(left, size)) add(std::min(left, size));
      take();
    }
    for (std::uint64_t cuts = 0; uneven && cuts < std::uint64_t{1} << (m - 1); ++cuts) {
      std::uint64_t size = std::min<std::uint64_t>(bytes, 1);
      for (std::uint64_t i = 1; i < m; ++i) {
        if ((cuts >> (i - 1) & 1U) != 0) {
          add(size);
          size = 0;
        }
        ++size;
      }
      add(size);
      take();
    }
    return computed(std::string(uneven ? kUniGreedyUneven : kUniGreedyEqual), ranks, bytes, pattern,
                    static_cast<int>(best), *least);
  }

  /// A row whose time is the same in each call.
  [[nodiscard]] Row computed(const std::string& name, int ranks, std::uint64_t bytes,
                             const comm::ArrivalPattern& pattern, int segments, Ticks time) const {
    const double ns = static_cast<double>(time) / static_cast<double>(kTicksPerNs);
    const auto calls = static_cast<std::size_t>(options_.iterations);
    return {.algorithm = name,
            .ranks = ranks,
            .bytes = bytes,
            .pattern = pattern.spec(),
            .segments = segments,
            .run_ns = std::vector<double>(calls, ns),
            .elapsed_ns = std::vector<double>(calls, ns)};
  }

  /// Over numbers of segments that grow by an eighth at a time, until it has become a third slower than the best.
  template <typename Simulated>
  [[nodiscard]] Row best_of(Simulated simulated, std::uint64_t bytes) const {
    const auto most = static_cast<int>(
        std::clamp<std::uint64_t>(bytes, 1, static_cast<std::uint64_t>(options_.most_segments)));
    Row best = simulated(1);
    for (int segments = 2; segments <= most; segments = std::max(segments + 1, segments + segments / 8)) {
      Row row = simulated(segments);
      if (row.mean_run_ns() < best.mean_run_ns())
        best = std::move(row);
      else if (row.mean_run_ns() > 4.0 / 3 * best.mean_run_ns() && segments > 8)
        break;
    }
    return best;
  }

  [[nodiscard]] std::size_t block_bytes(int ranks, std::uint64_t bytes) const {
    return comm::moves_per_rank(settings_.operation) ? bytes / static_cast<std::uint64_t>(ranks) : bytes;
  }

  [[nodiscard]] std::vector<std::int64_t> arrivals_ns(const comm::ArrivalPattern& pattern, int iteration,
                                                      int ranks) const {
    std::vector<std::int64_t> result;
    result.reserve(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) result.push_back(pattern.delay_ns(iteration, r, ranks, options_.root));
    return result;
  }

  /// Arrivals as they were predicted, with normally distributed errors: the same for all algorithms.
  [[nodiscard]] std::vector<std::int64_t> predicted_ns(std::vector<std::int64_t> arrival_ns,
                                                       int iteration) const {
    if (settings_.prediction_error_ns == 0) return arrival_ns;
    std::seed_seq seed{options_.seed, static_cast<std::uint64_t>(iteration)};
    std::mt19937_64 random(seed);
    std::normal_distribution<double> error(0, static_cast<double>(settings_.prediction_error_ns));
    for (std::int64_t& arrival : arrival_ns) arrival += std::llround(error(random));
    return arrival_ns;
  }

  [[nodiscard]] std::vector<std::int64_t> sizes(const comm::Algorithm& algorithm, const comm::Shape& shape,
                                                std::size_t bytes) const {
    const bool head = algorithm.segmentation == comm::Segmentation::head_and_rest;
    const std::vector<std::size_t> cuts =
        comm::cut(bytes, shape.segments, 1, head ? comm::Options{}.head_bytes : 0);
    std::vector<std::int64_t> result(static_cast<std::size_t>(shape.slots()));
    for (int slot = 0; slot < shape.slots(); ++slot) {
      const auto s = static_cast<std::size_t>(shape.block_of(slot) % shape.segments);
      result[static_cast<std::size_t>(slot)] = static_cast<std::int64_t>(cuts[s + 1] - cuts[s]);
    }
    return result;
  }

  [[nodiscard]] Row simulate(const comm::Choice& choice, const std::string& name, int ranks,
                             std::uint64_t bytes, const comm::ArrivalPattern& pattern, int segments) const {
    const comm::Algorithm& algorithm = *choice.algorithm;
    const comm::Machine& machine = settings_.machine;
    const std::size_t block = block_bytes(ranks, bytes);
    Row row{
        .algorithm = name, .ranks = ranks, .bytes = bytes, .pattern = pattern.spec(), .segments = segments};
    std::optional<Plan> plan;
    std::vector<std::int64_t> slot_bytes;
    for (int iteration = 0; iteration < options_.iterations; ++iteration) {
      std::vector<Ticks> arrivals = arrivals_ns(pattern, iteration, ranks);
      if (!plan || algorithm.uses_arrival) {
        const auto segment_ns = [&](Ticks per_byte) {
          return per_byte * static_cast<std::int64_t>(block) / segments / kTicksPerNs;
        };
        const std::int64_t round = machine.alpha / kTicksPerNs + segment_ns(machine.beta + machine.gamma);
        // Only where combining keeps the message's ends busy is it part of the plan.
        const bool beside = settings_.platform || machine.combining == comm::Combining::overlapped;
        plan.emplace(choice, comm::Request{.operation = settings_.operation,
                                           .ranks = ranks,
                                           .root = options_.root,
                                           .segments = segments,
                                           .ordered = options_.ordered,
                                           .arrival_ns = predicted_ns(arrivals, iteration),
                                           .round_ns = round,
                                           .combine_ns = beside ? 0 : segment_ns(machine.gamma)});
        slot_bytes = sizes(algorithm, plan->shape(), block);
      }
      const comm::Conduct conduct{
          .window = settings_.window.value_or(comm::select_window(plan->shape(), block, call_options())),
          .early = choice.background ? comm::Early::background : comm::Early::nothing};
      if (settings_.platform) {
        const comm::PlatformRun result =
            settings_.platform->replay(plan->whole(), slot_bytes, arrivals, options_.gamma_ns, conduct);
        row.run_ns.push_back(result.run_ns);
        row.elapsed_ns.push_back(result.elapsed_ns);
        continue;
      }
      for (Ticks& arrival : arrivals) arrival *= kTicksPerNs;
      const comm::Simulation result = comm::simulate(
          plan->shape(), [&](comm::Rank r) -> const comm::Program& { return plan->program(r); }, slot_bytes,
          arrivals, machine, conduct);
      row.run_ns.push_back(ns_of(result.run_time));
      row.elapsed_ns.push_back(result.elapsed_mean() / static_cast<double>(kTicksPerNs));
      row.after_last_ns.push_back(ns_of(std::ranges::max(result.exit) - std::ranges::max(arrivals)));
      if (options_.messages && iteration == 0) {
        row.messages = messages_json(plan->whole(), result, slot_bytes, arrivals);
      }
    }
    row.segments = plan->shape().segments;
    return row;
  }

  const SimulateOptions& options_;
  const Settings& settings_;
};

std::string table(const std::vector<Row>& rows) {
  report::TextTable table(
      {"ranks", "bytes", "arrivals", "algorithm", "segments", "run us", "elapsed us", "over best"});
  for (const Row& row : rows) {
    table.add({std::to_string(row.ranks), report::byte_count_text(row.bytes), row.pattern, row.algorithm,
               std::to_string(row.segments), fmt::format("{:.3f}", row.mean_run_ns() / 1e3),
               fmt::format("{:.3f}", Row::mean(row.elapsed_ns) / 1e3), fmt::format("{:.3f}", row.over_best)});
  }
  return table.text();
}

std::string csv(const Settings& settings, const std::vector<Row>& rows) {
  report::TextTable table({"op", "algorithm", "ranks", "bytes", "pattern", "segments", "iterations", "run_ns",
                           "run_ns_min", "run_ns_max", "elapsed_ns", "over_best"});
  for (const Row& row : rows) {
    const auto [least, most] = std::ranges::minmax(row.run_ns);
    table.add({std::string(comm::to_string(settings.operation)), row.algorithm, std::to_string(row.ranks),
               std::to_string(row.bytes), row.pattern, std::to_string(row.segments),
               std::to_string(row.run_ns.size()), fmt::format("{}", row.mean_run_ns()),
               fmt::format("{}", least), fmt::format("{}", most),
               fmt::format("{}", Row::mean(row.elapsed_ns)), fmt::format("{}", row.over_best)});
  }
  return table.csv();
}

/// What the links are like.
nlohmann::ordered_json links_json(const SimulateOptions& options, const Settings& settings) {
  if (settings.platform) {
    const comm::LinkModel link = settings.platform->link();
    return {{"platform", std::filesystem::path(options.platform).filename().string()},
            {"network", options.network},
            {"alpha", fmt::format("{:g}us", link.alpha_ns * 1e-3)},
            {"beta_ns_per_byte", link.beta_ns_per_byte},
            {"gamma_ns_per_byte", options.gamma_ns}};
  }
  return {{"alpha", options.alpha},
          {"beta_ns_per_byte", options.beta_ns},
          {"gamma_ns_per_byte", options.gamma_ns},
          {"ports", options.ports},
          {"combining", options.combining}};
}

nlohmann::ordered_json document(const SimulateOptions& options, const Settings& settings,
                                const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    const auto [least, most] = std::ranges::minmax(row.run_ns);
    list.push_back({{"op", comm::to_string(settings.operation)},
                    {"algorithm", row.algorithm},
                    {"ranks", row.ranks},
                    {"bytes", row.bytes},
                    {"pattern", row.pattern},
                    {"segments", row.segments},
                    {"iterations", row.run_ns.size()},
                    {"run_ns", {{"mean", row.mean_run_ns()}, {"min", least}, {"max", most}}},
                    {"elapsed_ns", Row::mean(row.elapsed_ns)},
                    {"over_best", row.over_best}});
    if (!row.after_last_ns.empty()) {
      const auto [soonest, latest] = std::ranges::minmax(row.after_last_ns);
      list.back()["after_last_ns"] = {
          {"mean", Row::mean(row.after_last_ns)}, {"min", soonest}, {"max", latest}};
    }
    if (!row.messages.is_null()) list.back()["messages"] = row.messages;
  }
  nlohmann::ordered_json all = {{"op", options.operation},
                                {"root", options.root},
                                {"ordered", options.ordered},
                                {"seed", options.seed}};
  all.update(links_json(options, settings));
  all["window"] = options.window;
  all["prediction_error"] = options.prediction_error;
  return {{"papfft", kVersion}, {"settings", all}, {"rows", list}};
}

int run_simulate(const SimulateOptions& options) {
  const Settings settings(options);
  check_outputs({options.json, options.csv});
  const std::vector<Row> rows = Simulation(options, settings).run();
  if (!options.quiet) fmt::print("{}", table(rows));
  if (!options.json.empty()) write_text(options.json, document(options, settings, rows).dump(2) + "\n");
  write_text(options.csv, options.csv.empty() ? "" : csv(settings, rows));
  return kOk;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "run schedules in virtual time, under any arrival pattern");
  command->add_option("--op", options->operation, "operation: reduce, scatter, gather, bcast, ...")
      ->capture_default_str();
  command
      ->add_option(
          "--algorithms", options->algorithms,
          "names from 'papfft algorithms', with b before them for the background, /N behind them for N "
          "segments; auto; all; table-bnom, "
          "-chain, -binary (with two-way ports also -rab, -bi-greedy): by the formulas of the greedy "
          "reduction paper; table-uni-greedy, -uni-greedy-uneven: by its algorithm for one-way ports, with "
          "the best "
          "equal segments or the best of all up to 16 bytes")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--ranks", options->ranks, "numbers of ranks")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--bytes", options->bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--segments", options->segments,
                   "numbers of segments; best: the fastest that is found; auto: as a call chooses; only for "
                   "algorithms "
                   "that leave the choice")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--most-segments", options->most_segments, "how far 'best' looks")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--arrivals", options->arrivals, "arrival patterns, see below")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--iterations", options->iterations,
                   "calls per case, each with arrivals of its own; means are shown")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the arrivals")->capture_default_str();
  command->add_option("--root", options->root, "rank")->check(count_from_0())->capture_default_str();
  command->add_flag("--ordered", options->ordered, "for an operation that is not commutative");
  command->add_option("--alpha", options->alpha, "time of a message without data")->capture_default_str();
  command->add_option("--beta", options->beta_ns, "time to move a byte, in ns (to the ps)")
      ->check(CLI::Range(0.0, 1e6))
      ->check(finite_number())
      ->capture_default_str();
  command->add_option("--gamma", options->gamma_ns, "time to combine a byte, in ns (to the ps)")
      ->check(CLI::Range(0.0, 1e6))
      ->check(finite_number())
      ->capture_default_str();
  command
      ->add_option(
          "--ports", options->ports,
          "bi: a rank sends a message and receives one at a time; uni: it takes part in one at a time")
      ->check(CLI::IsMember({"bi", "uni"}))
      ->capture_default_str();
  command
      ->add_option("--combining", options->combining,
                   "overlapped: beside the messages; exclusive: a rank that combines does nothing else; "
                   "in-message: so does "
                   "the sender")
      ->check(CLI::IsMember({"overlapped", "exclusive", "in-message"}))
      ->capture_default_str();
  command
      ->add_option(
          "--window", options->window,
          "messages that a rank may have under way each way, or sends:receives; auto: as many as in a call")
      ->capture_default_str();
  command
      ->add_option("--prediction-error", options->prediction_error,
                   "standard deviation of the arrivals that algorithms plan by from the true ones")
      ->capture_default_str();
  CLI::Option* platform =
      command
          ->add_option(
              "--platform", options->platform,
              "a platform file of SimGrid, whose links take the place of one-port ones: a path, or one of "
              "data/platforms by its name")
          ->type_name("FILE");
  for (const char* name : {"--alpha", "--beta", "--ports", "--combining"}) {
    command->get_option(name)->excludes(platform);
  }
  command
      ->add_option("--network", options->network,
                   "how SimGrid takes a platform: plain, latency + bytes / rate (its CM02, without "
                   "acknowledgements); tcp, fitted to TCP (its LV08)")
      ->check(CLI::IsMember({"plain", "tcp"}))
      ->needs(platform)
      ->capture_default_str();
  CLI::Option* json = command->add_option("--json", options->json, "write the rows as JSON to this file");
  command
      ->add_flag("--messages", options->messages,
                 "write the messages of each row's first call into the JSON too: papfft report then draws "
                 "them, with "
                 "the critical path")
      ->needs(json)
      ->excludes(platform);
  command->add_option("--csv", options->csv, "write the rows as CSV to this file");
  command->add_flag("--quiet", options->quiet, "print no table");
  command->footer(
      "Examples:\n"
      "  papfft simulate --algorithms papbi,bi-greedy,bnom --ranks 8,48 --bytes 8M --arrivals "
      "none,uniform:50ms "
      "--iterations 20\n"
      "  papfft simulate --algorithms papbi,bpapbi --ranks 16 --bytes 2M --arrivals root-late:20ms\n"
      "  papfft simulate --algorithms papbi,bi-greedy --ranks 8 --bytes 2M --arrivals uniform:20ms "
      "--prediction-error 1ms\n"
      "  papfft simulate --algorithms papbi --ranks 8 --bytes 2M --segments 16 --arrivals uniform:5ms "
      "--messages --json "
      "s.json && papfft report s.json -o s.html\n"
      "  papfft simulate --algorithms bnom,chain,binary,uni-greedy --ranks 64 --bytes 16,64,512,4K --ports "
      "uni "
      "--combining exclusive --alpha 10ns --beta 1 --gamma 0 --window 1\n"
      "  papfft simulate --op gather --algorithms lin,credit,bcredit --ranks 48 --bytes 8M --arrivals "
      "uniform:50ms\n"
      "  papfft simulate --algorithms bnom,binary --ranks 100000 --bytes 64K --segments 1,4\n"
      "  papfft simulate --op allreduce --ranks 64 --bytes 1M --platform fat-tree-10gbps.xml\n"
      "comm/model/README.md has the commands for the figures of the greedy reduction paper, and what a "
      "platform "
      "changes. Rank r is on the platform's r-th host; algorithms plan by what a message between the first "
      "two "
      "costs.\n"
      "Patterns:\n" +
      comm::known_arrival_patterns() +
      "\nAlgorithms that plan by arrival times know them, up to --prediction-error. Run time: from the first "
      "arrival "
      "to the last exit; elapsed: mean over ranks of exit - arrival; over best: run time / that of the "
      "fastest row of the "
      "same ranks, bytes and arrivals.\n"
      "Exit codes: 0 ok, 64 usage or SimGrid is not installed, 65 the platform file cannot be used, 70 out "
      "of memory or a "
      "fault, 73 cannot write.");
  command->callback([&action, options] { action = [options] { return run_simulate(*options); }; });
}

}  // namespace papfft::app
