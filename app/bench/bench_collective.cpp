// SPDX-License-Identifier: MIT
// papfft bench collective: how long collectives take when the ranks do not arrive together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/bench_links.hpp"
#include "app/bench/call_timer.hpp"
#include "app/bench/collective_data.hpp"
#include "app/bench/collective_rows.hpp"
#include "app/bench/stock_peer.hpp"
#include "app/cli/tell.hpp"
#include "comm/choose/select.hpp"
#include "comm/mpi/mpi_transport.hpp"
#include "papfft/mpi.hpp"

namespace papfft::app {

namespace {

using comm::check_mpi;
using comm::Operation;

class CollectiveBench {
 public:
  CollectiveBench(Job& job, const CollectiveOptions& options, const CollectiveSettings& settings)
      : job_(job),
        options_(options),
        settings_(settings),
        session_(MPI_COMM_WORLD, options.job.to_comm_options(), comm::SessionOptions{.root = options.root}),
        links_(options.root),
        result_{.options = options, .settings = settings, .ranks = job.size(), .layout = host_layout(job)} {
    if (settings.chooses_stock()) stock_.emplace(settings.operation);
    chosen_.resize(settings.contenders.size());
    for (const Contender& c : settings.contenders) peers_.push_back(make_peer(c));
  }

  void run() {
    links_.add_measurement(result_.link = session_.measure_link(links_.rate_probe()));
    if (options_.measure_link) session_.use_link(session_.measure_link(links_.segment_probe()));
    result_.segment_link = session_.options().link;
    Progress progress = options_.job.make_progress(job_.is_root(), "bench collective");
    const auto rounds = static_cast<std::size_t>(options_.warmup + options_.iterations);
    const std::size_t total = settings_.bytes.size() * settings_.patterns.size() * rounds;
    std::size_t done = 0;
    for (const std::uint64_t bytes : settings_.bytes) {
      for (const ArrivalPattern& pattern : settings_.patterns) {
        run_case(settings_.make_case(bytes, pattern, job_.size()), [&] { progress.show(++done, total); });
      }
    }
    links_.add_measurement(result_.link_after = session_.measure_link(links_.rate_probe()));
    session_.close();
    result_.machine = machine_json(job_);
    job_.at_root([&] {
      write();
      if (!std::ranges::all_of(result_.rows, &CollectiveRow::correct)) throw Quit{kInternal};
    });
  }

 private:
  template <typename Shown>
  void run_case(const Case& size, Shown shown) {
    CollectiveData data(settings_.operation, size, job_.size(), job_.rank(), options_.root,
                        options_.type == "float");
    const std::size_t first_row = result_.rows.size();
    for (std::size_t i = 0; i < settings_.contenders.size(); ++i) {
      const Contender& contender = settings_.contenders[i];
      result_.rows.push_back(
          {.algorithm = contender.name, .stock = choose_stock(contender, i, data), .size = size});
    }
    for (int round = 0; round < options_.warmup + options_.iterations; ++round) {
      for (std::size_t i = 0; i < settings_.contenders.size(); ++i) {
        const CallRecord mine = call(data, *size.pattern, i, round);
        const std::vector<CallRecord> all = comm_.to_root(std::span(&mine, 1));
        if (job_.is_root()) add(result_.rows[first_row + i], all, round);
      }
      shown();
    }
  }

  /// Makes the communicator of a contender that is stock MPI by a chosen algorithm; the best is looked for anew in each case.
  std::optional<StockAlgorithm> choose_stock(const Contender& contender, std::size_t index,
                                             CollectiveData& data) {
    const comm::Options options = options_.job.to_comm_options();
    if (contender.kind == Contender::Kind::stock_chosen) {
      if (!chosen_[index]) chosen_[index] = stock_->communicator(MPI_COMM_WORLD, options, contender.stock);
      return contender.stock;
    }
    if (contender.kind != Contender::Kind::stock_best) return std::nullopt;
    StockAlgorithms::Best best = stock_->find_best(
        MPI_COMM_WORLD, options, [&](comm::Communicator& comm) { return timer_.time_of(comm, data, "mpi"); });
    chosen_[index] = std::move(best.communicator);
    return best.algorithm;
  }

  /// Stock MPI that knows hosts, if the contender is that.
  [[nodiscard]] std::unique_ptr<StockPeer> make_peer(const Contender& contender) {
    if (contender.kind == Contender::Kind::stock_han) return make_han(MPI_COMM_WORLD);
    if (contender.kind == Contender::Kind::stock_lanes)
      return make_lanes(MPI_COMM_WORLD, result_.layout.hosts());
    return nullptr;
  }

  /// New data, barriers, the compute phase with its delay and edge, the operation, the check.
  CallRecord call(CollectiveData& data, const ArrivalPattern& pattern, std::size_t index, int round) {
    using std::chrono::nanoseconds;
    const Contender& contender = settings_.contenders[index];
    const nanoseconds total =
        settings_.compute + nanoseconds(pattern.delay_ns(round, job_.rank(), job_.size(), options_.root));
    const nanoseconds before_edge(std::llround(static_cast<double>(total.count()) * options_.edge));
    const comm::SessionStatistics before = session_.statistics();
    data.fill(++calls_);
    comm_.double_barrier();
    CallRecord record;
    switch (contender.kind) {
      case Contender::Kind::session:
        record = call_session(data, contender.name, before_edge, total - before_edge);
        break;
      case Contender::Kind::posted_early:
        record = call_posted(data, contender.name, before_edge, total - before_edge);
        break;
      case Contender::Kind::stock_chosen:
      case Contender::Kind::stock_best:
        settings_.work.run_for(total);
        record = timed(contender.name, [&] { data.call(*chosen_[index], "mpi"); });
        break;
      case Contender::Kind::stock_han:
      case Contender::Kind::stock_lanes:
        settings_.work.run_for(total);
        record = timed(contender.name, [&] {
          data.call_by(session_, [&](const comm::CallArguments& a) { peers_[index]->call(a); });
        });
    }
    // Hosts of a virtual cluster share cores: checking would take time from ranks that still work.
    comm_.quiet_barrier();
    record.correct = data.is_correct() ? 1 : 0;
    const comm::SessionStatistics after = session_.statistics();
    record.planned = after.planned - before.planned;
    record.begun_early = after.begun_early - before.begun_early;
    record.thread_share = after.thread_share;
    if (contender.kind == Contender::Kind::session) {
      record.segments = session_.last_call().segments;
      if (after.predicted_ns) {
        record.predicted_ns = *after.predicted_ns;
        record.prediction_error_ns = std::abs(*after.predicted_ns - after.arrived_ns);
      }
    }
    return record;
  }

  CallRecord call_session(CollectiveData& data, const std::string& algorithm,
                          std::chrono::nanoseconds before_edge, std::chrono::nanoseconds after_edge) {
    session_.processing_start();
    settings_.work.run_for(before_edge);
    session_.edge(options_.edge);
    settings_.work.run_for(after_edge);
    session_.processing_end();
    return timed(algorithm, [&] { data.call(session_, algorithm); });
  }

  CallRecord call_posted(CollectiveData& data, const std::string& name, std::chrono::nanoseconds before_edge,
                         std::chrono::nanoseconds after_edge) {
    // The part that does not need its caller: a gather's root, a scatter's leaves.
    const bool at_once = (settings_.operation == Operation::gather) == (job_.rank() == options_.root);
    MPI_Request request = MPI_REQUEST_NULL;
    if (at_once) data.post(comm_.get(), request);
    settings_.work.run_for(before_edge);
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    settings_.work.run_for(after_edge);
    return timed(name, [&] {
      if (!at_once) data.post(comm_.get(), request);
      check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    });
  }

  template <typename Call>
  CallRecord timed(const std::string& name, Call call) {
    CallRecord record;
    call_watch_.begins(name);
    record.arrival_ns = session_.now_ns();
    call();
    record.exit_ns = session_.now_ns();
    call_watch_.ends();
    return record;
  }

  void add(CollectiveRow& row, const std::vector<CallRecord>& records, int round) {
    const auto wrong = std::ranges::find(records, 0, &CallRecord::correct);
    if (wrong != records.end() && row.correct) {
      tell("papfft: {} by {} of {} bytes gave wrong data on rank {} in iteration {} under {}\n",
           options_.operation, row.algorithm, row.size.total_bytes, wrong - records.begin(),
           round - options_.warmup, row.size.pattern->spec());
    }
    row.add(records, round >= options_.warmup,
            comm::message_ns(result_.link, Operation::bcast, static_cast<double>(row.size.block_bytes)));
    if (!options_.raw.empty()) raw_.add(options_, row, records, round);
  }

  void write() {
    for (CollectiveRow& row : result_.rows) {
      row.finish({settings_.operation, options_.root, row.size.bytes_of_blocks()},
                 links_.for_bound(row.size.block_bytes));
    }
    result_.bound_link = links_.json();
    result_.bound_text = links_.text();
    if (!options_.job.quiet) fmt::print("{}", result_.text());
    if (!options_.job.json.empty()) write_text(options_.job.json, result_.document().dump(2) + "\n");
    if (!options_.csv.empty()) write_text(options_.csv, result_.csv());
    if (!options_.raw.empty()) write_text(options_.raw, raw_.csv());
  }

  Job& job_;
  const CollectiveOptions& options_;
  const CollectiveSettings& settings_;
  OwnComm comm_{job_.comm().options().stuck_after};
  CallTimer timer_{comm_};
  CallWatch call_watch_{job_.comm().options().stuck_after, job_.rank()};
  comm::MpiSession session_;
  BenchLinks links_;
  std::optional<StockAlgorithms> stock_;
  std::vector<std::unique_ptr<comm::Communicator>> chosen_;  ///< of the contenders that have one
  std::vector<std::unique_ptr<StockPeer>> peers_;            ///< and of those that have one
  std::uint64_t calls_ = 0;
  CollectiveResult result_;
  RawCalls raw_;
};

void check(Job& job, const CollectiveOptions& options, const CollectiveSettings& settings) {
  check_outputs({options.job.json, options.csv, options.raw});
  if (job.size() < 2) throw UsageError("bench collective: what would work: two ranks or more");
  if (options.root >= job.size())
    throw UsageError(fmt::format("no rank {} among {} as --root", options.root, job.size()));
  for (const ArrivalPattern& pattern : settings.patterns) {  // a pattern may name a rank that there is not
    (void)pattern.delay_ns(0, 0, job.size(), options.root);
  }
  const HostLayout layout = host_layout(job);
  for (const Contender& c : settings.contenders) {
    if (c.kind == Contender::Kind::stock_han) require_han(settings.operation, layout.hosts());
    if (c.kind == Contender::Kind::stock_lanes) require_lanes(layout.hosts());
  }
  if (!settings.chooses_stock()) return;
  const StockAlgorithms stock(settings.operation);
  for (const Contender& c : settings.contenders) {
    if (c.kind == Contender::Kind::stock_chosen) stock.require(c.stock);
  }
}

int run_collective(const CollectiveOptions& options) {
  require_launcher("bench collective");
  const CollectiveSettings settings(options);
  (void)ToldCable::from_environment();
  return run_job(options.job.to_comm_options(), options.job.bcast, [&](Job& job) {
    job.at_root([&] { check(job, options, settings); });
    CollectiveBench(job, options, settings).run();
  });
}

}  // namespace

void add_bench_collective(cli::Command& bench) {
  const auto options = std::make_shared<CollectiveOptions>();
  cli::Command* command =
      bench.add_subcommand("collective", "time collectives under arrival patterns, against stock MPI");
  options->declare(*command);
  command->runs([options] { return run_collective(*options); });
}

}  // namespace papfft::app
