// SPDX-License-Identifier: MIT
// What the collective layer throws besides std::invalid_argument (an argument makes no sense; nothing has happened).
#pragma once
#include <stdexcept>
#include <string>

#include "papfft/export.h"

namespace papfft::comm {

/// A message could not be sent or received, or came with another size than both sides must agree on.
/// what() names this rank, the peer and the cause. The group is unusable afterwards:
/// end the job.
class PAPFFT_API TransportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A collective made no progress for Options::stuck_after. what() is one line: for every stuck rank that was heard, whom it
/// waits for.
class PAPFFT_API StuckError : public std::runtime_error {
 public:
  StuckError(const std::string& what, bool speaks) : std::runtime_error(what), speaks_(speaks) {}
  /// True on one of the stuck ranks: that rank should report the error and end the job. It is the lowest of those that became
  /// stuck at about the same time; ranks that become stuck later keep silent.
  [[nodiscard]] bool speaks() const noexcept { return speaks_; }

 private:
  bool speaks_;
};

/// The ranks do not agree on a collective's arguments (Options::check_arguments). Thrown on every rank.
class PAPFFT_API MismatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A session or a persistent call was used out of turn, or MPI before MPI_Init or after MPI_Finalize. Nothing has happened.
class PAPFFT_API StateError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace papfft::comm
