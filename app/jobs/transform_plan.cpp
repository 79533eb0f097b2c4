// SPDX-License-Identifier: MIT
#include "app/jobs/transform_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/cli/exit_code.hpp"
#include "app/io/placed_file.hpp"
#include "app/io/writer.hpp"
#include "app/jobs/distributed_output.hpp"
#include "app/run/memory.hpp"
#include "app/run/run_report.hpp"
#include "comm/choose/select.hpp"
#include "fft/engines/shared_transform.hpp"

namespace papfft::app {

namespace {

constexpr const char* kEngines[] = {"alone", "dif", "stream", "farm", "slices"};

/// Planning by arrivals and beginning early need calls in turn; MPI's own collectives cannot be started without waiting.
bool can_overlap(comm::Operation operation, const std::string& name) {
  if (name == "auto") return true;
  const comm::Choice choice = comm::choose(operation, name, 2, 0, false);
  return choice.algorithm != nullptr && !choice.background && !choice.algorithm->uses_arrival;
}

std::string in_ms(double seconds) { return fmt::format("{:.3g}", seconds * 1e3); }

/// The most ranks, but fewer than these, that can share a vector.
int fewer_ranks(std::uint64_t length, int ranks) {
  int fewer = ranks - 1;
  while (fewer > 1 && !fft::can_share(length, false, fewer)) --fewer;
  return fewer;
}

/// What would work where the ranks cannot share a vector, best first.
std::string ways_out(const TransformOptions& options, std::uint64_t length, int ranks) {
  const bool is_bound = options.distributed() || options.parts;
  const char* other_engine = is_bound                     ? ""
                             : options.read == "parallel" ? "--read root --engine auto, "
                                                          : "--engine auto, ";
  const int fewer = fewer_ranks(length, ranks);
  return other_engine + (fewer > 1 ? fmt::format("{} ranks", fewer) : "one rank");
}

void check_distributed(const TransformOptions& options) {
  const std::string flag = options.everywhere ? "--everywhere"
                           : options.parts    ? "--parts"
                                              : "--leave-distributed";
  if (options.parts && options.engine != "auto" && options.engine != "slices") {
    throw UsageError(flag + " is for engine slices; what would work: --engine slices");
  }
  if (options.engine != "auto" && options.engine != "dif" && options.engine != "slices") {
    throw UsageError(fmt::format(
        "{} is for engine{}, by which each rank has a share of every vector; what would work: --engine dif",
        flag, options.everywhere ? " dif" : "s dif and slices"));
  }
  for (const std::string& path : options.io.out) {
    if (path == "-" || path.starts_with("/dev/") || io::is_picture(path)) {
      throw UsageError(
          fmt::format("{}: {} writes a file per rank; what would work: -o spectrum.npy", path, flag));
    }
    if (options.job.json == path_of_index(path)) {
      throw UsageError(
          fmt::format("--json {}: {} writes there which file holds what; what would work: "
                      "another name",
                      options.job.json, flag));
    }
  }
}

/// "one host with 3 ranks of 1 thread"; "8 hosts with 4 ranks of 1 thread each"; "5 hosts with 1,2,3,4,2 ranks of 1 thread".
std::string spread_text(const fft::SharedWork& work) {
  const std::vector<int>& ranks = work.ranks_per_host;
  const bool are_even = std::ranges::all_of(ranks, [&](int n) { return n == ranks.front(); });
  return fmt::format("{} with {} of {}{}",
                     ranks.size() == 1 ? "one host" : fmt::format("{} hosts", ranks.size()),
                     are_even ? counted(static_cast<std::uint64_t>(ranks.front()), "rank")
                              : fmt::format("{} ranks", fmt::join(ranks, ",")),
                     counted(static_cast<std::uint64_t>(work.threads), "thread"),
                     are_even && ranks.size() > 1 ? " each" : "");
}

/// Whether the cores would be used better by one rank per host with threads, or by several ranks without.
std::string advice(const fft::SharedWork& work, double vector_s) {
  const auto other = fft::faster_layout(work, vector_s);
  if (!other) return "";
  return fmt::format("; {} ms by {}", in_ms(other->vector_s),
                     !other->one_rank_per_host ? "a rank for each thread, without threads"
                     : other->threads == 1
                         ? std::string("one rank per host")
                         : fmt::format("one rank per host with {} threads", other->threads));
}

EngineChoice by_model(const TransformPlan& plan, const fft::SharedWork& work, bool can_split) {
  const fft::SharingEstimate model = fft::estimate_sharing(work);
  const fft::Sharing best = fft::choose_sharing(work, model, can_split);
  const double best_s = fft::seconds_of(best, model);
  return {
      .engine = best == fft::Sharing::alone    ? Engine::alone
                : best == fft::Sharing::stream ? Engine::stream
                                               : Engine::farm,
      .why = fmt::format(
          "there are {} vectors; model ({}): {}{} ms per vector by farm{}, {} by one process alone{}",
          plan.rows == kUnknownRows ? "many" : "several", spread_text(work),
          can_split ? in_ms(model.stream_s) + " ms per vector by stream, " : "", in_ms(model.farm_s),
          model.farm_s < 0.95 * best_s ? " (for which there are too few vectors or too little memory)" : "",
          in_ms(model.alone_s), advice(work, best_s))};
}

/// By --engine auto.
EngineChoice best_engine(const TransformOptions& options, const TransformPlan& plan,
                         const fft::SharedWork& work, bool can_split) {
  if (work.ranks() == 1) return {.engine = Engine::alone, .why = "there is one rank alone"};
  if (!plan.many()) {
    if (can_split) return {.engine = Engine::dif, .why = "there is one vector"};
    return {.engine = Engine::alone,
            .why = fmt::format("{} ranks do not divide {} samples", work.ranks(), plan.length)};
  }
  const JobOptions& job = options.job;
  if (job.scatter == "auto" && job.gather == "auto") return by_model(plan, work, can_split);
  if (!can_split) return {.engine = Engine::farm, .why = "the ranks do not divide the length"};
  if (!can_overlap(comm::Operation::scatter, job.scatter) ||
      !can_overlap(comm::Operation::gather, job.gather)) {
    return {.engine = Engine::dif, .why = "the named algorithms need one call after another"};
  }
  return {.engine = Engine::stream, .why = "the named algorithms move shares of vectors"};
}

}  // namespace

const char* to_string(Engine engine) noexcept { return kEngines[static_cast<int>(engine)]; }

std::vector<std::string> engine_words() {
  std::vector<std::string> words = {"auto"};
  words.insert(words.end(), std::begin(kEngines), std::end(kEngines));
  return words;
}

std::string way_without_slices(const TransformOptions& options) {
  if (options.engine == "slices") return "the same without --engine slices";
  return options.parts ? "the same without --parts" : "--read root";
}

void check_transform(const TransformOptions& options) {
  if (options.full && (options.inverse || options.real)) {
    throw UsageError("--full is for forward transforms without --real");
  }
  if (options.distributed() || options.parts) check_distributed(options);
  if (options.read == "parallel" && options.engine != "auto" && options.engine != "slices") {
    throw UsageError("--read parallel is for engine slices, by which each rank reads its part of the input");
  }
  if (!options.asks_for_slices()) return;
  if (options.read == "root") {
    throw UsageError(
        "engine slices has each rank read its part of the input; what would work: --read parallel");
  }
  if (options.everywhere || options.resume) {
    throw UsageError(fmt::format("{} is not for engine slices; what would work: {}",
                                 options.everywhere ? "--everywhere" : "--resume",
                                 way_without_slices(options)));
  }
  for (const std::string& path : options.io.out) {
    if (io::can_place({path})) continue;
    throw UsageError(
        fmt::format("{}: engine slices writes .npy and raw files alone; what would work: -o "
                    "spectrum.npy, or {}",
                    path, way_without_slices(options)));
  }
}

bool can_share_real(const fft::SharedWork& work) {
  return work.real && fft::can_share(work.length, true, work.ranks());
}

std::optional<std::string> why_slices(const TransformOptions& options, const TransformPlan& plan,
                                      const fft::SharedWork& work, const SlicesCase& known) {
  // Below, opening the files on all hosts takes longer than the messages that are saved.
  constexpr std::uint64_t kLeastBytes = std::uint64_t{16} << 20U;
  const JobOptions& job = options.job;
  const bool is_possible = !plan.many() && options.engine == "auto" && options.read == "auto" &&
                           !options.everywhere && !options.resume && io::can_place(options.io.out) &&
                           fft::can_share(plan.length, false, work.ranks());
  if (!is_possible) return std::nullopt;
  if (known.root_bytes > known.available_bytes) {
    return fmt::format("rank 0 lacks the {} of memory that it needs for the whole vector",
                       memory_text(known.root_bytes));
  }
  // Real samples that go as complex ones would take twice the bytes.
  const bool goes_doubled = work.real && !can_share_real(work);
  const bool asked_for_others =
      job.scatter != "auto" || job.gather != "auto" || job.arrivals.delays() || goes_doubled;
  if (asked_for_others || known.vector_bytes < kLeastBytes) return std::nullopt;
  if (work.ranks() == 1 && work.real) {
    return "one process needs less memory so: samples and bins are not there at once";
  }
  if (work.ranks_per_host.size() == 1) return std::nullopt;
  return fmt::format("all ranks can read the input, and each link carries 1/{} of what rank 0's would",
                     work.ranks());
}

void check_slices(const TransformOptions& options, const TransformPlan& plan, int ranks,
                  const std::string& name) {
  if (!fft::can_share(plan.length, false, ranks)) {
    throw UsageError(fmt::format("{}: {} ranks cannot share a vector of {} samples; what would work: {}",
                                 name, ranks, plan.length, ways_out(options, plan.length, ranks)));
  }
}

double norm_factor(const TransformOptions& options, std::uint64_t length) {
  const auto n = static_cast<double>(length);
  const double forward = options.norm == "forward" ? 1 / n : options.norm == "ortho" ? 1 / std::sqrt(n) : 1;
  return options.inverse ? 1 / forward : forward;
}

int sharing_ranks(const TransformOptions& options, std::optional<std::uint64_t> length, bool real,
                  int ranks) {
  const JobOptions& job = options.job;
  // A session, which plans by arrivals and has the clock of what is recorded, is of all ranks.
  const bool needs_all = job.scatter != "auto" || job.gather != "auto" || job.arrivals.delays() ||
                         !job.record.empty() || !job.timeline.empty();
  if (!length || options.engine != "auto" || options.distributed() || needs_all) return ranks;
  if (fft::can_share(*length, false, ranks) || (real && fft::can_share(*length, true, ranks))) return ranks;
  const int fewer = fewer_ranks(*length, ranks);
  return fewer > 1 ? fewer : ranks;
}

EngineChoice choose_engine(const TransformOptions& options, const TransformPlan& plan,
                           const fft::SharedWork& work, const std::string& name) {
  const bool whole_share = fft::can_share(work.length, false, work.ranks());
  const bool real_share = can_share_real(work);
  const bool can_split = whole_share || real_share;
  EngineChoice choice;
  if (options.distributed()) {
    choice = {.engine = Engine::dif, .why = "the result stays with the ranks"};
  } else if (options.engine != "auto") {
    const auto* found = std::ranges::find(kEngines, options.engine);
    choice = {.engine = static_cast<Engine>(found - std::begin(kEngines)), .why = "as asked"};
  } else {
    choice = best_engine(options, plan, work, can_split);
  }
  const bool shares = choice.engine == Engine::dif || choice.engine == Engine::stream;
  if (shares && !(options.distributed() ? whole_share : can_split)) {
    throw UsageError(fmt::format("{}: {} ranks cannot share a vector of {} samples; what would work: {}",
                                 name, work.ranks(), work.length,
                                 ways_out(options, work.length, work.ranks())));
  }
  choice.split_real = real_share && choice.engine != Engine::alone && !options.distributed();
  return choice;
}

}  // namespace papfft::app
