// SPDX-License-Identifier: MIT
#include "app/run/job_options.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "app/io/known_inputs.hpp"
#include "app/io/recording_file.hpp"
#include "comm/choose/select.hpp"
#include "comm/transport/cores.hpp"

namespace papfft::app {

namespace {
constexpr const char* kGroup = "Job";
}

ArrivalPattern parse_arrivals(const std::string& spec, std::uint64_t seed) {
  constexpr std::string_view kTrace = "trace:";
  if (spec.starts_with(kTrace)) io::know_input(spec.substr(kTrace.size()));
  return ArrivalPattern::parse(spec, seed, &io::parse_trace);
}

cli::Option* add_edge_option(cli::Command& app, double& edge) {
  return app
      .add_option("--edge", edge,
                  "a rank tells the others how far it is when it has done this share of its computation")
      ->in_range(0.01, 1.0)
      ->capture_default_str();
}

void ArrivalOptions::declare(cli::Command& app) {
  app.add_option("--delay", delay,
                 "make ranks late on purpose, for experiments: uniform:50ms, late:3:20ms, ... (papfft bench "
                 "collective --help lists all patterns)")
      ->envname("PAPFFT_DELAY")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--seed", seed, "seed of random delays and data")
      ->envname("PAPFFT_SEED")
      ->capture_default_str()
      ->group(kGroup);
  add_edge_option(app, edge)->envname("PAPFFT_EDGE")->group(kGroup);
}

void JobOptions::declare(cli::Command& app) {
  const auto algorithm = [&](const char* option, std::string& value, const char* variable, const char* what) {
    app.add_option(option, value,
                   std::string("algorithm of the ") + what +
                       ", as papfft algorithms lists them; b before a name: in the background")
        ->envname(variable)
        ->capture_default_str()
        ->group(kGroup);
  };
  algorithm("--scatter", scatter, "PAPFFT_SCATTER", "scatter");
  algorithm("--gather", gather, "PAPFFT_GATHER", "gather");
  algorithm("--bcast", bcast, "PAPFFT_BCAST", "broadcast");
  algorithm("--reduce", reduce, "PAPFFT_REDUCE", "reduction");
  app.add_flag("--stats", stats,
               "print where the time went, and whether sharing the work and predicting arrivals paid")
      ->group(kGroup);
  arrivals.declare(app);
  declare_recording(app);
  declare_common(app);
}

void JobOptions::declare_recording(cli::Command& app) {
  app.add_option(
         "--record", record,
         "write to this .csv or .json file when each rank came to each collective call; --delay trace:FILE "
         "replays it (papfft record --help). May be given several times")
      ->one_value_each()
      ->group(kGroup);
  app.add_option(
         "--timeline", timeline,
         "write to this .json file what each rank did when, with its waits and messages; papfft report, "
         "ui.perfetto.dev and chrome://tracing show it")
      ->group(kGroup);
}

void JobOptions::declare_common(cli::Command& app) {
  app.add_option("--threads", threads,
                 "OpenMP threads per rank; 0: OMP_NUM_THREADS, or the rank's share of the cores")
      ->envname("PAPFFT_THREADS")
      ->in_range(0, 4096)
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--wait", wait, "what a waiting rank does with its core")
      ->envname("PAPFFT_WAIT")
      ->one_of(comm::kWaitNames)
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--stuck-after", stuck_after_s,
                 "end the job after so many seconds without progress; 0: never")
      ->envname("PAPFFT_STUCK_AFTER")
      ->in_range(0.0, 1e6)
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--progress", progress, "show progress on stderr; auto: on a terminal")
      ->envname("PAPFFT_PROGRESS")
      ->one_of(kProgressNames)
      ->capture_default_str()
      ->group(kGroup);
  app.add_flag("-q,--quiet", quiet, "print nothing but errors")->group(kGroup);
  app.add_option("--json", json, "write the results as JSON to this file")->group(kGroup);
}

comm::Options JobOptions::to_comm_options() const {
  const auto known = [](comm::Operation operation, const std::string& name) {
    (void)comm::choose(operation, name, 2, 0, false);
  };
  known(comm::Operation::scatter, scatter);
  known(comm::Operation::gather, gather);
  known(comm::Operation::bcast, bcast);
  known(comm::Operation::reduce, reduce);
  (void)parse_progress(progress);
  (void)arrivals.pattern();
  comm::Options options = comm::Options::from_environment();
  options.wait = comm::parse_wait_policy(wait);
  options.stuck_after = std::chrono::milliseconds(std::llround(stuck_after_s * 1000));
  return options;
}

const std::string& JobOptions::algorithm(comm::Operation operation) const {
  switch (operation) {
    case comm::Operation::scatter:
      return scatter;
    case comm::Operation::gather:
      return gather;
    case comm::Operation::bcast:
      return bcast;
    case comm::Operation::reduce:
      return reduce;
    default:
      throw std::logic_error("jobs have no option for this operation");
  }
}

int JobOptions::threads_for(int ranks_here) const {
  return threads_on(comm::available_cores() / std::max(1, ranks_here));
}

int JobOptions::threads_on(int cores) const {
  if (threads > 0) return threads;
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return omp_get_max_threads();
  return std::max(1, cores);
}

void JobOptions::apply_threads(int ranks_here) const { omp_set_num_threads(threads_for(ranks_here)); }

Progress JobOptions::make_progress(bool is_root, std::string what) const {
  return {is_root ? parse_progress(progress) : Progress::When::never, quiet, std::move(what)};
}

}  // namespace papfft::app
