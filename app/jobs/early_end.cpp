// SPDX-License-Identifier: MIT
#include "app/jobs/early_end.hpp"

#include <fmt/format.h>

#include "app/cli/tell.hpp"

namespace papfft::app {

void EarlyEnd::say_stopped(const StopRequest& stop, const Done& done) {
  code_ = stop.exit_code();
  const std::string when = done.count == 0
                               ? fmt::format("before the first {} was done", done.noun)
                               : fmt::format("after {}{} {}s", done.count,
                                             done.of == 0 ? "" : fmt::format(" of {}", done.of), done.noun);
  const char* const what_is_there = done.kept == Kept::for_resume   ? "--resume goes on from there"
                                    : done.count == 0               ? "there is no output"
                                    : done.kept == Kept::as_average ? "the output is their average"
                                                                    : "the output holds these";
  tell("papfft: stopped by {} {}; {}\n", stop.name(), when, what_is_there);
}

void EarlyEnd::say_failed(const Done& done) const {
  if (done.count == 0) return;
  const std::string things = fmt::format("{} {}s", done.count, done.noun);
  tell("papfft: note: the input could not be read to its end; {}\n",
       done.kept == Kept::for_resume   ? things + " are kept for --resume"
       : done.kept == Kept::as_average ? fmt::format("the output is the average of the {} before", things)
                                       : fmt::format("the output holds the {} before", things));
}

void EarlyEnd::rethrow(Job& job) const {
  job.at_root([&] {
    if (failure_) std::rethrow_exception(failure_);
    if (code_ != kOk) throw Quit{code_};
  });
}

}  // namespace papfft::app
