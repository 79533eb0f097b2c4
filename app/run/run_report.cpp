// SPDX-License-Identifier: MIT
#include "app/run/run_report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "app/cli/tell.hpp"
#include "app/cli/version.hpp"
#include "app/io/atomic_file.hpp"
#include "app/run/machine.hpp"

namespace papfft::app {

namespace {

std::string scaled(double value, const char* unit, double step, std::initializer_list<const char*> prefixes) {
  const char* prefix = "";
  for (const char* next : prefixes) {
    if (value < step) break;
    value /= step;
    prefix = next;
  }
  return fmt::format("{:.3g} {}{}", value, prefix, unit);
}

std::string bytes_text(double bytes) { return scaled(bytes, "B", 1e3, {"k", "M", "G", "T"}); }

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  return fmt::format("{:.3f} ms", seconds * 1e3);
}

}  // namespace

void RunReport::begin(const std::string& of_command, Job& job) {
  command = of_command;
  ranks = job.size();
  const std::vector<int> per_host = host_layout(job).ranks_per_host();
  const double others = ranks - 1;
  if (per_host.size() > 1) share_over_link = (others - (per_host.front() - 1)) / others;
  threads = omp_get_max_threads();
}

std::string RunReport::who() const {
  return fmt::format("{} with {}", counted(static_cast<std::uint64_t>(ranks), "rank"),
                     counted(static_cast<std::uint64_t>(threads), "thread"));
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<double> RunReport::break_even_bytes_per_s() const {
  const double saved_s = single_process_s - shared_work_s;
  if (saved_s <= 0) return std::nullopt;
  return share_over_link * static_cast<double>(bytes_out + bytes_back) / saved_s;
}

void RunReport::deliver(const JobOptions& options, const std::vector<std::string>& outputs) const {
  if (options.stats && !options.quiet) {
    const bool is_taken =
        io::is_standard_output(options.json) || std::ranges::any_of(outputs, io::is_standard_output);
    if (is_taken) {
      std::fputs(text().c_str(), stderr);  // several lines
    } else {
      fmt::print("{}", text());
    }
  }
  if (!options.json.empty()) write_json(options.json);
}

std::string RunReport::text() const {
  std::string lines;
  const auto out = std::back_inserter(lines);
  fmt::format_to(out, "{}\n", summary);
  for (const auto& [name, seconds] : phases_s)
    fmt::format_to(out, "  {:<9}{:>12}\n", name, time_text(seconds));
  if (ranks > 1) {
    fmt::format_to(out, "  moved {} to the ranks, {} back{}\n", bytes_text(static_cast<double>(bytes_out)),
                   bytes_text(static_cast<double>(bytes_back)),
                   share_over_link == 1 ? ""
                                        : fmt::format("; {:.0f} % of it over the link of rank 0's host",
                                                      share_over_link * 100));
  }
  if (arrivals) {
    fmt::format_to(out,
                   "  of {} scatters and gathers {} were planned by predicted arrivals, {} begun early\n",
                   arrivals->calls, arrivals->planned, arrivals->begun_early);
    if (arrivals->distrusted > 0) {
      fmt::format_to(out,
                     "  {} more could have been, but the last predictions were hardly better than none\n",
                     arrivals->distrusted);
    }
    if (arrivals->prediction_error_ms) {
      fmt::format_to(out, "  predicted arrivals were off by {} on average\n",
                     time_text(*arrivals->prediction_error_ms * 1e-3));
    }
    if (arrivals->has_thread) {
      fmt::format_to(out, "  the background threads took {:.1f} % of a core at most\n",
                     arrivals->thread_share * 100);
    } else {
      fmt::format_to(out, "  no background threads: MPI does not allow them\n");
    }
    for (const comm::GuardedCalls& g : arrivals->guarded) {
      fmt::format_to(out, "  {} of {} and more: {} of {} calls tried the other way; {} is in use\n",
                     comm::to_string(g.operation), bytes_text(static_cast<double>(g.from_bytes)), g.trials,
                     g.calls, g.is_stock ? "the MPI library" : "what auto chose");
    }
  }
  if (single_process_s > 0 && ranks > 1) {
    fmt::format_to(out, "  one process computes the same in {}; these ranks need {} beside moving data\n",
                   time_text(single_process_s), time_text(shared_work_s));
    if (const auto speed = break_even_bytes_per_s()) {
      fmt::format_to(out, "  sharing pays on links faster than {}/s\n", bytes_text(*speed));
    } else {
      fmt::format_to(out,
                     "  sharing cannot pay here, however fast the link: one process is the better choice\n");
    }
  }
  return lines;
}

void RunReport::write_json(const std::string& path) const {
  io::Json document;
  document["papfft"] = kVersion;
  document["command"] = command;
  document["settings"] = settings;
  document["ranks"] = ranks;
  document["threads"] = threads;
  for (const auto& [name, seconds] : phases_s) document["phases_s"][name] = seconds;
  document["bytes_out"] = bytes_out;
  document["bytes_back"] = bytes_back;
  document["share_over_link"] = share_over_link;
  document["non_finite_samples"] = non_finite;
  if (single_process_s > 0) {
    document["shared_work_s"] = shared_work_s;
    document["single_process_s"] = single_process_s;
    const auto speed = break_even_bytes_per_s();
    document["break_even_bytes_per_s"] = speed ? io::Json(*speed) : io::Json();
  }
  if (arrivals) {
    io::Json error;  // null: nothing was predicted
    if (arrivals->prediction_error_ms) error = *arrivals->prediction_error_ms;
    document["arrivals"] = {{"calls", arrivals->calls},
                            {"planned", arrivals->planned},
                            {"distrusted", arrivals->distrusted},
                            {"begun_early", arrivals->begun_early},
                            {"prediction_error_ms", error},
                            {"background_thread", arrivals->has_thread},
                            {"thread_share", arrivals->thread_share}};
  }
  io::AtomicFile file(path);
  file.write(document.dump(2) + "\n");
  file.commit();
}

double largest_at_root(Job& job, double value, const std::string& algorithm) {
  double largest = value;
  const auto larger = [](double a, double b) { return std::max(a, b); };
  job.comm().reduce<double>(std::span<const double>(&value, 1), std::span(&largest, job.is_root() ? 1 : 0),
                            larger, 0, algorithm);
  return largest;
}

}  // namespace papfft::app
