// SPDX-License-Identifier: MIT
#include "app/model/simulate_options.hpp"

#include "app/model/host_layout.hpp"
#include "app/run/arrival_pattern.hpp"
#include "papfft/operation.hpp"

namespace papfft::app {

namespace {

std::string footer() {
  return "Examples:\n"
         "  papfft simulate --algorithms papbi,bi-greedy,bnom --ranks 8,48 --bytes 8M --arrivals "
         "none,uniform:50ms "
         "--iterations 20\n"
         "  papfft simulate --algorithms papbi,bpapbi --ranks 16 --bytes 2M --arrivals root-late:20ms\n"
         "  papfft simulate --algorithms papbi,bi-greedy --ranks 8 --bytes 2M --arrivals uniform:20ms "
         "--prediction-error 1ms\n"
         "  papfft simulate --algorithms papbi --ranks 8 --bytes 2M --segments 16 --arrivals uniform:5ms "
         "--messages "
         "--json s.json && papfft report s.json -o s.html\n"
         "  papfft simulate --algorithms bnom,chain,binary,uni-greedy --ranks 64 --bytes 16,64,512,4K "
         "--ports uni "
         "--combining exclusive --alpha 10ns --beta 1 --gamma 0 --window 1\n"
         "  papfft simulate --op gather --algorithms lin,credit,bcredit --ranks 48 --bytes 8M --arrivals "
         "uniform:50ms\n"
         "  papfft simulate --algorithms bnom,binary --ranks 100000 --bytes 64K --segments 1,4\n"
         "  papfft simulate --op allreduce --ranks 32 --bytes 64K --platform fat-tree-10gbps.xml\n"
         "  papfft simulate --op bcast --algorithms circulant,circulant@hosts --hosts 8x4 --bytes 1M,8M\n"
         "  papfft simulate --op bcast --algorithms circulant@hosts,circulant@lanes --hosts 8x4 --bytes 8M "
         "--card-ports 4\n"
         "comm/model/README.md has the commands for the figures of the greedy reduction paper, and says what "
         "a platform "
         "changes. Rank r runs on the platform's r-th host, unless --hosts says which ranks share one; "
         "algorithms "
         "plan by what a message between the first two hosts costs.\n"
         "With --hosts, the ranks of a host share one port each way, or --card-ports of them, for all that "
         "leaves the host, and talk to each "
         "other by --inside-alpha and --inside-beta. Over bound: run time / the least that any algorithm "
         "could need, "
         "which is the largest of three: what must cross some host's link, what must be copied inside a "
         "host, and the rounds in which a vector is passed on. "
         "The algorithm 'bound' makes a row of it. Without --hosts it also shows the column, and for "
         "reduce, allgather, reduce_scatter, alltoall and allreduce the bound counts when the ranks arrive.\n"
         "Patterns:\n" +
         known_arrival_patterns() +
         "\nAlgorithms that plan by arrival times know these times, up to --prediction-error. Run time: from "
         "the first "
         "arrival to the last exit. Elapsed: mean over the ranks of exit - arrival. Over best: run time / "
         "that of the "
         "fastest row of the same ranks, bytes and arrivals.\n"
         "Exit codes: 0 ok, 64 usage or SimGrid is not installed, 65 the platform file cannot be used, 70 "
         "out of memory or "
         "a fault, 73 cannot write.";
}

}  // namespace

void SimulateOptions::declare(cli::Command& command) {
  declare_case(command);
  cli::Option* platform_option = declare_links(command);
  cli::Option* json_option = command.add_option("--json", json, "write the rows as JSON to this file");
  command
      .add_flag("--messages", messages,
                "write the messages of each row's first call into the JSON too: papfft report then draws "
                "them, with the "
                "critical path")
      ->needs(json_option)
      ->excludes(platform_option);
  command.add_option("--csv", csv, "write the rows as CSV to this file");
  command.add_flag("-q,--quiet", quiet, "print no table");
  command.footer(footer());
}

void SimulateOptions::declare_case(cli::Command& command) {
  command.add_option("--op", operation, "operation")->one_of(comm::kOperationNames)->capture_default_str();
  command
      .add_option("--algorithms", algorithms,
                  "what to simulate: names from 'papfft algorithms' (b before a name: in the background; /N "
                  "behind it: in N "
                  "segments); auto; all; table-bnom, -chain, -binary (with two-way ports also -rab, "
                  "-bi-greedy): by the "
                  "formulas of the greedy reduction paper; table-uni-greedy, -uni-greedy-uneven: by its "
                  "algorithm for "
                  "one-way ports, with the best equal segments or the best of all up to 16 bytes; bound: no "
                  "algorithm, but the least time that any could need")
      ->delimiter(',')
      ->capture_default_str();
  const cli::Option* ranks_option = command.add_option("--ranks", ranks, "numbers of ranks")
                                        ->delimiter(',')
                                        ->in_range(1, 1 << 20)
                                        ->capture_default_str();
  command.add_option("--hosts", hosts, std::string("in place of --ranks: ") + kHostsHelp)
      ->excludes(ranks_option);
  command.add_option("--bytes", bytes, "sizes of the whole vector; K, M and G are powers of two")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--segments", segments,
                  "numbers of segments, for algorithms that leave the choice; best: the fastest that is "
                  "found; auto: as a "
                  "call chooses")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--most-segments", most_segments, "how far 'best' looks")
      ->in_range(1, 1 << 20)
      ->capture_default_str();
  command.add_option("--arrivals", arrivals, "arrival patterns, see below")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--iterations", iterations, "calls per case, each with its own arrivals; means are shown")
      ->in_range(1, 1000000)
      ->capture_default_str();
  command.add_option("--seed", seed, "seed of the arrivals")->capture_default_str();
  command.add_option("--root", root, "root of the operation, a rank")->count_from_0()->capture_default_str();
  command.add_flag("--ordered", ordered, "for a reduction whose operation is not commutative");
  command
      .add_option("--prediction-error", prediction_error,
                  "standard deviation of the arrivals that algorithms plan by from the true ones")
      ->capture_default_str();
}

/// @return the option --platform, which excludes others
cli::Option* SimulateOptions::declare_links(cli::Command& command) {
  declare_ports(command);
  return declare_platform(command);
}

void SimulateOptions::declare_ports(cli::Command& command) {
  command.add_option("--alpha", alpha, "time of a message without data")->capture_default_str();
  command.add_option("--beta", beta_ns, "time to move a byte, in ns (to the ps)")
      ->in_range(0.0, 1e6)
      ->capture_default_str();
  command.add_option("--gamma", gamma_ns, "time to combine a byte, in ns (to the ps)")
      ->in_range(0.0, 1e6)
      ->capture_default_str();
  const cli::Option* hosts_option = command.get_option("--hosts");
  command.add_option("--inside-alpha", inside_alpha, "time of a message without data inside a host")
      ->needs(hosts_option)
      ->capture_default_str();
  command
      .add_option(
          "--inside-beta", inside_beta_ns,
          "time to move a byte inside a host, in ns (to the ps); the defaults of both are those of two ranks "
          "with a core each")
      ->in_range(0.0, 1e6)
      ->needs(hosts_option)
      ->capture_default_str();
  command
      .add_option(
          "--card-ports", card_ports,
          "messages that a host's card moves at a time each way, each at the rate of --beta: as many as "
          "it takes ranks to fill the host's link")
      ->in_range(1, 1 << 20)
      ->needs(hosts_option)
      ->capture_default_str();
  command
      .add_option(
          "--ports", ports,
          "bi: a rank sends a message and receives one at a time; uni: it takes part in one at a time")
      ->one_of({"bi", "uni"})
      ->capture_default_str();
  command
      .add_option("--combining", combining,
                  "overlapped: beside the messages; exclusive: a rank that combines does nothing else; "
                  "in-message: the "
                  "sender does nothing else either")
      ->one_of({"overlapped", "exclusive", "in-message"})
      ->capture_default_str();
  command
      .add_option(
          "--window", window,
          "messages that a rank may have under way each way, or sends:receives; auto: as many as in a call")
      ->capture_default_str();
}

cli::Option* SimulateOptions::declare_platform(cli::Command& command) {
  cli::Option* platform_option = command
                                     .add_option("--platform", platform,
                                                 "a platform file of SimGrid, whose links take the place of "
                                                 "one-port ones: a path, or the name of one "
                                                 "in data/platforms")
                                     ->type_name("FILE");
  for (const char* name :
       {"--alpha", "--beta", "--ports", "--combining", "--inside-alpha", "--inside-beta", "--card-ports"}) {
    command.get_option(name)->excludes(platform_option);
  }
  command
      .add_option("--network", network,
                  "how SimGrid takes a platform: plain, latency + bytes / rate (its CM02, without "
                  "acknowledgements); tcp, "
                  "fitted to TCP (its LV08)")
      ->one_of({"plain", "tcp"})
      ->needs(platform_option)
      ->capture_default_str();
  return platform_option;
}

}  // namespace papfft::app
