// SPDX-License-Identifier: MIT
// papfft bench local: the local transforms' kernels against each other, in one process.
#include <fmt/format.h>
#include <omp.h>
#include <sys/utsname.h>

#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "app/bench/bench.hpp"
#include "app/bench/bench_common.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/version.hpp"
#include "app/jobs/transform_sizes.hpp"
#include "app/report/statistics.hpp"
#include "app/report/text_table.hpp"
#include "comm/transport/cores.hpp"
#include "fft/kernel/instruction_set.hpp"
#include "fft/local/local_kernel.hpp"
#include "fft/local/tuning.hpp"

namespace papfft::app {

namespace {

struct LocalOptions {
  TransformSizes sizes;
  std::vector<int> threads = {1, 2};
  int repetitions = 9;
  double least_ms = 10;
  std::string json;
  std::string csv;
  bool quiet = false;
};

struct Row {
  fft::LocalKernel kernel = fft::LocalKernel::fftw;
  std::size_t length = 0;
  std::string precision;
  std::string domain;
  int threads = 1;
  std::vector<double> time_us;

  /// FFTW's measure of speed, for real transforms the same: it counts what a complex one would need.
  [[nodiscard]] double mflops() const {
    const auto n = static_cast<double>(length);
    return 5 * n * std::log2(n) / report::median(time_us);
  }
  [[nodiscard]] double least_us() const { return report::summarize(time_us).min; }
};

/// All kernels and numbers of threads of one transform take turns, so that whatever slows the machine down hits all alike.
template <typename T>
void measure(const LocalOptions& options, std::size_t length, const std::string& precision,
             const std::string& domain, std::vector<Row>& rows) {
  const fft::PlanKind kind = TransformSizes::kinds(domain).front();
  struct Turn {
    std::function<void()> run;
    std::size_t calls;
    std::size_t row;
  };
  std::vector<Turn> turns;
  for (const fft::LocalKernel kernel : fft::possible_kernels(kind, length)) {
    const auto run = fft::repeatable_transform<T>(kernel, kind, length);
    for (const int threads : options.threads) {
      if (threads > 1 && kernel == fft::LocalKernel::fftw) continue;  // it has one
      omp_set_num_threads(threads);
      run();
      turns.push_back({run, fft::calls_within(run, options.least_ms * 1e-3), rows.size()});
      rows.push_back({kernel, length, precision, domain, threads, {}});
    }
  }
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    for (const Turn& turn : turns) {
      omp_set_num_threads(rows[turn.row].threads);
      rows[turn.row].time_us.push_back(fft::seconds_of(turn.run, turn.calls) * 1e6 /
                                       static_cast<double>(turn.calls));
    }
  }
}

/// FFTW's row on one thread for the same transform, in the same run. Nothing: it was not measured.
const Row* fftw_peer(const std::vector<Row>& rows, const Row& row) {
  for (const Row& peer : rows) {
    if (peer.kernel == fft::LocalKernel::fftw && peer.threads == 1 && peer.length == row.length &&
        peer.precision == row.precision && peer.domain == row.domain) {
      return &peer;
    }
  }
  return nullptr;
}

struct Mean {
  fft::LocalKernel kernel = fft::LocalKernel::fftw;
  std::string precision;
  std::string domain;
  int threads = 1;
  std::size_t sizes = 0;
  double of_medians = 0;
  double of_least = 0;
};

/// Geometric means over the sizes, of the speeds relative to FFTW on one thread.
std::vector<Mean> means(const std::vector<Row>& rows) {
  std::map<std::tuple<std::string, std::string, int, fft::LocalKernel>, Mean> found;
  for (const Row& row : rows) {
    const Row* const peer = fftw_peer(rows, row);
    if (peer == nullptr || row.kernel == fft::LocalKernel::fftw) continue;
    Mean& mean = found[{row.precision, row.domain, row.threads, row.kernel}];
    mean = {row.kernel,
            row.precision,
            row.domain,
            row.threads,
            mean.sizes + 1,
            mean.of_medians + std::log(row.mflops() / peer->mflops()),
            mean.of_least + std::log(peer->least_us() / row.least_us())};
  }
  std::vector<Mean> result;
  for (auto& [key, mean] : found) {
    mean.of_medians = std::exp(mean.of_medians / static_cast<double>(mean.sizes));
    mean.of_least = std::exp(mean.of_least / static_cast<double>(mean.sizes));
    result.push_back(mean);
  }
  return result;
}

void print(const std::vector<Row>& rows) {
  report::TextTable table(
      {"n", "precision", "domain", "threads", "kernel", "min us", "median us", "mflops", "x fftw"});
  for (const Row& row : rows) {
    const Row* const peer = fftw_peer(rows, row);
    table.add({fmt::format("{}", row.length), row.precision, row.domain, fmt::format("{}", row.threads),
               std::string(fft::to_string(row.kernel)), figure(row.least_us()),
               figure(report::median(row.time_us)), figure(row.mflops()),
               peer != nullptr ? figure(row.mflops() / peer->mflops()) : "-"});
  }
  fmt::print("{}", table.text());
  for (const Mean& mean : means(rows)) {
    fmt::print(
        "geometric mean over {} sizes, {} {}, {} thread{}: {} is {} times as fast as FFTW_MEASURE on one "
        "thread ({} by "
        "least times)\n",
        mean.sizes, mean.precision, mean.domain, mean.threads, mean.threads == 1 ? "" : "s",
        fft::to_string(mean.kernel), figure(mean.of_medians), figure(mean.of_least));
  }
}

void write_json(const LocalOptions& options, const std::vector<Row>& rows) {
  if (options.json.empty()) return;
  utsname system{};
  uname(&system);
  io::Json json;
  json["papfft"] = kVersion;
  json["machine"] = {{"host", system.nodename},
                     {"kernel", fmt::format("{} {}", system.sysname, system.release)},
                     {"architecture", system.machine},
                     {"cores", comm::available_cores()},
                     {"instructions", fft::to_string(fft::instruction_sets().back())}};
  json["settings"] = {{"repetitions", options.repetitions}, {"least_ms", options.least_ms}};
  json["rows"] = io::Json::array();
  for (const Row& row : rows) {
    json["rows"].push_back({{"kernel", fft::to_string(row.kernel)},
                            {"n", row.length},
                            {"precision", row.precision},
                            {"domain", row.domain},
                            {"threads", row.threads},
                            {"time_us", to_json(report::summarize(row.time_us))},
                            {"mflops", row.mflops()}});
  }
  json["means"] = io::Json::array();
  for (const Mean& mean : means(rows)) {
    json["means"].push_back({{"kernel", fft::to_string(mean.kernel)},
                             {"precision", mean.precision},
                             {"domain", mean.domain},
                             {"threads", mean.threads},
                             {"sizes", mean.sizes},
                             {"ratio_to_fftw", mean.of_medians},
                             {"ratio_of_least", mean.of_least}});
  }
  write_text(options.json, json.dump(2) + "\n");
}

void write_csv(const LocalOptions& options, const std::vector<Row>& rows) {
  if (options.csv.empty()) return;
  report::TextTable table({"kernel", "n", "precision", "domain", "threads", "min_us", "median_us", "mflops"});
  for (const Row& row : rows) {
    table.add({std::string(fft::to_string(row.kernel)), fmt::format("{}", row.length), row.precision,
               row.domain, fmt::format("{}", row.threads), fmt::format("{}", row.least_us()),
               fmt::format("{}", report::median(row.time_us)), fmt::format("{}", row.mflops())});
  }
  write_text(options.csv, table.csv());
}

int run_local(const LocalOptions& options) {
  refuse_launcher("bench local");
  const auto lengths = options.sizes.lengths();
  check_outputs({options.json, options.csv});
  (void)fft::Tuning::of_user();  // whose wisdom spares FFTW the planning
  std::vector<Row> rows;
  for (const std::string& precision : options.sizes.precisions) {
    for (const std::string& domain : options.sizes.domains) {
      for (const std::size_t length : lengths) {
        if (precision == "float") {
          measure<float>(options, length, precision, domain, rows);
        } else {
          measure<double>(options, length, precision, domain, rows);
        }
      }
    }
  }
  if (!options.quiet) print(rows);
  write_json(options, rows);
  write_csv(options, rows);
  return kOk;
}

}  // namespace

void add_bench_local(cli::Command& bench) {
  const auto options = std::make_shared<LocalOptions>();
  cli::Command* command =
      bench.add_subcommand("local", "time one process's transforms: our kernels against FFTW");
  options->sizes.declare(*command);
  command->add_option("--threads", options->threads, "numbers of OpenMP threads")
      ->delimiter(',')
      ->in_range(1, 4096)
      ->capture_default_str();
  command->add_option("--repetitions", options->repetitions, "measurements of each, in turns")
      ->in_range(1, 100000)
      ->capture_default_str();
  command->add_option("--least-ms", options->least_ms, "how long each measurement lasts at least")
      ->in_range(0.001, 1e6)
      ->capture_default_str();
  command->add_option("--json", options->json, "write the results here");
  command->add_option("--csv", options->csv, "write a table here");
  command->add_flag("-q,--quiet", options->quiet, "print nothing");
  command->footer(
      "Examples:\n"
      "  papfft bench local --sizes 2^10..2^22 --domain complex --json local.json\n"
      "  papfft bench local --sizes 1000,4096 --precision double --threads 1\n"
      "mflops: 5 N log2 N / median time in us, also for real data. FFTW is planned by FFTW_MEASURE without a "
      "time limit: a\n"
      "minute for 2^22. 'pieces': FFTW on pieces of the vector, which threads share; FFTW itself is measured "
      "on one thread.\n"
      "Exit codes: 0 ok, 64 usage, 73 cannot write.");
  command->runs([options] { return run_local(*options); });
}

}  // namespace papfft::app
