// SPDX-License-Identifier: MIT
#include "app/model/platform.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>

#include "app/cli/companion.hpp"
#include "app/cli/exit_code.hpp"
#include "app/io/errors.hpp"

namespace papfft::app {

namespace {

namespace fs = std::filesystem;

using Open = comm::Platform* (*)(const char* file, comm::NetworkModel model);

Open load_module() {
  std::string tried;
  for (const fs::path& module : companion_places("papfft-simgrid.so", "libexec")) {
    // Local: SimGrid's own MPI_Init and so on must not take the place of the MPI library's.
    void* handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      void* symbol = dlsym(handle, "papfft_open_simgrid_platform");
      if (symbol != nullptr) return reinterpret_cast<Open>(symbol);
    }
    const char* error = dlerror();
    if (fs::exists(module) && error != nullptr) tried += std::string(" (") + error + ")";
  }
  throw UsageError("simulate --platform: this papfft has no SimGrid" + tried +
                   "; what would work: apt-get install libsimgrid-dev, and build papfft anew");
}

/// Some mistakes in a platform make SimGrid end the process. Better that of a child.
bool ends_the_process(Open open_module, const std::string& file, comm::NetworkModel model) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork: " + io::errno_text(errno));
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    try {
      (void)open_module(file.c_str(), model);
    } catch (const std::exception&) {
      // The parent will hear it too, and can tell.
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

std::string find_platform(const std::string& file) {
  std::error_code error;
  if (fs::exists(file, error) || file.find('/') != std::string::npos) return file;
  for (const fs::path& known : companion_places(fs::path("platforms") / file, "share")) {
    if (fs::exists(known, error)) return known.string();
  }
  return file;
}

std::unique_ptr<comm::Platform> open_platform(const std::string& file, comm::NetworkModel model) {
  const Open open_module = load_module();
  const std::string path = find_platform(file);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw io::DataError(file, io::errno_text(fs::is_directory(path, error) ? EISDIR : ENOENT));
  }
  if (ends_the_process(open_module, path, model)) {
    throw io::DataError(
        file, "is no platform that SimGrid can use; what would work: a file like those in data/platforms");
  }
  try {
    return std::unique_ptr<comm::Platform>(open_module(path.c_str(), model));
  } catch (const std::invalid_argument& problem) {
    throw io::DataError(file, problem.what());
  }
}

}  // namespace papfft::app
