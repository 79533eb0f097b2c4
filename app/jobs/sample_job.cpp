// SPDX-License-Identifier: MIT
#include "app/jobs/sample_job.hpp"

#include "fft/local/tuning.hpp"

namespace papfft::app {

void share_tuning(Job& job) {
  if (job.size() == 1) return;
  std::string text;
  if (job.is_root() && fft::Tuning::of_user().size() > 0) text = fft::Tuning::of_user().text();
  text.resize(job.from_root(text.size()));
  if (text.empty()) return;
  job.comm().bcast<char>(text, 0, job.bcast_algorithm);
  if (job.is_root()) return;
  if (auto tuning = fft::Tuning::parse(std::move(text))) fft::Tuning::use_as_users(*std::move(tuning));
}

}  // namespace papfft::app
