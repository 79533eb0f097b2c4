// SPDX-License-Identifier: MIT
#include "app/bench/fft_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "app/bench/fftw_mpi.hpp"
#include "app/bench/fftw_threads.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/tell.hpp"
#include "app/run/output_files.hpp"
#include "comm/choose/select.hpp"
#include "fft/engines/shared_transform.hpp"

namespace papfft::app {

namespace {

constexpr FftEngine kEngines[] = {{"dif", Wire::both_ways, true},
                                  {"stream", Wire::one_way, true},
                                  {"farm", Wire::one_way, false},
                                  {"mpi-sequential", Wire::both_ways, false},
                                  {"mpi-fftw", Wire::both_ways, false},
                                  {"mpi-overlapped", Wire::one_way, false},
                                  {"fftw-mpi", Wire::both_ways, false},
                                  {"slices", Wire::one_way, false, true},
                                  {"fftw-mpi-distributed", Wire::one_way, false, true},
                                  {"alone", Wire::none, false},
                                  {"fftw-measure", Wire::none, false}};

/// Of engine alone.
constexpr const char* kOldNameOfAlone = "fftw";

std::vector<std::string> engine_words() {
  std::vector<std::string> words;
  for (const FftEngine& engine : kEngines) words.emplace_back(engine.name);
  return words;
}

constexpr const char* kFooter =
    "Examples:\n"
    "  mpirun -n 4 papfft bench fft --vectors 1000 --length 131072 --gathers mpi,ls,bsls,bsbn --json "
    "fft.json\n"
    "  mpirun -n 4 papfft bench fft --engines dif,stream,mpi-sequential --length 262144 --vectors 200\n"
    "  mpirun -n 2 --bind-to core papfft bench fft --engines farm,fftw-measure --length 4194304 --vectors "
    "64\n"
    "Two figures say how close to the wire an engine is. The wire bound is the least time that a vector "
    "needs on the "
    "root host's cable: all that other hosts transform, out and back, one after the other or (stream, farm, "
    "mpi-overlapped) "
    "at the same "
    "time; on one host, the time to copy as much. The share of the bound is wire bound / time per vector, at "
    "most 1.\n"
    "Exit codes: 0 ok, 64 usage, 70 wrong spectrum, 73 cannot write, 74 communication.";

}  // namespace

const FftEngine& find_fft_engine(const std::string& name) {
  const auto* found = std::ranges::find(kEngines, name, &FftEngine::name);
  if (found == std::end(kEngines)) throw std::logic_error("there is no engine " + name);
  return *found;
}

void FftBenchOptions::declare(cli::Command& command) {
  command.add_option("--vectors", vectors, "transforms per algorithm")
      ->in_range(1, 10000000)
      ->capture_default_str();
  command.add_option("--length", length, "samples per vector")->positive()->capture_default_str();
  command.add_option("--precision", precision, "float or double")
      ->one_of({"float", "double"})
      ->capture_default_str();
  command.add_flag("--real", real, "real samples instead of complex ones");
  engines_option_ =
      command
          .add_option(
              "--engines", engines,
              "dif (one vector at a time), stream (the same, overlapped), farm (whole vectors to whoever is "
              "free, the root included), mpi-sequential (MPI_Scatter, our split and local transforms, "
              "MPI_Gather), mpi-fftw (the same with local transforms by FFTW, planned by FFTW_MEASURE), "
              "mpi-overlapped (MPI_Iscatter, the same transforms, MPI_Igather, with three vectors under "
              "way), "
              "fftw-mpi (MPI_Scatter, FFTW's transform over MPI with the bins in its own order, "
              "MPI_Gather), slices (no root: each rank has its part of the samples before and of the bins "
              "after, by our "
              "split and all-to-all), fftw-mpi-distributed (the same by FFTW's transform over MPI); the "
              "latter two once "
              "with the bins scrambled (rank r of P has r, r+P, ...) and once in natural order. They take "
              "turns. alone (one process, kernel as tuned; always there), "
              "fftw-measure "
              "(one process, FFTW planned by FFTW_MEASURE on all cores of the root's host): before the turns")
          ->delimiter(',')
          ->one_of(engine_words(), {kOldNameOfAlone})
          ->capture_default_str();
  command.add_option("--depth", depth, "vectors under way in engine stream; 0: as many as transform has")
      ->in_range(0, 1000)
      ->capture_default_str();
  command.add_option("--scatter", scatter, "algorithm of the scatter")->capture_default_str();
  gathers_option_ = command
                        .add_option("--gathers", gathers,
                                    "algorithms of the gather, which take turns; with --engines: auto")
                        ->delimiter(',')
                        ->capture_default_str();
  command.add_option("--block", block, "vectors per turn")->in_range(1, 1000000)->capture_default_str();
  command
      .add_option("--warm-up", warm_up,
                  "vectors at the beginning of each turn that are not counted: they touch the memory")
      ->in_range(0, 1000000)
      ->capture_default_str();
  arrivals.declare(command);
  job.declare_recording(command);
  job.declare_common(command);
  command.footer(kFooter);
}

void FftBenchOptions::complete() {
  if (engines_option_->count() > 0 && gathers_option_->count() == 0) gathers = {"auto"};
  for (std::string& engine : engines) {
    if (engine != kOldNameOfAlone) continue;
    engine = "alone";
    if (launched_rank() == 0 && !job.quiet) tell("papfft: note: engine fftw is called alone now\n");
  }
}

bool FftBenchOptions::has_engine(const std::string& name) const {
  return std::ranges::count(engines, name) > 0;
}

void FftBenchOptions::check() const {
  (void)comm::choose(comm::Operation::scatter, scatter, 2, 0, false);
  for (const std::string& engine : engines) check_engine(engine);
  if (scatter == "mpi" && has_engine("stream")) {
    throw UsageError("engine stream needs a scatter of our own, and mpi is not");
  }
  (void)arrivals.pattern();
}

void FftBenchOptions::check_engine(const std::string& engine) const {
  if (engine.starts_with("fftw-mpi") && !FftwMpi<float>::is_available()) {
    throw UsageError(fmt::format(
        "engine {}: papfft was built without libfftw3-mpi (Debian: libfftw3-mpi-dev, then build anew)",
        engine));
  }
  if (engine == "fftw-measure" && !FftwThreads<float>::is_available()) {
    throw UsageError(
        "engine fftw-measure: papfft was built without libfftw3_threads (Debian: libfftw3-dev, then build "
        "anew)");
  }
  if (engine.starts_with("fftw-mpi") && real) {
    throw UsageError(
        fmt::format("engine {}: FFTW has no one-dimensional transform of real samples over MPI", engine));
  }
  for (const std::string& name : gathers) {
    if (comm::choose(comm::Operation::gather, name, 2, 0, false).algorithm == nullptr && engine == "stream") {
      throw UsageError("engine stream needs gathers of our own, and mpi is not");
    }
  }
}

void FftBenchOptions::check(int ranks) const {
  check_outputs({job.json});
  if (ranks < 2) throw UsageError("bench fft: what would work: two ranks or more");
  (void)arrivals.pattern().delay_ns(0, 0, ranks, 0);
  const auto group = static_cast<std::size_t>(ranks);
  for (const std::string& engine : engines) {
    if (!engine.starts_with("fftw-mpi") || length % (group * group) == 0) continue;
    throw UsageError(fmt::format(
        "engine {}: the square of the number of ranks must divide the length; what would work: --length {}",
        engine, 256 * group * group));
  }
  if (!fft::can_share(length, real, ranks)) {
    throw UsageError(
        fmt::format("a vector of {} samples cannot be shared by {} ranks; what would work: --length {}",
                    length, ranks, 65536 * ranks));
  }
}

}  // namespace papfft::app
