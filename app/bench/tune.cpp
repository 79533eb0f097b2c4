// SPDX-License-Identifier: MIT
// papfft tune: finds the fastest kernel for local transforms, or the fastest ways of collectives, and remembers them for this user.
#include <fmt/format.h>
#include <omp.h>

#include <filesystem>

#include "app/bench/bench_common.hpp"
#include "app/bench/tune_collectives.hpp"
#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"
#include "app/jobs/transform_sizes.hpp"
#include "app/report/decision_figures.hpp"
#include "app/report/json_file.hpp"
#include "app/report/text_table.hpp"
#include "fft/local/local_kernel.hpp"
#include "fft/local/tuning.hpp"

namespace papfft::app {

namespace {

struct TuneOptions {
  TransformSizes sizes;
  int threads = 1;
  double effort_s = 0.1;
  std::string file;
  bool quiet = false;
  bool collectives = false;
  std::vector<std::string> exported = {};  ///< what, and where to
  std::vector<std::string> shown = {};     ///< tables of decisions
  CollectiveTuning tuning;
};

template <typename T>
void tune_length(const TuneOptions& options, std::size_t length, const std::string& precision,
                 fft::Tuning& tuning, report::TextTable& table) {
  for (const std::string& domain : options.sizes.domains) {
    for (const fft::PlanKind kind : TransformSizes::kinds(domain)) {
      const auto times = fft::time_kernels<T>(kind, length, options.effort_s);
      const fft::LocalKernel best = fft::fastest(times);
      tuning.set(fft::Tuning::key<T>(kind, length), best);
      const auto time_of = [&](fft::LocalKernel kernel) {
        for (const fft::KernelTime& time : times) {
          if (time.kernel == kernel) return figure(time.seconds * 1e6);
        }
        return std::string("-");
      };
      table.add({fmt::format("{}", length), precision, std::string(fft::to_string(kind)),
                 time_of(fft::LocalKernel::own), time_of(fft::LocalKernel::fftw),
                 time_of(fft::LocalKernel::pieces), std::string(fft::to_string(best))});
    }
  }
}

/// Prints what is known already.
int show(const std::vector<std::string>& files) {
  refuse_launcher("tune --show");
  std::vector<report::Decisions> all;
  for (const std::string& file : files) all.push_back(report::parse_decisions(file, report::read_text(file)));
  const std::vector<std::vector<std::string>> rows = make_table(all);
  report::TextTable table(rows.front());
  for (std::size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
  fmt::print("{}\n\n{}", answer_of(all), table.text());
  return kOk;
}

int run_tune(const TuneOptions& options) {
  if (!options.shown.empty()) return show(options.shown);
  if (options.collectives) {
    CollectiveTuning tuning = options.tuning;
    tuning.file = options.file;
    tuning.quiet = options.quiet;
    if (!options.exported.empty()) {
      if (options.exported.front() != "openmpi-rules")
        throw UsageError("--export " + options.exported.front() + ": known: openmpi-rules FILE");
      tuning.rules_file = options.exported.back();
    }
    return tune_collectives(tuning);
  }
  refuse_launcher("tune");
  const auto lengths = options.sizes.lengths();
  const std::filesystem::path path =
      options.file.empty() ? fft::Tuning::default_path() : std::filesystem::path(options.file);
  if (path.empty()) {
    throw UsageError(
        "there is no folder to remember anything in (PAPFFT_TUNING=off, or no HOME); what would work: --file "
        "FILE");
  }
  // What cannot be read is made anew.
  fft::Tuning tuning = fft::Tuning::read(path).value_or(fft::Tuning{});
  const auto write = [&] {
    try {
      tuning.write(path);
    } catch (const std::runtime_error& e) {
      throw io::OutputError(path.string(), e.what());
    }
  };
  write();  // before long work
  omp_set_num_threads(options.threads);
  report::TextTable table({"n", "precision", "transform", "own us", "fftw us", "pieces us", "chosen"});
  for (const std::size_t length : lengths) {
    for (const std::string& precision : options.sizes.precisions) {
      if (precision == "float") {
        tune_length<float>(options, length, precision, tuning, table);
      } else {
        tune_length<double>(options, length, precision, tuning, table);
      }
    }
    write();  // whoever interrupts this keeps what has been found
  }
  if (!options.quiet) {
    fmt::print("{}on {} thread{}; remembered in {}\n", table.text(), options.threads,
               options.threads == 1 ? "" : "s", path.string());
  }
  return kOk;
}

}  // namespace

void add_tune(cli::Command& app) {
  const auto options = std::make_shared<TuneOptions>();
  cli::Command* command = app.add_subcommand("tune", "find what is fastest on this machine, and remember it");
  options->sizes.declare(*command);
  command->add_option("--threads", options->threads, "OpenMP threads to measure with")
      ->in_range(1, 4096)
      ->capture_default_str();
  command->add_option("--effort", options->effort_s, "seconds to measure each kernel for, planning aside")
      ->in_range(1e-6, 1e4)
      ->capture_default_str();
  command->add_option("--file", options->file,
                      "remember it here (use it with PAPFFT_TUNING=FILE or PAPFFT_DECISIONS=FILE)");
  command->add_flag("--collectives", options->collectives,
                    "measure collectives on the ranks of this job instead, for 'auto'");
  command
      ->add_option("--show", options->shown,
                   "measure nothing, but print what 'auto' does by these files of tune --collectives")
      ->delimiter(',');
  command
      ->add_option("--export", options->exported,
                   "with --collectives: openmpi-rules FILE writes the best of Open MPI's own algorithms as "
                   "rules that Open MPI reads")
      ->takes(2);
  command
      ->add_option("--op", options->tuning.operations,
                   "with --collectives: operations; if none is named, all that can be chosen by size")
      ->delimiter(',');
  command
      ->add_option("--bytes", options->tuning.bytes,
                   "with --collectives: sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--budget", options->tuning.budget_s,
                   "with --collectives: seconds that it may take; little more, if calls are slow")
      ->in_range(0.01, 1e5)
      ->capture_default_str();
  command->add_flag(
      "--all", options->tuning.measures_all,
      "with --collectives: measure all ways, not only those that are best in a simulation with the "
      "measured links");
  command->add_flag(
      "--unknown-arrivals", options->tuning.are_arrivals_unknown,
      "with --collectives: measure the best with ranks that come late, too, and prefer what is never much "
      "slower than the best ('papfft rank --help' has the cases)");
  command->add_flag("-q,--quiet", options->quiet, "no table");
  command->footer(
      "Examples:\n"
      "  papfft tune\n"
      "  mpirun -n 8 papfft tune --collectives\n"
      "  papfft tune --show ~/.config/papfft/decisions-8-on-8.txt\n"
      "  mpirun -n 8 papfft tune --collectives --unknown-arrivals --op bcast,reduce\n"
      "  mpirun -n 8 papfft tune --collectives --op bcast,allreduce --bytes 256K,1M --file site.txt\n"
      "  papfft tune --sizes 2^10..2^22 --precision double --domain complex --threads 2\n"
      "Kernels: our own, FFTW (planned by FFTW_MEASURE, which takes seconds for long vectors), and "
      "FFTW on pieces\n"
      "of the vector. Remembered per processor model and version in ~/.cache/papfft; PAPFFT_TUNING=off "
      "ignores it.\n"
      "Results are the same to the bit in every run, but tuning again may change the last bits.\n"
      "Exit codes: 0 ok, 64 usage, 73 cannot write.");
  command->runs([options] { return run_tune(*options); });
}

}  // namespace papfft::app
