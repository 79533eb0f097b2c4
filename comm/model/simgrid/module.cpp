// SPDX-License-Identifier: MIT
// What the program loads at run time. It cannot link SimGrid: libsimgrid defines MPI_Init, MPI_Send, ... of its own (SMPI),
// which would take the place of the MPI library's.
#include "comm/model/platform.hpp"

extern "C" __attribute__((visibility("default"))) papfft::comm::Platform* papfft_open_simgrid_platform(
    const char* file, papfft::comm::NetworkModel model) {
  return papfft::comm::open_simgrid_platform(file, model).release();
}
