// SPDX-License-Identifier: MIT
#include "app/run/allocation.hpp"

#include <fmt/format.h>

#include "app/io/clean_text.hpp"

namespace papfft::app {

std::string allocation_text(const std::function<const char*(const char*)>& variable) {
  const auto value = [&](const char* name) {
    const char* text = variable(name);
    return text == nullptr ? std::string() : io::clean_text(text);
  };
  const std::string job = value("SLURM_JOB_ID");
  if (job.empty()) return "";
  std::string text = "Slurm job " + job;
  // " of partition batch", and the like; nothing for what Slurm does not tell.
  const auto append = [&](const char* before, const std::string& what, const char* after) {
    if (!what.empty()) text += before + what + after;
  };
  if (const std::string array = value("SLURM_ARRAY_JOB_ID"); !array.empty())
    append(", task ", value("SLURM_ARRAY_TASK_ID"), (" of array " + array).c_str());
  append(" of partition ", value("SLURM_JOB_PARTITION"), "");
  append(": ", value("SLURM_JOB_NUM_NODES"), " hosts");
  append(" (", value("SLURM_JOB_NODELIST"), ")");
  // Of this step, where there is one: it may have fewer ranks than the job has room for.
  const std::string of_step = value("SLURM_STEP_NUM_TASKS");
  append(", ", of_step.empty() ? value("SLURM_NTASKS") : of_step, " ranks");
  append(", ", value(of_step.empty() ? "SLURM_TASKS_PER_NODE" : "SLURM_STEP_TASKS_PER_NODE"), " per host");
  append(", started again ", value("SLURM_RESTART_COUNT"), " times");
  return text;
}

}  // namespace papfft::app
