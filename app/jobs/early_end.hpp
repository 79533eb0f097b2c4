// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "app/run/job.hpp"
#include "app/run/stop_request.hpp"

namespace papfft::app {

/// An input that ends before its end: somebody has stopped the job, or the input could not be read on. What came before counts,
/// a line on stderr says how much that is, and the exit code tells why. All but rethrow() is for the root.
class EarlyEnd {
 public:
  /// The input could not be read on.
  void failed(std::exception_ptr failure) { failure_ = std::move(failure); }
  [[nodiscard]] bool has_failed() const { return failure_ != nullptr; }
  /// Somebody has stopped the job.
  [[nodiscard]] bool is_stopped() const { return code_ != kOk; }
  [[nodiscard]] bool is_early() const { return has_failed() || is_stopped(); }
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

  enum class Kept : std::uint8_t { in_output, as_average, for_resume };
  /// How much there is, for the line.
  struct Done {
    std::uint64_t count = 0;
    std::uint64_t of = 0;  ///< 0: unknown
    const char* noun = "vector";
    Kept kept = Kept::in_output;
  };
  /// Says that `stop` has ended the job.
  void say_stopped(const StopRequest& stop, const Done& done);
  /// What became of the results before: "the output holds the 6 vectors before".
  [[nodiscard]] static std::string kept_text(const Done& done);
  /// Says that the input could not be read to its end, unless nothing is there: then the failure says enough.
  void say_failed(const Done& done) const;

  /// Collective, when the output is written: ends the job on every rank if its end was early.
  void rethrow(Job& job) const;

 private:
  std::exception_ptr failure_;
  int code_ = kOk;
};

}  // namespace papfft::app
