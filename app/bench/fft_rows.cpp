// SPDX-License-Identifier: MIT
#include "app/bench/fft_rows.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <string_view>

#include "app/bench/bench_common.hpp"
#include "app/cli/version.hpp"
#include "app/report/statistics.hpp"
#include "app/report/text_table.hpp"

namespace papfft::app {

namespace {

double per_vector_ms(const FftRow& row) { return row.total_ms / static_cast<double>(row.vector.size()); }

bool is_farm(const FftRow& row) { return std::string_view(row.engine->name) == "farm"; }

/// Of a farm's vectors, what the root has transformed itself.
double own_share(const FftRow& row) {
  return std::min(1.0, row.own_vectors / static_cast<double>(row.vector.size()));
}

}  // namespace

/// What the root host's cable needs for a vector. @param vector_share  of which other hosts get so much, and return as much
double FftResult::wire_ms(Wire wire, double vector_share) const {
  if (wire == Wire::none) return 0;
  const double bytes = vector_share * static_cast<double>(options.length * sample_bytes);
  // Where vectors overlap, the cable's burst comes once in a turn and not once for each vector.
  const int turns = (options.vectors + options.block - 1) / options.block;
  const double bursts = wire == Wire::one_way ? static_cast<double>(turns) / options.vectors : 1;
  const double one_way_ms = links.root_host_ns(bytes, bursts) * 1e-6;
  return wire == Wire::one_way ? one_way_ms : 2 * one_way_ms;
}

/// What the root host's cable needs where all ranks exchange their shares of a vector: once, or twice for the natural order.
double FftResult::exchanges_ms(const FftRow& row) const {
  const double share = links.share_elsewhere() * links.ranks_on_root_host() / ranks;
  const double exchange_ms =
      links.root_host_ns(share * static_cast<double>(options.length * sample_bytes), 1) * 1e-6;
  return row.order == "natural" ? 2 * exchange_ms : exchange_ms;
}

/// Of a farm it is known how many vectors the root itself has transformed, but not how many other ranks on its host.
double FftResult::bound_ms(const FftRow& row) const {
  if (row.engine->is_distributed) return exchanges_ms(row);
  if (!is_farm(row)) return wire_ms(row.engine->wire, links.share_elsewhere());
  return links.between_hosts() && links.ranks_on_root_host() > 1
             ? 0
             : wire_ms(row.engine->wire, 1 - own_share(row));
}

io::Json FftResult::alone_json(const std::string& engine, const FftAlone& process) const {
  io::Json json = {{"engine", engine}};
  if (engine == "alone") json["kernel"] = fft::to_string(process.kernel);
  json["ranks"] = 1;
  if (engine != "alone") json["threads"] = process.threads;
  json.update({{"n", options.length},
               {"precision", options.precision},
               {"vectors_per_s", 1e3 / report::median(process.ms)},
               {"vector_ms", to_json(report::summarize(process.ms))},
               {"wire_bound_ms", 0},
               {"efficiency", nullptr},
               {"compute_ms", report::median(process.ms)},
               {"error_l2", process.error_l2}});
  return json;
}

io::Json FftResult::row_json(const FftRow& row) const {
  io::Json entry = {{"engine", row.engine->name},
                    {"ranks", ranks},
                    {"n", options.length},
                    {"precision", options.precision},
                    {"total_s", row.total_ms * 1e-3},
                    {"vectors_per_s", 1e3 / per_vector_ms(row)},
                    {"vector_ms", to_json(report::summarize(row.vector))},
                    {"vector_samples_ms", row.vector},
                    {"wire_bound_ms", bound_ms(row)},
                    {"efficiency", bound_ms(row) / per_vector_ms(row)},
                    {"compute_ms", row.compute.empty() ? io::Json() : io::Json(report::median(row.compute))},
                    {"error_l2", row.error_l2}};
  const auto vectors = static_cast<double>(row.vector.size());
  entry["cpu_ms"] = {{"root", row.root_cpu_ms / vectors}, {"other", row.other_cpu_ms / vectors}};
  if (!row.order.empty()) entry["order"] = row.order;
  if (is_farm(row)) entry["own_share"] = own_share(row);
  if (row.engine->has_gather) {
    const auto ms = [vectors](double s) { return 1e3 * s / vectors; };
    entry["root_ms"] = {{"split", ms(row.phases.split_s)},
                        {"compute", ms(row.phases.compute_s)},
                        {"assemble", ms(row.phases.assemble_s)},
                        {"scatter", ms(row.phases.scatter_s)},
                        {"gather", ms(row.phases.gather_s)}};
    entry["scatter"] = options.scatter;
    entry["gather"] = row.gather;
  }
  if (!row.gather_run.empty()) {
    entry["gather_run_ms"] = to_json(report::summarize(row.gather_run));
    entry["gather_elapsed_ms"] = to_json(report::summarize(row.gather_elapsed));
  }
  return entry;
}

io::Json FftResult::document() const {
  io::Json json;
  json["papfft"] = kVersion;
  json["machine"] = machine;
  json["settings"] = {
      {"vectors", options.vectors},      {"length", options.length},      {"real", options.real},
      {"block", options.block},          {"warm_up", options.warm_up},    {"scatter", options.scatter},
      {"edge", options.arrivals.edge},   {"seed", options.arrivals.seed}, {"delay", options.arrivals.delay},
      {"threads", omp_get_max_threads()}};
  json["alpha_us"] = link.alpha_ns * 1e-3;
  json["beta_ns_per_byte"] = link.beta_ns_per_byte;
  json["link"] = links.json();
  json["rows"] = io::Json::array();
  json["rows"].push_back(alone_json("alone", alone));
  if (fftw) json["rows"].push_back(alone_json("fftw-measure", *fftw));
  for (const FftRow& row : rows) json["rows"].push_back(row_json(row));
  return json;
}

std::string FftResult::table() const {
  report::TextTable table({"engine", "gather or order", "total s", "vectors/s", "vector ms", "share of bound",
                           "gather run ms", "gather elapsed ms", "compute ms", "own share", "error"});
  const auto median = [](const std::vector<double>& v) {
    return v.empty() ? std::string("-") : figure(report::median(v));
  };
  for (const FftRow& row : rows) {
    table.add({row.engine->name, row.gather.empty() ? (row.order.empty() ? "-" : row.order) : row.gather,
               figure(row.total_ms * 1e-3), figure(1e3 / per_vector_ms(row)), median(row.vector),
               figure(bound_ms(row) / per_vector_ms(row)), median(row.gather_run), median(row.gather_elapsed),
               median(row.compute), is_farm(row) ? figure(own_share(row)) : "-",
               fmt::format("{:.1e}", row.error_l2)});
  }
  return table.text();
}

std::string FftResult::text() const {
  std::string text = fmt::format(
      "{} vectors of {} {} {} samples on {} ranks of {} threads, scatter {}, in blocks of {}, delay {}\n"
      "one process, kernel {}: {} ms per vector, {} vectors/s, error {:.1e}\n",
      options.vectors, options.length, options.real ? "real" : "complex", options.precision, ranks,
      omp_get_max_threads(), options.scatter, options.block, options.arrivals.delay,
      fft::to_string(alone.kernel), figure(report::median(alone.ms)), figure(1e3 / report::median(alone.ms)),
      alone.error_l2);
  if (fftw) {
    text += fmt::format(
        "one process, FFTW planned by FFTW_MEASURE on {} threads: {} ms per vector, {} vectors/s, error "
        "{:.1e}\n",
        fftw->threads, figure(report::median(fftw->ms)), figure(1e3 / report::median(fftw->ms)),
        fftw->error_l2);
  }
  return text + fmt::format(
                    "link: alpha {} us, beta {} ns/byte; wire bound {} ms per vector, {} if both ways at "
                    "once\n{}\n\n{}",
                    figure(link.alpha_ns * 1e-3), figure(link.beta_ns_per_byte),
                    figure(wire_ms(Wire::both_ways, links.share_elsewhere())),
                    figure(wire_ms(Wire::one_way, links.share_elsewhere())), links.text(), table());
}

}  // namespace papfft::app
