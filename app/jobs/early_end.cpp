// SPDX-License-Identifier: MIT
#include "app/jobs/early_end.hpp"

#include <fmt/format.h>

#include "app/cli/tell.hpp"
#include "app/run/run_report.hpp"

namespace papfft::app {

void EarlyEnd::say_stopped(const StopRequest& stop, const Done& done) {
  code_ = stop.exit_code();
  const std::string when = done.count == 0 ? fmt::format("before the first {} was done", done.noun)
                           : done.of == 0
                               ? "after " + counted(done.count, done.noun)
                               : fmt::format("after {} of {}", done.count, counted(done.of, done.noun));
  const char* const what_is_there = done.kept == Kept::for_resume   ? "--resume goes on from there"
                                    : done.count == 0               ? "there is no output"
                                    : done.kept == Kept::as_average ? "the output is their average"
                                                                    : "the output holds these";
  tell("papfft: {}stopped by {} {}; {}\n", stop.note(), stop.name(), when, what_is_there);
}

std::string EarlyEnd::kept_text(const Done& done) {
  const std::string things = counted(done.count, done.noun);
  if (done.kept == Kept::for_resume) return fmt::format("what is kept for --resume: {}", things);
  if (done.kept == Kept::as_average) return fmt::format("the output is the average of the {} before", things);
  return fmt::format("the output holds the {} before", things);
}

void EarlyEnd::say_failed(const Done& done) const {
  if (done.count == 0) return;
  tell("papfft: note: the input could not be read to its end; {}\n", kept_text(done));
}

void EarlyEnd::rethrow(Job& job) const {
  job.at_root([&] {
    if (failure_) std::rethrow_exception(failure_);
    if (code_ != kOk) throw Quit{code_};
  });
}

}  // namespace papfft::app
