// SPDX-License-Identifier: MIT
// What the collective layer throws besides std::invalid_argument (an argument makes no sense; nothing has happened).
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "papfft/export.h"

namespace papfft::comm {

/// A message could not be sent or received, or had another size than its receiver expected. what() names this rank, the
/// peer and the cause. The group is unusable afterwards: end the job.
class PAPFFT_API TransportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A collective made no progress for Options::stuck_after. what() says in one line whom each rank waits for, as far as
/// the ranks could still be asked.
class PAPFFT_API StuckError : public std::runtime_error {
 public:
  StuckError(const std::string& what, bool speaks, std::string waits = {})
      : std::runtime_error(what), speaks_(speaks), waits_(std::move(waits)) {}
  /// True on one of the stuck ranks, the lowest of the first ones: this rank should report and end the job.
  [[nodiscard]] bool speaks() const noexcept { return speaks_; }
  /// Whom this rank itself waits for, as in what(); may be empty.
  [[nodiscard]] const std::string& waits() const noexcept { return waits_; }

 private:
  bool speaks_;
  std::string waits_;
};

/// The ranks do not agree on a collective's arguments (Options::check_arguments). Thrown on every rank.
class PAPFFT_API MismatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A session or a persistent call was used out of turn, or the layer was used before MPI_Init or after MPI_Finalize.
/// Nothing has happened.
class PAPFFT_API StateError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace papfft::comm
