// SPDX-License-Identifier: MIT
// What `papfft bench fft` has measured, and how it is written.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/bench/bench_links.hpp"
#include "app/bench/fft_options.hpp"
#include "app/io/json.hpp"
#include "fft/engines/parallel_fft.hpp"
#include "fft/local/local_kernel.hpp"

namespace papfft::app {

/// Of one engine and gather algorithm, at rank 0; per vector, in ms.
struct FftRow {
  const FftEngine* engine = nullptr;
  std::string gather;
  std::string order;  ///< of the bins, where they are with the ranks: "scrambled", "natural"
  double total_ms = 0;
  std::vector<double> vector;
  std::vector<double> gather_run;
  std::vector<double> gather_elapsed;
  std::vector<double> compute;  ///< of the slowest rank
  fft::PhaseTimes phases;       ///< of the root, over all vectors
  double root_cpu_ms = 0;       ///< over all vectors
  double other_cpu_ms = 0;      ///< mean of the other ranks
  double error_l2 = 0;          ///< the largest
  double own_vectors = 0;       ///< of a farm: that the root has transformed
};

/// Of one process, per vector.
struct FftAlone {
  fft::LocalKernel kernel = fft::LocalKernel::fftw;
  int threads = 1;
  std::vector<double> ms;
  double error_l2 = 0;
};

/// All that is written about a run.
struct FftResult {
  const FftBenchOptions& options;
  const BenchLinks& links;
  int ranks = 0;
  std::size_t sample_bytes = 0;
  comm::LinkModel link = {};
  io::Json machine = {};
  FftAlone alone = {};
  std::optional<FftAlone> fftw = {};  ///< FFTW planned by FFTW_MEASURE on all cores, if it was asked for
  std::vector<FftRow> rows = {};

  [[nodiscard]] io::Json document() const;
  /// For people.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] io::Json row_json(const FftRow& row) const;
  [[nodiscard]] io::Json alone_json(const std::string& engine, const FftAlone& process) const;
  [[nodiscard]] double bound_ms(const FftRow& row) const;
  [[nodiscard]] double wire_ms(Wire wire, double vector_share) const;
  [[nodiscard]] double exchanges_ms(const FftRow& row) const;
  [[nodiscard]] std::string table() const;
};

}  // namespace papfft::app
