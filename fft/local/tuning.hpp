// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "fft/local/local_kernel.hpp"

namespace papfft::fft {

/// What was found to be fastest on this processor: a kernel per transform, and what FFTW learnt (its wisdom).
///
/// Kept in a text file per user, processor model and version of papfft. A file that is damaged, or that another processor or
/// version wrote, counts as none.
class Tuning {
 public:
  struct Key {
    std::string precision;  // "float" or "double"
    PlanKind kind;
    std::size_t length;
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.precision, a.kind, a.length) < std::tie(b.precision, b.kind, b.length);
    }
  };
  template <typename T>
  [[nodiscard]] static Key key(PlanKind kind, std::size_t length) {
    return {std::is_same_v<T, float> ? "float" : "double", kind, length};
  }

  /// The file of this user: $PAPFFT_TUNING, else papfft/tuning-KEY in $XDG_CACHE_HOME or ~/.cache, with a KEY of its own for
  /// each processor model and version. Empty: PAPFFT_TUNING=off, or there is no home folder.
  [[nodiscard]] static std::filesystem::path default_path();

  /// This user's, read once per process. Where there is none, or nothing usable, an empty one.
  [[nodiscard]] static const Tuning& of_user();

  /// Reads a file and gives its wisdom to FFTW. Nothing: there is no such file, or it is not usable.
  [[nodiscard]] static std::optional<Tuning> read(const std::filesystem::path& path);

  /// What a file holds, with the wisdom of this process: to be handed to other processes.
  [[nodiscard]] std::string text() const;
  /// What text() gave on the same kind of processor; gives its wisdom to FFTW. Nothing: it is not usable here.
  [[nodiscard]] static std::optional<Tuning> parse(std::string text);
  /// In place of what of_user() found, from now on. Not while another thread transforms.
  static void use_as_users(Tuning tuning) { user() = std::move(tuning); }

  /// Writes text() to a new file that then takes the old one's place; folders are
  /// made. @throws std::runtime_error  it cannot be written, and why
  void write(const std::filesystem::path& path) const;

  [[nodiscard]] std::optional<LocalKernel> find(const Key& key) const;
  void set(const Key& key, LocalKernel kernel) { kernels_[key] = kernel; }
  [[nodiscard]] std::size_t size() const noexcept { return kernels_.size(); }

 private:
  static Tuning& user();

  std::map<Key, LocalKernel> kernels_;
};

}  // namespace papfft::fft
