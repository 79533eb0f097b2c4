// SPDX-License-Identifier: MIT
#include "app/run/stuck_ranks.hpp"

namespace papfft::app {

comm::StuckError StuckRanks::agree(const comm::StuckError& mine) {
  first_.lock();  // for ever
  if (mine.waits().empty()) return mine;
  try {
    watchdog_.report(mine.waits());
  } catch (const comm::StuckError& of_all) {
    return of_all;
  }
}

}  // namespace papfft::app
