// SPDX-License-Identifier: MIT
#include "app/io/known_inputs.hpp"

#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "app/io/errors.hpp"

namespace papfft::app::io {
namespace {

struct KnownInputs {
  std::mutex mutex;
  std::set<std::pair<dev_t, ino_t>> files;
  bool are_kept = false;
  std::optional<bool> is_forced;  // nothing: the command has no --force
};

KnownInputs& known() {
  static KnownInputs inputs;
  return inputs;
}

}  // namespace

void keep_inputs() {
  const std::lock_guard lock(known().mutex);
  known().are_kept = true;
}

void know_input(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return;
  const std::lock_guard lock(known().mutex);
  if (known().are_kept) known().files.emplace(status.st_dev, status.st_ino);
}

void know_input(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) know_input(status);
}

void set_force(bool is_forced) {
  const std::lock_guard lock(known().mutex);
  known().is_forced = is_forced;
}

void require_no_input(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  const std::lock_guard lock(known().mutex);
  const auto& is_forced = known().is_forced;
  if (is_forced.value_or(false) || !known().files.contains({status.st_dev, status.st_ino})) return;
  throw UnsuitableOutput(
      path, std::string("it is an input, which would be replaced; what would work: another name") +
                (is_forced ? ", or --force" : ""));
}

}  // namespace papfft::app::io
