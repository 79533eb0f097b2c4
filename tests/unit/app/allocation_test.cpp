// SPDX-License-Identifier: MIT
#include "app/run/allocation.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace papfft::app {
namespace {

using Variables = std::map<std::string, std::string>;

std::string text_of(const Variables& variables) {
  return allocation_text([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Allocation, NoJobOfSlurm) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({{"SLURM_NTASKS", "4"}}), "");  // a variable that somebody has left
}

TEST(Allocation, AStepHasItsOwnRanks) {
  const Variables job = {{"SLURM_JOB_ID", "12"},       {"SLURM_JOB_PARTITION", "batch"},
                         {"SLURM_JOB_NUM_NODES", "8"}, {"SLURM_JOB_NODELIST", "h[0-7]"},
                         {"SLURM_NTASKS", "16"},       {"SLURM_TASKS_PER_NODE", "2(x8)"},
                         {"SLURM_RESTART_COUNT", "3"}};
  EXPECT_EQ(
      text_of(job),
      "Slurm job 12 of partition batch: 8 hosts (h[0-7]), 16 ranks, 2(x8) per host, started again 3 times");
  Variables step = job;
  step.merge(Variables{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}});
  step.erase("SLURM_RESTART_COUNT");
  EXPECT_EQ(text_of(step), "Slurm job 12 of partition batch: 8 hosts (h[0-7]), 4 ranks, 2(x2) per host");
}

TEST(Allocation, ATaskOfAnArray) {
  EXPECT_EQ(text_of({{"SLURM_JOB_ID", "12"}, {"SLURM_ARRAY_JOB_ID", "9"}, {"SLURM_ARRAY_TASK_ID", "3"}}),
            "Slurm job 12, task 3 of array 9");
}

TEST(Allocation, WhatIsShownIsClean) {
  EXPECT_EQ(text_of({{"SLURM_JOB_ID", "1\x1b[31m\n2"}}), "Slurm job 1\ufffd[31m\ufffd2");
}

}  // namespace
}  // namespace papfft::app
