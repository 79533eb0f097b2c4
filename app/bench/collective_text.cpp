// SPDX-License-Identifier: MIT
// What `papfft bench collective` prints.
#include <fmt/format.h>

#include "app/bench/collective_rows.hpp"
#include "app/report/bench_run.hpp"
#include "app/report/byte_count.hpp"
#include "app/report/statistics.hpp"

namespace papfft::app {

namespace {

std::string optional_figure(const std::vector<double>& values) {
  return values.empty() ? "-" : figure(report::median(values));
}

std::string gain(const CollectiveRow* peer, const CollectiveRow& row) {
  return peer == nullptr ? "-" : figure(report::median(peer->run) / report::median(row.run));
}

}  // namespace

std::string CollectiveResult::table() const {
  report::TextTable table({"bytes", "delay", "algorithm", "segments", "run ms", "p90", "elapsed ms",
                           "bound ms", "share of bound", "planned", "early", "pred. error ms",
                           "gain over mpi", "over mpi-best"});
  for (const CollectiveRow& row : rows) {
    const std::string chosen = row.stock && row.algorithm == "mpi-best" ? " (" + row.stock->text() + ")" : "";
    table.add({report::byte_count_text(row.size.total_bytes), row.size.pattern->spec(),
               row.algorithm + chosen + (row.correct ? "" : " WRONG"),
               row.segments == 0 ? "-" : std::to_string(row.segments), figure(report::median(row.run)),
               figure(report::percentile(row.run, 0.9)), figure(report::median(row.elapsed)),
               figure(report::median(row.bound)), figure(report::median(row.efficiency)),
               std::to_string(row.planned), std::to_string(row.begun_early),
               optional_figure(row.prediction_error), gain(peer(row, "mpi"), row),
               gain(peer(row, "mpi-best"), row)});
  }
  return table.text();
}

std::string CollectiveResult::text() const {
  std::string text = fmt::format(
      "{} on {} ranks ({}), root {}: {} iterations after {} of warm-up, compute {}, edge at {}, seed {}\n"
      "link: alpha {} us, beta {} ns/byte ({} MB/s)\n",
      options.operation, ranks, layout.text(), options.root, options.iterations, options.warmup,
      options.compute, options.edge, options.seed, figure(link.alpha_ns * 1e-3),
      figure(link.beta_ns_per_byte), figure(1e3 / link.beta_ns_per_byte));
  if (!report::is_steady_link(link.beta_ns_per_byte, link_after.beta_ns_per_byte)) {
    text += fmt::format("THE LINK WAS NOT STEADY: beta {} ns/byte after the run; these times do not count\n",
                        figure(link_after.beta_ns_per_byte));
  }
  text += bound_text + "\n";
  text += fmt::format("segments chosen by alpha {} us, beta {} ns/byte, gamma {} ns/byte; latency {} us\n",
                      figure(segment_link.alpha_ns * 1e-3), figure(segment_link.beta_ns_per_byte),
                      figure(segment_link.gamma_ns_per_byte), figure(segment_link.latency_ns * 1e-3));
  if (comm::moves_per_rank(settings.operation)) {
    text += fmt::format(
        "bytes: all blocks {}together; {} block sizes, the mean being the asked size / {}, rounded down to a "
        "multiple of 4\n",
        comm::traits(settings.operation).is_per_pair() ? "of a rank " : "", options.counts, ranks);
  }
  text += fmt::format(
      "\n{}\nshare of bound: the bound / run time; the bound is the least run time that these arrivals and "
      "these links "
      "allow any algorithm, so 1 is the most\ngain over mpi: mpi's median run time / this one's, above 1 "
      "means faster",
      table());
  if (settings.chooses_stock())
    text +=
        "; over mpi-best: the same against the fastest algorithm that stock MPI has, in brackets N/SEGMENT";
  return text + "\n";
}

}  // namespace papfft::app
