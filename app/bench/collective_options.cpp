// SPDX-License-Identifier: MIT
#include "app/bench/collective_options.hpp"

#include "app/run/arrival_pattern.hpp"
#include "papfft/operation.hpp"

namespace papfft::app {

namespace {

std::string footer() {
  return "Examples:\n"
         "  mpirun -n 4 papfft bench collective --op gather --algorithms mpi,ls,bsls --bytes 8M "
         "--delay uniform:50ms --iterations 30 --seed 7 --json gather.json\n"
         "  mpirun -n 4 papfft bench collective --op bcast --algorithms auto,mpi-best,mpi:3/64K --bytes 2M\n"
         "  mpirun -n 4 papfft bench collective --op scatter --algorithms all,bsln,bsbn,mpi-iscatter --bytes "
         "1M,8M "
         "--delay none,late:3:20ms\n"
         "  mpirun -n 4 papfft bench collective --op reduce --algorithms papbi,clv --type uint32 --bytes 2M\n"
         "  mpirun -n 4 papfft bench collective --op allgatherv --counts irregular --bytes 512K,2M,8M "
         "--compute 0ms\n"
         "Patterns:\n" +
         known_arrival_patterns() +
         "\nTwo peers: mpi is what a program gets that asks for nothing. mpi-best is what an expert gets "
         "from "
         "the same library: "
         "before the calls that count, the benchmark tries all algorithms of stock MPI with several segment "
         "sizes, without "
         "delays, and keeps the fastest. mpi:3 is stock's algorithm 3, mpi:3/64K the same with segments of "
         "64 KiB. These "
         "need Open MPI.\n"
         "Two peers know hosts. mpi-han is Open MPI's coll/han; it needs several hosts with equally many "
         "ranks "
         "each, two or more, "
         "and has no allgatherv and no reduce_scatter. mpi-lane is made of stock MPI's calls: scatter inside "
         "the "
         "host, one call per "
         "rank of a host among hosts, allgather inside the host (full-lane mock-ups, Traeff and Hunold "
         "2020); "
         "it needs equally "
         "many ranks per host.\n"
         "Algorithms take turns within each iteration, in another order each time, and stock MPI (mpi) "
         "always takes part. Run time: from "
         "the first "
         "arrival to the last exit. Elapsed: mean over the ranks of exit - arrival. Share of the bound: the "
         "bound is the "
         "least run time that these arrivals and these links allow any algorithm, and the share is bound / "
         "run time, at most "
         "1. The bound counts what must cross each host's cable, or, on one host, what must be copied.\n"
         "Exit codes: 0 ok, 64 usage, 70 wrong data, 73 cannot write, 74 communication.";
}

}  // namespace

void CollectiveOptions::declare(cli::Command& command) {
  command.add_option("--op", operation, "operation")->one_of(comm::kOperationNames)->capture_default_str();
  command
      .add_option(
          "--algorithms", algorithms,
          "what to time: names from 'papfft algorithms' (b before a name: in the background; /N behind it: "
          "in N "
          "segments); auto; all; mpi; mpi-best; mpi:N; mpi-han; mpi-lane; mpi-igather, mpi-iscatter (stock, "
          "posted early)")
      ->delimiter(',')
      ->capture_default_str();
  declare_cases(command);
  command
      .add_option("--counts", counts,
                  "block sizes of allgatherv, reduce_scatter, alltoallv, gatherv and scatterv: regular, "
                  "irregular (0, 1 and 2 times the "
                  "mean in turns) or "
                  "degenerate (all with rank 0; of alltoallv, all of a rank's data for one rank)")
      ->one_of({"regular", "irregular", "degenerate"})
      ->capture_default_str();
  declare_measurement(command);
  command.add_flag(
      "--calls", calls,
      "write every rank's times of every call into the JSON too: papfft report then shows arrivals and "
      "prediction errors call by call");
  command.add_option("--csv", csv, "write the rows as CSV to this file");
  command.add_option("--raw", raw, "write every rank's times of every call as CSV to this file");
  job.declare_common(command);
  command.footer(footer());
}

void CollectiveOptions::declare_cases(cli::Command& command) {
  command.add_option("--bytes", bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--delay", delays, "arrival patterns, see below")->delimiter(',')->capture_default_str();
  command.add_option("--type", type, "what reductions add up: float or uint32")
      ->one_of({"float", "uint32"})
      ->capture_default_str();
  command.add_option("--root", root, "root of the operation, a rank")->count_from_0()->capture_default_str();
}

void CollectiveOptions::declare_measurement(cli::Command& command) {
  command.add_option("--iterations", iterations, "calls that count, per algorithm, size and pattern")
      ->in_range(1, 1000000)
      ->capture_default_str();
  command.add_option("--warmup", warmup, "calls before them that do not count")
      ->in_range(0, 1000000)
      ->capture_default_str();
  command.add_option("--compute", compute, "time of the compute phase without delay")->capture_default_str();
  add_edge_option(command, edge);
  command.add_option("--work", work, "what the compute phase does: sleep, or spin (keeps a core busy)")
      ->one_of({"sleep", "spin"})
      ->capture_default_str();
  command.add_option("--seed", seed, "seed of the delays")->capture_default_str();
  command.add_flag("--measure-link", measure_link,
                   "choose segments by what messages between two hosts cost in this run, instead of by "
                   "PAPFFT_ALPHA_NS and "
                   "the like");
}

}  // namespace papfft::app
