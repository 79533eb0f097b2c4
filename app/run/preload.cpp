// SPDX-License-Identifier: MIT
// papfft preload: where libpapfft_mpi.so is, and how to use it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "app/cli/command.hpp"
#include "app/cli/companion.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"

namespace papfft::app {

namespace {

constexpr const char* kName = "libpapfft_mpi.so";

/// Beside the program where it was built, or among the libraries of an installed one.
std::filesystem::path library_path() {
  const std::filesystem::path beside = companion_places(kName, "lib").front();
  const std::filesystem::path installed = beside.parent_path().parent_path() / PAPFFT_LIBRARY_FOLDER / kName;
  for (const std::filesystem::path& path : {beside, installed}) {
    if (std::filesystem::exists(path)) return path;
  }
  throw UsageError(
      fmt::format("there is no {}, neither as {} nor as {}", kName, beside.string(), installed.string()));
}

int print_how(const std::filesystem::path& path) {
  fmt::print(
      "{}\n\n"
      "Takes the collective calls of any MPI program that was linked with this MPI library:\n"
      "  mpirun -x LD_PRELOAD={} -n 8 PROGRAM\n"
      "  srun --export=ALL,LD_PRELOAD={} PROGRAM\n"
      "PAPFFT_PRELOAD=off | observe | on: leaves all calls to MPI; counts and times them; takes those that "
      "are surely ours (the "
      "default).\n"
      "PAPFFT_PRELOAD_REPORT=- prints a summary at MPI_Finalize. docs/adopt.md has the rest.\n",
      path.string(), path.string(), path.string());
  return kOk;
}

}  // namespace

void add_preload(cli::Command& app) {
  const auto only_path = std::make_shared<bool>(false);
  cli::Command* command = app.add_subcommand(
      "preload", "the library that takes the collective calls of MPI programs nobody rewrites");
  command->add_flag("--path", *only_path, "print where the library is, and nothing else");
  command->footer(
      "Examples:\n  papfft preload\n  mpirun -x LD_PRELOAD=$(papfft preload --path) -n 8 PROGRAM");
  command->runs([only_path] {
    const std::filesystem::path path = library_path();
    if (!*only_path) return print_how(path);
    fmt::print("{}\n", path.string());
    return static_cast<int>(kOk);
  });
}

}  // namespace papfft::app
