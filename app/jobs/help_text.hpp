// SPDX-License-Identifier: MIT
// What the --help of several jobs says.
#pragma once

namespace papfft::app {

constexpr const char* kMpirunAndSignals =
    "mpirun sends SIGTERM to its ranks when it gets SIGINT (Ctrl-C) or SIGTERM, and kills them 1 s later\n"
    "(10 s: --mca odls_base_sigkill_timeout 10). It passes SIGUSR1 on, and waits.\n";

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 64 usage, 65 bad data, 70 internal, 73 cannot write, 74 communication, 75 stopped by\n"
    "SIGUSR1, 130 by SIGINT, 143 by SIGTERM.";

}  // namespace papfft::app
