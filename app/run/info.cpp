// SPDX-License-Identifier: MIT
// papfft info: the machine, the versions, and every setting with its origin.
#include <fftw3.h>
#include <fmt/format.h>
#include <mpi.h>
#include <omp.h>
#include <png.h>
#include <sndfile.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/version.hpp"
#include "app/run/allocation.hpp"
#include "app/run/job.hpp"
#include "app/run/job_options.hpp"
#include "comm/mpi/decisions_file.hpp"
#include "comm/schedule/core/registry.hpp"
#include "comm/transport/cores.hpp"
#include "fft/kernel/instruction_set.hpp"
#include "fft/local/tuning.hpp"

namespace papfft::app {

namespace {

void line(const std::string& name, const std::string& value, const std::string& origin) {
  fmt::print("  {:<26}  {:<10}  {}\n", name, value, origin);
}

/// Settings of the collective layer that only the environment changes.
void print_layer_settings() {
  const comm::Options o = comm::Options::from_environment();
  const auto from = [](const char* variable) {
    return std::getenv(variable) != nullptr ? fmt::format("environment {}", variable)
                                            : fmt::format("default (or {})", variable);
  };
  line("longest nap, us", fmt::format("{}", o.longest_nap.count()), from("PAPFFT_NAP_US"));
  line("sends in flight", fmt::format("{}", o.sends_in_flight), from("PAPFFT_SENDS"));
  line("receives in flight", fmt::format("{}", o.receives_in_flight), from("PAPFFT_RECEIVES"));
  line("check arguments", o.check_arguments ? "yes" : "no", from("PAPFFT_CHECK"));
  line("head of ls, bytes", fmt::format("{}", o.head_bytes), from("PAPFFT_HEAD_BYTES"));
  line("chunk of credit, bytes", fmt::format("{}", o.chunk_bytes), from("PAPFFT_CHUNK_BYTES"));
  line("chunks of credit under way", o.credits == 0 ? "adapts" : fmt::format("{}", o.credits),
       from("PAPFFT_CREDITS"));
  line("share memory", o.share_memory ? "yes" : "no", from("PAPFFT_SHARE_MEMORY"));
  line("learn the link", o.learn_link ? "yes" : "no", from("PAPFFT_LEARN_LINK"));
  line("guard auto", o.guard ? "yes" : "no", from("PAPFFT_GUARD"));
  line("alpha, ns", fmt::format("{}", o.link.alpha_ns), from("PAPFFT_ALPHA_NS"));
  line("beta, ns per byte", fmt::format("{}", o.link.beta_ns_per_byte), from("PAPFFT_BETA_NS"));
  line("gamma, ns per byte", fmt::format("{}", o.link.gamma_ns_per_byte), from("PAPFFT_GAMMA_NS"));
  line("latency, ns", fmt::format("{}", o.link.latency_ns), from("PAPFFT_LATENCY_NS"));
}

/// What "auto" knows of collectives on this machine.
void print_decisions() {
  const auto known = comm::known_decisions();
  if (known.empty()) fmt::print("  no collectives measured ('papfft tune --collectives')\n");
  for (const std::filesystem::path& path : known) {
    try {
      const comm::DecisionTable table = comm::read_decisions(path);
      const bool is_foreign = table.group().library != comm::mpi_library();
      fmt::print("  collectives measured by {}, kept in {}{}\n", table.group().text(), path.string(),
                 is_foreign ? "; not used: this is " + comm::mpi_library() : std::string());
      std::istringstream lines(table.machine().text());
      for (std::string text; std::getline(lines, text);) fmt::print("    {}\n", text);
    } catch (const std::invalid_argument& e) {
      fmt::print("  {}\n", e.what());
    }
  }
}

int run_info(const cli::Command& command, const JobOptions& options) {
  (void)options.to_comm_options();       // complains about settings that make no sense
  if (launched_rank() != 0) return kOk;  // all ranks would print the same
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(mpi, &length);
  std::string mpi_name(mpi, static_cast<std::size_t>(length));
  fmt::print("papfft {}\n\nbuilt with\n", kVersion);
  fmt::print("  {}\n  {}\n  {}\n  libpng {}\n  {} collective algorithms\n",
             mpi_name.substr(0, mpi_name.find(',')), fftw_version, sf_version_string(), PNG_LIBPNG_VER_STRING,
             comm::algorithms().size());
  fmt::print("\nthis machine\n  {} cores for this process, {} OpenMP threads by default\n",
             comm::available_cores(), omp_get_max_threads());
  if (const std::string allocation = allocation_text([](const char* name) { return std::getenv(name); });
      !allocation.empty()) {
    fmt::print("  {}\n", allocation);
  }
  fmt::print("  {} kernels for transforms of 2^k samples\n", fft::to_string(fft::instruction_sets().back()));
  const auto tuning_file = fft::Tuning::default_path();
  fmt::print("  {} transforms tuned ('papfft tune'{})\n", fft::Tuning::of_user().size(),
             tuning_file.empty() ? std::string() : ", kept in " + tuning_file.string());
  print_decisions();
  fmt::print("\nsettings\n");
  for (const cli::Option* option : command.options()) {
    const std::string variable = option->variable();
    if (variable.empty()) continue;
    const bool typed = command_line().find(option->flag()) != std::string::npos;
    const bool environment = std::getenv(variable.c_str()) != nullptr;
    line(option->flag(), option->value_text(),
         typed         ? "command line"
         : environment ? "environment " + variable
                       : "default (or " + variable + ")");
  }
  print_layer_settings();
  return kOk;
}

}  // namespace

void add_info(cli::Command& app) {
  const auto options = std::make_shared<JobOptions>();
  cli::Command* command =
      app.add_subcommand("info", "show versions, the machine, and every setting with its origin");
  options->declare(*command);
  command->footer("Examples:\n  papfft info\n  PAPFFT_WAIT=nap papfft info --threads 2");
  command->runs([command, options] { return run_info(*command, *options); });
}

}  // namespace papfft::app
