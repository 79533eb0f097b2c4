// SPDX-License-Identifier: MIT
// papfft tune --collectives: measures what carries out collectives fastest on the ranks at hand, and writes it down.
#pragma once
#include <string>
#include <vector>

namespace papfft::app {

struct CollectiveTuning {
  std::vector<std::string> operations = {};  ///< none: all
  std::vector<std::string> bytes = {"1K", "4K", "16K", "64K", "256K", "1M", "4M", "16M"};
  double budget_s = 50;
  bool measures_all = false;  ///< not only what the simulation finds best
  bool are_arrivals_unknown =
      false;                    ///< the least worst slow-down counts, not the time when all come together
  std::string file = {};        ///< "": the user's
  std::string rules_file = {};  ///< for Open MPI's own rules; "": none
  bool quiet = false;
};

/// @return the exit code @throws UsageError
[[nodiscard]] int tune_collectives(const CollectiveTuning& options);

}  // namespace papfft::app
