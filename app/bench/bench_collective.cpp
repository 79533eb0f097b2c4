// SPDX-License-Identifier: MIT
// papfft bench collective: how long collectives take when the ranks do not arrive together.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/bench/bench_links.hpp"
#include "app/bench/collective_caller.hpp"
#include "app/bench/collective_data.hpp"
#include "app/bench/collective_rows.hpp"
#include "app/bench/stock_peer.hpp"
#include "app/bench/turns.hpp"
#include "comm/choose/select.hpp"

namespace papfft::app {

namespace {

using comm::Operation;

class CollectiveBench {
 public:
  CollectiveBench(Job& job, const CollectiveOptions& options, const CollectiveSettings& settings)
      : job_(job),
        options_(options),
        settings_(settings),
        group_(job, options),
        links_(options.root),
        result_{.options = options, .settings = settings, .ranks = job.size(), .layout = host_layout(job)},
        caller_(group_, options, settings, result_.layout.hosts()) {}

  void run() {
    links_.add_measurement(result_.link = group_.session.measure_link(links_.rate_probe()));
    if (options_.measure_link) group_.session.use_link(group_.session.measure_link(links_.segment_probe()));
    result_.segment_link = group_.session.options().link;
    Progress progress = options_.job.make_progress(job_.is_root(), "bench collective");
    const std::size_t rounds =
        static_cast<std::size_t>(options_.warmup) + static_cast<std::size_t>(options_.iterations);
    const std::size_t total = settings_.bytes.size() * settings_.patterns.size() * rounds;
    std::size_t done = 0;
    for (const std::uint64_t bytes : settings_.bytes) {
      for (const ArrivalPattern& pattern : settings_.patterns) {
        const double vector_ns = comm::message_ns(result_.link, Operation::bcast, static_cast<double>(bytes));
        timed_.push_back(pattern.for_message(vector_ns));
        run_case(settings_.make_case(bytes, timed_.back(), job_.size()),
                 [&] { progress.show(++done, total); });
      }
    }
    links_.add_measurement(result_.link_after = group_.session.measure_link(links_.rate_probe()));
    group_.session.close();
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
      result_.rows.push_back(
          {.algorithm = settings_.contenders[i].name, .stock = caller_.choose_stock(i, data), .size = size});
    }
    Turns turns(settings_.contenders.size(), options_.seed);
    for (int round = 0; round < options_.warmup + options_.iterations; ++round) {
      for (const std::size_t i : turns.next()) {
        const CallRecord mine = caller_.call(data, *size.pattern, i, round);
        const std::vector<CallRecord> all = group_.comm.to_root(std::span(&mine, 1));
        if (job_.is_root()) add(result_.rows[first_row + i], all, round);
      }
      shown();
    }
  }

  void add(CollectiveRow& row, const std::vector<CallRecord>& records, int round) {
    if (row.correct)
      (void)tell_wrong_data(records, settings_.operation, row.algorithm, row.size, round - options_.warmup);
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
  CallGroup group_;
  BenchLinks links_;
  CollectiveResult result_;
  CollectiveCaller caller_;
  std::deque<ArrivalPattern> timed_;  // of each case; rows point to them
  RawCalls raw_;
};

void check(Job& job, const CollectiveOptions& options, const CollectiveSettings& settings) {
  check_outputs({options.job.json, options.csv, options.raw});
  require_ranks("bench collective", job.size(), options, settings);
  const HostLayout layout = host_layout(job);
  for (const Contender& c : settings.contenders) {
    if (c.kind == Contender::Kind::stock_han) require_han(settings.operation, layout.hosts());
    if (c.kind == Contender::Kind::stock_lanes) require_lanes(settings.operation, layout.hosts());
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
