// SPDX-License-Identifier: MIT
// papfft bench collective: how long collectives take when the ranks do not arrive together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/cli/number_checks.hpp"
#include "app/cli/tell.hpp"
#include "app/cli/version.hpp"
#include "app/report/bench_run.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/text_table.hpp"
#include "comm/bounds/bounds.hpp"
#include "comm/choose/select.hpp"
#include "comm/mpi/mpi_buffer.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "comm/record/arrival_pattern.hpp"
#include "comm/schedule/core/registry.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using comm::check_mpi;
using comm::Operation;
using report::summarize;

using Word = std::uint32_t;
constexpr std::size_t kReduceSegmentBytes = 32768;

// Stock non-blocking collectives, posted as soon as the rank's part does not need its own arrival.
constexpr const char* kIgather = "mpi-igather";
constexpr const char* kIscatter = "mpi-iscatter";

struct CollectiveOptions {
  /// Not watched, as programs are by default: what is watched is not left to stock MPI.
  CollectiveOptions() { job.stuck_after_s = 0; }

  JobOptions job;
  std::string operation = "gather";
  std::vector<std::string> algorithms = {"all"};
  std::vector<std::string> bytes = {"8M"};
  std::vector<std::string> delays = {"none"};
  int iterations = 30;
  int warmup = 3;
  std::string compute = "100ms";
  double edge = 0.5;
  std::string work = "sleep";
  std::uint64_t seed = 1;
  int root = 0;
  std::string counts = "regular";
  std::string type = "float";
  bool measure_link = false;
  bool calls = false;
  std::string csv;
  std::string raw;
};

bool is_posted_early(const std::string& algorithm) { return algorithm == kIgather || algorithm == kIscatter; }

/// Those whose part before the caller's arrival stock MPI can be asked to do.
bool has_early_peer(Operation operation) {
  return operation == Operation::gather || operation == Operation::scatter;
}

bool takes_counts(Operation operation) {
  return comm::traits(operation).takes_sizes;
}

/// The words of the command line, with a meaning.
struct Settings {
  Operation operation = Operation::gather;
  std::vector<std::string> algorithms;
  std::vector<std::uint64_t> bytes;
  std::vector<comm::ArrivalPattern> patterns;
  std::chrono::nanoseconds compute{0};
  Work work;

  /// @throws std::invalid_argument, UsageError
  explicit Settings(const CollectiveOptions& o)
      : operation(comm::parse_operation(o.operation)),
        compute(comm::parse_duration_ns(o.compute)),
        work(o.work) {
    if (o.counts != "regular" && !takes_counts(operation)) {
      throw UsageError("bench collective --op " + o.operation +
                       ": --counts is for allgatherv and reduce_scatter");
    }
    algorithms = {"mpi"};  // what all others are compared with
    const auto add = [&](const std::string& name) {
      if (std::ranges::find(algorithms, name) == algorithms.end()) algorithms.push_back(name);
    };
    for (const std::string& name : o.algorithms) {
      if (name == "all") {
        for (const comm::Algorithm* a : comm::algorithms()) {
          if (a->operation == operation) add(std::string(a->name));
        }
        continue;
      }
      const bool peer =
          name == (operation == Operation::gather ? kIgather : kIscatter) && has_early_peer(operation);
      if (!peer) (void)comm::choose(operation, name, 2, 0, false);
      add(name);
    }
    for (const std::string& text : o.bytes) bytes.push_back(report::parse_byte_count(text));
    for (const std::string& text : o.delays) patterns.push_back(parse_arrivals(text, o.seed));
  }
};

/// A vector of one size under one pattern.
struct Case {
  std::size_t block_bytes = 0;  ///< of one rank (the mean); the whole vector for bcast, reduce and allreduce
  std::size_t total_bytes = 0;  ///< where the whole vector is
  const comm::ArrivalPattern* pattern = nullptr;
  std::vector<std::size_t> counts = {};  ///< words of each rank's block

  [[nodiscard]] std::vector<std::size_t> bytes_of_blocks() const {
    std::vector<std::size_t> bytes = counts;
    for (std::size_t& b : bytes) b *= sizeof(Word);
    return bytes;
  }
};

/// How many words each rank's block has, of `words` in all.
/// @param kind  "regular"; "irregular", CIR Sect. 3.2: in turns 0, 1 and 2 times the mean, and the rest for the last;
///              "degenerate": all with rank 0. @throws UsageError
std::vector<std::size_t> block_counts(const std::string& kind, std::size_t words, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts(p, words / p);
  if (kind == "degenerate") {
    std::ranges::fill(counts, 0);
    counts[0] = words;
  } else if (kind == "irregular") {
    std::size_t left = words;
    for (std::size_t r = 0; r + 1 < p; ++r) {
      counts[r] = std::min(left, r % 3 * (words / p));
      left -= counts[r];
    }
    counts.back() = left;
  } else if (kind != "regular") {
    throw UsageError("no block sizes '" + kind + "' as --counts; known: regular, irregular, degenerate");
  }
  return counts;
}

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

/// The data of a call. Words depend on the call, the rank and the place, so that no old, foreign or shifted data pass.
///
/// Word i of a rank is first + step(i), whose sum over the ranks is easily told. Floats are whole numbers, so few bits that sums
/// are exact in any order.
class Data {
 public:
  /// @param is_float  what the words are, in a reduction
  Data(Operation operation, const Case& size, int ranks, int rank, int root, bool is_float)
      : row_(comm::traits(operation)),
        is_float_(is_float && comm::is_reduction(operation)),
        bits_(std::min(kMostBits,
                       kExactBits - 1 - static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))))),
        ranks_(ranks),
        rank_(rank),
        root_(root),
        block_(size.block_bytes / sizeof(Word)),
        counts_(size.counts) {
    for (const std::size_t count : counts_) {
      offsets_.push_back(all_);
      all_ += count;
    }
    const std::size_t mine = counts_.empty() ? block_ : counts_[static_cast<std::size_t>(rank)];
    const auto words = [&](comm::Holder holder) {
      if (holder == comm::Holder::root && rank != root) return std::size_t{0};
      if (!row_.is_per_rank()) return block_;
      return holder == comm::Holder::owner ? mine : all_;
    };
    recv_.resize(words(row_.after));
    if (!is_one_buffer()) send_.resize(words(row_.before));
    for (const std::size_t count : counts_) block_bytes_.push_back(count * sizeof(Word));
  }

  /// New data for the call with this number.
  void fill(std::uint64_t call) {
    call_ = call;
    if (row_.before != comm::Holder::root) {
      fill_block(send_, rank_);
    } else if (rank_ == root_ && row_.is_per_rank()) {
      for (int r = 0; r < ranks_; ++r) fill_block(block_of(send_, r), r);
    } else if (rank_ == root_) {
      fill_block(recv_, root_);
    }
  }

  [[nodiscard]] bool is_correct() const {
    if (row_.after == comm::Holder::root && rank_ != root_) return true;
    if (row_.reduces) {
      Word sum = 0;
      for (int r = 0; r < ranks_; ++r) sum += first(r);
      const bool is_block = row_.after == comm::Holder::owner;
      return holds(recv_, sum, static_cast<Word>(ranks_),
                   is_block ? offsets_[static_cast<std::size_t>(rank_)] : 0);
    }
    if (row_.after == comm::Holder::owner) return holds(recv_, first(rank_), 1);
    if (row_.before == comm::Holder::root) return holds(recv_, first(root_), 1);
    bool all = true;
    for (int r = 0; r < ranks_; ++r) all = holds(block_of(recv_, r), first(r), 1) && all;
    return all;
  }

  void call(comm::MpiSession& session, const std::string& algorithm) {
    // One of MPI's own operations, as the stock reductions know no other.
    const comm::MpiReducer sum(MPI_SUM, type());
    session.call(
        session.prepared({.operation = row_.operation,
                          .element_bytes = sizeof(Word),
                          .root = row_.is_rooted() ? root_ : 0,
                          .algorithm = algorithm,
                          .send = std::as_bytes(std::span(is_one_buffer() ? recv_ : send_)),
                          .recv = std::as_writable_bytes(std::span(recv_)),
                          .reducer = row_.reduces ? &sum : nullptr,
                          .block_bytes = row_.takes_sizes ? std::span<const std::size_t>(block_bytes_)
                                                          : std::span<const std::size_t>()}));
  }

  /// Stock MPI_Iscatter or MPI_Igather.
  void post(MPI_Comm comm, MPI_Request& request) {
    const int count = static_cast<int>(block_);
    if (row_.operation == Operation::scatter) {
      check_mpi(MPI_Iscatter(send_.data(), count, MPI_UINT32_T, recv_.data(), count, MPI_UINT32_T, root_,
                             comm, &request),
                "MPI_Iscatter");
    } else {
      check_mpi(MPI_Igather(send_.data(), count, MPI_UINT32_T, recv_.data(), count, MPI_UINT32_T, root_, comm,
                            &request),
                "MPI_Igather");
    }
  }

 private:
  static constexpr Word kStep = 0x9E3779B1U;  // odd: the words of a block differ
  static constexpr int kExactBits = 24;       // of a float's whole numbers
  static constexpr int kMostBits = 12;

  [[nodiscard]] MPI_Datatype type() const { return is_float_ ? MPI_FLOAT : MPI_UINT32_T; }

  [[nodiscard]] Word first(int rank) const {  // splitmix64's finaliser
    std::uint64_t x = call_ * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(rank) + 1;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    x ^= x >> 31U;
    return static_cast<Word>(is_float_ ? x >> (64 - bits_) : x);
  }

  /// @param ranks  how many words of this place have been added up
  [[nodiscard]] Word word(Word first, std::size_t i, Word ranks) const {
    const Word step = static_cast<Word>(i) * kStep;
    if (!is_float_) return first + step * ranks;
    return std::bit_cast<Word>(static_cast<float>(first + (step >> (32 - bits_)) * ranks));
  }

  [[nodiscard]] std::span<Word> block_of(std::vector<Word>& words, int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(words).subspan(offsets_[r], counts_[r]);
  }
  [[nodiscard]] std::span<const Word> block_of(const std::vector<Word>& words, int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(words).subspan(offsets_[r], counts_[r]);
  }

  void fill_block(std::span<Word> words, int rank) const {
    const Word start = first(rank);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(start, i, 1);
  }

  [[nodiscard]] bool holds(std::span<const Word> words, Word start, Word ranks, std::size_t begin = 0) const {
    Word wrong = 0;
    for (std::size_t i = 0; i < words.size(); ++i) wrong |= words[i] ^ word(start, begin + i, ranks);
    return wrong == 0;
  }

  /// The root's input is where everybody's result is: a broadcast.
  [[nodiscard]] bool is_one_buffer() const {
    return row_.before == comm::Holder::root && !row_.is_per_rank();
  }

  const comm::OperationTraits& row_;
  bool is_float_;
  int bits_;  // of a float word's first and of its step
  int ranks_;
  int rank_;
  int root_;
  std::size_t block_;
  std::vector<std::size_t> counts_;  // of the ranks' blocks, where the operation has any
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> block_bytes_;  // the same, in bytes
  std::size_t all_ = 0;
  std::uint64_t call_ = 0;
  std::vector<Word> send_;
  std::vector<Word> recv_;
};

/// A call of which the least time is asked.
struct Bounded {
  const Case& size;
  std::span<const std::int64_t> arrival_ns;
  int root;
  double beta_ns_per_byte;
};

std::int64_t scatter_bound_ns(const Bounded& c) {
  return comm::bound_scatter_ns(c.arrival_ns, c.root, c.size.block_bytes, c.beta_ns_per_byte);
}

std::int64_t gather_bound_ns(const Bounded& c) {
  return comm::bound_gather_ns(c.arrival_ns, c.root, c.size.block_bytes, c.beta_ns_per_byte);
}

std::int64_t bcast_bound_ns(const Bounded& c) {
  const auto [least, most] = std::ranges::minmax(c.arrival_ns);
  const std::int64_t sent_ns = c.arrival_ns[static_cast<std::size_t>(c.root)] +
                               std::llround(c.beta_ns_per_byte * static_cast<double>(c.size.block_bytes));
  return std::max(sent_ns, most) - least;
}

std::int64_t reduce_bound_ns(const Bounded& c) {
  const std::size_t segment = std::clamp<std::size_t>(c.size.block_bytes, 1, kReduceSegmentBytes);
  const auto segments =
      static_cast<int>(std::max<std::size_t>(1, (c.size.block_bytes + segment - 1) / segment));
  return comm::bound_reduce_ns(c.arrival_ns, c.root, segments,
                               std::llround(c.beta_ns_per_byte * static_cast<double>(segment)));
}

std::int64_t allgather_bound_ns(const Bounded& c) {
  return comm::bound_allgather_ns(c.arrival_ns, c.size.bytes_of_blocks(), c.beta_ns_per_byte);
}

std::int64_t allreduce_bound_ns(const Bounded& c) {
  return comm::bound_allreduce_ns(c.arrival_ns, c.size.block_bytes, c.beta_ns_per_byte);
}

std::int64_t reduce_scatter_bound_ns(const Bounded& c) {
  return comm::bound_reduce_scatter_ns(c.arrival_ns, c.size.bytes_of_blocks(), c.beta_ns_per_byte);
}

/// In the order of the operations; nullptr: nobody knows a bound.
constexpr auto kBounds = [] {
  std::array<std::int64_t (*)(const Bounded&), comm::kOperations.size()> bounds{};
  const auto of = [&](Operation operation) -> auto& {
    return bounds.at(static_cast<std::size_t>(operation));
  };
  of(Operation::scatter) = scatter_bound_ns;
  of(Operation::gather) = gather_bound_ns;
  of(Operation::bcast) = bcast_bound_ns;
  of(Operation::reduce) = reduce_bound_ns;
  of(Operation::allgather) = allgather_bound_ns;
  of(Operation::allgatherv) = allgather_bound_ns;
  of(Operation::allreduce) = allreduce_bound_ns;
  of(Operation::reduce_scatter) = reduce_scatter_bound_ns;
  return bounds;
}();

/// What the calls of one algorithm in one case were like, at rank 0; times in ms.
struct Row {
  std::string algorithm;
  Case size;
  std::vector<double> run;
  std::vector<double> elapsed;
  std::vector<double> after_last;  ///< from the last arrival to the last exit
  std::vector<double> bound;
  std::vector<double> efficiency;
  std::vector<double> imbalance;
  std::vector<double> prediction_error;
  std::vector<CallRecord> calls;  ///< of all ranks, call after call, if wanted
  double first = -1;
  int planned = 0;      ///< calls
  int begun_early = 0;  ///< calls of which some rank had begun before it came
  double thread_share = 0;
  int segments = 0;  ///< 0: not cut by us
  bool correct = true;
};

std::string optional_figure(const std::vector<double>& values) {
  return values.empty() ? "-" : figure(report::median(values));
}

class CollectiveBench {
 public:
  CollectiveBench(Job& job, const CollectiveOptions& options, const Settings& settings)
      : job_(job),
        options_(options),
        settings_(settings),
        session_(MPI_COMM_WORLD, options.job.to_comm_options(), comm::SessionOptions{.root = options.root}),
        raw_({"op", "algorithm", "bytes", "pattern", "iteration", "warmup", "rank", "arrival_ns", "exit_ns",
              "prediction_error_ns", "planned", "begun_early", "correct"}) {}

  void run() {
    link_ = session_.measure_link(rate_probe(options_.root));
    if (options_.measure_link) session_.use_link(session_.measure_link());
    Progress progress = options_.job.make_progress(job_.is_root(), "bench collective");
    const int rounds = options_.warmup + options_.iterations;
    const std::size_t total =
        settings_.bytes.size() * settings_.patterns.size() * static_cast<std::size_t>(rounds);
    std::size_t done = 0;
    for (const std::uint64_t bytes : settings_.bytes) {
      for (const comm::ArrivalPattern& pattern : settings_.patterns) {
        const Case size = make_case(bytes, pattern);
        const std::size_t first_row = rows_.size();
        for (const std::string& algorithm : settings_.algorithms) {
          rows_.emplace_back();
          rows_.back().algorithm = algorithm;
          rows_.back().size = size;
        }
        Data data(settings_.operation, size, job_.size(), job_.rank(), options_.root,
                  options_.type == "float");
        for (int round = 0; round < rounds; ++round) {
          for (std::size_t a = 0; a < settings_.algorithms.size(); ++a) {
            const CallRecord mine = call(data, pattern, settings_.algorithms[a], round);
            const std::vector<CallRecord> all = comm_.to_root(std::span(&mine, 1));
            if (job_.is_root()) add(rows_[first_row + a], all, round);
          }
          progress.show(++done, total);
        }
      }
    }
    link_after_ = session_.measure_link(rate_probe(options_.root));
    session_.close();
    job_.at_root([&] {
      write();
      if (!std::ranges::all_of(rows_, &Row::correct)) throw Quit{kInternal};
    });
  }

 private:
  [[nodiscard]] Case make_case(std::uint64_t bytes, const comm::ArrivalPattern& pattern) const {
    if (!comm::moves_per_rank(settings_.operation)) {
      const std::size_t whole = bytes / sizeof(Word) * sizeof(Word);
      return {.block_bytes = whole, .total_bytes = whole, .pattern = &pattern};
    }
    const auto ranks = static_cast<std::size_t>(job_.size());
    Case size{.pattern = &pattern,
              .counts = block_counts(options_.counts, bytes / sizeof(Word), job_.size())};
    for (const std::size_t block : size.bytes_of_blocks()) size.total_bytes += block;
    size.block_bytes = size.total_bytes / ranks;
    return size;
  }

  /// New data, barriers, the compute phase with its delay and edge, the operation, the check.
  CallRecord call(Data& data, const comm::ArrivalPattern& pattern, const std::string& algorithm, int round) {
    using std::chrono::nanoseconds;
    const nanoseconds total =
        settings_.compute + nanoseconds(pattern.delay_ns(round, job_.rank(), job_.size(), options_.root));
    const nanoseconds before_edge(std::llround(static_cast<double>(total.count()) * options_.edge));
    const bool stock = is_posted_early(algorithm);
    // The part that does not need its caller: a gather's root, a scatter's leaves.
    const bool at_once = (settings_.operation == Operation::gather) == (job_.rank() == options_.root);
    MPI_Request request = MPI_REQUEST_NULL;
    const comm::SessionStatistics before = session_.statistics();
    data.fill(++calls_);
    comm_.double_barrier();

    if (stock) {
      if (at_once) data.post(comm_.get(), request);
      settings_.work.run_for(before_edge);
      int done = 0;
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      settings_.work.run_for(total - before_edge);
    } else {
      session_.processing_start();
      settings_.work.run_for(before_edge);
      session_.edge(options_.edge);
      settings_.work.run_for(total - before_edge);
      session_.processing_end();
    }
    CallRecord record;
    call_watch_.begins(algorithm);
    record.arrival_ns = session_.now_ns();
    if (stock) {
      if (!at_once) data.post(comm_.get(), request);
      check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    } else {
      data.call(session_, algorithm);
    }
    record.exit_ns = session_.now_ns();
    call_watch_.ends();

    comm_
        .quiet_barrier();  // hosts of a virtual cluster share cores: checking takes time from ranks that still work
    record.correct = data.is_correct() ? 1 : 0;
    const comm::SessionStatistics after = session_.statistics();
    record.planned = after.planned - before.planned;
    record.begun_early = after.begun_early - before.begun_early;
    record.segments = stock ? 0 : session_.last_call().segments;
    record.thread_share = after.thread_share;
    if (!stock && after.predicted_ns) {
      record.predicted_ns = *after.predicted_ns;
      record.prediction_error_ns = std::abs(*after.predicted_ns - after.arrived_ns);
    }
    return record;
  }

  [[nodiscard]] std::int64_t bound_ns(const Case& size, std::span<const std::int64_t> arrival_ns) const {
    const auto bound = kBounds.at(static_cast<std::size_t>(settings_.operation));
    return bound == nullptr ? 0 : bound({size, arrival_ns, options_.root, link_.beta_ns_per_byte});
  }

  void add(Row& row, const std::vector<CallRecord>& records, int round) {
    const bool warm = round >= options_.warmup;
    std::vector<std::int64_t> arrival_ns;
    std::vector<std::int64_t> exit_ns;
    bool planned = false;
    bool begun_early = false;
    for (std::size_t r = 0; r < records.size(); ++r) {
      const CallRecord& record = records[r];
      arrival_ns.push_back(record.arrival_ns);
      exit_ns.push_back(record.exit_ns);
      planned = planned || record.planned != 0;
      begun_early = begun_early || record.begun_early != 0;
      row.segments = static_cast<int>(record.segments);
      row.thread_share = std::max(row.thread_share, record.thread_share);
      if (warm && record.prediction_error_ns >= 0) {
        row.prediction_error.push_back(milliseconds(record.prediction_error_ns));
      }
      if (record.correct == 0) {
        if (row.correct) {
          tell("papfft: {} by {} of {} bytes gave wrong data on rank {} in iteration {} under {}\n",
               options_.operation, row.algorithm, row.size.total_bytes, r, round - options_.warmup,
               row.size.pattern->spec());
        }
        row.correct = false;
      }
      if (!options_.raw.empty()) add_raw(row, record, r, round);
    }
    const double run = milliseconds(comm::run_time_ns(arrival_ns, exit_ns));
    if (round == 0) row.first = run;
    if (!warm) return;
    const double bound = milliseconds(bound_ns(row.size, arrival_ns));
    row.run.push_back(run);
    row.elapsed.push_back(comm::elapsed_ns(arrival_ns, exit_ns) * 1e-6);
    row.after_last.push_back(milliseconds(std::ranges::max(exit_ns) - std::ranges::max(arrival_ns)));
    row.bound.push_back(bound);
    row.efficiency.push_back(bound / run);
    row.imbalance.push_back(comm::imbalance_factor(
        arrival_ns, comm::message_ns(link_, Operation::bcast, static_cast<double>(row.size.block_bytes))));
    if (options_.calls) row.calls.insert(row.calls.end(), records.begin(), records.end());
    row.planned += planned ? 1 : 0;
    row.begun_early += begun_early ? 1 : 0;
  }

  void add_raw(const Row& row, const CallRecord& record, std::size_t rank, int round) {
    raw_.add(
        {options_.operation, row.algorithm, std::to_string(row.size.total_bytes), row.size.pattern->spec(),
         std::to_string(round - options_.warmup), round < options_.warmup ? "1" : "0", std::to_string(rank),
         std::to_string(record.arrival_ns), std::to_string(record.exit_ns),
         record.prediction_error_ns < 0 ? "" : std::to_string(record.prediction_error_ns),
         std::to_string(record.planned), std::to_string(record.begun_early), std::to_string(record.correct)});
  }

  /// The duration that the pattern names, or else the largest that it gave.
  [[nodiscard]] double max_delay_ms(const comm::ArrivalPattern& pattern) const {
    try {
      return milliseconds(comm::parse_duration_ns(pattern.spec().substr(pattern.spec().rfind(':') + 1)));
    } catch (const std::invalid_argument&) {
      std::int64_t most = 0;
      for (int i = 0; i < options_.warmup + options_.iterations; ++i) {
        for (int r = 0; r < job_.size(); ++r) {
          most = std::max(most, pattern.delay_ns(i, r, job_.size(), options_.root));
        }
      }
      return milliseconds(most);
    }
  }

  [[nodiscard]] nlohmann::ordered_json row_json(const Row& row) const {
    nlohmann::ordered_json json = {{"op", options_.operation},
                                   {"algorithm", row.algorithm},
                                   {"ranks", job_.size()},
                                   {"bytes", row.size.total_bytes},
                                   {"block_bytes", row.size.block_bytes},
                                   {"pattern", row.size.pattern->spec()},
                                   {"max_delay_ms", max_delay_ms(*row.size.pattern)},
                                   {"iterations", options_.iterations},
                                   {"run_ms", to_json(summarize(row.run))},
                                   {"run_samples_ms", row.run},
                                   {"elapsed_ms", to_json(summarize(row.elapsed))},
                                   {"after_last_ms", to_json(summarize(row.after_last))},
                                   {"first_ms", row.first},
                                   {"bound_ms", report::median(row.bound)},
                                   {"efficiency", report::median(row.efficiency)},
                                   {"correct", row.correct},
                                   {"imbalance_factor", report::median(row.imbalance)},
                                   {"imbalance_samples", row.imbalance},
                                   {"prediction_error_ms", nullptr},
                                   {"planned", row.planned},
                                   {"begun_early", row.begun_early},
                                   {"segments", row.segments},
                                   {"thread_share", row.thread_share}};
    if (!row.calls.empty()) json["calls"] = calls_json(row);
    if (!row.prediction_error.empty()) {
      json["prediction_error_ms"] = {{"median", report::median(row.prediction_error)},
                                     {"p90", report::percentile(row.prediction_error, 0.9)}};
    }
    return json;
  }

  /// In us from the first arrival of each call.
  [[nodiscard]] nlohmann::ordered_json calls_json(const Row& row) const {
    using Json = nlohmann::ordered_json;
    const auto ranks = static_cast<std::size_t>(job_.size());
    Json arrival = Json::array();
    Json exit = Json::array();
    Json predicted = Json::array();
    for (std::size_t first = 0; first < row.calls.size(); first += ranks) {
      const auto call = std::span(row.calls).subspan(first, ranks);
      const std::int64_t begin_ns = std::ranges::min(call, {}, &CallRecord::arrival_ns).arrival_ns;
      const auto us = [&](std::int64_t ns) { return static_cast<double>(ns - begin_ns) * 1e-3; };
      arrival.push_back(Json::array());
      exit.push_back(Json::array());
      predicted.push_back(Json::array());
      for (const CallRecord& record : call) {
        arrival.back().push_back(us(record.arrival_ns));
        exit.back().push_back(us(record.exit_ns));
        predicted.back().push_back(record.prediction_error_ns < 0 ? Json(nullptr)
                                                                  : Json(us(record.predicted_ns)));
      }
    }
    return {{"arrival_us", arrival}, {"exit_us", exit}, {"predicted_us", predicted}};
  }

  [[nodiscard]] nlohmann::ordered_json document() {
    nlohmann::ordered_json json;
    json["papfft"] = kVersion;
    json["machine"] = machine_json(job_);
    json["settings"] = {{"op", options_.operation},
                        {"algorithms", settings_.algorithms},
                        {"bytes", settings_.bytes},
                        {"delays", options_.delays},
                        {"iterations", options_.iterations},
                        {"warmup", options_.warmup},
                        {"compute_ms", milliseconds(settings_.compute.count())},
                        {"edge", options_.edge},
                        {"work", options_.work},
                        {"seed", options_.seed},
                        {"root", options_.root},
                        {"counts", options_.counts},
                        {"type", options_.type},
                        {"wait", options_.job.wait}};
    json["alpha_us"] = link_.alpha_ns * 1e-3;
    json["beta_ns_per_byte"] = link_.beta_ns_per_byte;
    json["beta_after_ns_per_byte"] = link_after_.beta_ns_per_byte;
    json["link_steady"] = report::is_steady_link(link_.beta_ns_per_byte, link_after_.beta_ns_per_byte);
    json["rows"] = nlohmann::ordered_json::array();
    for (const Row& row : rows_) json["rows"].push_back(row_json(row));
    return json;
  }

  /// The row of stock MPI in the same case, which comes first.
  [[nodiscard]] const Row& stock_row(std::size_t index) const {
    return rows_[index / settings_.algorithms.size() * settings_.algorithms.size()];
  }

  [[nodiscard]] std::string table() const {
    report::TextTable table({"bytes", "delay", "algorithm", "segments", "run ms", "p90", "elapsed ms",
                             "bound ms", "efficiency", "planned", "early", "pred. error ms",
                             "gain over mpi"});
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      const double run = report::median(row.run);
      table.add({report::byte_count_text(row.size.total_bytes), row.size.pattern->spec(),
                 row.algorithm + (row.correct ? "" : " WRONG"),
                 row.segments == 0 ? "-" : std::to_string(row.segments), figure(run),
                 figure(report::percentile(row.run, 0.9)), figure(report::median(row.elapsed)),
                 figure(report::median(row.bound)), figure(report::median(row.efficiency)),
                 std::to_string(row.planned), std::to_string(row.begun_early),
                 optional_figure(row.prediction_error), figure(report::median(stock_row(i).run) / run)});
    }
    return table.text();
  }

  [[nodiscard]] std::string csv() const {
    std::vector<std::string> headings;
    std::vector<std::vector<std::string>> lines;
    for (const Row& row : rows_) {
      nlohmann::ordered_json whole = row_json(row);
      whole.erase("calls");
      const nlohmann::ordered_json flat = whole.flatten();
      std::vector<std::string> cells;
      headings.clear();
      for (const auto& [path, value] : flat.items()) {
        // "/run_ms/median"; a missing prediction still needs its two columns
        if (path == "/prediction_error_ms") {
          for (const char* name : {"prediction_error_ms_median", "prediction_error_ms_p90"}) {
            headings.emplace_back(name);
            cells.emplace_back();
          }
          continue;
        }
        std::string name = path.substr(1);
        std::ranges::replace(name, '/', '_');
        headings.push_back(name);
        cells.push_back(value.is_string() ? value.get<std::string>() : value.dump());
      }
      lines.push_back(std::move(cells));
    }
    report::TextTable table(headings);
    for (auto& cells : lines) table.add(std::move(cells));
    return table.csv();
  }

  void write() {
    if (!options_.job.quiet) {
      fmt::print(
          "{} on {} ranks, root {}: {} iterations after {} of warm-up, compute {}, edge at {}, seed {}\n",
          options_.operation, job_.size(), options_.root, options_.iterations, options_.warmup,
          options_.compute, options_.edge, options_.seed);
      fmt::print("link: alpha {} us, beta {} ns/byte ({} MB/s)\n", figure(link_.alpha_ns * 1e-3),
                 figure(link_.beta_ns_per_byte), figure(1e3 / link_.beta_ns_per_byte));
      if (!report::is_steady_link(link_.beta_ns_per_byte, link_after_.beta_ns_per_byte)) {
        fmt::print("THE LINK WAS NOT STEADY: beta {} ns/byte after the run; these times do not count\n",
                   figure(link_after_.beta_ns_per_byte));
      }
      const comm::LinkModel& model = session_.options().link;
      fmt::print("segments chosen by alpha {} us, beta {} ns/byte, gamma {} ns/byte; latency {} us\n",
                 figure(model.alpha_ns * 1e-3), figure(model.beta_ns_per_byte),
                 figure(model.gamma_ns_per_byte), figure(model.latency_ns * 1e-3));
      if (comm::moves_per_rank(settings_.operation)) {
        fmt::print(
            "bytes: all blocks together; {} block sizes, the mean being the asked size / {}, rounded down to "
            "a "
            "multiple of 4\n",
            options_.counts, job_.size());
      }
      fmt::print("\n{}\ngain over mpi: mpi's median run time / this one's\n", table());
    }
    if (!options_.job.json.empty()) write_text(options_.job.json, document().dump(2) + "\n");
    if (!options_.csv.empty()) write_text(options_.csv, csv());
    write_text(options_.raw, options_.raw.empty() ? "" : raw_.csv());
  }

  Job& job_;
  const CollectiveOptions& options_;
  const Settings& settings_;
  OwnComm comm_{job_.comm().options().stuck_after};
  CallWatch call_watch_{job_.comm().options().stuck_after, job_.rank()};
  comm::MpiSession session_;
  comm::LinkModel link_;
  comm::LinkModel link_after_;
  std::uint64_t calls_ = 0;
  std::vector<Row> rows_;
  report::TextTable raw_;
};

int run_collective(const CollectiveOptions& options) {
  require_launcher("bench collective");
  const Settings settings(options);
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    job.at_root([&] {
      check_outputs({options.job.json, options.csv, options.raw});
      if (job.size() < 2) throw UsageError("bench collective: what would work: two ranks or more");
      if (options.root >= job.size()) {
        throw UsageError(fmt::format("no rank {} among {} as --root", options.root, job.size()));
      }
      for (const auto& pattern : settings.patterns) {  // a pattern may name a rank that there is not
        (void)pattern.delay_ns(0, 0, job.size(), options.root);
      }
    });
    CollectiveBench(job, options, settings).run();
  });
}

}  // namespace

void add_bench_collective(CLI::App& bench, Action& action) {
  const auto options = std::make_shared<CollectiveOptions>();
  CLI::App* command =
      bench.add_subcommand("collective", "time collectives under arrival patterns, against stock MPI");
  command
      ->add_option("--op", options->operation,
                   "scatter, gather, bcast, reduce, allgather, allgatherv, allreduce or reduce_scatter")
      ->capture_default_str();
  command
      ->add_option(
          "--algorithms", options->algorithms,
          "names from 'papfft algorithms', with b before them for the background, /N behind them for N "
          "segments; mpi; mpi-igather, mpi-iscatter (stock, posted early); auto; all")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--bytes", options->bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--delay", options->delays, "arrival patterns, see below")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--iterations", options->iterations, "measured calls per algorithm, size and pattern")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--warmup", options->warmup, "calls before them that do not count")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command->add_option("--compute", options->compute, "time of the compute phase without delay")
      ->capture_default_str();
  add_edge_option(*command, options->edge);
  command->add_option("--work", options->work, "the compute phase: sleep, or spin (keeps a core busy)")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the delays")->capture_default_str();
  command->add_option("--root", options->root, "rank")->check(count_from_0())->capture_default_str();
  command
      ->add_option(
          "--counts", options->counts,
          "block sizes of allgatherv and reduce_scatter: regular, irregular (0, 1 and 2 times the mean in "
          "turns), degenerate (all with rank 0)")
      ->capture_default_str();
  command->add_option("--type", options->type, "what reductions add up: float or uint32")
      ->check(CLI::IsMember({"float", "uint32"}))
      ->capture_default_str();
  command->add_flag("--measure-link", options->measure_link,
                    "choose segments by what messages cost in this run, not by PAPFFT_ALPHA_NS and so on");
  command->add_flag(
      "--calls", options->calls,
      "write every rank's times of every call into the JSON too: papfft report then shows arrivals and "
      "prediction errors call by call");
  command->add_option("--csv", options->csv, "write the rows as CSV to this file");
  command->add_option("--raw", options->raw, "write every rank's times of every call as CSV to this file");
  options->job.declare_common(*command);
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 papfft bench collective --op gather --algorithms mpi,ls,bsls --bytes 8M "
      "--delay uniform:50ms --iterations 30 --seed 7 --json gather.json\n"
      "  mpirun -n 4 papfft bench collective --op scatter --algorithms all,bsln,bsbn,mpi-iscatter --bytes "
      "1M,8M "
      "--delay none,late:3:20ms\n"
      "  mpirun -n 4 papfft bench collective --op reduce --algorithms papbi,clv --type uint32 --bytes 2M\n"
      "  mpirun -n 4 papfft bench collective --op allgatherv --counts irregular --bytes 512K,2M,8M --compute "
      "0ms\n"
      "Patterns:\n" +
      comm::known_arrival_patterns() +
      "Algorithms take turns within each iteration; stock MPI (mpi) is always among them. Run time: from the "
      "first "
      "arrival to the last exit; elapsed: mean over ranks of exit - arrival; bound: the least run time that "
      "these "
      "arrivals and this link allow; efficiency: bound / run time.\n"
      "Exit codes: 0 ok, 64 usage, 70 wrong data, 73 cannot write, 74 communication.");
  command->callback([&action, options] { action = [options] { return run_collective(*options); }; });
}

}  // namespace papfft::app
