// SPDX-License-Identifier: MIT
// papfft bench: measurements. One file per kind.
#include "app/bench/bench.hpp"

namespace papfft::app {

void add_bench(cli::Command& app) {
  cli::Command* command =
      app.add_subcommand("bench", "measure collectives, transforms, planning and the predictor");
  command->require_subcommand();
  command->footer(
      "Examples:\n"
      "  mpirun -n 4 papfft bench collective --op gather --algorithms mpi,ls,bsls --bytes 8M "
      "--delay uniform:50ms\n"
      "  mpirun -n 4 papfft bench fft --vectors 1000 --gathers mpi,ls,bsls\n"
      "  mpirun -n 8 papfft bench guidelines --op bcast,allreduce --bytes 64K,1M\n"
      "  mpirun -n 2 papfft bench engine\n"
      "  mpirun -n 2 papfft bench guard --choice recursive-doubling\n"
      "  mpirun -n 2 papfft bench overlap --op bcast,allreduce\n"
      "  papfft bench schedule --ranks 64,128 --repetitions 20\n"
      "  papfft bench local --sizes 2^10..2^20\n"
      "  mpirun -n 4 papfft bench predictor --delay uniform:20ms\n"
      "  papfft bench collective --help");
  add_bench_collective(*command);
  add_bench_guidelines(*command);
  add_bench_engine(*command);
  add_bench_guard(*command);
  add_bench_overlap(*command);
  add_bench_fft(*command);
  add_bench_schedule(*command);
  add_bench_local(*command);
  add_bench_predictor(*command);
}

}  // namespace papfft::app
